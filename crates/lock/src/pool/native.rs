//! The pool of this process.
//!
//! It can be used anywhere in a thread's life, at any moment of a process. It takes no lock, so a child of `fork` finds it usable
//! whatever other threads of its parent were doing. A thread's own nodes are variables without a destructor, and reach the others
//! by a key of pthread when the thread ends. (Rust's thread-local destructors allocate when they are registered: a lock inside
//! an allocator would call that allocator, and come back here.)

use std::cell::Cell;

use corecast_base::sync::AtomicU32;
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

/// All nodes that have been taken at least once.
static ALL: NodeTable<CacheLine<PoolNode>, FIRST, SLABS> = NodeTable::new();
static FREE: FreeNodes = FreeNodes::new();
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
            return free(number);
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
            self.rest[MOST_OWN / 2..].iter().for_each(|number| free(number.get()));
            self.len.set(MOST_OWN / 2);
        }
        let len = self.len.get();
        self.rest[len].set(number);
        self.len.set(len + 1);
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
    node(number)
}

/// A node for the caller alone.
#[inline]
pub(crate) fn take() -> u32 {
    OWN.with(Own::take).unwrap_or_else(take_shared)
}

/// Gives a node back, to the next thread that takes one.
#[inline]
pub(crate) fn give(number: u32) {
    OWN.with(|own| own.give(number));
}

fn link(number: u32) -> &'static AtomicU32 {
    &node(number).free
}

fn free(number: u32) {
    FREE.push(number, link);
}

/// The end of a thread: its nodes go to all.
fn give_up_own() {
    OWN.with(|own| {
        own.manner.set(Manner::GivesAway);
        while let Some(number) = own.take() {
            free(number);
        }
    });
}

#[cold]
fn take_shared() -> u32 {
    FREE.pop(link).unwrap_or_else(|| ALL.make(PoolNode::new))
}
