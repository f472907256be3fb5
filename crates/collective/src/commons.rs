//! The state that the members of one group share in one process: the plan, the roll, and the memory behind it.
//!
//! Threads of one process share it, so that a group is planned once. Processes each have their own over the same memory.

use corecast_base::sync::{Arc, Mutex};
use corecast_base::wait::{Waiter, WakeWord};
use corecast_base::{Arena, ArenaError, CacheLine};

use crate::basis::Basis;
use crate::census::Census;
use crate::choose::Choice;
use crate::layout::{Layout, Site};
use crate::member::Ends;
use crate::origin::Origin;
use crate::roll::Roll;

/// The plan of a group.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) basis: std::sync::Arc<Basis>,
    pub(crate) choice: std::sync::Arc<Choice>,
}

/// The plan together with a memory.
#[derive(Debug)]
pub(crate) struct Commons {
    planned: Planned,
    pub(crate) roll: Arc<Roll>,
    /// The memory behind the roll.
    arena: Arena,
}

impl Planned {
    /// The plan for the members of a part.
    pub(crate) fn of_part(basis: Basis) -> Self {
        let choice = std::sync::Arc::new(basis.choose_anyhow());
        Self { basis: std::sync::Arc::new(basis), choice }
    }

    /// The bytes that each member lays out, tried on the heap.
    pub(crate) fn bytes(&self) -> Result<usize, ArenaError> {
        let commons = Commons::new(self.clone(), Arena::heap(), None, None)?;
        Ok(commons.ends(0)?.bytes)
    }
}

impl Commons {
    /// Lays out the roll at the beginning of a memory.
    pub(crate) fn new(
        planned: Planned,
        mut arena: Arena,
        census: Option<Arc<Census>>,
        origin: Option<Origin>,
    ) -> Result<Self, ArenaError> {
        let (members, wait) = (planned.basis.members(), planned.basis.wishes.wait);
        let roll = Roll::lay_out(&mut arena, members, |cell| match &census {
            Some(census) => census.bell(cell),
            None => WakeWord::of_threads(wait, cell),
        })?;
        let roll = census.into_iter().fold(roll, Roll::counted_by);
        let roll = origin.into_iter().fold(roll, Roll::part_of);
        Ok(Self { planned, roll: Arc::new(roll), arena })
    }

    /// The ends of a member, which waits according to the members that are there now.
    pub(crate) fn ends(&self, rank: usize) -> Result<Ends, ArenaError> {
        let waiter = self.planned.basis.waiter(rank, self.roll.census.as_ref());
        self.layout().ends(self.site(rank), waiter)
    }

    /// The ends of all members, which wait with these waiters.
    pub(crate) fn all_ends(&self, waiters: Vec<Waiter>) -> Result<Vec<Ends>, ArenaError> {
        let layout = self.layout();
        waiters.into_iter().enumerate().map(|(rank, waiter)| layout.ends(self.site(rank), waiter)).collect()
    }

    fn layout(&self) -> Layout<'_> {
        Layout::of(&self.planned.basis, &self.planned.choice)
    }

    fn site(&self, rank: usize) -> Site {
        Site { rank, roll: Arc::clone(&self.roll), arena: self.arena.clone() }
    }
}

/// Separate memory, for a future group or a race: only its members lay it out.
#[derive(Debug, Clone)]
pub(crate) struct Plot(Arc<Mutex<Ground>>);

#[derive(Debug)]
struct Ground {
    arena: Arena,
    /// Made by the first member of this process that asks.
    commons: Option<Arc<Commons>>,
    /// The number of times it was asked for.
    asked: usize,
}

/// Memories begin where slices may.
pub(crate) const STEP: usize = size_of::<CacheLine<u8>>();

const UNPOISONED: &str = "planning does not panic";

impl Plot {
    /// The next `bytes` bytes of a memory; on the heap as much as is used.
    pub(crate) fn reserve(arena: &mut Arena, bytes: usize) -> Result<Self, ArenaError> {
        let part = arena.part(bytes)?;
        arena.share(|| Self(Arc::new(Mutex::new(Ground { arena: part, commons: None, asked: 0 }))))
    }

    /// Memory for the survivors of a group that has laid out its own memory: the same amount, and half of the remainder, or
    /// nothing if there is less. The room behind it is for objects that members make later.
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
    pub(crate) fn commons(
        &self,
        members: usize,
        make: impl FnOnce(Arena) -> Result<Commons, ArenaError>,
    ) -> Result<Arc<Commons>, ArenaError> {
        let mut ground = self.0.lock().expect(UNPOISONED);
        let commons = match ground.commons.take() {
            Some(commons) => commons,
            None => Arc::new(make(ground.arena.clone())?),
        };
        ground.asked += 1;
        if ground.asked < members {
            ground.commons = Some(Arc::clone(&commons));
        } else if !ground.arena.is_shared() {
            ground.arena = Arena::heap();
        }
        Ok(commons)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::barrier::Barrier;
    use crate::layout::tests::chosen;

    #[test]
    fn a_plot_is_planned_once_and_keeps_nothing_when_all_have_asked() {
        let mut arena = Arena::heap();
        let mut other = arena.from_start();
        let (mine, theirs) = (Plot::reserve(&mut arena, 0), Plot::reserve(&mut other, 0));
        let make = |arena| Commons::new(chosen(Barrier::Ticket), arena, None, None);
        let first = mine.expect("the heap has room").commons(2, make).expect("the heap has room");
        let alive = Arc::downgrade(&first);
        drop(first);
        assert!(alive.upgrade().is_some(), "the other one has not asked");
        let second = theirs.expect("the heap has room").commons(2, |_| unreachable!("it was made")).expect("as before");
        drop(second);
        assert!(alive.upgrade().is_none());
    }
}
