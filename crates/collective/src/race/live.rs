//! A race among the members of a group that is at work, threads or processes alike.
//!
//! **When to take it:** a group lives long, and the model of its machine may be wrong or out of date. **When not:** for
//! some thousand barriers, as a race takes that many itself.
//!
//! All members call [`Member::race`], as an operation of the group like others. They lay out the lines of all candidates,
//! run the rounds, and combine their times. So each of them knows what every other knows, and all reach the same verdict by
//! themselves. From then on [`Member::barrier`] is the winner's, and values travel along the winning trees. The group keeps
//! its table of members and their wake words: a candidate is nothing but lines.
//!
//! Trees race with the winning barrier behind each broadcast or reduction. In a plain loop the root would run ahead, and
//! the time would only show how fast it sends.
//!
//! Among processes these lines lie in the room of the group, and are given back: after the race they are zeroed, and the
//! winner's are laid out again at the beginning.
//!
//! **Progress:** blocking. **Memory ordering:** as of a barrier.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).build()?;
//! let outcomes = group.run(|me| {
//!     let races = me.race()?; // none on one CPU
//!     me.barrier()?; // the winner's
//!     Ok::<_, corecast_collective::Error>(races)
//! })?;
//! assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]), "all know the same");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use corecast_base::sync::{Arc, AtomicU64, Mutex, Ordering};
use corecast_base::{Arena, ArenaError, Clock};

use corecast_plan::Plan;

use super::rounds::{Rounds, median};
use crate::barrier::Part;
use crate::call::{Call, CallKind};
use crate::choice::{CONTROLS, CandidateCounts, Candidates, MOST, PlannedBarrier, edges, is_same};
use crate::choice::{CandidateResult, Race, Races, Verdict};
use crate::error::Error;
use crate::member::{Ends, Member, ReservedMemory};
use crate::membership::Site;
use crate::operation::reduce::pairwise;
use crate::operation::{Order, Progress, Reduction, Value, broadcast, reduce};
use crate::tree::TreeEdges;

/// Operations of one block.
const BLOCK: u32 = 32;
/// The seed of the order in which candidates run.
const SEED: u64 = 0x5EED;
/// The number of blocks that check whether an earlier result still holds.
const BLOCKS_TO_CHECK: usize = 15;
/// An earlier result holds if the barrier's time then and its time now differ by this factor at most.
const FAR_OFF: f64 = 2.0;
/// No round begins after this time.
const LONGEST_NS: f64 = 20e6;

/// The numbers that every member gives the others after a round: its time for each candidate, and then the time of the race
/// so far.
type Told = [f64; MOST + 1];

/// The operations that members call while they race, beside the barriers and allreductions by which they agree.
const RACE: Call = Call::of(CallKind::Race);

const UNPOISONED: &str = "planning does not panic";

/// The candidates, planned by the first of a group's threads that asks.
#[derive(Debug, Clone, Default)]
struct CandidatesCell(Arc<Mutex<Option<std::sync::Arc<Candidates>>>>);

impl CandidatesCell {
    fn get_or_plan(&self, plan: impl FnOnce() -> Candidates) -> std::sync::Arc<Candidates> {
        let mut candidates = self.0.lock().expect(UNPOISONED);
        std::sync::Arc::clone(candidates.get_or_insert_with(|| std::sync::Arc::new(plan())))
    }

    /// Keeps nothing once all have it: memory that threads share stays as long as the group lives.
    fn clear(&self) {
        *self.0.lock().expect(UNPOISONED) = None;
    }
}

impl Member {
    /// Lets barriers and trees race among all members, takes the fastest if it is clearly so, and returns the results.
    /// `None` where there is nothing to race for: members share CPUs, there is only one, or a barrier or trees were asked
    /// for.
    ///
    /// All members call it, as an operation of the group like others. It takes some thousand barriers, and each race ends
    /// with the round in which 20 ms have passed. [`Group::choice`](crate::Group::choice) still returns the choice made
    /// when the group was put together; [`races`](Self::races) returns the results found here.
    ///
    /// # Errors
    /// [`Error::Memory`] at all members alike if the room of a group of processes is too small for two candidates, and
    /// [`Error::Corrupt`] if members of different versions would race different ones: either way the group stays as it was.
    /// [`Error::MemberLost`].
    pub fn race(&mut self) -> Result<Option<Races>, Error> {
        if !self.ends().may_race() {
            return Ok(None);
        }
        let completed = self.ends().core.completed();
        let Ends { core, inputs, choice, .. } = self.begin(RACE)?;
        // It counts as one operation, however many it runs.
        let laid_out = core.lay_out(|arena| arena.share(CandidatesCell::default));
        core.count_as_begun(completed + 1);
        let cell = laid_out?;
        let candidates = cell.get_or_plan(|| inputs.candidates(choice));
        let outcome = self.race_among(&candidates);
        self.ends_mut().core.count_as_begun(completed + 1);
        cell.clear();
        outcome.map(Some)
    }

    /// The results of the last race among the members, or those of earlier members by which the group was put together.
    #[must_use]
    pub fn races(&self) -> Option<&Races> {
        let Ends { races, choice, .. } = self.ends();
        races.as_deref().or(choice.races.as_ref())
    }

    /// Lets these candidates race, which all members have planned alike.
    pub(crate) fn race_among(&mut self, candidates: &Candidates) -> Result<Races, Error> {
        let begun = self.ends().core.operation;
        let completed = self.ends().core.completed();
        let outcome = self.race_and_take(candidates);
        let core = &mut self.ends_mut().core;
        if core.operation > begun {
            core.count_as_begun(completed + 1);
        }
        outcome
    }

    fn race_and_take(&mut self, candidates: &Candidates) -> Result<Races, Error> {
        let Ends { core, inputs, .. } = self.ends();
        let counts = candidates.counts(inputs, core.arena.left())?;
        if counts.barriers <= CONTROLS.len() {
            let (bytes, used) = (candidates.bytes(inputs)?, core.arena.bytes());
            return Err(ArenaError::Full { bytes, used, len: used + core.arena.left().unwrap_or(0) }.into());
        }
        self.agree_to_race(candidates.digest(counts))?;
        let race_memory = RaceMemory::mark_out(self, counts)?;
        let mut races = race_memory.parts(self, candidates)?.race(self, candidates)?;
        // After the rounds no member is in a candidate any more, and after all have met no member has one.
        self.barrier()?;
        race_memory.give_back(self)?;
        self.take(candidates, &races)?;
        // Over the winning trees.
        races.allreduce = self.race_forms()?;
        self.ends_mut().races = Some(std::sync::Arc::new(races.clone()));
        Ok(races)
    }

    /// True if the earlier result on the barrier in use still holds; false if there is none. All members ask, and get the
    /// same answer.
    pub(crate) fn is_still_so(&mut self) -> Result<bool, Error> {
        let Some(Races { barrier, .. }) = self.races() else { return Ok(false) };
        let found_ns = barrier.median_ns(&barrier.winner);
        // The first one warms up.
        self.block(Self::barrier)?;
        let mut times = [0.0; BLOCKS_TO_CHECK];
        times.iter_mut().try_for_each(|time| self.block(Self::barrier).map(|ns| *time = ns))?;
        Ok(is_near(median(&self.slowest(times)?), found_ns))
    }

    /// Goes on with the winners.
    fn take(&mut self, candidates: &Candidates, races: &Races) -> Result<(), ArenaError> {
        let Ends { core, inputs, choice, barrier, broadcast, reduce, reduce_root, spare_parts, .. } = self.ends_mut();
        let mut site = Site { rank: core.rank, table: Arc::clone(&core.table), arena: core.arena.clone() };
        let winner = candidates.planned(races.barrier.winner).expect("it has run");
        let planned =
            |barrier, meeting: &Plan| (barrier, meeting.tree.clone(), meeting.up.clone(), meeting.scheme.clone());
        let of = |key: &PlannedBarrier| planned(key.barrier, &key.meeting);
        let is_it =
            |key: Option<&PlannedBarrier>| key.map_or(planned(choice.barrier, &choice.meeting), of) == of(winner);
        spare_parts.barrier.take(barrier, winner, is_it, || winner.part(inputs, &mut site))?;
        for (race, planned, value, spares) in [
            (&races.broadcast, &choice.broadcast, broadcast, &mut spare_parts.broadcast),
            (&races.reduce, &choice.reduce, reduce, &mut spare_parts.reduce),
        ] {
            let Some(race) = race else { continue };
            let winner = candidates.tree(planned.operation, &race.winner).expect("it has run");
            let is_it = |key: Option<&Plan>| is_same(key.unwrap_or(planned), winner);
            spares.take(value, winner, is_it, || edges(winner, inputs, &mut site))?;
        }
        if let Some(race) = &races.reduce {
            *reduce_root = candidates.tree(choice.reduce.operation, &race.winner).expect("it has run").tree.root();
        }
        core.arena = site.arena;
        Ok(())
    }

    /// Runs a race until the best candidate is decided; `run` is an operation of one of them, and when it returns no member can
    /// still be in the operation before.
    fn rounds<L>(
        &mut self,
        controls: usize,
        parts: &mut [L],
        mut run: impl FnMut(&mut Ends, &mut L) -> Result<(), Error>,
    ) -> Result<(Vec<CandidateResult>, Verdict), Error> {
        self.rounds_of(controls, parts.len(), LONGEST_NS, |me, candidate| {
            me.block(|me| run(me.begin(RACE)?, &mut parts[candidate]))
        })
    }

    /// Runs a race of this many candidates, the controls first, until the best is decided or the time is over; `block` returns
    /// the time of one operation of one of them, ns.
    pub(super) fn rounds_of(
        &mut self,
        controls: usize,
        candidates: usize,
        longest_ns: f64,
        mut block: impl FnMut(&mut Self, usize) -> Result<f64, Error>,
    ) -> Result<(Vec<CandidateResult>, Verdict), Error> {
        let clock = Clock::get();
        let start = clock.ticks();
        let mut rounds = Rounds::new(candidates, controls, SEED);
        while !rounds.order().is_empty() {
            self.barrier()?;
            let mut told: Told = [0.0; MOST + 1];
            for (time, &candidate) in told.iter_mut().zip(rounds.order()) {
                *time = block(self, candidate)?;
            }
            told[MOST] = clock.ns(clock.ticks().saturating_sub(start));
            let slowest = self.slowest(told)?;
            rounds.end_round(&slowest[..MOST], slowest[MOST] > longest_ns);
        }
        Ok(rounds.verdict())
    }

    /// The time of one operation in a block of them, ns.
    fn block(&mut self, operation: impl FnMut(&mut Self) -> Result<(), Error>) -> Result<f64, Error> {
        self.block_of(BLOCK, operation)
    }

    /// The same in a block of this many.
    pub(super) fn block_of(
        &mut self,
        operations: u32,
        mut operation: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        let clock = Clock::get();
        let start = clock.ticks();
        (0..operations).try_for_each(|_| operation(self))?;
        Ok(clock.ns(clock.ticks().saturating_sub(start)) / f64::from(operations))
    }

    /// For each of some times, the longest of any member.
    fn slowest<const N: usize>(&mut self, times: [f64; N]) -> Result<[f64; N], Error> {
        self.allreduce(times, |a, b| std::array::from_fn(|i| a[i].max(b[i])))
    }

    /// True if all members have given the same number; all get the same answer.
    fn agree_to_race(&mut self, told: u64) -> Result<(), Error> {
        let [least, most] = self.allreduce([told; 2], |a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
        if least == most { Ok(()) } else { Err(Error::Corrupt) }
    }
}

fn is_near(now_ns: f64, found_ns: f64) -> bool {
    now_ns <= FAR_OFF * found_ns && found_ns <= FAR_OFF * now_ns
}

impl Ends {
    fn may_race(&self) -> bool {
        self.inputs.is_open() && self.choice.is_open()
    }
}

/// Memory for the lines of all candidates, for as long as they race.
struct RaceMemory {
    reserved: ReservedMemory,
    counts: CandidateCounts,
    /// The position of the group's memory before, in a section.
    before: Option<Arena>,
}

impl RaceMemory {
    fn mark_out(me: &mut Member, counts: CandidateCounts) -> Result<Self, ArenaError> {
        let arena = &mut me.ends_mut().core.arena;
        let before = arena.is_shared().then(|| arena.clone());
        Ok(Self { reserved: ReservedMemory::reserve(arena, counts.bytes)?, counts, before })
    }

    /// The member's lines of all candidates.
    fn parts(&self, me: &Member, candidates: &Candidates) -> Result<CandidateParts, ArenaError> {
        let Ends { core, inputs, .. } = me.ends();
        let CandidateCounts { barriers, broadcasts, reductions, .. } = self.counts;
        let mut site = Site { rank: core.rank, table: Arc::clone(&core.table), arena: self.reserved.arena() };
        let barriers = candidates.barriers[..barriers].iter().map(|planned| planned.part(inputs, &mut site));
        let barriers = barriers.collect::<Result<_, _>>()?;
        let mut edges = |plans: &[std::sync::Arc<Plan>]| {
            let part = |plan: &std::sync::Arc<Plan>| Ok((edges(plan, inputs, &mut site)?, plan.tree.root()));
            plans.iter().map(part).collect::<Result<_, ArenaError>>()
        };
        let broadcasts = edges(&candidates.broadcasts[..broadcasts])?;
        Ok(CandidateParts { barriers, broadcasts, reductions: edges(&candidates.reductions[..reductions])? })
    }

    /// Gives the memory back as it was, after all members have stopped using it.
    fn give_back(self, me: &mut Member) -> Result<(), Error> {
        let Some(before) = self.before else {
            self.reserved.clear();
            return Ok(());
        };
        if me.rank() == 0 {
            let words = self.counts.bytes / size_of::<AtomicU64>();
            for word in &self.reserved.arena().slice::<AtomicU64>(words)?[..] {
                // ORDERING: Relaxed, members meet before and after
                word.store(0, Ordering::Relaxed);
            }
        }
        me.barrier()?;
        me.ends_mut().core.arena = before;
        Ok(())
    }
}

/// One member's lines of all candidates.
struct CandidateParts {
    barriers: Vec<Part>,
    /// The edges of trees, and the roots of these.
    broadcasts: Vec<(TreeEdges, usize)>,
    reductions: Vec<(TreeEdges, usize)>,
}

impl CandidateParts {
    fn race(mut self, me: &mut Member, candidates: &Candidates) -> Result<Races, Error> {
        let rounds = me.rounds(CONTROLS.len(), &mut self.barriers, |ends, part| part.wait(&mut ends.core))?;
        let between = rounds.1.winner;
        let names = |(planned, _): (&std::sync::Arc<PlannedBarrier>, _)| (planned.barrier, planned.predicted);
        let racers = candidates.barriers.iter().zip(&self.barriers).map(names).collect();
        let barrier = Race::of(racers, rounds, candidates.barriers.len() - self.barriers.len());
        let between = &mut self.barriers[between];
        let down = me.trees(&candidates.broadcasts, &mut self.broadcasts, between, |ends, edges, root| {
            broadcast(&mut ends.core, edges, root, &mut Value(&mut 0_u64), &mut Progress::default())
        })?;
        let up = me.trees(&candidates.reductions, &mut self.reductions, between, |ends, edges, root| {
            let (mut value, each) = (1_u64, pairwise(u64::wrapping_add));
            let message = &mut Value(&mut value);
            reduce(&mut ends.core, edges, root, Order::Plan, message, &mut Reduction::default(), each)
        })?;
        Ok(Races { barrier, broadcast: down, reduce: up, allreduce: Vec::new() })
    }
}

impl Member {
    /// Lets trees race: `run` is an operation over one of them, and a barrier follows it.
    fn trees(
        &mut self,
        plans: &[std::sync::Arc<Plan>],
        parts: &mut [(TreeEdges, usize)],
        between: &mut Part,
        mut run: impl FnMut(&mut Ends, &mut TreeEdges, usize) -> Result<(), Error>,
    ) -> Result<Option<Race<String>>, Error> {
        if parts.is_empty() {
            return Ok(None);
        }
        let rounds = self.rounds(1, parts, |ends, (edges, root)| {
            run(ends, edges, *root)?;
            ends.core.begin(RACE)?;
            between.wait(&mut ends.core)
        })?;
        let racers = plans.iter().take(parts.len()).map(|plan| (plan.planner.clone(), plan.predicted)).collect();
        Ok(Some(Race::of(racers, rounds, plans.len() - parts.len())))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::choice::{SizeClass, TREE_CONTROL};
    use crate::group::Group;
    use crate::member::{GroupMemory, Home};
    use corecast_base::CpuId;
    use corecast_base::region::{RegionPlan, SharedRegion};
    use corecast_machine::{Cpu, Machine, Topology};

    #[test]
    fn a_result_holds_within_a_factor_of_two_either_way() {
        assert!([50.1, 100.0, 199.9].iter().all(|&now| is_near(now, 100.0)));
        assert!([0.0, 49.9, 200.1, f64::INFINITY, f64::NAN].iter().all(|&now| !is_near(now, 100.0)));
        assert!(!is_near(100.0, f64::NAN), "of one that has not run");
    }

    fn field_of(me: &Member) -> Candidates {
        me.ends().inputs.candidates(&me.ends().choice)
    }

    #[test]
    fn all_members_of_a_crowd_come_to_the_same() {
        // A group that shares CPUs never races, as the times mean nothing; the steps are the same, though.
        let cpu = |id| Cpu { numa: Some(id / 2), ..Cpu::flat(CpuId::new(id)) };
        let machine = Machine::from_topology(&Topology { cpus: (0..4).map(cpu).collect(), ..Topology::default() });
        let group = Group::builder(&machine).pin(false).build().expect("a group");
        let candidates = field_of(&group.join(0).expect("a free place"));
        let race = |me: &mut Member| {
            let races = me.race_among(&candidates)?;
            (0..20).try_for_each(|_| me.barrier())?;
            let completed = me.ends().core.completed();
            for root in 0..me.size() {
                let mut value = if me.rank() == root { 7 } else { 0 };
                me.broadcast(root, &mut value)?;
                assert_eq!(me.reduce(root, value, |a, b| a + b)?, (me.rank() == root).then_some(28));
            }
            Ok::<_, Error>((races, completed))
        };
        let found = group.run(race).expect("nobody panics").into_iter().collect::<Result<Vec<_>, _>>();
        let found = found.expect("no fault");
        let (Races { barrier, broadcast, reduce, allreduce }, completed) = &found[0];
        assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
        assert_eq!((barrier.entries.len(), *completed), (MOST, 21));
        assert!(CONTROLS.contains(&barrier.control) && barrier.left_out == 0, "{barrier}");
        let classes: Vec<SizeClass> = allreduce.iter().map(|(class, _)| *class).collect();
        assert_eq!(classes, SizeClass::all().skip(1).collect::<Vec<_>>(), "all but that of nothing");
        assert!(
            allreduce.iter().all(|(_, race)| race.entries.len() == 2 && race.entries[0].rounds > 0),
            "{allreduce:?}"
        );
        for race in [broadcast, reduce] {
            let race = race.as_ref().expect("four members have several trees");
            assert!(race.control == TREE_CONTROL && race.left_out == 0, "{race}");
            assert!(race.entries.len() > 1 && race.entries.iter().all(|entry| entry.rounds > 0), "{race}");
        }
    }

    #[test]
    fn those_who_would_race_others_are_told() {
        let cpus = (0..2).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let group = Group::builder(&machine).pin(false).build().expect("a group");
        let outcomes = group.run(|me| {
            let mut candidates = field_of(me);
            if me.rank() == 1 {
                candidates.barriers.swap(0, 1);
            }
            let refused = me.race_among(&candidates);
            me.barrier()?;
            refused
        });
        assert!(outcomes.expect("nobody panics").iter().all(|outcome| *outcome == Err(Error::Corrupt)));
    }

    #[test]
    fn members_over_a_section_race_again_and_again_in_the_room_of_one_race() {
        let cpu = |id| Cpu { numa: Some(id / 2), ..Cpu::flat(CpuId::new(id)) };
        let machine = Machine::from_topology(&Topology { cpus: (0..4).map(cpu).collect(), ..Topology::default() });
        let group = Group::builder(&machine).pin(false).build().expect("a group");
        let planned = group.planned();
        let candidates = planned.inputs.candidates(&planned.choice);
        let race_memory = candidates.bytes(&planned.inputs).expect("counted");
        // A different one may win each time; each of them is laid out once.
        let bytes = 2 * (planned.bytes().expect("counted") + 2 * race_memory);
        let plan = RegionPlan::new().add("group", 1, [0; 6], bytes as u64).expect("a plan");
        let region = SharedRegion::memfd(&plan).expect("there is memory");
        let section = region.section(&region.entry("group").expect("declared"));
        let work = |rank| {
            let memory = GroupMemory::new(planned.clone(), Arena::within(section.clone()), None, None)?;
            let mut me = Member::new(memory.ends(rank)?, Home::Own { kept: None });
            for round in 1..=6_u64 {
                let races = me.race_among(&candidates)?;
                assert_eq!(races.barrier.left_out, 0, "round {round}");
                assert!(races.broadcast.is_some() && races.reduce.is_some(), "round {round}");
                assert_eq!(me.allreduce(round, |a, b| a + b)?, 4 * round);
                me.barrier()?;
            }
            Ok::<_, Error>((me.races().cloned(), me.ends().core.arena.left()))
        };
        let outcomes = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|rank| scope.spawn(move || work(rank))).collect();
            threads.into_iter().map(|thread| thread.join().expect("nobody panics")).collect::<Result<Vec<_>, _>>()
        });
        let outcomes = outcomes.expect("no fault");
        assert!(outcomes.iter().all(|other| *other == outcomes[0]), "{outcomes:?}");
        assert!(outcomes[0].1 >= Some(race_memory), "there is room for another race");
    }
}
