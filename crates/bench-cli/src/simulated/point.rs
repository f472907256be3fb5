//! One point of a sweep over contenders, steps and seeds.

use corecast_sim::{Disturbance, Disturbed, SimError};
use serde::{Deserialize, Serialize};

use super::{Described, InProcess, Program};

/// A contender of a program on a machine, at a step of the sweep, with a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) described: Described,
    pub(crate) program: Program,
    pub(crate) contender: String,
    /// The number of threads, or of whatever else the program has more or less of.
    pub(crate) step: usize,
    pub(crate) seed: u64,
    pub(crate) disturbance: Disturbance,
}

impl InProcess for Point {
    type Outcome = Played;
    const COMMAND: &'static str = "point";

    fn words(&self) -> String {
        format!("{}, {} {}", self.contender, self.program.figure().steps, self.step)
    }
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
    /// How the threads were disturbed; of a run that did not end only that a thread was killed.
    pub(crate) disturbed: Disturbed,
    /// True if a thread was killed, and the others had not ended after three times the time of the run.
    pub(crate) hung: bool,
    /// Why there is no outcome.
    pub(crate) failed: Option<String>,
}

/// The figures of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    pub(super) figure: f64,
    pub(super) jain: Option<f64>,
    pub(super) transfers: Vec<f64>,
    pub(super) disturbed: Disturbed,
}

impl Played {
    /// The outcome of a program.
    pub(super) fn of<O>(outcome: Result<O, SimError>, figures: impl FnOnce(&O) -> Figures) -> Self {
        match outcome.map(|outcome| figures(&outcome)) {
            Ok(Figures { figure, jain, transfers, disturbed }) => {
                Self { figure: Some(figure), jain, transfers, disturbed, ..Self::default() }
            }
            Err(error) => {
                let hung = error.waits_for_killed();
                let disturbed = Disturbed { killed: hung.into(), ..Disturbed::default() };
                Self { failed: Some(error.to_string()), disturbed, hung, ..Self::default() }
            }
        }
    }
}
