//! The queue of waiters: it says who polls the word.
//!
//! [`Qword`](crate::Qword) has it as a hint alone. Anybody may leave at any time, and tells the one behind that it is the head.
//! So there may be several heads, for instance when one in the middle has left: they compete for the word. A node that has left
//! may still be told so by the one that was before it, perhaps in another queue by then: that makes one more head, no fewer.
//!
//! [`Auto`](crate::Auto) also hands the lock over by it. So there a node is told something once, as the second part says. Then
//! what the holder did passes by the node's state; nothing else of a node is read by others but what names its neighbour.

use std::time::Duration;

use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::Spinner;

use crate::pool;

const WAITS: u32 = 0;
/// As [`WAITS`], and its thread may sleep on this word.
const NAPS: u32 = 1;
const HEAD: u32 = 2;
/// Its thread has left before it was told anything: the one that would tell it looks after the node.
const GONE: u32 = 3;
/// Its thread has the lock, and the lower bits say how many have had it in a row.
const HOLDS: u32 = 1 << 31;
/// In a link: the thread behind stays in the queue until it is told something, so that it can be handed the lock by a store.
const STAYS: u32 = 1 << 31;

/// No node. Others are named by their number plus one, so that a lock of zeros has no queue.
const NONE: u32 = 0;

/// The last node of a queue, [`NONE`] if it is empty. Written by each thread that enters, and by the last when it leaves.
#[derive(Debug)]
pub(crate) struct Queue(AtomicU32);

/// A thread's place in a queue, which has to [leave](Queue::leave) it.
#[derive(Debug)]
pub(crate) struct Place {
    number: u32,
}

/// The end of a try to hand the lock over.
#[derive(Debug)]
pub(crate) enum HandOver {
    /// The one behind has it.
    Done,
    /// The queue is empty, so the next to enter it has the lock.
    Left,
    /// Nobody is behind this place.
    NobodyBehind(Place),
    /// The one behind of this place does not stay until it is told something: the lock has to be freed.
    NotTo(Place),
}

#[cfg(not(loom))]
impl Queue {
    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a queue of its own")]
    pub(crate) const EMPTY: Self = Self(AtomicU32::new(NONE));
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(NONE))
    }

    /// See [`Qword::use_otherwise`](crate::Qword::use_otherwise).
    #[cfg(loom)]
    pub(crate) fn use_otherwise(&mut self) {
        self.0.with_mut(|_| ());
    }

    /// Whether nobody was in it a moment ago.
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: Relaxed, only who may try first depends on it
        self.0.load(Ordering::Relaxed) == NONE
    }

    /// Enters at the end.
    pub(crate) fn enter(&self) -> Place {
        self.enter_with(0).0
    }

    /// Enters at the end, and tells the thread before, whose node is named, too, whether this one stays until it is told
    /// something. Where that is 0 nobody was there.
    pub(crate) fn enter_as(&self, stays: bool) -> (Place, u32) {
        self.enter_with(if stays { STAYS } else { 0 })
    }

    #[inline]
    fn enter_with(&self, mark: u32) -> (Place, u32) {
        let place = Place { number: pool::take() };
        let own = place.prepare(WAITS);
        // ORDERING: AcqRel, pairs with itself: a thread links itself behind a node that was prepared before; and with the Release
        // in is_emptied_by: one that finds the queue empty may have the lock by that [auto-tail]
        let before = self.0.swap(place.name(), Ordering::AcqRel);
        if before == NONE {
            // ORDERING: Relaxed, its own thread reads it
            own.state.store(HEAD, Ordering::Relaxed);
        } else {
            // ORDERING: Release, pairs with the Acquire in behind: the head is told after this node was prepared [auto-link]
            pool::node_before(before - 1).next.store(place.name() | mark, Ordering::Release);
        }
        (place, before)
    }

    /// Leaves, and makes the one behind a head.
    pub(crate) fn leave(&self, place: Place) {
        let mut behind = place.behind();
        // ORDERING: Relaxed, a thread that finds the queue empty looks at no node
        if behind != NONE || self.0.compare_exchange(place.name(), NONE, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            let mut spinner = Spinner::new();
            while behind == NONE {
                spinner.pause();
                behind = place.behind();
            }
            let state = &pool::node(behind - 1).state;
            // ORDERING: Relaxed, it only says who polls the word
            if state.swap(HEAD, Ordering::Relaxed) == NAPS {
                futex_wake(state, 1, Scope::Process);
            }
        }
        pool::give(place.number);
    }
}

/// A queue whose threads may stay at its head while they hold the lock. There a node is told something once, by the thread
/// before it, and goes back to the pool only after that: so none is told anything in another queue.
impl Queue {
    /// Leaves: the first tells the one behind that it is the head, and another one leaves its node to the thread before it.
    pub(crate) fn quit(&self, place: Place) {
        let state = &pool::node(place.number).state;
        // ORDERING: Relaxed, the thread before looks at no other part of the node but its link
        if state.compare_exchange(WAITS, GONE, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            self.pass_on(place);
        }
    }

    /// For one that is bound to stay, behind the node of this name: from now on it is made the head and not handed the lock,
    /// unless the thread before has looked at its link already. It may do so before it sleeps; or while it holds the lock, to
    /// leave: nobody hands it the lock before it has freed that, and a later holder finds the link like this.
    pub(crate) fn unbind(&self, place: &Place, before: u32) {
        if before != NONE {
            let link = &pool::node(before - 1).next;
            // A node that is in another place has another link.
            // ORDERING: Relaxed, released with the lock, and an exchange passes on what the link has released
            let _ = link.compare_exchange(place.name() | STAYS, place.name(), Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Takes an [`unbind`](Self::unbind) back. Where the thread has been told something since, that changes nothing.
    pub(crate) fn bind(&self, place: &Place, before: u32) {
        if before != NONE {
            let link = &pool::node_before(before - 1).next;
            // ORDERING: Relaxed, an exchange passes on what the link has released
            let _ = link.compare_exchange(place.name(), place.name() | STAYS, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// For the first: leaves, and makes the one behind that is still there the head.
    pub(crate) fn pass_on(&self, mut place: Place) {
        while let Some(behind) = self.after(&place) {
            pool::give(place.number);
            place = behind;
            let state = &pool::node(place.number).state;
            // ORDERING: Relaxed, it only says who polls the word
            match state.swap(HEAD, Ordering::Relaxed) {
                GONE => {}
                NAPS => return futex_wake(state, 1, Scope::Process),
                _ => return,
            }
        }
        pool::give(place.number);
    }

    /// Enters, if nobody is there; the place is the first then.
    pub(crate) fn try_enter(&self) -> Option<Place> {
        if !self.is_empty() {
            return None;
        }
        let place = Place { number: pool::take() };
        place.prepare(HEAD);
        // ORDERING: AcqRel, as the swap in enter, and pairs with the Release in is_emptied_by; Relaxed where it fails, as nothing
        // was taken [auto-tail]
        if self.0.compare_exchange(NONE, place.name(), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return Some(place);
        }
        pool::give(place.number);
        None
    }

    /// For the first, which holds the lock: hands it to the one behind, if that stays, or leaves the queue as its last.
    pub(crate) fn hand_over(&self, place: Place, waits: u32) -> HandOver {
        let mut link = place.behind();
        if link == NONE {
            if self.is_emptied_by(&place) {
                pool::give(place.number);
                return HandOver::Left;
            }
            link = place.await_behind();
        }
        self.hand_to(link, place, waits)
    }

    /// The same, where the last stays.
    pub(crate) fn hand_over_unless_last(&self, place: Place, waits: u32) -> HandOver {
        let mut link = place.behind();
        if link == NONE {
            // ORDERING: Relaxed, only what is done before it leaves depends on it
            if self.0.load(Ordering::Relaxed) == place.name() {
                return HandOver::NobodyBehind(place);
            }
            link = place.await_behind();
        }
        self.hand_to(link, place, waits)
    }

    #[inline]
    fn hand_to(&self, link: u32, place: Place, waits: u32) -> HandOver {
        if link & STAYS == 0 {
            return HandOver::NotTo(place);
        }
        // ORDERING: Release, pairs with the Acquire in handed [auto-handed]
        pool::node((link & !STAYS) - 1).state.store(HOLDS | waits, Ordering::Release);
        pool::give(place.number);
        HandOver::Done
    }

    /// The place behind; `None` if that was the last, and the queue is empty now.
    fn after(&self, place: &Place) -> Option<Place> {
        let behind = match place.behind() {
            NONE if self.is_emptied_by(place) => return None,
            NONE => place.await_behind(),
            behind => behind,
        };
        Some(Place { number: (behind & !STAYS) - 1 })
    }

    /// Empties the queue, if this is its only place.
    fn is_emptied_by(&self, place: &Place) -> bool {
        // ORDERING: Release, pairs with the Acquire in enter and try_enter: the next to come sees how the lock was left; Relaxed
        // where it fails, as somebody has come [auto-tail]
        self.0.compare_exchange(place.name(), NONE, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

impl Place {
    pub(crate) fn of_number(number: u32) -> Self {
        Self { number }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// How many have had the lock in a row, if it was handed to this one.
    pub(crate) fn handed(&self) -> Option<u32> {
        // ORDERING: Acquire, pairs with the Release in hand_over [auto-handed]
        let state = pool::node(self.number).state.load(Ordering::Acquire);
        (state & HOLDS != 0).then_some(state & !HOLDS)
    }

    fn name(&self) -> u32 {
        self.number + 1
    }

    /// Makes its node one that goes into a queue.
    #[inline]
    fn prepare(&self, state: u32) -> &'static pool::PoolNode {
        let own = pool::node(self.number);
        // ORDERING: Relaxed, released by the exchange of the tail
        own.next.store(NONE, Ordering::Relaxed);
        // ORDERING: Relaxed, released by the exchange of the tail, and by the link
        own.state.store(state, Ordering::Relaxed);
        own
    }

    /// The node behind, as far as it has hung itself in.
    fn behind(&self) -> u32 {
        // ORDERING: Acquire, pairs with the Release in enter [auto-link]
        pool::node(self.number).next.load(Ordering::Acquire)
    }

    /// The same, once it has done so.
    fn await_behind(&self) -> u32 {
        let mut spinner = Spinner::new();
        loop {
            match self.behind() {
                NONE => spinner.pause(),
                behind => return behind,
            }
        }
    }

    /// Whether nobody is before it.
    pub(crate) fn is_head(&self) -> bool {
        // ORDERING: Relaxed, it only says who polls the word
        pool::node(self.number).state.load(Ordering::Relaxed) == HEAD
    }

    /// Sleeps until it is the head, but not for longer.
    pub(crate) fn nap(&self, longest: Duration) {
        let state = &pool::node(self.number).state;
        // ORDERING: Relaxed, it only says who polls the word
        if state.compare_exchange(WAITS, NAPS, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            futex_wait(state, NAPS, longest, Scope::Process);
            // A head stays one.
            // ORDERING: Relaxed, it only says who polls the word
            let _ = state.compare_exchange(NAPS, WAITS, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_the_first_to_come_and_then_the_one_behind() {
        let queue = Queue::new();
        let (first, second, third) = (queue.enter(), queue.enter(), queue.enter());
        assert!(first.is_head() && !second.is_head() && !third.is_head() && !queue.is_empty());
        queue.leave(first);
        assert!(second.is_head() && !third.is_head());
        queue.leave(second);
        queue.leave(third);
        assert!(queue.is_empty());
    }

    #[test]
    fn one_that_leaves_from_the_middle_makes_a_second_head() {
        let queue = Queue::new();
        let (first, second, third) = (queue.enter(), queue.enter(), queue.enter());
        queue.leave(second);
        assert!(first.is_head() && third.is_head());
        queue.leave(first);
        assert!(third.is_head());
        queue.leave(third);
        assert!(queue.is_empty());
    }

    #[test]
    fn one_that_is_about_to_sleep_is_not_handed_the_lock() {
        let queue = Queue::new();
        let ((first, _), (second, before)) = (queue.enter_as(true), queue.enter_as(true));
        queue.unbind(&second, before);
        let HandOver::NotTo(first) = queue.hand_over(first, 0) else { panic!("it is about to sleep") };
        queue.bind(&second, before);
        assert!(matches!(queue.hand_over(first, 3), HandOver::Done));
        assert_eq!(second.handed(), Some(3));
        assert!(matches!(queue.hand_over(second, 0), HandOver::Left) && queue.is_empty());
    }

    #[test]
    fn a_nap_ends_by_itself_and_by_a_leaver() {
        let queue = Queue::new();
        let (first, second) = (queue.enter(), queue.enter());
        second.nap(Duration::from_millis(1));
        assert!(!second.is_head());
        std::thread::scope(|scope| {
            scope.spawn(|| queue.leave(first));
            while !second.is_head() {
                second.nap(Duration::from_secs(1));
            }
        });
        second.nap(Duration::MAX);
        queue.leave(second);
        assert!(queue.is_empty());
    }
}
