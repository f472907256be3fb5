//! One point of a sweep, which a process of its own plays: the protocols' statics are fresh, so a point gives the same alone and
//! among others.

use corecast_sim::{Algorithm, Contest, contest};
use serde::{Deserialize, Serialize};

use super::Described;
use corecast_cli::failure::Failure;

/// A lock, and threads that compete for it on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) described: Described,
    pub(crate) lock: String,
    pub(crate) threads: usize,
    pub(crate) warm_up_us: u64,
    pub(crate) duration_us: u64,
    pub(crate) inside_ns: u64,
    pub(crate) outside_ns: u64,
    pub(crate) seed: u64,
}

/// The outcome of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The lock.
    pub(crate) lock: String,
    /// The threads, one on each of the first CPUs.
    pub(crate) threads: usize,
    /// Acquisitions of all threads in a second of virtual time, in millions; `None` if the run did not end.
    pub(crate) mops: Option<f64>,
    /// Jain's index of fairness.
    pub(crate) jain: Option<f64>,
    /// Lines that moved between CPUs in an acquisition, by distance, the nearest first.
    pub(crate) transfers: Vec<f64>,
    /// Why there is no outcome.
    pub(crate) failed: Option<String>,
}

impl Point {
    /// Plays it.
    ///
    /// # Errors
    /// Bad input. A run that does not end is a row that says so.
    pub(crate) fn play(&self) -> Result<Row, Failure> {
        let (machine, _) = self.described.load()?;
        let Self { threads, warm_up_us, duration_us, inside_ns, outside_ns, seed, .. } = *self;
        let algorithm: Algorithm = self.lock.parse().map_err(Failure::input)?;
        let contested = Contest { threads, warm_up_us, duration_us, inside_ns, outside_ns, seed };
        let row = Row { lock: self.lock.clone(), threads, mops: None, jain: None, transfers: Vec::new(), failed: None };
        Ok(match contest(&machine, algorithm, contested) {
            Ok(outcome) => {
                Row { mops: Some(outcome.mops()), jain: outcome.jain(), transfers: outcome.transfers(), ..row }
            }
            Err(error) => Row { failed: Some(error.to_string()), ..row },
        })
    }
}
