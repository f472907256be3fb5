//! A race among the members of a group that is at work, threads or processes alike.
//!
//! **When to take it:** a group lives long, and what the model says of its machine may be wrong, or is true no more.
//! **When not:** for some thousand barriers; a race takes as many.
//!
//! All members call [`Member::race`], as an operation of the group like others. They lay out the lines of all candidates, run
//! the rounds, and combine their times, so that each of them knows what every other knows, and all come to the same verdict
//! by themselves. From then on [`Member::barrier`] is the winner's. The group goes on in the same roll and bells: a
//! candidate is nothing but lines.
//!
//! Among processes these lines are in the room of the group, and are given back: when the race is over they are zeroed, and the
//! winner's laid out again at the beginning.
//!
//! **Progress:** blocking. **Memory ordering:** as of a barrier.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::Request::default())?);
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

use super::field::{CONTROLS, Field, MOST, Starters};
use super::heats::Heats;
use super::{Race, Raced, Races, Verdict};
use crate::barrier::Part;
use crate::commons::Plot;
use crate::error::Error;
use crate::layout::Site;
use crate::member::{Ends, Member};

/// Operations of one block.
const BLOCK: u32 = 32;
/// Of the order in which candidates run.
const SEED: u64 = 0x5EED;
/// After this time no other round begins.
const LONGEST_NS: f64 = 20e6;

/// What every member tells the others of a round: its time for each candidate, and behind them how long the race has taken.
type Told = [f64; MOST + 1];

const UNPOISONED: &str = "planning does not panic";

/// Who may race, planned by whoever comes first of the threads of a group.
#[derive(Debug, Clone, Default)]
struct FieldCell(Arc<Mutex<Option<std::sync::Arc<Field>>>>);

impl FieldCell {
    fn get_or_plan(&self, plan: impl FnOnce() -> Field) -> std::sync::Arc<Field> {
        let mut field = self.0.lock().expect(UNPOISONED);
        std::sync::Arc::clone(field.get_or_insert_with(|| std::sync::Arc::new(plan())))
    }
}

impl Member {
    /// Lets barriers race among all members, takes the one that is clearly the fastest, and returns what it found; `None`
    /// where there is nothing to race for: members share CPUs, there is one alone, or a barrier or trees were asked for.
    ///
    /// All members call it, as an operation of the group like others. It takes some thousand barriers, and ends with the
    /// round in which 20 ms have passed. [`Group::choice`](crate::Group::choice) goes on telling what was chosen when the
    /// group was put together; [`races`](Self::races) tells what was found here.
    ///
    /// # Errors
    /// [`Error::Memory`] at all members alike if the room of a group of processes is not enough for two candidates, and
    /// [`Error::Corrupt`] if members of other versions would race others: the group is then as it was.
    /// [`Error::MemberLost`].
    pub fn race(&mut self) -> Result<Option<Races>, Error> {
        if !self.ends().may_race() {
            return Ok(None);
        }
        let Ends { core, basis, .. } = self.ends_mut();
        let cell = core.lay_out(|arena| arena.share(FieldCell::default))?;
        let field = cell.get_or_plan(|| basis.field());
        self.race_among(&field).map(Some)
    }

    /// What the last race among the members found, or that of earlier members by which the group was put together.
    #[must_use]
    pub fn races(&self) -> Option<&Races> {
        let Ends { races, choice, .. } = self.ends();
        races.as_deref().or(choice.races.as_ref())
    }

    /// Lets these race, which all members have planned alike.
    pub(crate) fn race_among(&mut self, field: &Field) -> Result<Races, Error> {
        let begun = self.ends().core.operation;
        let completed = self.ends().core.completed();
        let outcome = self.race_and_take(field);
        let core = &mut self.ends_mut().core;
        if core.operation > begun {
            core.count_as_begun(completed + 1);
        }
        outcome
    }

    fn race_and_take(&mut self, field: &Field) -> Result<Races, Error> {
        let Ends { core, basis, .. } = self.ends();
        let starters = field.starters(basis, core.arena.left())?;
        if starters.barriers <= CONTROLS.len() {
            let (bytes, used) = (field.bytes(basis)?, core.arena.bytes());
            return Err(ArenaError::Full { bytes, used, len: used + core.arena.left().unwrap_or(0) }.into());
        }
        self.agree_to_race(field.digest(starters))?;
        let course = Course::mark_out(self, starters)?;
        let mut lanes = course.lanes(self, field, starters)?;
        let heats = self.heats(CONTROLS.len(), &mut lanes, |ends, part| part.wait(&mut ends.core))?;
        let racers = field.barriers[..starters.barriers].iter().map(|meeter| (meeter.barrier, meeter.predicted));
        let barrier = Race::of(racers.collect(), heats, field.barriers.len() - starters.barriers);
        // When the rounds are over nobody is in a lane any more, and when all have met nobody has one.
        drop(lanes);
        self.barrier()?;
        course.give_back(self)?;
        self.take(field, Races { barrier })
    }

    /// Goes on with the winners.
    fn take(&mut self, field: &Field, races: Races) -> Result<Races, Error> {
        let Ends { core, basis, barrier, races: found, .. } = self.ends_mut();
        let winner = field.meeter(races.barrier.winner).expect("it has run");
        let mut site = Site { rank: core.rank, roll: Arc::clone(&core.roll), arena: core.arena.clone() };
        *barrier = winner.part(basis, &mut site)?;
        core.arena = site.arena;
        *found = Some(std::sync::Arc::new(races.clone()));
        Ok(races)
    }

    /// Lets lanes race until it is decided which is the best; `run` is an operation in one of them, after which no member can
    /// be in the operation before.
    fn heats<L>(
        &mut self,
        controls: usize,
        lanes: &mut [L],
        mut run: impl FnMut(&mut Ends, &mut L) -> Result<(), Error>,
    ) -> Result<(Vec<Raced>, Verdict), Error> {
        let clock = Clock::get();
        let start = clock.ticks();
        let mut heats = Heats::new(lanes.len(), controls, SEED);
        while !heats.order().is_empty() {
            self.barrier()?;
            let mut told: Told = [0.0; MOST + 1];
            for (time, &lane) in told.iter_mut().zip(heats.order()) {
                *time = self.block(|me| run(me.begin()?, &mut lanes[lane]))?;
            }
            told[MOST] = clock.ns(clock.ticks().saturating_sub(start));
            let slowest = self.slowest(told)?;
            heats.end_round(&slowest[..MOST], slowest[MOST] > LONGEST_NS);
        }
        Ok(heats.verdict())
    }

    /// The time of one operation in a block of them, ns.
    fn block(&mut self, mut operation: impl FnMut(&mut Self) -> Result<(), Error>) -> Result<f64, Error> {
        let clock = Clock::get();
        let start = clock.ticks();
        (0..BLOCK).try_for_each(|_| operation(self))?;
        Ok(clock.ns(clock.ticks().saturating_sub(start)) / f64::from(BLOCK))
    }

    /// For each of some times the longest that any member has.
    fn slowest<const N: usize>(&mut self, times: [f64; N]) -> Result<[f64; N], Error> {
        self.allreduce(times, |a, b| std::array::from_fn(|i| a[i].max(b[i])))
    }

    /// Whether all members have told the same, alike at all of them.
    fn agree_to_race(&mut self, told: u64) -> Result<(), Error> {
        let [least, most] = self.allreduce([told; 2], |a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
        if least == most { Ok(()) } else { Err(Error::Corrupt) }
    }
}

impl Ends {
    fn may_race(&self) -> bool {
        self.basis.is_open() && self.choice.is_open()
    }
}

/// Memory for the lines of all candidates, for as long as they race.
struct Course {
    plot: Plot,
    starters: Starters,
    /// The position of the group's memory before, in a section.
    before: Option<Arena>,
}

impl Course {
    fn mark_out(me: &mut Member, starters: Starters) -> Result<Self, ArenaError> {
        let arena = &mut me.ends_mut().core.arena;
        let before = arena.is_shared().then(|| arena.clone());
        Ok(Self { plot: Plot::reserve(arena, starters.bytes)?, starters, before })
    }

    /// The member's parts of all barriers that race.
    fn lanes(&self, me: &Member, field: &Field, starters: Starters) -> Result<Vec<Part>, ArenaError> {
        let Ends { core, basis, .. } = me.ends();
        let mut site = Site { rank: core.rank, roll: Arc::clone(&core.roll), arena: self.plot.arena() };
        field.barriers[..starters.barriers].iter().map(|meeter| meeter.part(basis, &mut site)).collect()
    }

    /// Gives the memory back as it was, once no member uses it.
    fn give_back(self, me: &mut Member) -> Result<(), Error> {
        let Some(before) = self.before else {
            self.plot.clear();
            return Ok(());
        };
        if me.rank() == 0 {
            let words = self.starters.bytes / size_of::<AtomicU64>();
            for word in &self.plot.arena().slice::<AtomicU64>(words)?[..] {
                // ORDERING: Relaxed, members meet before and after
                word.store(0, Ordering::Relaxed);
            }
        }
        me.barrier()?;
        me.ends_mut().core.arena = before;
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::group::Group;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};

    #[test]
    fn all_members_of_a_crowd_come_to_the_same() {
        // Nobody lets a crowd race, as it says nothing of the barriers; what is done is the same.
        let cpu = |id| Cpu { numa: Some(id / 2), ..Cpu::flat(CpuId::new(id)) };
        let machine = Machine::from_topology(&Topology { cpus: (0..4).map(cpu).collect(), ..Topology::default() });
        let group = Group::builder(&machine).pinned(false).build().expect("a group");
        let field = group.join(0).expect("a free place").ends().basis.field();
        let race = |me: &mut Member| {
            let races = me.race_among(&field)?;
            (0..20).try_for_each(|_| me.barrier())?;
            Ok::<_, Error>((races, me.ends().core.completed()))
        };
        let found = group.run(race).expect("nobody panics").into_iter().collect::<Result<Vec<_>, _>>();
        let found = found.expect("no fault");
        let (Races { barrier }, completed) = &found[0];
        assert!(found.iter().all(|other| *other == found[0]), "{found:?}");
        assert_eq!((barrier.entries.len(), *completed), (MOST, 21));
        assert!(CONTROLS.contains(&barrier.control) && barrier.left_out == 0, "{barrier}");
    }

    #[test]
    fn those_who_would_race_others_are_told() {
        let cpus = (0..2).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let group = Group::builder(&machine).pinned(false).build().expect("a group");
        let outcomes = group.run(|me| {
            let mut field = me.ends().basis.field();
            if me.rank() == 1 {
                field.barriers.swap(0, 1);
            }
            let refused = me.race_among(&field);
            me.barrier()?;
            refused
        });
        assert!(outcomes.expect("nobody panics").iter().all(|outcome| *outcome == Err(Error::Corrupt)));
    }
}
