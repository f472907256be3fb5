//! The word of a lock among processes: its holder, and whether somebody sleeps.
//!
//! Take it through [`SharedLock`](super::SharedLock); it is public so that models of it can be written. It is the lock
//! [`Word`](crate::Word) with the holder's name in place of "held". A waiter that has slept in vain asks whether the
//! holder is gone, and takes the lock from a dead one by an exchange of the very word that it saw. So no two waiters take it,
//! and none takes it from a living holder, as a name is not given twice (but every 2^20 times that a seat is taken).
//!
//! A thread killed between freeing the word and waking a sleeper, or after it was woken, leaves others asleep. So all threads
//! sleep for at most [`LONGEST_SLEEP`] before they look again.
//!
//! **Progress:** blocking; a waiter may be overtaken. **Memory ordering:** that of [`RawLock`](crate::RawLock); of a holder that
//! was killed all stores before the kill are seen.
//! Source: U. Drepper, Futexes Are Tricky, 2004 (the third mutex), for the sleep; robust locks are POSIX's, 2008.

use std::time::Duration;

use corecast_base::Shareable;
use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::{LONGEST_SLEEP, Spinner};

use crate::three_states::IS_MODEL;

const FREE: u32 = 0;
/// Held, and somebody may sleep.
const AWAITED: u32 = 1 << 31;
/// The owner: the number of a seat plus one, and the lower bits of the seat's generation.
const OWNER: u32 = AWAITED - 1;
const SEAT_SHIFT: u32 = 20;
const GENERATION: u32 = (1 << SEAT_SHIFT) - 1;
const MOST_SEATS: u32 = OWNER >> SEAT_SHIFT;

/// The holder of a lock: a participant of a region, in 31 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// The one of this generation in the seat with this number; `None` if the region has fewer seats.
    #[must_use]
    pub fn new(seat: u32, generation: u32) -> Option<Self> {
        (seat < MOST_SEATS).then_some(Self((seat + 1) << SEAT_SHIFT | generation & GENERATION))
    }

    /// Its seat. Of what a stranger wrote there may be none with this number.
    #[must_use]
    pub fn seat(self) -> u32 {
        (self.0 >> SEAT_SHIFT).wrapping_sub(1)
    }
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was free.
    Taken,
    /// Its holder is gone: it may have left half done what it did.
    TakenFromGone,
    /// Another one holds it.
    Held,
}

/// See the [module](self).
#[derive(Debug)]
#[repr(transparent)]
pub struct OwnedWord {
    /// [`FREE`], or an [`Owner`] with or without [`AWAITED`]. Written by every thread that wants the lock, and by its holder;
    /// a stranger may write anything.
    state: AtomicU32,
}

// SAFETY: one atomic, of which any value is one.
unsafe impl Shareable for OwnedWord {}

impl Default for OwnedWord {
    fn default() -> Self {
        Self::new()
    }
}

impl OwnedWord {
    /// A free one, of which zeroes are one too.
    #[must_use]
    pub fn new() -> Self {
        Self { state: AtomicU32::new(FREE) }
    }

    /// Takes it if it is free, or if `is_gone` says so of its holder: that is asked only where another one holds it.
    #[inline]
    pub fn try_lock(&self, me: Owner, is_gone: impl Fn(Owner) -> bool) -> Outcome {
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [owned-free]
        match self.state.compare_exchange(FREE, me.0, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Outcome::Taken,
            Err(seen) if self.take_from_gone(seen, me, is_gone) => Outcome::TakenFromGone,
            Err(_) => Outcome::Held,
        }
    }

    /// Waits until it can be taken; `left` tells for how long at most, `None` to give up. Those who meet here are of `scope`.
    pub fn lock(
        &self,
        me: Owner,
        scope: Scope,
        is_gone: impl Fn(Owner) -> bool,
        left: impl Fn() -> Option<Duration>,
    ) -> Outcome {
        if self.spin(me, &left) {
            return Outcome::Taken;
        }
        loop {
            // ORDERING: Relaxed, the exchanges look again
            let seen = self.state.load(Ordering::Relaxed);
            let is_free = seen & OWNER == FREE;
            // A thread that may have slept cannot know whether others do, so it holds the lock as one that is awaited.
            let next = if is_free { me.0 | AWAITED } else { seen | AWAITED };
            // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [owned-free]
            if self.state.compare_exchange(seen, next, Ordering::Acquire, Ordering::Relaxed).is_err() {
                continue;
            }
            if is_free {
                return Outcome::Taken;
            }
            if self.take_from_gone(next, me, &is_gone) {
                return Outcome::TakenFromGone;
            }
            let Some(left) = left() else { return Outcome::Held };
            futex_wait(&self.state, next, left.min(LONGEST_SLEEP), scope);
        }
    }

    /// Frees it, for the holder.
    #[inline]
    pub fn unlock(&self, scope: Scope) {
        // ORDERING: Release, pairs with the Acquire in lock and try_lock [owned-free]
        if self.state.swap(FREE, Ordering::Release) & AWAITED != 0 {
            futex_wake(&self.state, 1, scope);
        }
    }

    /// Tries while that is cheaper than sleep; true if it is taken.
    fn spin(&self, me: Owner, left: impl Fn() -> Option<Duration>) -> bool {
        let mut spinner = Spinner::new();
        loop {
            // ORDERING: Relaxed, the exchange looks again
            // ORDERING: Acquire, pairs with the Release in unlock [owned-free]
            if self.state.load(Ordering::Relaxed) == FREE
                && self.state.compare_exchange(FREE, me.0, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return true;
            }
            if IS_MODEL || spinner.is_spent() || left().is_none() {
                return false;
            }
            spinner.pause();
        }
    }

    /// Takes it from the holder that was seen, if that is gone.
    #[cold]
    fn take_from_gone(&self, seen: u32, me: Owner, is_gone: impl Fn(Owner) -> bool) -> bool {
        let owner = Owner(seen & OWNER);
        // Another thread of this process holds it by the same name, and this process lives.
        if owner.0 == FREE || owner == me || !is_gone(owner) {
            return false;
        }
        // ORDERING: Acquire, pairs with the Release in unlock, of those who held it before; Relaxed where it fails [owned-free]
        self.state.compare_exchange(seen, me.0 | AWAITED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn owner(seat: u32, generation: u32) -> Owner {
        Owner::new(seat, generation).expect("the region has this seat")
    }

    #[test]
    fn an_owner_has_its_seat_and_is_told_from_the_one_before() {
        for seat in [0, 1, 1279, MOST_SEATS - 1] {
            assert_eq!(owner(seat, 7).seat(), seat);
            assert!(
                owner(seat, 7) != owner(seat, 8) && owner(seat, 0).0 != FREE && owner(seat, u32::MAX).0 & AWAITED == 0
            );
        }
        assert_eq!(Owner::new(MOST_SEATS, 0), None);
    }

    #[test]
    fn it_is_taken_from_those_who_are_gone_only() {
        let (word, dead, me) = (OwnedWord::new(), owner(0, 1), owner(1, 1));
        let never = |_| unreachable!("nobody else holds it");
        assert_eq!(word.try_lock(dead, never), Outcome::Taken);
        assert_eq!(word.try_lock(me, |_| false), Outcome::Held);
        assert_eq!(word.lock(me, Scope::Process, |_| false, || None), Outcome::Held);
        assert_eq!(word.try_lock(me, |owner| owner == dead), Outcome::TakenFromGone);
        assert_eq!(word.try_lock(me, never), Outcome::Held, "this process lives");
        word.unlock(Scope::Process);
        assert_eq!(word.lock(me, Scope::Process, never, || None), Outcome::Taken);
    }

    #[test]
    fn nonsense_is_taken_from_any_owner() {
        for nonsense in [1, AWAITED | 1, u32::MAX, GENERATION] {
            let word = OwnedWord { state: AtomicU32::new(nonsense) };
            assert_eq!(word.try_lock(owner(1, 1), |_| true), Outcome::TakenFromGone);
            let word = OwnedWord { state: AtomicU32::new(nonsense) };
            assert_eq!(word.lock(owner(1, 1), Scope::Process, |_| true, || None), Outcome::TakenFromGone);
        }
        // Free, but for a bit that nobody leaves: a try does not take it, but a waiter does.
        let word = OwnedWord { state: AtomicU32::new(AWAITED) };
        assert_eq!(word.lock(owner(1, 1), Scope::Process, |_| true, || Some(LONGEST_SLEEP)), Outcome::Taken);
    }
}
