//! Contenders in one situation: built, checked, and timed block by block in turns.
//!
//! Timed blocks check every message as the first one does; it is the same work for all contenders.

use std::sync::Arc;
use std::time::Duration;

use corecast::base::{Clock, CpuId, CpuSet};

use super::contender::Contender;
use crate::participants::Participants;
use crate::turns::{Raced, Situation, TurnOrder};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body, Crew, Stamps, Task, is_crowded, iterations_that_fill};
use corecast_race::race::LineProbe;

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
    pub(super) order: TurnOrder<'a>,
    pub(super) cpus: Vec<CpuId>,
    pub(super) contenders: Vec<Contender>,
    pub(super) amount: Amount,
    /// The cost of a wake-up, if the machine's model tells.
    pub(super) wake_cost: Option<Duration>,
}

/// One contender and its blocks.
pub(super) struct Entrant {
    pub(super) contender: Contender,
    participants: Participants,
    /// Messages that each sender sends in a block.
    pub(super) iterations: u64,
    /// The timings of each block, one for each participant.
    pub(super) raced: Raced<Vec<Stamps>>,
}

/// A race that was run.
pub(super) struct Outcome {
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
    ) -> Result<Outcome, BenchError> {
        let is_crowded = self.is_crowded(seats.len());
        let Amount { rounds, block } = self.amount;
        let block = block * if is_crowded { 2 } else { 1 };
        let pair: CpuSet = seats.iter().copied().take(2).collect();
        let entrant = |contender| Entrant {
            contender,
            participants: Participants::heeding(&self.order.options.cancel),
            iterations: 1,
            raced: Raced { blocks: Vec::new(), skip: None },
        };
        let mut seating = Seating {
            entrants: contenders.into_iter().map(entrant).collect(),
            build,
            crew: Crew::start(seats, is_crowded, LIMIT + 4 * block)?,
            probe: LineProbe::start(&pair)?,
            rounds,
            block,
        };
        let raced = self.order.race(seating.entrants.len(), &mut seating)?;
        let Seating { mut entrants, probe, .. } = seating;
        entrants.iter_mut().zip(raced).for_each(|(entrant, raced)| entrant.raced = raced);
        let line_ns = probe.as_ref().and_then(LineProbe::median_ns);
        let placement_changes = probe.as_ref().map_or(0, LineProbe::placement_changes);
        Ok(Outcome { entrants, line_ns, placement_changes })
    }
}

/// Contenders on the same seats.
struct Seating<'a> {
    entrants: Vec<Entrant>,
    build: &'a Build<'a>,
    crew: Crew,
    probe: Option<LineProbe>,
    rounds: usize,
    block: Duration,
}

impl Situation for Seating<'_> {
    type Block = Vec<Stamps>;

    fn prepare(&mut self, at: usize) -> Result<(), Failure> {
        let Entrant { contender, participants, .. } = &mut self.entrants[at];
        participants.make(|abort| (self.build)(contender, abort).map_err(Failure::Refused))
    }

    /// Checks it, and finds out how many messages fill a block.
    fn check(&mut self, at: usize) -> Result<(), Failure> {
        let Entrant { participants, iterations, .. } = &mut self.entrants[at];
        let mut run = |rounds| participants.run(&mut self.crew, Task::Check { rounds });
        run(CHECKED)?;
        *iterations = iterations_that_fill(self.block, |rounds| Ok(Clock::get().duration(ticks(&run(rounds)?))))?;
        Ok(())
    }

    fn wants_round(&mut self, rounds: usize) -> bool {
        if rounds < self.rounds {
            self.probe.iter_mut().for_each(LineProbe::probe);
        }
        rounds < self.rounds
    }

    fn block(&mut self, at: usize) -> Result<Vec<Stamps>, Failure> {
        let Entrant { participants, iterations, .. } = &mut self.entrants[at];
        participants.run(&mut self.crew, Task::Check { rounds: *iterations })
    }
}

/// From the first participant's start to the last one's end.
pub(super) fn ticks(timings: &[Stamps]) -> u64 {
    let start = timings.iter().map(|timing| timing.start).min().unwrap_or(0);
    timings.iter().map(|timing| timing.end).max().unwrap_or(0).saturating_sub(start)
}

#[cfg(test)]
mod tests {
    use super::super::contender::contenders;
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::options::Options;

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
    fn a_contender_that_fails_in_a_timed_block_has_no_figure_but_a_reason() {
        let cpus: Vec<CpuId> = this_machine().cpu_set().iter().take(1).collect();
        let options = Options::default();
        let amount = Amount { rounds: 4, block: Duration::from_millis(1) };
        let order = TurnOrder::new(&options, 3);
        let mut run = Run { order, cpus: cpus.clone(), contenders: contenders(), amount, wake_cost: None };
        let two = run.contenders[..2].to_vec();
        let raced = run.race(&cpus, two, &|contender, _| match contender.ours {
            true => Ok(vec![Box::new(Fragile(0))]),
            false => Err("it is not here".to_owned()),
        });
        let entrants = raced.expect("nobody stops it").entrants;
        let skip = |at: usize| (entrants[at].raced.skipped(), entrants[at].raced.has_failed());
        assert_eq!(skip(0), (Some("wrong result: it broke".to_owned()), true));
        assert_eq!(skip(1), (Some("it is not here".to_owned()), false));
        assert!(entrants.iter().all(|entrant| entrant.raced.blocks.is_empty()));
        options.cancel.cancel();
        assert!(matches!(run.race(&cpus, contenders(), &|_, _| Ok(Vec::new())), Err(BenchError::Cancelled)));
    }
}
