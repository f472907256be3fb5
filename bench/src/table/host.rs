//! The trait of every contender of the table benchmarks: a table, and a client of it for each thread that uses it.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use corecast::base::CpuId;
use corecast::base::sync::AtomicU64;
use corecast::base::wait::Wait;
use corecast::machine::Machine;

use super::draw::Mix;
use super::play::{self, Tally};
use super::section::Section;
use corecast_race::cancel::Cancel;
use corecast_race::failure::Failure;
use corecast_race::place::Place;

/// The 64 bytes that belong to a key.
pub(super) type Words = [u64; 8];

/// The table that is raced, and the threads that use it.
#[derive(Debug, Clone)]
pub(super) struct Setting<'a> {
    pub(super) buckets: usize,
    /// Elements of a bucket, on average.
    pub(super) mean: usize,
    pub(super) threads: usize,
    /// The CPUs that threads are bound to in turn.
    pub(super) cpus: Cow<'a, [CpuId]>,
    /// The model of the machine, where something is planned.
    pub(super) machine: Option<&'a Machine>,
    /// Whether they are bound to them.
    pub(super) is_pinned: bool,
    /// The most of them that share a cache.
    pub(super) cluster: &'a [CpuId],
    /// One of this number of participants is a server, where there are servers.
    pub(super) every: usize,
    /// How many operations a client has under way, where it has several.
    pub(super) batch: usize,
    /// The exponent of Zipf's law, if keys follow that.
    pub(super) zipf: Option<f64>,
    /// Whether a put writes its 64 bytes.
    pub(super) writes_payload: bool,
    /// How critical sections end.
    pub(super) section: Section,
    /// Which program processes run, where there are processes.
    pub(super) place: &'a Place,
    /// How channels wait.
    pub(super) wait: Wait,
    /// How long a block lasts.
    pub(super) time: Duration,
    pub(super) seed: u64,
    /// The program in the place of the paper's, if there is one.
    pub(super) original: Option<&'a Path>,
    /// By which the user stops waits for processes; `None` where there are none.
    pub(super) user: Option<&'a Cancel>,
}

impl Setting<'_> {
    /// The elements that are in at the start.
    pub(super) fn initial(&self) -> u64 {
        (self.buckets * self.mean) as u64
    }

    /// Keys are 1 to this: half of them are in at the start.
    pub(super) fn keys(&self) -> u64 {
        2 * self.initial()
    }

    /// The number of elements that each thread inserts at the start.
    pub(super) fn shares(&self) -> Vec<u64> {
        let (each, rest) = (self.initial() / self.threads as u64, self.initial() % self.threads as u64);
        (0..self.threads as u64).map(|rank| each + u64::from(rank < rest)).collect()
    }
}

/// One thread's way to a table.
pub(super) trait Client {
    /// Copies what belongs to the key; false if it is not there.
    fn get(&mut self, key: u64, into: &mut Words) -> bool;

    /// Puts the key in with a buffer that was made before, untouched unless there are `words` to write into it; false if
    /// it is there already.
    fn put(&mut self, key: u64, words: Option<&Words>) -> bool;

    /// Takes the key out; false if it is not there.
    fn remove(&mut self, key: u64) -> bool;

    /// The experiment until `over` is 1, with the operations of `mix`: the only loop that is compiled for each table, as a call
    /// through a trait object for each operation would be timed with it.
    fn play(&mut self, writes_payload: bool, mix: Mix, over: &AtomicU64) -> Tally {
        play::play(self, writes_payload, mix, over)
    }
}

/// A client and where it works.
pub(super) struct Seat<'a> {
    pub(super) client: Box<dyn Client + Send + 'a>,
    /// Its number among the participants, by which it is bound to a CPU.
    pub(super) participant: usize,
    /// Elements that it inserts at the start.
    pub(super) share: u64,
}

/// The work of the clients of a table.
pub(super) type Work<'w> = &'w mut dyn for<'a> FnMut(Vec<Seat<'a>>) -> Result<(), Failure>;

/// A table that lives for as long as it is used.
pub(super) trait Host {
    /// How many threads serve the others.
    fn servers(_setting: &Setting<'_>) -> usize {
        0
    }

    /// The setting as it is for this one; an error if there is nothing to be found out here.
    fn adapted<'a>(setting: &Setting<'a>) -> Result<Setting<'a>, Failure> {
        Ok(setting.clone())
    }

    /// Makes an empty one, and ends it when `work` has returned.
    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure>;
}

/// A seat for each thread, where none of them serves the others.
pub(super) fn seats<'a, C: Client + Send + 'a>(setting: &Setting<'_>, client: impl Fn() -> C) -> Vec<Seat<'a>> {
    let seat = |(participant, share)| Seat { client: Box::new(client()), participant, share };
    setting.shares().into_iter().enumerate().map(seat).collect()
}
