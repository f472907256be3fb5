//! The programs that run on a simulated machine, and the figure by which each is judged.

use corecast_sim::machine::Machine;
use corecast_sim::{Algorithm, Barrier, Contest, Episodes, SimError, barriers, contest};
use serde::{Deserialize, Serialize};

use super::{Played, Point};
use corecast_cli::failure::Failure;

/// A program, with its own options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Program {
    /// Threads that compete for a lock.
    Locks {
        /// The virtual time before acquisitions count, microseconds.
        warm_up_us: u64,
        /// The virtual time in which they do, microseconds.
        duration_us: u64,
        /// The time that a holder computes for, ns.
        inside_ns: u64,
        /// The time for which a thread computes between two acquisitions, ns.
        outside_ns: u64,
    },
    /// Members that meet at a barrier.
    Barriers {
        /// Episodes before those that count.
        warm_up: usize,
        /// Episodes that count.
        episodes: usize,
    },
}

/// The contender that is no barrier of its own, but the one that the group chooses.
pub(crate) const AUTO: &str = "auto";

/// The time of an episode at first, microseconds. It is doubled until all episodes end in theirs.
const LEAST_WINDOW_US: u64 = 50;
const MOST_WINDOW_US: u64 = 1_000_000;

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
            Self::Barriers { .. } => Figure {
                program: "barriers",
                figure: "time from the last entry to the last exit",
                unit: "ns",
                higher_is_better: false,
                transfers_per: "barrier",
            },
        }
    }

    /// Plays a point of it. A run that does not end is an outcome that says so.
    ///
    /// # Errors
    /// Bad input: no such contender.
    pub(super) fn play(&self, machine: &Machine, point: &Point) -> Result<Played, Failure> {
        let Point { contender, threads, seed, .. } = point;
        let (threads, seed) = (*threads, *seed);
        match *self {
            Self::Locks { warm_up_us, duration_us, inside_ns, outside_ns } => {
                let algorithm: Algorithm = contender.parse().map_err(Failure::input)?;
                let asked = Contest { threads, locks: 1, warm_up_us, duration_us, inside_ns, outside_ns, seed };
                let outcome = contest(machine, algorithm, asked);
                Ok(Played::of(outcome, |outcome| (outcome.mops(), outcome.jain(), outcome.transfers())))
            }
            Self::Barriers { warm_up, episodes } => {
                let barrier = (contender != AUTO).then(|| contender.parse::<Barrier>()).transpose();
                let barrier = barrier.map_err(Failure::input)?;
                let asked = Episodes { members: threads, warm_up, episodes, seed, ..Episodes::default() };
                let outcome = in_windows(asked, |asked| barriers(machine, barrier, asked));
                Ok(Played::of(outcome, |outcome| (outcome.times.median_ns(), None, outcome.times.transfers())))
            }
        }
    }
}

/// Plays episodes in windows that are long enough for them.
fn in_windows<O>(asked: Episodes, play: impl Fn(&Episodes) -> Result<O, SimError>) -> Result<O, SimError> {
    let mut window_us = LEAST_WINDOW_US;
    loop {
        match play(&Episodes { window_us, ..asked.clone() }) {
            Err(SimError::Window { .. }) if window_us < MOST_WINDOW_US => window_us *= 2,
            outcome => return outcome,
        }
    }
}
