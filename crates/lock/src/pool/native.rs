//! The pool of this process.
//!
//! It can be used anywhere in a thread's life, at any moment of a process. It takes no lock, so a child of `fork` finds it usable
//! whatever other threads of its parent were doing. A thread's own nodes are variables without a destructor, and reach the others
//! by a key of pthread when the thread ends. (Rust's thread-local destructors allocate when they are registered: a lock inside
//! an allocator would call that allocator, and come back here.)
//!
//! Nodes go between threads and the pool in batches. A thread that finds a `clh` free and leaves it to one behind has a node
//! less, so threads that take locks at random run out of nodes again and again. One node at a time made the stack of free ones a
//! hot spot where many threads begin after others have ended: 36 threads on a simulated Opteron with 64 locks did half as much
//! for the first half of a millisecond. With two threads nobody meets there, and a batch is 2 KiB of each thread that waits.

use std::cell::Cell;

use corecast_base::sync::{AtomicU32, Ordering, address_follows};
use corecast_base::{CacheLine, ThreadEnd};

use super::PoolNode;
use super::free_nodes::FreeNodes;
use super::node_table::NodeTable;

/// Nodes of the first slab.
const FIRST: u32 = 64;
/// The most slabs: together they hold more nodes than a process has threads.
const SLABS: usize = 20;
/// A thread that has more gives half of them to all.
const MOST_OWN: usize = 64;
/// Nodes that a thread makes at once.
const BATCH: u32 = 16;

/// All nodes that have been taken at least once.
static ALL: NodeTable<CacheLine<PoolNode>, FIRST, SLABS> = NodeTable::new();
static FREE: CacheLine<FreeNodes> = CacheLine::new(FreeNodes::new());
static AT_END: ThreadEnd = ThreadEnd::new(give_up_own);

/// No node's number.
const NONE: u32 = u32::MAX;

/// The free nodes of a thread.
struct Own {
    /// The one to take next, or [`NONE`]: threads mostly give back one and take one.
    next: Cell<u32>,
    rest: [Cell<u32>; MOST_OWN],
    len: Cell<usize>,
    /// Whether they go to all when the thread ends. Where they do not, it keeps none: before it has asked for that, where that is
    /// not possible, and when it is ending.
    manner: Cell<Manner>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Fresh,
    Keeps,
    GivesAway,
}

corecast_base::per_thread! {
    static OWN: Own = const {
        Own {
            next: Cell::new(NONE),
            rest: [const { Cell::new(NONE) }; MOST_OWN],
            len: Cell::new(0),
            manner: Cell::new(Manner::Fresh),
        }
    };
}

impl Own {
    #[inline]
    fn take(&self) -> Option<u32> {
        match self.next.replace(NONE) {
            NONE => self.take_rest(),
            number => Some(number),
        }
    }

    #[inline]
    fn take_rest(&self) -> Option<u32> {
        let len = self.len.get().checked_sub(1)?;
        self.len.set(len);
        Some(self.rest[len].get())
    }

    #[inline]
    fn give(&self, number: u32) {
        if self.manner.get() != Manner::Keeps && !self.may_keep() {
            return free([number]);
        }
        let before = self.next.replace(number);
        if before != NONE {
            self.put_aside(before);
        }
    }

    #[cold]
    fn may_keep(&self) -> bool {
        if self.manner.get() == Manner::Fresh {
            // Said before it is true: where asking gives a node back, that one is not kept.
            self.manner.set(Manner::GivesAway);
            if AT_END.ask() {
                self.manner.set(Manner::Keeps);
            }
        }
        self.manner.get() == Manner::Keeps
    }

    fn put_aside(&self, number: u32) {
        if self.len.get() == MOST_OWN {
            free(self.rest[MOST_OWN / 2..].iter().map(Cell::get));
            self.len.set(MOST_OWN / 2);
        }
        let len = self.len.get();
        self.rest[len].set(number);
        self.len.set(len + 1);
    }

    /// A node of a batch, of which the thread keeps the others if it may.
    #[cold]
    fn take_shared(&self) -> u32 {
        let (first, others) = take_batch();
        if self.manner.get() == Manner::Keeps || self.may_keep() {
            others.for_each(|number| self.put_aside(number));
        } else {
            free(others);
        }
        first
    }
}

/// The node with this number, which [`take`] has returned.
#[inline]
pub(crate) fn node(number: u32) -> &'static PoolNode {
    ALL.node(number)
}

/// The node with this number, for the thread behind to hang itself in.
#[inline]
pub(crate) fn node_before(number: u32) -> &'static PoolNode {
    address_follows();
    node(number)
}

/// A node for the caller alone.
#[inline]
pub(crate) fn take() -> u32 {
    OWN.with(|own| own.take().unwrap_or_else(|| own.take_shared()))
}

/// Gives a node back, to the next thread that takes one.
#[inline]
pub(crate) fn give(number: u32) {
    OWN.with(|own| own.give(number));
}

/// Gives a batch of nodes to all: they are linked by `free`, and batches by the `batch` of the first one.
fn free(numbers: impl IntoIterator<Item = u32>) {
    let mut numbers = numbers.into_iter();
    let Some(first) = numbers.next() else { return };
    let set_behind = |number: u32, behind: u32| {
        // ORDERING: Relaxed, released by the push
        node(number).free.store(behind, Ordering::Relaxed);
    };
    let last = numbers.fold(first, |before, number| {
        set_behind(before, number);
        number
    });
    set_behind(last, NONE);
    FREE.push(first, batch_behind);
}

/// A batch of nodes for the caller alone: the first one, and the others.
fn take_batch() -> (u32, impl Iterator<Item = u32>) {
    let free = FREE.pop(batch_behind);
    let made = if free.is_none() { ALL.make(BATCH, PoolNode::new) } else { 0 };
    // ORDERING: Relaxed, acquired by the pop
    let behind = |number: u32| Some(node(number).free.load(Ordering::Relaxed)).filter(|&behind| behind != NONE);
    let linked = std::iter::successors(free.and_then(behind), move |&number| behind(number));
    let in_a_row = if free.is_none() { made + 1..made + BATCH } else { 0..0 };
    (free.unwrap_or(made), linked.chain(in_a_row))
}

fn batch_behind(number: u32) -> &'static AtomicU32 {
    &node(number).batch
}

/// The end of a thread: its nodes go to all.
fn give_up_own() {
    // Its variables may be gone by now if it has played simulated threads: then its nodes are lost.
    let _ = OWN.try_with(|own| {
        own.manner.set(Manner::GivesAway);
        free(std::iter::from_fn(|| own.take()));
    });
}
