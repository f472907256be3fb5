//! The pool of this process.

use std::cell::{Cell, RefCell};
use std::sync::OnceLock;

use corecast_base::CacheLine;
use corecast_base::sync::Mutex;

use super::PoolNode;

/// Nodes of the first slab; each other one has twice as many as the one before.
const FIRST: u32 = 64;
/// The most slabs: together they hold more nodes than a process has threads.
const SLABS: usize = 20;
/// A thread that has more gives half of them to all.
const MOST_OWN: usize = 64;

type Slab = OnceLock<Box<[CacheLine<PoolNode>]>>;

static ALL: [Slab; SLABS] = [const { Slab::new() }; SLABS];
static SHARED: Mutex<Shared> = Mutex::new(Shared { free: Vec::new(), made: 0 });

#[derive(Debug)]
struct Shared {
    free: Vec<u32>,
    /// Nodes that have been taken at least once, of those in slabs.
    made: u32,
}

/// No node's number.
const NONE: u32 = u32::MAX;

/// The free nodes of a thread.
struct Own {
    /// The one to take next, or [`NONE`]: threads mostly give back one and take one.
    next: Cell<u32>,
    rest: RefCell<Vec<u32>>,
}

thread_local! {
    static OWN: Own = const { Own { next: Cell::new(NONE), rest: RefCell::new(Vec::new()) } };
}

impl Own {
    #[inline]
    fn take(&self) -> Option<u32> {
        match self.next.replace(NONE) {
            NONE => self.rest.borrow_mut().pop(),
            number => Some(number),
        }
    }

    #[inline]
    fn give(&self, number: u32) {
        let before = self.next.replace(number);
        if before != NONE {
            self.put_aside(before);
        }
    }

    fn put_aside(&self, number: u32) {
        let mut rest = self.rest.borrow_mut();
        rest.push(number);
        if rest.len() > MOST_OWN {
            shared(|all| all.free.extend(rest.drain(MOST_OWN / 2..)));
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let next = Some(self.next.get()).filter(|&next| next != NONE);
        shared(|all| all.free.extend(self.rest.get_mut().drain(..).chain(next)));
    }
}

/// The node with this number, which [`take`] has returned.
#[inline]
pub(crate) fn node(number: u32) -> &'static PoolNode {
    let slab = (number / FIRST + 1).ilog2();
    let nodes = ALL[slab as usize].get().expect("a number is made with its slab");
    &nodes[(number - FIRST * ((1 << slab) - 1)) as usize]
}

/// The node with this number, for the thread behind to hang itself in.
#[inline]
pub(crate) fn node_before(number: u32) -> &'static PoolNode {
    node(number)
}

/// A node for the caller alone.
#[inline]
pub(crate) fn take() -> u32 {
    // A thread that ends has no nodes of its own any more.
    OWN.try_with(Own::take).ok().flatten().unwrap_or_else(take_shared)
}

/// Gives a node back, to the next thread that takes one.
#[inline]
pub(crate) fn give(number: u32) {
    if OWN.try_with(|own| own.give(number)).is_err() {
        shared(|all| all.free.push(number));
    }
}

#[cold]
fn take_shared() -> u32 {
    let taken = shared(|all| {
        all.free.pop().or_else(|| {
            let number = all.made;
            let slab = (number / FIRST + 1).ilog2();
            let make = || (0..FIRST << slab).map(|_| PoolNode::new()).collect();
            ALL.get(slab as usize)?.get_or_init(make);
            all.made += 1;
            Some(number)
        })
    });
    // Not while the pool is locked, which would be of no use to anybody then.
    taken.expect("fewer than 2^25 threads wait, or closures that were given up")
}

fn shared<R>(use_it: impl FnOnce(&mut Shared) -> R) -> R {
    use_it(&mut SHARED.lock().expect("nobody panics while holding the pool"))
}
