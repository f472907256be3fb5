//! The situations in which all candidates of an operation run: how many rounds each does there, and the results.

use std::time::Duration;

use super::BusyOptions;
use super::member::Rounds;
use super::operation::{Candidate, OPERATIONS, Operation};
use super::report::{BusyCell, BusyRow};
use super::trial::{Observed, Outcome, Unfinished};
use crate::counts::or_usual;
use crate::stats::{median, median_of};
use corecast_race::contender::Workshop;
use corecast_race::error::BenchError;
use corecast_race::harness::Abort;
use corecast_race::skip::Skip;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    pub(super) rounds: u64,
    pub(super) limit: Duration,
    pub(super) repetitions: usize,
    /// For so long rounds are repeated, at least.
    pub(super) least: Duration,
    /// No cell is begun later than this after the start.
    pub(super) total: Duration,
}

const THOROUGH: Amount = Amount {
    rounds: 2000,
    limit: Duration::from_secs(3),
    repetitions: 3,
    least: Duration::from_millis(200),
    total: Duration::from_secs(55 * 60),
};
const QUICK: Amount = Amount {
    rounds: 300,
    limit: Duration::from_secs(1),
    repetitions: 3,
    least: Duration::from_millis(60),
    total: Duration::from_secs(45),
};

impl Amount {
    pub(super) fn of(options: &BusyOptions) -> Self {
        let usual = if options.options.quick { QUICK } else { THOROUGH };
        Self {
            rounds: options.rounds.unwrap_or(usual.rounds),
            limit: options.limit.unwrap_or(usual.limit),
            repetitions: options.repetitions.unwrap_or(usual.repetitions).max(1),
            ..usual
        }
    }
}

/// A situation, its candidates, and what came of each so far.
pub(super) struct Cell {
    pub(super) operation: &'static Operation,
    pub(super) members: usize,
    pub(super) among_processes: bool,
    pub(super) pinned: bool,
    pub(super) hogs: usize,
    pub(super) candidates: Vec<Tested>,
    /// The CPUs' worth of time that the neighbours got alone, in each repetition.
    pub(super) hogs_alone: Vec<f64>,
    /// How long the last repetition took.
    pub(super) took: Duration,
}

/// A candidate with its runs.
pub(super) struct Tested {
    pub(super) candidate: Candidate,
    pub(super) finished: Vec<Rounds>,
    /// The CPU time of the neighbours beside all its finished runs together.
    observed: Observed,
    unfinished: Option<Unfinished>,
    pub(super) skipped: Option<Skip>,
}

impl Tested {
    fn of(candidate: Candidate) -> Self {
        Self { candidate, finished: Vec::new(), observed: Observed::default(), unfinished: None, skipped: None }
    }

    /// Whether it is of use to run it once more: one that has hung takes its whole limit, and would do so again.
    pub(super) fn goes_on(&self) -> bool {
        self.unfinished.is_none() && self.skipped.is_none()
    }

    pub(super) fn keep(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Finished(rounds, Observed { theirs, time }) => {
                self.finished.push(rounds);
                self.observed.theirs += theirs;
                self.observed.time += time;
            }
            Outcome::Unfinished(unfinished) => self.unfinished = Some(unfinished),
            Outcome::Absent(skip) => self.skipped = Some(skip),
        }
    }

    /// Whether a run of it broke down, or took longer than it may though its members sleep while they wait.
    fn has_failed(&self) -> bool {
        let broke_down = |unfinished: &Unfinished| self.candidate.sleeps || !unfinished.ran_out_of_time;
        self.unfinished.as_ref().is_some_and(broke_down) || self.skipped.as_ref().is_some_and(|skip| skip.failed)
    }

    fn row(&self, hogs: usize) -> BusyRow {
        let of = |what: fn(&Rounds) -> f64| median_of(self.finished.iter().map(what));
        let Candidate { name, sleeps, .. } = self.candidate;
        BusyRow {
            contender: name,
            ours: self.candidate.is_ours(),
            judged: self.candidate.is_judged(),
            sleeps,
            runs: self.finished.len(),
            wall_ms: of(|rounds| rounds.wall_ns / 1e6),
            median_ns: of(|rounds| rounds.median_ns),
            p99_ns: of(|rounds| rounds.p99_ns),
            longest_ns: of(|rounds| rounds.longest_ns),
            cpu_s: of(|rounds| rounds.cpu_s).or(self.unfinished.as_ref().map(|run| run.cpu_s)),
            hogs_cpus: self.observed.cpus().filter(|_| hogs > 0),
            ratio: None,
            unfinished: self.unfinished.as_ref().map(|run| run.why.clone()),
            skipped: self.skipped.as_ref().map(|skip| skip.reason.clone()),
            failed: self.has_failed(),
        }
    }
}

impl Cell {
    /// Rounds of each run here.
    pub(super) fn rounds(&self, amount: &Amount) -> u64 {
        amount.rounds * self.operation.times_rounds
    }

    /// The cell as it is reported.
    pub(super) fn report(&self, amount: &Amount) -> BusyCell {
        let mut rows: Vec<BusyRow> = self.candidates.iter().map(|tested| tested.row(self.hogs)).collect();
        let judged = rows.iter().find(|row| row.judged).and_then(|row| row.wall_ms);
        for row in &mut rows {
            row.ratio = row.wall_ms.zip(judged).map(|(wall, judged)| wall / judged);
        }
        BusyCell {
            op: self.operation.name,
            members: self.members,
            place: if self.among_processes { "processes" } else { "threads" },
            pinned: self.pinned,
            hogs: self.hogs,
            hogs_alone: median(&self.hogs_alone),
            rounds: self.rounds(amount),
            rows,
        }
    }
}

/// All situations that are asked for, those with the same number of members and the same load next to each other.
pub(super) fn cells(options: &BusyOptions) -> Result<Vec<Cell>, BenchError> {
    let quick = options.options.quick;
    let hogs = or_usual(&options.hogs, || if quick { vec![0, 1, 2] } else { vec![0, 1, 2, 4] });
    let members = or_usual(&options.members, || if quick { vec![2, 4] } else { vec![2, 4, 8] });
    let pinned = or_usual(&options.pinned, || if quick { vec![true] } else { vec![true, false] });
    let places = or_usual(&options.processes, || if quick { vec![false] } else { vec![false, true] });
    let operations: Vec<&'static Operation> =
        OPERATIONS.iter().filter(|operation| is_asked(operation, options)).collect();
    know_contenders(options, &operations)?;
    let mut cells = Vec::new();
    for hogs in hogs {
        for &operation in &operations {
            for members in operation.only_for.map_or_else(|| members.clone(), |only| vec![only]) {
                for &among_processes in places.iter().filter(|&&place| !place || operation.has_processes) {
                    for &pinned in &pinned {
                        let candidates = chosen(operation, options);
                        let (hogs_alone, took) = (Vec::new(), Duration::ZERO);
                        let cell =
                            Cell { operation, members, among_processes, pinned, hogs, candidates, hogs_alone, took };
                        cells.push(cell);
                    }
                }
            }
        }
    }
    cells.sort_by_key(|cell| (cell.hogs, cell.members));
    Ok(cells)
}

fn is_asked(operation: &Operation, options: &BusyOptions) -> bool {
    match options.ops.as_slice() {
        [] => operation.is_core || !options.options.quick,
        ops => ops.iter().any(|op| op == operation.name),
    }
}

/// Those that are named, or all; corecast's default in any case, to which ratios refer.
fn chosen(operation: &Operation, options: &BusyOptions) -> Vec<Tested> {
    let named = &options.options.contenders;
    let is_chosen = |candidate: &Candidate| {
        named.is_empty() || candidate.is_judged() || named.iter().any(|name| name == candidate.name)
    };
    (operation.candidates)().into_iter().filter(is_chosen).map(Tested::of).collect()
}

/// Refuses names that no candidate of these operations has.
fn know_contenders(options: &BusyOptions, operations: &[&'static Operation]) -> Result<(), BenchError> {
    let mut known: Vec<&str> = Vec::new();
    for candidate in operations.iter().flat_map(|operation| (operation.candidates)()) {
        if !known.contains(&candidate.name) {
            known.push(candidate.name);
        }
    }
    match options.options.contenders.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(BenchError::Contender { name: name.clone(), known: known.join(", ") }),
        None => Ok(()),
    }
}

/// Builds the drivers that candidates need, once for all runs; false if none needs any.
pub(super) fn build_drivers(cells: &[Cell], workshop: &Workshop, abort: &Abort) -> bool {
    let mut built = Vec::new();
    for cell in cells.iter().filter(|cell| cell.candidates.iter().any(|tested| tested.candidate.is_external)) {
        if !built.contains(&cell.operation.op) {
            workshop.build_all(cell.operation.op, abort);
            built.push(cell.operation.op);
        }
    }
    !built.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::failure::Failure;

    #[test]
    fn a_process_that_ends_before_it_begins_has_failed_and_one_that_is_refused_has_not() {
        let has_failed = |failure: &Failure| {
            let mut tested = Tested::of((OPERATIONS[0].candidates)().remove(0));
            tested.keep(Outcome::Absent(Skip::asked(failure)));
            tested.row(0).failed
        };
        assert!(has_failed(&Failure::Ended("the process of corecast ended: signal: 11".to_owned())));
        assert!(!has_failed(&Failure::Refused("it needs another machine".to_owned())));
    }
}
