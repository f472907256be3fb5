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

use std::sync::{Mutex, mpsc};
use std::thread;

use corecast::Machine;
use corecast::plan::Operation;

use corecast_race::cancel::Cancel;
use corecast_race::error::BenchError;
use corecast_race::progress::Progress;

use case::Unbounded;
pub use case::{ByEffort, Case, Tried};
pub use selection::Selection;

/// The numbers of members that are planned for where a machine has as many CPUs.
pub const SIZES: [usize; 13] = [4, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256];

/// The options of the study.
#[derive(Clone, Debug)]
pub struct StudyOptions {
    /// The operations.
    pub operations: Vec<Operation>,
    /// The numbers of members, of [`SIZES`] or others.
    pub sizes: Vec<usize>,
    /// Rounds of the tight lower bound for broadcasts and reductions that the subset programme does not prove, a fifth of
    /// them beyond 128 members; 0 for none.
    pub rounds: u32,
    /// True if every plan starts from the lowest CPU of its case, false if the root is free.
    pub is_root_fixed: bool,
    /// The seed of every search.
    pub seed: u64,
    /// Stops the study.
    pub cancel: Cancel,
}

/// Plans every case of these machines, from few members to many. Planning is timed with nothing else going on; the bounds
/// come after it, one at a time on each CPU.
///
/// # Errors
///
/// [`BenchError::Cancelled`] if it was stopped.
pub fn study(
    machines: &[Machine],
    options: &StudyOptions,
    progress: &mut dyn Progress,
) -> Result<Vec<Case>, BenchError> {
    let wanted = wanted(machines, options);
    let mut planned = Vec::with_capacity(wanted.len());
    let all = weight(wanted.iter().map(|wanted| wanted.members));
    for wanted in &wanted {
        let doing = format!("{} among {} of {}", wanted.operation, wanted.members, wanted.machine.name);
        progress.step(PLANNING * weight(planned.iter().map(|case: &Unbounded| case.members())) / all, &doing);
        planned.push(Unbounded::plan(wanted, options));
        if options.cancel.is_cancelled() {
            return Err(BenchError::Cancelled);
        }
    }
    let cases = bounds(planned, options, progress);
    // A stopped search gives the best so far, which is no result of a study.
    if options.cancel.is_cancelled() { Err(BenchError::Cancelled) } else { Ok(cases) }
}

/// The part of the time that planning takes, about; the bounds take the rest.
const PLANNING: f64 = 0.3;

/// The plans to make.
#[derive(Clone, Copy, Debug)]
struct Wanted<'m> {
    machine: &'m Machine,
    members: usize,
    selection: Selection,
    operation: Operation,
}

fn wanted<'m>(machines: &'m [Machine], options: &StudyOptions) -> Vec<Wanted<'m>> {
    let mut wanted = Vec::new();
    for &members in &options.sizes {
        for machine in machines.iter().filter(|machine| machine.cpus.len() >= members) {
            for selection in Selection::of(machine, members) {
                let of = |&operation: &Operation| Wanted { machine, members, selection, operation };
                wanted.extend(options.operations.iter().map(of));
            }
        }
    }
    wanted
}

/// How long cases with these numbers of members take, relative to each other.
fn weight(members: impl Iterator<Item = usize>) -> f64 {
    members.map(|members| (members * members) as f64).sum()
}

/// Bounds all cases, the largest first, and puts them back in order.
fn bounds(planned: Vec<Unbounded>, options: &StudyOptions, progress: &mut dyn Progress) -> Vec<Case> {
    let count = planned.len();
    let all = weight(planned.iter().map(Unbounded::members));
    let open: Mutex<Vec<(usize, Unbounded)>> = Mutex::new(planned.into_iter().enumerate().collect());
    let (send, receive) = mpsc::channel();
    let mut cases = Vec::with_capacity(count);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let (open, send) = (&open, send.clone());
            scope.spawn(move || {
                loop {
                    let next = open.lock().expect("nobody panics while holding it").pop();
                    let Some((place, case)) = next else { return };
                    // Nobody listens any more only if the study panicked.
                    let _ = send.send((place, case.bound(options)));
                }
            });
        }
        drop(send);
        for (place, case) in receive {
            cases.push((place, case));
            let done = weight(cases.iter().map(|(_, case): &(usize, Case)| case.members));
            progress.step(PLANNING + (1.0 - PLANNING) * done / all, "lower bounds");
        }
    });
    cases.sort_by_key(|&(place, _)| place);
    cases.into_iter().map(|(_, case)| case).collect()
}
