//! The lock that is free, held, or held and awaited, wherever its threads sleep: [`Word`](crate::Word) and
//! [`Byte`](crate::Byte).
//!
//! A newcomer spins for about as long as a wake-up costs, marks the lock as awaited, and sleeps. Unlocking a lock that is
//! marked wakes one sleeper, which competes with newcomers: nothing is handed to a thread that does not run.
//!
//! Source: U. Drepper, Futexes Are Tricky, 2004 (the third mutex).

use std::fmt::Debug;
use std::time::{Duration, Instant};

use corecast_base::sync::Ordering;
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

/// No time passes in a model, which would never see a thread go to sleep.
pub(crate) const IS_MODEL: bool = cfg!(loom);

pub(crate) const FREE: u8 = 0;
pub(crate) const HELD: u8 = 1;
/// Held, and a thread may sleep.
pub(crate) const AWAITED: u8 = 2;

/// A lock with these states. [`Word`](crate::Word) and [`Byte`](crate::Byte) say when to take it.
#[derive(Debug)]
pub struct ThreeStates<S> {
    /// [`FREE`], [`HELD`] or [`AWAITED`]. Written by every thread that wants the lock, and by its holder.
    pub(crate) state: S,
}

/// An atomic number for the state of a lock, on which threads can sleep.
pub trait State: Debug + Send + Sync {
    /// The description of the lock for users.
    const FACTS: Facts;
    /// Free.
    #[cfg(not(loom))]
    const INIT: Self;

    /// With this state.
    fn of(state: u8) -> Self;

    /// The state.
    fn load(&self, order: Ordering) -> u8;

    /// Writes `to` if the state is `from`, and returns whether it was.
    fn exchange(&self, from: u8, to: u8, success: Ordering, failure: Ordering) -> bool;

    /// Writes `to`, and returns the state before.
    fn swap(&self, to: u8, order: Ordering) -> u8;

    /// Sleeps while the state is [`AWAITED`], until the thread is woken or the deadline has come; may also return early for no
    /// reason. True if the lock was handed over to this thread.
    fn sleep(&self, deadline: Option<Instant>) -> bool;

    /// Wakes one of the threads that sleep.
    fn wake_one(&self);
}

/// The facts that all such locks have in common.
pub(crate) const fn facts(name: &'static str, about: &'static str, source: &'static str) -> Facts {
    Facts { name, about, order: AcquisitionOrder::Barging, node: NodeKind::Nothing, parks: true, source }
}

impl<S: State> ThreeStates<S> {
    /// True while a thread holds it, as far as this one has seen.
    #[inline]
    #[must_use]
    pub fn is_held(&self) -> bool {
        !self.looks_free()
    }

    #[inline]
    fn looks_free(&self) -> bool {
        // ORDERING: Relaxed, a thread that takes it looks again
        self.state.load(Ordering::Relaxed) == FREE
    }

    /// Makes it held if it is free.
    #[inline]
    fn take(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [three-free]
        self.state.exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
    }

    /// Makes it held and awaited; true if it was free.
    fn take_awaited(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock [three-free]
        self.state.swap(AWAITED, Ordering::Acquire) == FREE
    }

    /// Waits until the lock is free and takes it; false if the deadline has come before. A thread that `has_slept` already may
    /// have been woken in the place of others, so it holds the lock as one that is awaited.
    ///
    /// Each time it is woken it spins again before it says that a thread sleeps: the holder then need not wake anybody.
    #[cold]
    pub(crate) fn wait_and_take(&self, deadline: Option<Instant>, mut has_slept: bool) -> bool {
        let is_over = || deadline.is_some_and(|deadline| time_until(deadline).is_none());
        loop {
            // It looks once more before it gives up: it may have been woken in the place of another.
            if self.spin_and_take(is_over, has_slept) || self.take_awaited() {
                return true;
            }
            if is_over() {
                return false;
            }
            if self.state.sleep(deadline) {
                return true;
            }
            has_slept = true;
        }
    }

    /// Takes the lock if it becomes free before spinning is no longer worth it, or the time is over.
    #[inline]
    fn spin_and_take(&self, is_over: impl Fn() -> bool, has_slept: bool) -> bool {
        let mut spinner = Spinner::new();
        loop {
            if self.looks_free() && if has_slept { self.take_awaited() } else { self.take() } {
                return true;
            }
            if IS_MODEL || spinner.is_spent() || is_over() {
                return false;
            }
            spinner.back_off();
        }
    }
}

// SAFETY: exactly one swap or exchange finds FREE between two stores of it, which only holders do; Acquire and Release.
unsafe impl<S: State> RawLock for ThreeStates<S> {
    type Node = ();
    type Alignment = ();

    const FACTS: Facts = S::FACTS;

    fn new(_setup: &Setup) -> Self {
        Self { state: S::of(FREE) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        if !self.take() {
            self.wait_and_take(None, false);
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.take()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // ORDERING: Release, pairs with the Acquire in take and take_awaited [three-free]
        if self.state.swap(FREE, Ordering::Release) == AWAITED {
            self.state.wake_one();
        }
    }
}

// SAFETY: it takes the lock as lock does, or leaves it marked as awaited, which costs its holder a wake-up.
unsafe impl<S: State> RawTimed for ThreeStates<S> {
    unsafe fn lock_until(&self, (): &(), deadline: Instant) -> bool {
        self.take() || self.wait_and_take(Some(deadline), false)
    }
}

// SAFETY: there is no node.
unsafe impl<S: State> NodeMoves for ThreeStates<S> {}

#[cfg(not(loom))]
impl<S: State> RawConst for ThreeStates<S> {
    const INIT: Self = Self { state: S::INIT };
}

/// The time until then; `None` when that has come.
pub(crate) fn time_until(deadline: Instant) -> Option<Duration> {
    Some(deadline.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
}
