//! The planner's study: every shape, planner and effort on subsets of many machines, with costs, gaps and times.
//!
//! Nothing is raced: costs are those of the machine models, which makes them the same on every machine; only the times
//! are of the one that the study runs on. [`study`] makes the [`Case`]s, [`summary`] the tables and the verdict on each
//! gate, [`table`] a line for every case.

mod case;
mod gates;
mod selection;
pub mod summary;
pub mod table;

use corecast::Machine;
use corecast::plan::Operation;

use crate::cancel::Cancel;
use crate::error::BenchError;
use crate::progress::Progress;

pub use case::{Case, Tried};
pub use selection::Selection;

/// The numbers of members that are planned for where a machine has as many CPUs.
pub const SIZES: [usize; 13] = [4, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256];

/// What to study.
#[derive(Clone, Debug)]
pub struct StudyOptions {
    /// The operations.
    pub operations: Vec<Operation>,
    /// No case has more members.
    pub largest: usize,
    /// Rounds of the tight lower bound for broadcasts and reductions that the subset programme does not prove; 0 for none.
    pub rounds: u32,
    /// The seed of every search.
    pub seed: u64,
    /// Stops the study.
    pub cancel: Cancel,
}

/// Plans every case of these machines, in their order, from few members to many.
///
/// # Errors
///
/// [`BenchError::Cancelled`] if it was stopped.
pub fn study(
    machines: &[Machine],
    options: &StudyOptions,
    progress: &mut dyn Progress,
) -> Result<Vec<Case>, BenchError> {
    let mut wanted = Vec::new();
    for &members in SIZES.iter().filter(|&&members| members <= options.largest) {
        for machine in machines.iter().filter(|machine| machine.cpus.len() >= members) {
            for selection in Selection::of(machine, members) {
                wanted.extend(options.operations.iter().map(|&operation| (machine, members, selection, operation)));
            }
        }
    }
    // The time of a case grows faster than its members; only the share that is done matters.
    let weight = |members: usize| (members * members) as f64;
    let all: f64 = wanted.iter().map(|&(_, members, ..)| weight(members)).sum();
    let mut done = 0.0;
    let mut cases = Vec::with_capacity(wanted.len());
    for (machine, members, selection, operation) in wanted {
        if options.cancel.is_cancelled() {
            return Err(BenchError::Cancelled);
        }
        progress.step(done / all, &format!("{operation} among {members} of {}", machine.name));
        cases.push(Case::plan(machine, members, selection, operation, options));
        done += weight(members);
    }
    // A stopped search gives the best so far, which is no result of a study.
    if options.cancel.is_cancelled() { Err(BenchError::Cancelled) } else { Ok(cases) }
}
