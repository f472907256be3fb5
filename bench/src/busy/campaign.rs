//! The whole run of `bench busy`: each repetition runs all cells once, so that a change of the machine affects all of them.

use std::path::Path;
use std::time::{Duration, Instant};

use super::STEPS;
use super::cell::{Amount, Cell};
use super::member::Match;
use super::neighbours::{Load, Neighbours};
use super::quota::Quota;
use super::report::BusyCell;
use super::starter::Starter;
use super::trial::Ground;
use crate::channels::WaitName;
use crate::turns::TurnOrder;
use corecast_race::contender::Workshop;
use corecast_race::error::BenchError;
use corecast_race::progress::Progress;
use corecast_race::skip::Skip;

/// Why a cell has no runs.
const TIME_OVER: &str = "the time for the whole was over";

/// The settings that all runs share.
pub(super) struct Campaign<'a> {
    /// In ascending order.
    pub(super) cpus: &'a [u32],
    /// The file with the machine's model.
    pub(super) model: &'a Path,
    pub(super) workshop: Option<&'a Workshop>,
    pub(super) quota: Option<&'a Quota>,
    pub(super) load: Load,
    pub(super) amount: Amount,
    pub(super) starter: Starter<'a>,
}

impl Campaign<'_> {
    /// Runs everything, as often as asked for, or as there is time.
    pub(super) fn run(
        &self,
        mut cells: Vec<Cell>,
        seed: u64,
        progress: &mut dyn Progress,
    ) -> Result<Vec<BusyCell>, BenchError> {
        let mut order = TurnOrder::new(&self.starter.options.options, seed);
        let mut clock = Clockwork::start(self.amount, &cells);
        for repetition in 0..self.amount.repetitions {
            let load = |cell: &Cell| (cell.hogs, self.used_by(cell).len());
            for same_load in cells.chunk_by_mut(|a, b| load(a) == load(b)) {
                let (hogs, cpus) = (same_load[0].hogs, self.used_by(&same_load[0]));
                let neighbours = Neighbours::start(hogs, self.load, cpus, &self.starter)?;
                let ground =
                    Ground { amount: self.amount, neighbours: &neighbours, quota: self.quota, starter: &self.starter };
                for cell in same_load {
                    if clock.has_time_for(cell) {
                        cell.hogs_alone.extend(neighbours.alone);
                        self.repeat(cell, &ground, &mut order, &mut clock, progress)?;
                    } else if repetition == 0 {
                        cell.candidates.iter_mut().for_each(|tested| tested.skipped = Some(Skip::unfit(TIME_OVER)));
                    }
                }
            }
        }
        progress.step(1.0, "done");
        Ok(cells.iter().map(|cell| cell.report(&self.amount)).collect())
    }

    /// Every candidate once, in an order drawn anew.
    fn repeat(
        &self,
        cell: &mut Cell,
        ground: &Ground<'_>,
        order: &mut TurnOrder<'_>,
        clock: &mut Clockwork,
        progress: &mut dyn Progress,
    ) -> Result<(), BenchError> {
        let begun = Instant::now();
        let situation = cell.report(&self.amount).situation();
        order.round(cell.candidates.len(), |at| {
            clock.done += 1;
            if cell.candidates[at].goes_on() {
                progress.step(clock.fraction(), &format!("{situation}: {}", cell.candidates[at].candidate.name));
                let assigned = self.assigned(cell, at);
                let outcome = ground.run(assigned)?;
                cell.candidates[at].keep(outcome);
            }
            Ok(())
        })?;
        cell.took = begun.elapsed();
        Ok(())
    }

    /// The CPUs that the candidates of a cell and their neighbours run on: one for each member, while there are as many.
    fn used_by(&self, cell: &Cell) -> &[u32] {
        &self.cpus[..cell.members.min(self.cpus.len())]
    }

    fn assigned(&self, cell: &Cell, at: usize) -> Match {
        let options = self.starter.options;
        let candidate = &cell.candidates[at].candidate;
        let processes = (options.program.clone(), options.collective_arguments.clone());
        Match {
            operation: cell.operation.name.to_owned(),
            candidate: candidate.name.to_owned(),
            wait: WaitName::of(candidate.wait(options.options.wait)),
            model: self.model.to_owned(),
            drivers: self.workshop.map(|workshop| workshop.directory().to_owned()),
            cpus: self.used_by(cell).to_vec(),
            members: cell.members,
            pinned: cell.pinned,
            processes: cell.among_processes.then_some(processes),
            rounds: cell.rounds(&self.amount),
            least: self.amount.least,
            steps: STEPS,
        }
    }
}

/// How far all of it is, and whether there is time left.
struct Clockwork {
    begun: Instant,
    total: Duration,
    /// Runs so far, and all that are asked for.
    done: usize,
    all: usize,
}

impl Clockwork {
    fn start(amount: Amount, cells: &[Cell]) -> Self {
        let once: usize = cells.iter().map(|cell| cell.candidates.len()).sum();
        Self { begun: Instant::now(), total: amount.total, done: 0, all: (once * amount.repetitions).max(1) }
    }

    /// Whether a cell can take as long as it took before, and the time is not over.
    fn has_time_for(&self, cell: &Cell) -> bool {
        self.begun.elapsed() + cell.took < self.total
    }

    /// The part that is done: by runs, or by the time where that will be over before.
    fn fraction(&self) -> f64 {
        let by_time = self.begun.elapsed().as_secs_f64() / self.total.as_secs_f64().max(1e-9);
        (self.done as f64 / self.all as f64).max(by_time).min(1.0)
    }
}
