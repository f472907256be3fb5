//! [`Hmcs`]: when to take it, how it works, and its code.

use std::cell::Cell;

use crate::domains::Domains;
use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::mcs::{HOLDS, Mcs, McsNode, hand_to};
use crate::raw::{RawLock, RawTimed, Setup};

/// The value handed to a thread that has to enter the queue above. Less is the count of holders of this domain in turn, from
/// [`HOLDS`] on.
const ASCENDS: u32 = u32::MAX;

/// A tree of MCS queues: the lock is handed over within a domain for a while before it moves to another one.
///
/// Take it for locks under heavy contention on machines with several packages or clusters, where a transfer among those costs
/// many times that of a near one, and each thread has a CPU. Not on a machine of one domain, where it is `mcs` with
/// another step, not for locks that are seldom contended (a newcomer enters a queue per level), and not with more threads
/// than CPUs, as `mcs`. It must be made for the domains of the machine ([`Setup::domains`]): by default there is one.
///
/// Each node of the tree of domains has a queue. A thread enters that of its domain; the first one there enters the queue
/// above for all of them, and so on up to the root: the first one there holds the lock. An unlock hands over
/// within its domain, if somebody waits there and that did not happen [`Setup::hand_overs`] times in turn. Else it frees
/// the queues above first, and leaves it to the one behind to enter them again. A try enters the queue of the root
/// alone, if that is empty.
///
/// **Progress:** blocking, first in first out within a domain, and among domains; an unlock waits for one that has come but
/// has not hung its node in yet. **Memory ordering:** that of [`RawLock`].
/// Source: M. Chabbi, M. Fagan, J. Mellor-Crummey, High Performance Locks for Multi-level NUMA Systems, 2015.
#[derive(Debug)]
pub struct Hmcs {
    /// The domains first.
    tree: Box<[Station]>,
    domains: Domains,
    /// How often in turn it is handed over within a domain at most.
    hand_overs: u32,
}

/// One node of the tree, on lines of its own.
#[derive(Debug)]
struct Station {
    queue: Mcs,
    /// The node with which the first of the queue enters the one above. Used by the threads that are first here, one after
    /// another.
    own: McsNode,
    /// `None` for the root.
    above: Option<usize>,
}

/// One acquisition.
#[derive(Debug, Default)]
pub struct HmcsNode {
    own: McsNode,
    /// The queue it is in.
    at: Cell<usize>,
}

impl Hmcs {
    fn root(&self) -> usize {
        self.tree.len() - 1
    }

    /// # Safety
    /// - As of [`Mcs::enter`].
    #[inline]
    unsafe fn ascend(&self, at: usize, own: &McsNode) {
        let (mut at, mut own) = (at, own);
        loop {
            let Station { queue, above, own: next } = &self.tree[at];
            // SAFETY: the caller's promise; from the second round on a node of the tree, which only the first of the queue
            // below uses.
            match unsafe { queue.enter(own) } {
                None | Some(ASCENDS) => own.note(HOLDS),
                Some(_) => return,
            }
            let Some(above) = *above else { return };
            (at, own) = (above, next);
        }
    }

    /// # Safety
    /// - The caller is first in this queue with `own`, and in those above.
    #[inline]
    unsafe fn descend(&self, at: usize, own: &McsNode) {
        let Station { queue, above, own: next } = &self.tree[at];
        let Some(above) = *above else {
            // SAFETY: the caller's promise.
            return unsafe { queue.hand_over(own, HOLDS) };
        };
        let turn = own.state();
        if let Some(behind) = own.behind().filter(|_| turn <= self.hand_overs) {
            return hand_to(behind.inbox(), turn + 1);
        }
        // SAFETY: the caller's promise.
        unsafe { self.descend(above, next) };
        // Only now: the next thread here uses the same node above.
        // SAFETY: the caller's promise.
        unsafe { queue.hand_over(own, ASCENDS) };
    }
}

// SAFETY: the first in the queue of the root holds the lock, and there is one at a time, as with mcs. A thread handed the
// queue of a domain by its holder is in the holder's place in the queues above.
unsafe impl RawLock for Hmcs {
    type Node = HmcsNode;
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "hmcs",
        about: "a tree of queues, handed over within a domain for a while",
        order: AcquisitionOrder::Bounded,
        node: NodeKind::Stack,
        parks: false,
        source: "Chabbi, Fagan, Mellor-Crummey 2015",
    };

    fn new(setup: &Setup) -> Self {
        let station = |&above: &Option<usize>| Station { queue: Mcs::empty(), own: McsNode::default(), above };
        let tree = setup.domains.above().iter().map(station).collect();
        // A count never gets so far as to mean something else.
        Self { tree, domains: setup.domains.clone(), hand_overs: setup.hand_overs.min(ASCENDS - 2) }
    }

    #[inline]
    unsafe fn lock(&self, node: &HmcsNode) {
        node.at.set(self.domains.here());
        // SAFETY: the caller's promise.
        unsafe { self.ascend(node.at.get(), &node.own) };
    }

    #[inline]
    unsafe fn try_lock(&self, node: &HmcsNode) -> bool {
        node.at.set(self.root());
        // SAFETY: the caller's promise.
        unsafe { self.tree[self.root()].queue.try_enter(&node.own) }
    }

    #[inline]
    unsafe fn unlock(&self, node: &HmcsNode) {
        // SAFETY: the caller holds the lock, so it is first in the queue that it has entered, and in those above.
        unsafe { self.descend(node.at.get(), &node.own) };
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Hmcs {}
