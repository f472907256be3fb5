//! The word by which an object tells in which process it was put in order, and keeps others away while a thread does that.
//!
//! **Progress:** blocking, while another thread puts it in order. **Memory ordering:** what that thread did happens before the
//! others go on.

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_base::wait::Spinner;

/// An epoch is even and not 0. The word is 0, an epoch while a thread puts the object in order, or an epoch plus one.
#[derive(Debug)]
#[repr(transparent)]
pub struct EpochWord(AtomicU32);

impl EpochWord {
    /// Of an object that nobody has used.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Of an object that nobody has used.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Whether the object was put in order in this epoch; 0 stands for one that has not begun.
    #[inline]
    #[must_use]
    pub fn is_of(&self, epoch: u32) -> bool {
        // ORDERING: Acquire, pairs with the Release in put_in_order: what was made is there [epoch-order]
        self.0.load(Ordering::Acquire) == epoch + 1
    }

    /// Whether the object was put in order in this epoch, and is where it was then. `is_here` looks at what `renew` of
    /// [`put_in_order`](Self::put_in_order) has stored with Release, by loads with Acquire.
    ///
    /// The word is read again behind it: where another thread puts the object in order at its new place, one that saw the old
    /// word and the new place has to wait for the rest.
    #[inline]
    pub fn is_in_order(&self, epoch: u32, is_here: impl FnOnce() -> bool) -> bool {
        self.is_of(epoch) && is_here() && self.is_of(epoch)
    }

    /// Runs `renew` if the object is of another epoch, which it is told, or not `is_here`, and no other thread does; returns when
    /// it is in order.
    pub fn put_in_order(&self, epoch: u32, is_here: impl Fn() -> bool, renew: impl FnOnce(u32)) {
        let mut spinner = Spinner::new();
        loop {
            if self.is_in_order(epoch, &is_here) {
                return;
            }
            // ORDERING: Relaxed, the exchange looks again
            let seen = self.0.load(Ordering::Relaxed);
            // ORDERING: Acquire, pairs with the Release below, of a thread that had moved it; Relaxed where it fails, as
            // nothing was taken [epoch-order]
            let exchange = || self.0.compare_exchange(seen, epoch, Ordering::Acquire, Ordering::Relaxed).is_ok();
            if seen != epoch && exchange() {
                // Of the same epoch: another thread may have put it in order between the look and the exchange.
                if seen != epoch + 1 || !is_here() {
                    renew(seen & !1);
                }
                // ORDERING: Release, pairs with the Acquire in is_of [epoch-order]
                return self.0.store(epoch + 1, Ordering::Release);
            }
            spinner.pause_or_sleep();
        }
    }

    /// The object is used no more: the next thread is the first one.
    pub fn forget(&self) {
        // ORDERING: Relaxed, nobody uses the object meanwhile
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Default for EpochWord {
    fn default() -> Self {
        Self::new()
    }
}
