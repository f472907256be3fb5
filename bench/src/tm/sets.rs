//! corecast's sorted list and hash table as sets of keys.

use corecast::tm::{Participant, Tm};

use super::host::Setting;
use super::set::{Set, Worker};
use super::workload::SetWork;
use corecast_race::failure::Failure;

/// A set in transactional memory.
pub(super) struct Sets {
    work: SetWork,
}

impl Sets {
    /// With the keys of the start.
    pub(super) fn new(_tm: &Tm, _work: SetWork, _seed: u64, _is_elastic: bool) -> Result<Self, Failure> {
        Err(Failure::Refused("there is no such structure yet".to_owned()))
    }

    /// The client of this number.
    pub(super) fn worker(&self, participant: Participant, setting: &Setting<'_>, rank: usize) -> Worker<SetClient> {
        Worker::new(SetClient { participant }, self.work, setting, rank)
    }
}

/// A participant's way to the set.
pub(super) struct SetClient {
    participant: Participant,
}

impl Set for SetClient {
    fn contains(&mut self, _key: u64) -> Result<bool, Failure> {
        Ok(false)
    }

    fn insert(&mut self, _key: u64) -> Result<bool, Failure> {
        Ok(false)
    }

    fn remove(&mut self, _key: u64) -> Result<bool, Failure> {
        Ok(false)
    }

    fn aborts(&self) -> u64 {
        self.participant.counts().aborts()
    }
}
