//! The programs that run on a simulated machine, and the figure by which each is judged.

use corecast_sim::machine::Machine;
use corecast_sim::{Algorithm, Contest, contest};
use serde::{Deserialize, Serialize};

use super::{Played, Point};
use corecast_cli::failure::Failure;

/// A program, with its own options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Program {
    /// Threads that compete for a lock.
    Locks {
        /// The time that a holder computes for, ns.
        inside_ns: u64,
        /// The time for which a thread computes between two acquisitions, ns.
        outside_ns: u64,
    },
}

/// The figure by which the contenders of a program are judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    /// The program, as the command line has it.
    pub(crate) program: &'static str,
    /// The events that are counted, or the time that is taken.
    pub(crate) figure: &'static str,
    /// Its unit.
    pub(crate) unit: &'static str,
    /// True if a contender with a higher figure is better.
    pub(crate) higher_is_better: bool,
    /// The event for which `transfers` are counted.
    pub(crate) transfers_per: &'static str,
}

impl Program {
    /// The figure of its contenders.
    pub(crate) fn figure(&self) -> Figure {
        match self {
            Self::Locks { .. } => Figure {
                program: "locks",
                figure: "acquisitions of all threads",
                unit: "M/s",
                higher_is_better: true,
                transfers_per: "acquisition",
            },
        }
    }

    /// Plays a point of it. A run that does not end is an outcome that says so.
    ///
    /// # Errors
    /// Bad input: no such contender.
    pub(super) fn play(&self, machine: &Machine, point: &Point) -> Result<Played, Failure> {
        let Point { contender, threads, seed, warm_up_us, duration_us, .. } = point;
        let (threads, seed, warm_up_us, duration_us) = (*threads, *seed, *warm_up_us, *duration_us);
        match *self {
            Self::Locks { inside_ns, outside_ns } => {
                let algorithm: Algorithm = contender.parse().map_err(Failure::input)?;
                let asked = Contest { threads, warm_up_us, duration_us, inside_ns, outside_ns, seed };
                let outcome = contest(machine, algorithm, asked);
                Ok(Played::of(outcome, |outcome| (outcome.mops(), outcome.jain(), outcome.transfers())))
            }
        }
    }
}
