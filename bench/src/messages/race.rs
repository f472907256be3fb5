//! Contenders in one situation: built, checked, and timed block by block in turns.
//!
//! Timed blocks check every message as the first one does; it is the same work for all contenders.

use std::sync::Arc;
use std::time::Duration;

use corecast::base::{Clock, CpuId, CpuSet};
use fastrand::Rng;

use super::contender::Contender;
use corecast_race::cancel::Cancel;
use corecast_race::contender::Body;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Crew, LineProbe, Task, Timing, is_crowded, iterations_that_fill};
use corecast_race::options::Options;
use corecast_race::skip::Skip;

/// The time beyond four times its length that a block may take before its contender is given up: on a busy machine a poller
/// waits for a slice of time now and then.
const LIMIT: Duration = Duration::from_secs(10);
/// Messages of each participant that are checked before a contender is timed: its rings are lapped.
const CHECKED: u64 = 200;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    pub(super) rounds: usize,
    /// The length of a block where every participant has a CPU; twice that elsewhere, as CPUs change hands meanwhile.
    pub(super) block: Duration,
}

/// The settings that all situations share.
pub(super) struct Run<'a> {
    pub(super) options: &'a Options,
    pub(super) cpus: Vec<CpuId>,
    pub(super) contenders: Vec<Contender>,
    pub(super) amount: Amount,
    pub(super) random: Rng,
    /// The cost of a wake-up, if the machine's model tells.
    pub(super) wake_cost: Option<Duration>,
}

/// One contender's participants, or why there are none, and its blocks.
pub(super) struct Entrant {
    pub(super) contender: Contender,
    abort: Arc<Abort>,
    bodies: Result<Vec<Box<dyn Body>>, Skip>,
    /// Messages that each sender sends in a block.
    pub(super) iterations: u64,
    /// The timings of each block, one for each participant.
    pub(super) blocks: Vec<Vec<Timing>>,
}

/// A race that was run.
pub(super) struct Raced {
    pub(super) entrants: Vec<Entrant>,
    pub(super) line_ns: Option<f64>,
    pub(super) placement_changes: u32,
}

/// Builds the bodies of a contender.
type Build<'a> = dyn Fn(&Contender, &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, String> + 'a;

impl Run<'_> {
    /// True if this number of participants, bound to CPUs in turn, have to share CPUs.
    pub(super) fn is_crowded(&self, participants: usize) -> bool {
        is_crowded(participants, self.cpus.len())
    }

    /// Races these contenders on these seats, with a probe of the line between the first two beside each round.
    pub(super) fn race(
        &mut self,
        seats: &[CpuId],
        contenders: Vec<Contender>,
        build: &Build<'_>,
    ) -> Result<Raced, BenchError> {
        let is_crowded = self.is_crowded(seats.len());
        let block = self.amount.block * if is_crowded { 2 } else { 1 };
        let mut crew = Crew::start(seats, is_crowded, LIMIT + 4 * block)?;
        let pair: CpuSet = seats.iter().copied().take(2).collect();
        let mut probe = LineProbe::start(&pair)?;
        let mut entrants: Vec<Entrant> = Vec::with_capacity(contenders.len());
        for contender in contenders {
            self.options.go_on()?;
            let mut entrant = Entrant::new(contender, build, &self.options.cancel);
            entrant.prepare(&mut crew, block);
            entrants.push(entrant);
        }
        let mut order: Vec<usize> = (0..entrants.len()).collect();
        for _ in 0..self.amount.rounds {
            probe.iter_mut().for_each(LineProbe::probe);
            self.random.shuffle(&mut order);
            for &at in &order {
                self.options.go_on()?;
                entrants[at].block(&mut crew);
            }
        }
        self.options.go_on()?;
        let line_ns = probe.as_ref().and_then(LineProbe::median_ns);
        let placement_changes = probe.as_ref().map_or(0, LineProbe::placement_changes);
        Ok(Raced { entrants, line_ns, placement_changes })
    }
}

impl Entrant {
    fn new(contender: Contender, build: &Build<'_>, user: &Cancel) -> Self {
        let abort = Arc::new(Abort::heeding(user));
        let bodies = build(&contender, &abort).map_err(Skip::unfit);
        Self { contender, abort, bodies, iterations: 1, blocks: Vec::new() }
    }

    /// Checks it and finds out how many messages fill a block.
    fn prepare(&mut self, crew: &mut Crew, block: Duration) {
        let prepared = self.run(crew, CHECKED).and_then(|_| {
            iterations_that_fill(block, |iterations| {
                let timings = self.run(crew, iterations)?;
                Ok(Clock::get().duration(ticks(&timings)))
            })
        });
        match prepared {
            Ok(iterations) => self.iterations = iterations,
            Err(failure) => self.note(&failure),
        }
    }

    fn block(&mut self, crew: &mut Crew) {
        match self.run(crew, self.iterations) {
            Ok(timings) => self.blocks.push(timings),
            Err(failure) => self.note(&failure),
        }
    }

    fn run(&mut self, crew: &mut Crew, rounds: u64) -> Result<Vec<Timing>, Failure> {
        let Ok(bodies) = &mut self.bodies else { return Err(Failure::Aborted) };
        let block = crew.run(std::mem::take(bodies), Task::Check { rounds }, &self.abort)?;
        *bodies = block.bodies;
        Ok(block.timings)
    }

    /// A failure puts it out of the race: the first reason is kept, and no figure.
    fn note(&mut self, failure: &Failure) {
        self.blocks.clear();
        if self.bodies.is_ok() {
            self.bodies = Err(Skip::broken(failure));
        }
    }

    /// Why it has no figures, if it has none.
    pub(super) fn skipped(&self) -> Option<&Skip> {
        self.bodies.as_ref().err()
    }
}

/// From the first participant's start to the last one's end.
pub(super) fn ticks(timings: &[Timing]) -> u64 {
    let start = timings.iter().map(|timing| timing.start).min().unwrap_or(0);
    timings.iter().map(|timing| timing.end).max().unwrap_or(0).saturating_sub(start)
}

#[cfg(test)]
mod tests {
    use super::super::contender::contenders;
    use super::*;
    use crate::this_machine::this_machine;

    /// Fails in its third block.
    struct Fragile(u32);

    impl Body for Fragile {
        fn run(&mut self, iterations: u64) -> Result<(), Failure> {
            self.check(iterations)
        }

        fn check(&mut self, _rounds: u64) -> Result<(), Failure> {
            self.0 += 1;
            std::thread::sleep(Duration::from_millis(1));
            if self.0 > 4 { Err(Failure::Wrong("it broke".to_owned())) } else { Ok(()) }
        }
    }

    #[test]
    fn who_fails_in_a_timed_block_has_no_figure_but_a_reason() {
        let cpus: Vec<CpuId> = this_machine().cpu_set().iter().take(1).collect();
        let options = Options::default();
        let amount = Amount { rounds: 4, block: Duration::from_millis(1) };
        let random = Rng::with_seed(3);
        let mut run =
            Run { options: &options, cpus: cpus.clone(), contenders: contenders(), amount, random, wake_cost: None };
        let two = run.contenders[..2].to_vec();
        let raced = run.race(&cpus, two, &|contender, _| match contender.ours {
            true => Ok(vec![Box::new(Fragile(0))]),
            false => Err("it is not here".to_owned()),
        });
        let entrants = raced.expect("nobody stops it").entrants;
        let skip = |at: usize| entrants[at].skipped().map(|skip| (skip.reason.as_str(), skip.failed));
        assert_eq!(skip(0), Some(("wrong result: it broke", true)));
        assert_eq!(skip(1), Some(("it is not here", false)));
        assert!(entrants.iter().all(|entrant| entrant.blocks.is_empty()));
        options.cancel.cancel();
        assert!(matches!(run.race(&cpus, contenders(), &|_, _| Ok(Vec::new())), Err(BenchError::Cancelled)));
    }
}
