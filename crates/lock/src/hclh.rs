//! [`Hclh`]: when to take it, how it works, and its code.

use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::Spinner;

use crate::clh::ClhNodes;
use crate::domains::Domains;
use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::pool::{self, Stay, StayWord};
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

/// Its thread waits or holds the lock.
const BUSY: u64 = 1;
/// It was the last one of those that were appended to the queue of all together.
const SPLICED: u64 = 1 << 1;

/// The first of a domain leaves others so long to come, if it has to wait anyway. Not measured on a machine of several domains.
const COMBINING: Duration = Duration::from_nanos(200);

/// A CLH queue for each domain, of which the first one splices what has come there into the queue of all.
///
/// Take it to compare, on machines with several clusters where each thread has a CPU; `hmcs` has the same aim and gives no
/// domain more than its turns. Not on a machine of one domain, and not with more threads than CPUs. It must be made for
/// the domains of the machine ([`Setup::domains`]): by default there is one.
///
/// A newcomer enters the queue of its domain, and polls the node before. If that is spliced, it is the first of those to be
/// spliced next: it appends all of them to the queue of all, marks their last node as spliced, and waits for the one before
/// there. If the lock is held it leaves others a moment to come before that. Else it holds the lock once the node before
/// is idle. A try appends its own node to the queue of all, if the last one there is idle. (In the paper there is no try, and a
/// node carries the number of its domain. Here it carries that of its stay in a queue, by which a node that was used again
/// is told from the one that a thread has found before it, and by which a try is possible, as in `clh`.)
///
/// It is built with the feature `hierarchical` only, as `hticket`: whether the patent named there concerns it, too, is a
/// question for a lawyer.
///
/// **Progress:** blocking, first in first out within a domain. **Memory ordering:** that of [`RawLock`].
/// Source: V. Luchangco, D. Nussbaum, N. Shavit, A Hierarchical CLH Queue Lock, 2006.
#[derive(Debug)]
pub struct Hclh {
    /// The last node of the queue of all. Written by the first of each domain, and by tries.
    tail: CacheLine<StayWord>,
    /// The last node that has come to each domain. Written by newcomers there. It may have been given back long ago.
    near: Box<[CacheLine<StayWord>]>,
    domains: Domains,
}

/// The word of a stay's node: which stay, and its bits.
fn word_of(stay: Stay) -> &'static AtomicU64 {
    &pool::node(stay.number).splice
}

/// A node with these bits, for its next stay in a queue.
fn enter(bits: u64) -> Stay {
    let stay = Stay::next(pool::take());
    // ORDERING: Relaxed, released by the thread that puts it into a queue
    word_of(stay).store(u64::from(stay.round) << 32 | bits, Ordering::Relaxed);
    stay
}

/// Waits for the node before in the own domain: true if its thread has left the lock to this one, false if the own node is
/// the first of those that are not spliced yet.
fn await_near(before: Stay) -> bool {
    let mut spinner = Spinner::new();
    loop {
        // ORDERING: Acquire, pairs with the Release in unlock [hclh-idle]
        let word = word_of(before).load(Ordering::Acquire);
        // A node that is not spliced is given back by the one behind it alone.
        if word >> 32 != u64::from(before.round) || word & SPLICED != 0 {
            return false;
        }
        if word & BUSY == 0 {
            return true;
        }
        spinner.pause();
    }
}

impl Hclh {
    /// Appends those that have come here to the queue of all, and waits for the one before.
    fn splice(&self, near: &StayWord) -> Stay {
        let mut spinner = Spinner::new();
        // ORDERING: Relaxed, it only says whether there is something to wait for anyway
        let before = Stay::of_word(self.tail.load(Ordering::Relaxed));
        // ORDERING: Relaxed, as the load of the tail
        if word_of(before).load(Ordering::Relaxed) & BUSY != 0 {
            spinner.pause_for(COMBINING);
        }
        // ORDERING: Acquire, pairs with the Release of the thread that put it there: the one behind finds a node that is busy
        // [hclh-near]
        let last = Stay::of_word(near.load(Ordering::Acquire));
        // ORDERING: AcqRel, pairs with itself: the next newcomer finds a node that is busy [hclh-tail]
        let before = Stay::of_word(self.tail.swap(last.word(), Ordering::AcqRel));
        // Before this thread goes on, so before the thread of that node holds the lock, which then finds it marked.
        // ORDERING: Relaxed, it says no more than that
        word_of(last).fetch_or(SPLICED, Ordering::Relaxed);
        // ORDERING: Acquire, pairs with the Release in unlock [hclh-idle]
        while pool::node_before(before.number).splice.load(Ordering::Acquire) & BUSY != 0 {
            spinner.pause();
        }
        before
    }
}

// SAFETY: a thread holds the lock once the node before is idle, in its domain's queue or in that of all, which its thread
// stores when it unlocks. Each node that is spliced is before one other node in the queue of all, and each other one before one
// in its domain. Only the one behind adopts a node. A try that succeeds finds the very stay whose node it saw idle.
unsafe impl RawLock for Hclh {
    type Node = ClhNodes;
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "hclh",
        about: "a queue of each domain, spliced into one of all",
        order: AcquisitionOrder::Bounded,
        node: NodeKind::Pooled,
        parks: false,
        source: "Luchangco, Nussbaum, Shavit 2006",
    };

    fn new(setup: &Setup) -> Self {
        let first = enter(SPLICED).word();
        let last = |_| CacheLine::new(StayWord::new(first));
        Self {
            tail: CacheLine::new(StayWord::new(first)),
            near: (0..setup.domains.count()).map(last).collect(),
            domains: setup.domains.clone(),
        }
    }

    #[inline]
    unsafe fn lock(&self, node: &ClhNodes) {
        let near = &self.near[self.domains.here()];
        let own = enter(BUSY);
        // ORDERING: AcqRel, pairs with itself: the next newcomer finds a node that is busy [hclh-near]
        let before = Stay::of_word(near.swap(own.word(), Ordering::AcqRel));
        let before = if await_near(before) { before } else { self.splice(near) };
        node.hold(own.number, before.number);
    }

    #[inline]
    unsafe fn try_lock(&self, node: &ClhNodes) -> bool {
        // ORDERING: Acquire, pairs with the Release of the thread that put the node into the queue: it was busy then [hclh-tail]
        let before = self.tail.load(Ordering::Acquire);
        // ORDERING: Acquire, pairs with the Release in unlock [hclh-idle]
        if word_of(Stay::of_word(before)).load(Ordering::Acquire) & BUSY != 0 {
            return false;
        }
        let own = enter(BUSY);
        // ORDERING: Release, pairs with the Acquire of the next newcomer, as the load above did with that of the one before;
        // Relaxed where it fails, as nothing was taken [hclh-tail]
        if self.tail.compare_exchange(before, own.word(), Ordering::Release, Ordering::Relaxed).is_err() {
            pool::give(own.number);
            return false;
        }
        node.hold(own.number, Stay::of_word(before).number);
        true
    }

    #[inline]
    unsafe fn unlock(&self, node: &ClhNodes) {
        let word = &pool::node(node.own()).splice;
        // ORDERING: Relaxed, nobody else writes it any more
        let marked = word.load(Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in await_near, splice and try_lock [hclh-idle]
        word.store(marked & !BUSY, Ordering::Release);
        pool::give(node.before());
    }
}

impl Drop for Hclh {
    fn drop(&mut self) {
        // ORDERING: Relaxed, nobody else has the lock any more
        pool::give(Stay::of_word(self.tail.load(Ordering::Relaxed)).number);
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Hclh {}

// SAFETY: the node is a word that only its owner reads; the nodes in the queues lie in the pool.
unsafe impl NodeMoves for Hclh {}
