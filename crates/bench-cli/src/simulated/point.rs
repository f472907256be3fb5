//! One point of a sweep, which a process of its own plays: the protocols' statics are fresh, so a point gives the same alone and
//! among others.

use corecast_sim::SimError;
use serde::{Deserialize, Serialize};

use super::{Described, Program};

/// A contender of a program on a machine, at a step of the sweep, with a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) described: Described,
    pub(crate) program: Program,
    pub(crate) contender: String,
    /// The number of threads, or of whatever else the program has more or less of.
    pub(crate) step: usize,
    pub(crate) seed: u64,
}

/// The outcome of a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Played {
    /// The program's figure; `None` if the run did not end.
    pub(crate) figure: Option<f64>,
    /// Jain's index of fairness, where threads compete.
    pub(crate) jain: Option<f64>,
    /// Lines that moved between CPUs, by distance, the nearest first.
    pub(crate) transfers: Vec<f64>,
    /// Why there is no outcome.
    pub(crate) failed: Option<String>,
}

impl Played {
    /// The outcome of a program: figure, fairness and transfers.
    pub(super) fn of<O>(
        outcome: Result<O, SimError>,
        figures: impl FnOnce(&O) -> (f64, Option<f64>, Vec<f64>),
    ) -> Self {
        match outcome {
            Ok(outcome) => {
                let (figure, jain, transfers) = figures(&outcome);
                Self { figure: Some(figure), jain, transfers, failed: None }
            }
            Err(error) => Self { failed: Some(error.to_string()), ..Self::default() },
        }
    }
}
