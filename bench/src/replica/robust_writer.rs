//! The writer of stratum 1: a node of the benchmark's process, and all that it was told is done.

use std::time::{Duration, Instant};

use corecast::replica::kv::{Compact, CompactSet};
use corecast::replica::{Level, Node, Session};

use super::play::value_of;
use corecast_race::failure::Failure;

/// Keys of the writer.
const KEYS: u64 = 512;
/// Reads of the writer's own replica after each event. All of them together take a few microseconds of the pause.
const LOCAL_READS: u64 = 100;
/// How long a write may take before the group counts as stuck.
const STUCK: Duration = Duration::from_secs(10);

/// The writer.
pub(super) struct Writer {
    pub(super) node: Node<Compact>,
    number: u64,
    /// Of each key the number of the last write that was acknowledged.
    acknowledged: Vec<u64>,
    pub(super) pauses: Vec<f64>,
    /// Of each stop the pause without the patience of the nodes that had to notice it.
    pub(super) beyond: Vec<f64>,
    pub(super) writes: u64,
    pub(super) longest: Duration,
    /// The longest read of the own replica after each event.
    pub(super) local: Vec<f64>,
}

impl Writer {
    pub(super) fn new(node: Node<Compact>) -> Self {
        let acknowledged = vec![0; KEYS as usize];
        let (pauses, beyond, local) = (Vec::new(), Vec::new(), Vec::new());
        Self { node, number: 0, acknowledged, pauses, beyond, writes: 0, longest: Duration::ZERO, local }
    }

    pub(super) fn session(&self) -> Result<Session<Compact>, Failure> {
        self.node.session().map_err(Failure::refused)
    }

    /// One write, which is acknowledged.
    pub(super) fn write(&mut self, session: &mut Session<Compact>) -> Result<(), Failure> {
        self.number += 1;
        let key = self.number % KEYS;
        let set = CompactSet { key: key.to_le_bytes(), value: value_of(key, self.number) };
        let begin = Instant::now();
        session.execute_timeout(&set, STUCK).map_err(Failure::refused)?;
        self.longest = self.longest.max(begin.elapsed());
        self.acknowledged[key as usize] = self.number;
        self.writes += 1;
        Ok(())
    }

    /// Reads the own replica as it is.
    pub(super) fn read_locally(&mut self) -> Result<(), Failure> {
        let mut longest = Duration::ZERO;
        for key in 0..LOCAL_READS {
            let begin = Instant::now();
            self.node.read(Level::Local, &key.to_le_bytes()).map_err(Failure::refused)?;
            longest = longest.max(begin.elapsed());
        }
        self.local.push(as_ms(longest));
        Ok(())
    }

    /// Acknowledged writes that are not there.
    pub(super) fn lost(&self) -> Result<u64, Failure> {
        let mut lost = 0;
        for (key, &number) in self.acknowledged.iter().enumerate().filter(|&(_, &number)| number > 0) {
            let read = self.node.read(Level::Linearizable, &(key as u64).to_le_bytes());
            let (value, _) = read.map_err(Failure::refused)?;
            lost += u64::from(value != Some(value_of(key as u64, number)));
        }
        Ok(lost)
    }
}

/// A time in milliseconds.
pub(super) fn as_ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
