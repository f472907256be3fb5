//! Visits all pairs repeatedly until every interval is narrow or the time is up.
//!
//! A pass visits every pair once, round by round, in a new order; so the visits of one pair are spread over the whole
//! time, and a change of the machine falls on all pairs alike. Time grows with the rounds of the tournament, which are
//! one fewer than the CPUs, as long as pairs do not disturb each other; `disturbance` finds out whether they do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::crew::{Crew, Task};
use super::error::MeasureError;
use super::options::Effort;
use super::pairs::Pairs;
use super::progress::{Progress, Step};
use super::reference::{Reference, Verdict};
use super::stats::{Summary, median};
use super::tournament::{Pair, rounds, sets_of};
use super::visit::{Batches, Costs, Visit};
use crate::probe::Probe;
use crate::topology::Cpu;

/// How often everything is measured again when the machine changes; a machine that changes all the time is described
/// by its medians and a warning.
const MOST_RESTARTS: usize = 2;
/// Looks at the reference before the first round.
const FIRST_LOOKS: usize = 3;

/// The inputs of a campaign, and its findings so far.
pub(super) struct Campaign<'c, 'env, P: Probe> {
    crew: &'c Crew<'env>,
    probe: &'env P,
    pub(super) batches: &'env Batches,
    effort: Effort,
    cpus: &'env [Cpu],
    /// Pairs that are visited at the same time, at most.
    at_once: usize,
    rng: fastrand::Rng,
    reference: Reference,
    begun: Instant,
    rounds_done: usize,
    /// How often the machine changed.
    moves: usize,
    pub(super) pairs: Pairs,
    pub(super) warnings: Vec<String>,
}

impl<'c, 'env, P: Probe> Campaign<'c, 'env, P> {
    pub(super) fn new(
        crew: &'c Crew<'env>,
        probe: &'env P,
        batches: &'env Batches,
        cpus: &'env [Cpu],
        effort: Effort,
        seed: u64,
    ) -> Self {
        Self {
            crew,
            probe,
            batches,
            effort,
            cpus,
            at_once: usize::MAX,
            rng: fastrand::Rng::with_seed(seed),
            reference: Reference::default(),
            begun: Instant::now(),
            rounds_done: 0,
            moves: 0,
            pairs: Pairs::none(cpus.len()),
            warnings: Vec::new(),
        }
    }

    /// Visits all pairs, at most `at_once` at a time, until they are certain enough.
    pub(super) fn run(&mut self, at_once: usize, progress: &mut dyn Progress) -> Result<(), MeasureError> {
        self.at_once = at_once;
        self.begun = Instant::now();
        let looks = (0..FIRST_LOOKS).map(|_| self.look()).collect::<Result<Vec<_>, _>>()?;
        self.reference.judge(median(&looks));
        let mut tournament = rounds(self.cpus.len());
        loop {
            self.rng.shuffle(&mut tournament);
            for round in &tournament {
                self.believable_round(round)?;
                self.rounds_done += 1;
                progress.step(&self.step(tournament.len()));
                if self.is_late() && self.pairs.least_visits() > 0 {
                    return Ok(());
                }
            }
            if self.begun.elapsed() >= self.effort.least_time && self.pairs.are_certain(&self.effort) {
                return Ok(());
            }
        }
    }

    fn is_late(&self) -> bool {
        self.begun.elapsed() >= self.effort.budget
    }

    /// One round, measured again if the reference beside it shows a disturbance.
    fn believable_round(&mut self, round: &[Pair]) -> Result<(), MeasureError> {
        loop {
            let found = self.visit_round(round)?;
            let look = self.look()?;
            match self.reference.judge(look) {
                Verdict::Doubtful => continue,
                Verdict::Moved { from_ns, to_ns } => self.start_again(from_ns, to_ns),
                Verdict::Steady => {}
            }
            found.into_iter().for_each(|(pair, costs)| self.pairs.add(pair, costs));
            return Ok(());
        }
    }

    /// False if the reference says that the machine is not the one that the pairs were measured on.
    pub(super) fn is_as_before(&mut self) -> Result<bool, MeasureError> {
        Ok(self.reference.judge(self.look()?) == Verdict::Steady)
    }

    fn start_again(&mut self, from_ns: f64, to_ns: f64) {
        self.moves += 1;
        let after = if self.moves <= MOST_RESTARTS && !self.is_late() {
            self.pairs = Pairs::none(self.cpus.len());
            "all was measured again"
        } else {
            "costs are medians over both"
        };
        // Only the first changes get a warning each, as a machine may change all the time.
        self.warnings.truncate(MOST_RESTARTS);
        self.warnings.push(format!(
            "change {}: the reference hand-over went from {from_ns:.0} to {to_ns:.0} ns during the measurement (CPUs moved by \
             a hypervisor, or other load); {after}",
            self.moves
        ));
    }

    fn visit_round(&self, round: &[Pair]) -> Result<Vec<(Pair, Costs)>, MeasureError> {
        let core = |position: usize| self.cpus[position].core;
        let mut found = Vec::with_capacity(round.len());
        for set in sets_of(round, self.at_once, core) {
            found.extend(self.visit_set(&set)?);
        }
        Ok(found)
    }

    /// Visits all these pairs at the same time.
    pub(super) fn visit_set(&self, set: &[Pair]) -> Result<Vec<(Pair, Costs)>, MeasureError> {
        let mut tasks = Vec::with_capacity(2 * set.len());
        for &(a, b) in set {
            let visit: Arc<Visit<'env, P>> = Arc::new(Visit::new(self.crew.halt));
            let (probe, batches) = (self.probe, self.batches);
            for (side, position) in [a, b].into_iter().enumerate() {
                let visit = Arc::clone(&visit);
                let task: Task<'env, _> = Box::new(move || visit.attend(side, probe, batches));
                tasks.push((position, task));
            }
        }
        let sides = self.crew.run(tasks)?;
        Ok(set.iter().zip(sides.chunks(2)).map(|(&pair, sides)| (pair, Costs::joined(&sides[0], &sides[1]))).collect())
    }

    /// The hand-over between the first two CPUs, now.
    fn look(&self) -> Result<f64, MeasureError> {
        let visit: Arc<Visit<'env, P>> = Arc::new(Visit::new(self.crew.halt));
        let batches = self.batches;
        let tasks = [0, 1].map(|side| {
            let visit = Arc::clone(&visit);
            let task: Task<'env, Summary> = Box::new(move || visit.attend_bounce(side, batches));
            (side, task)
        });
        Ok(self.crew.run(tasks.into())?[0].median)
    }

    fn step(&self, rounds: usize) -> Step<'static> {
        let elapsed = self.begun.elapsed();
        let per_round = elapsed / u32::try_from(self.rounds_done).unwrap_or(u32::MAX).max(1);
        let by_budget = self.effort.budget.saturating_sub(elapsed);
        let to_first_pass = per_round * u32::try_from(rounds.saturating_sub(self.rounds_done)).unwrap_or(u32::MAX);
        let left: Duration = by_budget.max(to_first_pass);
        let rounds_left = (left.as_secs_f64() / per_round.as_secs_f64().max(1e-9)) as usize;
        Step { label: "pairs of CPUs", done: self.rounds_done, total: self.rounds_done + rounds_left, left: Some(left) }
    }
}

#[cfg(test)]
mod tests {
    use corecast_base::CpuId;

    use super::*;
    use crate::line_probe::LineProbe;
    use crate::measure::disturbance;
    use crate::measure::fan::{self, Fan};
    use crate::measure::gauge::Gauge;
    use crate::measure::halt::Halt;
    use crate::measure::progress::Silent;
    use crate::measure::{fetch_add, readers};
    use crate::pin;

    /// More threads than CPUs: rounds of several pairs, bursts with several peers, and threads that wait for one that
    /// needs their CPU. Only slower, never stuck.
    #[test]
    fn five_threads_on_the_cpus_at_hand_visit_all_pairs() {
        let here = pin::affinity().expect("own mask");
        let ids: Vec<CpuId> = (0..5).map(|thread| here.as_slice()[thread % here.len().min(2)]).collect();
        let cpus: Vec<Cpu> = (0..5).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let halt = Halt::new(Duration::from_secs(60));
        let batches = Batches::new(Gauge::take(), 1);
        let effort = Effort { least_visits: 1, narrow: 1.0, least_time: Duration::ZERO, budget: Duration::ZERO };
        std::thread::scope(|scope| {
            let crew = Crew::muster(scope, &ids, &halt, None).expect("allowed CPUs");
            let mut campaign = Campaign::new(&crew, &LineProbe, &batches, &cpus, effort, 1);
            let concurrency = disturbance::find(&campaign, &cpus, None).expect("tried out");
            assert!((1..=2).contains(&concurrency.at_once) && concurrency.note.is_some(), "{concurrency:?}");
            assert_eq!(disturbance::find(&campaign, &cpus, Some(3.0)).expect("tried out").at_once, 1);
            campaign.run(2, &mut Silent).expect("visited");
            assert!(campaign.pairs.least_visits() >= 1);
            for pair in campaign.pairs.all() {
                let costs = campaign.pairs.costs(pair).all();
                assert!(costs.iter().all(|cost| cost.median > 0.0 && cost.median.is_finite()), "{costs:?}");
            }
            for kind in [Fan::Out, Fan::OutVisible, Fan::In] {
                let cost_ns = fan::cost(&crew, &LineProbe, batches.gauge, kind, 6).expect("measured");
                assert!(cost_ns >= 0.0 && cost_ns.is_finite(), "{kind:?}: {cost_ns}");
            }
            for (readers, farthest) in [(1, 1), (4, 2)] {
                let cost_ns = readers::cost(&crew, &batches, readers, farthest).expect("measured");
                assert!(cost_ns > 0.0 && cost_ns.is_finite(), "{readers} readers: {cost_ns}");
            }
            for contenders in [1, 5] {
                let cost_ns = fetch_add::cost(&crew, batches.gauge, contenders).expect("measured");
                assert!(cost_ns > 0.0 && cost_ns.is_finite(), "{contenders} contenders: {cost_ns}");
            }
        });
    }
}
