//! The state that the members of one group share in one process: the plan, the member table, and the memory behind it.
//!
//! Threads of one process share it, so that a group is planned once. Processes each have their own over the same memory.

use corecast_base::sync::{Arc, Mutex};
use corecast_base::wait::{Waiter, WakeWord};
use corecast_base::{Arena, ArenaError, CacheLine};

use super::Ends;
use super::layout::Layout;
use crate::choice::{Choice, PlanInputs};
use crate::membership::{MemberProcesses, MemberTable, Origin, Site};

/// The plan of a group.
#[derive(Debug, Clone)]
pub(crate) struct GroupPlan {
    pub(crate) inputs: std::sync::Arc<PlanInputs>,
    pub(crate) choice: std::sync::Arc<Choice>,
}

/// The plan together with a memory.
#[derive(Debug)]
pub(crate) struct GroupMemory {
    pub(crate) planned: GroupPlan,
    pub(crate) table: Arc<MemberTable>,
    /// The memory behind the table.
    arena: Arena,
}

impl GroupPlan {
    /// The plan for the members of a part.
    pub(crate) fn of_part(inputs: PlanInputs) -> Self {
        let choice = std::sync::Arc::new(inputs.choose_anyhow());
        Self { inputs: std::sync::Arc::new(inputs), choice }
    }

    /// The bytes that each member lays out, tried on the heap.
    pub(crate) fn bytes(&self) -> Result<usize, ArenaError> {
        let memory = GroupMemory::new(self.clone(), Arena::heap(), None, None)?;
        Ok(memory.ends(0)?.bytes)
    }
}

impl GroupMemory {
    /// Lays out the member table at the beginning of a memory.
    pub(crate) fn new(
        planned: GroupPlan,
        mut arena: Arena,
        processes: Option<Arc<MemberProcesses>>,
        origin: Option<Origin>,
    ) -> Result<Self, ArenaError> {
        let (members, wait) = (planned.inputs.members(), planned.inputs.settings.wait);
        let planned = match planned.choice.direct_among_threads(members).filter(|_| !arena.is_shared()) {
            Some(direct) => {
                let choice = std::sync::Arc::new(Choice { direct, ..(*planned.choice).clone() });
                GroupPlan { choice, ..planned }
            }
            None => planned,
        };
        let table = MemberTable::lay_out(&mut arena, members, |cell| match &processes {
            Some(processes) => processes.wake_word(cell),
            None => WakeWord::of_threads(wait, cell),
        })?;
        let table = processes.into_iter().fold(table, MemberTable::counted_by);
        let table = origin.into_iter().fold(table, MemberTable::part_of);
        Ok(Self { planned, table: Arc::new(table), arena })
    }

    /// The ends of a member, which waits according to the members that are there now.
    pub(crate) fn ends(&self, rank: usize) -> Result<Ends, ArenaError> {
        let waiter = self.planned.inputs.waiter(rank, self.table.processes.as_ref());
        self.layout().ends(self.site(rank), waiter)
    }

    /// The ends of all members, which wait with these waiters.
    pub(crate) fn all_ends(&self, waiters: Vec<Waiter>) -> Result<Vec<Ends>, ArenaError> {
        let layout = self.layout();
        waiters.into_iter().enumerate().map(|(rank, waiter)| layout.ends(self.site(rank), waiter)).collect()
    }

    fn layout(&self) -> Layout<'_> {
        Layout::of(&self.planned.inputs, &self.planned.choice)
    }

    fn site(&self, rank: usize) -> Site {
        Site { rank, table: Arc::clone(&self.table), arena: self.arena.clone() }
    }
}

/// Separate memory, for a future group or a race: only its members lay it out.
#[derive(Debug, Clone)]
pub(crate) struct ReservedMemory(Arc<Mutex<Reservation>>);

#[derive(Debug)]
struct Reservation {
    arena: Arena,
    /// Made by the first member of this process that asks.
    memory: Option<Arc<GroupMemory>>,
    /// The number of times it was asked for.
    asked: usize,
}

/// The alignment of memories: that of the slices in them.
pub(crate) const STEP: usize = size_of::<CacheLine<u8>>();

const UNPOISONED: &str = "planning does not panic";

impl ReservedMemory {
    /// Reserves the next `bytes` bytes of the arena; an arena on the heap gives as much as is used instead.
    pub(crate) fn reserve(arena: &mut Arena, bytes: usize) -> Result<Self, ArenaError> {
        let part = arena.part(bytes)?;
        arena.share(|| Self(Arc::new(Mutex::new(Reservation { arena: part, memory: None, asked: 0 }))))
    }

    /// Reserves memory for the survivors of a group that has laid out its own: as much as the group took, and half of the
    /// remainder. Reserves nothing if less than the group took is left. The room behind it is for objects that members make
    /// later.
    pub(crate) fn of_successor(arena: &mut Arena) -> Result<Self, ArenaError> {
        let (left, lines) = (arena.left().unwrap_or(0), arena.bytes());
        let bytes = if left < lines { 0 } else { (left + lines) / 2 / STEP * STEP };
        Self::reserve(arena, bytes)
    }

    /// The memory itself, from its beginning.
    pub(crate) fn arena(&self) -> Arena {
        self.0.lock().expect(UNPOISONED).arena.clone()
    }

    /// Drops the memory that was laid out on the heap, except for those that still use it.
    pub(crate) fn clear(&self) {
        self.0.lock().expect(UNPOISONED).arena = Arena::heap();
    }

    /// The shared state of the members. It is kept until the members of this process have asked `members` times in all;
    /// after that it lives as long as they do.
    pub(crate) fn memory(
        &self,
        members: usize,
        make: impl FnOnce(Arena) -> Result<GroupMemory, ArenaError>,
    ) -> Result<Arc<GroupMemory>, ArenaError> {
        let mut reservation = self.0.lock().expect(UNPOISONED);
        let memory = match reservation.memory.take() {
            Some(memory) => memory,
            None => Arc::new(make(reservation.arena.clone())?),
        };
        reservation.asked += 1;
        if reservation.asked < members {
            reservation.memory = Some(Arc::clone(&memory));
        } else if !reservation.arena.is_shared() {
            reservation.arena = Arena::heap();
        }
        Ok(memory)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::barrier::Barrier;
    use crate::member::layout::tests::chosen;

    #[test]
    fn a_plot_is_planned_once_and_keeps_nothing_when_all_have_asked() {
        let mut arena = Arena::heap();
        let mut other = arena.from_start();
        let (mine, theirs) = (ReservedMemory::reserve(&mut arena, 0), ReservedMemory::reserve(&mut other, 0));
        let make = |arena| GroupMemory::new(chosen(Barrier::Ticket), arena, None, None);
        let first = mine.expect("the heap has room").memory(2, make).expect("the heap has room");
        let alive = Arc::downgrade(&first);
        drop(first);
        assert!(alive.upgrade().is_some(), "the other one has not asked");
        let second = theirs.expect("the heap has room").memory(2, |_| unreachable!("it was made")).expect("as before");
        drop(second);
        assert!(alive.upgrade().is_none());
    }
}
