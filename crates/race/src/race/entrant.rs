//! One contender in one race: built, checked, paced, timed block by block.

use std::sync::Arc;
use std::time::Duration;

use corecast::base::Clock;

use crate::cancel::Cancel;
use crate::contender::{Contender, Setting, processes};
use crate::failure::Failure;
use crate::harness::{
    Abort, Block, Body, Crew, Pace, Stamps, Summary, Task, iterations_that_fill, median, ticks_of, ticks_of_windows,
};
use crate::op::Op;
use crate::report::{Row, Timing};
use crate::skip::Skip;

/// The narrowest start window: time to come back from the one before.
const NARROWEST: Duration = Duration::from_micros(2);
const WIDEST: Duration = Duration::from_millis(10);
/// A window may be wider by this for each byte that its operation carries.
const WIDER_PER_BYTE: Duration = Duration::from_nanos(16);
/// Bytes that are verified at most, and sent to estimate the length of a window, so that long values do not take the
/// time of short ones a million times. One operation is always verified.
const CHECKED_BYTES: u64 = 4 << 20;
/// Windows of one block.
const MOST_WINDOWS: u64 = 64;
const FEWEST_WINDOWS: u64 = 4;
/// Operations by which the length of a window is estimated.
const ESTIMATE: u64 = 16;

/// Why a contender that works has no samples.
const NEVER_IN_TIME: &str = "in no start window did all participants begin in time: the machine is too busy";

/// A contender and what is known of it so far.
pub struct Entrant {
    contender: Box<dyn Contender>,
    op: Op,
    /// The number of bytes that an operation carries.
    bytes: u64,
    abort: Arc<Abort>,
    /// The participants' parts, or why it is out of the race.
    bodies: Result<Vec<Box<dyn Body>>, Skip>,
    task: Task,
    /// A block each, in the order of the rounds.
    blocks: Vec<Samples>,
    root: usize,
}

/// The samples of one block, or of all that count.
#[derive(Default)]
struct Samples {
    ns: Vec<f64>,
    /// Of echoed operations: those of each participant but the root, in the order of ranks.
    by_leaf_ns: Vec<Vec<f64>>,
    cpu_ns: Vec<f64>,
    discarded: usize,
}

impl Samples {
    fn add(&mut self, block: &Self) {
        self.ns.extend(&block.ns);
        self.by_leaf_ns.resize(self.by_leaf_ns.len().max(block.by_leaf_ns.len()), Vec::new());
        self.by_leaf_ns.iter_mut().zip(&block.by_leaf_ns).for_each(|(all, some)| all.extend(some));
        self.cpu_ns.extend(&block.cpu_ns);
        self.discarded += block.discarded;
    }

    /// Those of the slowest participant, where each has its own.
    fn deciding_ns(&self) -> &[f64] {
        let slowest = slowest(&self.by_leaf_ns);
        if slowest.is_empty() { &self.ns } else { slowest }
    }
}

impl Entrant {
    /// Builds the contender's bodies; whatever keeps it from taking part becomes the reason in its row.
    pub fn build(contender: Box<dyn Contender>, setting: &Setting<'_>, user: &Cancel) -> Self {
        let abort = Arc::new(Abort::heeding(user));
        let bodies = match contender.only_for() {
            Some(members) if members != setting.participants() => {
                Err(Skip::unfit(format!("for {members} participants only")))
            }
            _ => processes::bodies(&*contender, setting, &abort),
        };
        let task = Task::Batch { iterations: 1 };
        let (op, bytes, root) = (setting.op, setting.bytes as u64, setting.root);
        Self { contender, op, bytes, abort, bodies, task, blocks: Vec::new(), root }
    }

    /// The contender's name.
    pub fn name(&self) -> String {
        self.contender.name()
    }

    /// Verifies the contender and finds out how much work fills a block. May be called for one that is out.
    pub fn prepare(&mut self, crew: &mut Crew, timing: Timing, pace: &Pace) {
        let prepared =
            self.run(crew, Task::Check { rounds: self.at_most(pace.check_rounds) }).and_then(|_| match timing {
                Timing::Batches => self.pace_batches(crew, pace, |iterations| Task::Batch { iterations }),
                Timing::Separated => self.pace_batches(crew, pace, |operations| Task::Separated { operations }),
                Timing::Windows => self.pace_windows(crew, pace),
                Timing::LeafEcho => {
                    let (root, is_reversed) = (self.root, self.op.ends_at_root());
                    self.pace_batches(crew, pace, |operations| Task::Echoed { root, is_reversed, operations })
                }
            });
        self.note(prepared);
    }

    /// Runs one block and keeps what it shows. May be called for one that is out.
    pub fn block(&mut self, crew: &mut Crew) {
        let outcome = self.run(crew, self.task).map(|timings| match self.task {
            Task::Windows { count, width } => self.keep_windows(&timings, count, width),
            Task::Batch { iterations } => self.keep_batch(&timings, iterations),
            Task::Separated { operations } => self.keep_batch(&timings, operations),
            Task::Echoed { root, operations, .. } => self.keep_echoes(&timings, root, operations),
            Task::Check { .. } | Task::Late { .. } | Task::Paced { .. } | Task::Rounds { .. } => {}
        });
        self.note(outcome);
    }

    /// The CPU time that one participant's delay costs the others, by rank; `None` if the contender is out.
    pub fn late(&mut self, crew: &mut Crew, rank: usize, delay: Duration) -> Option<Vec<Duration>> {
        let outcome = self.run(crew, Task::Late { rank, delay });
        let cpu = outcome.as_ref().ok().map(|timings| timings.iter().map(|timing| timing.cpu).collect());
        self.note(outcome.map(drop));
        cpu
    }

    /// Why it is out of the race, if it is.
    pub fn skipped(&self) -> Option<&Skip> {
        self.bodies.as_ref().err()
    }

    /// True for what corecast offers.
    pub fn is_ours(&self) -> bool {
        self.contender.is_ours()
    }

    /// The contender's line of the report, still without its ratio, of the rounds that are `steady`.
    pub fn row(&self, steady: impl Fn(usize) -> bool) -> Row {
        let mut samples = Samples::default();
        self.blocks.iter().enumerate().filter(|&(round, _)| steady(round)).for_each(|(_, block)| samples.add(block));
        let (summary, skipped) = match (self.skipped(), Summary::of(samples.deciding_ns())) {
            (Some(skip), _) => (None, Some(skip.clone())),
            (None, None) => (None, Some(Skip::unfit(NEVER_IN_TIME))),
            (None, summary) => (summary, None),
        };
        Row {
            contender: self.name(),
            ours: self.is_ours(),
            summary,
            cpu_ns: summary.and_then(|_| median(&samples.cpu_ns)),
            discarded: samples.discarded,
            ratio: None,
            failed: skipped.as_ref().is_some_and(|skip| skip.failed),
            skipped: skipped.map(|skip| skip.reason),
        }
    }

    /// Runs a block; afterwards the bodies are back, or gone with the failure that is returned.
    fn run(&mut self, crew: &mut Crew, task: Task) -> Result<Vec<Stamps>, Failure> {
        let Ok(bodies) = &mut self.bodies else { return Err(Failure::Aborted) };
        let Block { bodies, timings } = crew.run(std::mem::take(bodies), task, &self.abort)?;
        self.bodies = Ok(bodies);
        Ok(timings)
    }

    /// A failure puts the contender out of the race, with the first reason kept.
    fn note(&mut self, outcome: Result<(), Failure>) {
        if let (Err(failure), Ok(_)) = (outcome, &self.bodies) {
            self.bodies = Err(Skip::broken(&failure));
        }
    }

    fn pace_batches(&mut self, crew: &mut Crew, pace: &Pace, task: impl Fn(u64) -> Task) -> Result<(), Failure> {
        let iterations = iterations_that_fill(pace.block, |iterations| {
            let timings = self.run(crew, task(iterations))?;
            Ok(Clock::get().duration(ticks_of(self.op, &timings)))
        })?;
        self.task = task(iterations);
        Ok(())
    }

    /// The number of operations, or fewer if they carry much.
    fn at_most(&self, operations: u64) -> u64 {
        operations.min(CHECKED_BYTES / self.bytes.max(1)).max(1)
    }

    /// No window is wider.
    fn widest(&self) -> Duration {
        WIDEST + WIDER_PER_BYTE * u32::try_from(self.bytes).unwrap_or(u32::MAX)
    }

    fn pace_windows(&mut self, crew: &mut Crew, pace: &Pace) -> Result<(), Failure> {
        let clock = Clock::get();
        let operations = self.at_most(ESTIMATE);
        let timings = self.run(crew, Task::Separated { operations })?;
        let one = clock.duration(ticks_of(self.op, &timings) / operations);
        let width = (2 * one).clamp(NARROWEST, self.widest());
        let count = pace.block.as_nanos() / width.as_nanos();
        let count = u64::try_from(count).unwrap_or(u64::MAX).clamp(FEWEST_WINDOWS, MOST_WINDOWS);
        self.task = Task::Windows { count, width: clock.ticks_in(width) };
        Ok(())
    }

    fn keep_batch(&mut self, timings: &[Stamps], iterations: u64) {
        let operations = iterations as f64 * self.op.per_iteration();
        let ns = vec![Clock::get().ns(ticks_of(self.op, timings)) / operations];
        self.blocks.push(Samples { ns, cpu_ns: vec![cpu_ns(timings, operations)], ..Samples::default() });
    }

    fn keep_echoes(&mut self, timings: &[Stamps], root: usize, operations: u64) {
        let clock = Clock::get();
        let times = timings[root].windows.chunks(operations.max(1) as usize);
        let by_leaf_ns: Vec<Vec<f64>> =
            times.map(|times| times.iter().flatten().map(|&ticks| clock.ns(ticks)).collect()).collect();
        let cpu_ns = cpu_ns(timings, operations as f64 * timings.len().saturating_sub(1) as f64);
        self.blocks.push(Samples { by_leaf_ns, cpu_ns: vec![cpu_ns], ..Samples::default() });
    }

    fn keep_windows(&mut self, timings: &[Stamps], count: u64, width: u64) {
        let clock = Clock::get();
        let windows = ticks_of_windows(timings);
        let ns: Vec<f64> = windows.iter().flatten().map(|&ticks| clock.ns(ticks)).collect();
        let late = windows.len() - ns.len();
        self.blocks.push(Samples { ns, discarded: late, ..Samples::default() });
        if 2 * late > windows.len() {
            let width = (2 * width).min(clock.ticks_in(self.widest()));
            self.task = Task::Windows { count, width };
        }
    }
}

/// The CPU time of all participants for one of the operations.
fn cpu_ns(timings: &[Stamps], operations: f64) -> f64 {
    let cpu: Duration = timings.iter().map(|timing| timing.cpu).sum();
    cpu.as_nanos() as f64 / operations
}

/// The samples with the greatest median; none if there are none.
fn slowest(by_leaf_ns: &[Vec<f64>]) -> &[f64] {
    let medians = by_leaf_ns.iter().filter_map(|samples| Some((median(samples)?, samples)));
    medians.max_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(&[], |(_, samples)| samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_is_so_by_the_median_and_not_by_one_sample() {
        let by_leaf = [vec![1.0, 2.0, 900.0], vec![3.0, 4.0, 5.0], vec![], vec![1.0, 1.0, 1.0]];
        assert_eq!(slowest(&by_leaf), [3.0, 4.0, 5.0]);
        assert_eq!(slowest(&[vec![], vec![]]), [0.0; 0]);
        assert_eq!(slowest(&[]), [0.0; 0]);
    }
}
