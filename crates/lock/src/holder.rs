//! The holder of a mutex, in builds with debug assertions: a thread that would wait for itself is told so.
//!
//! On a simulated machine nobody is told, in any build: the holder's word would take time there, and move the data behind it to
//! other lines. The engine names a thread that waits for itself.

#[cfg(all(debug_assertions, not(simulated)))]
pub(crate) use checked::Holder;
#[cfg(any(not(debug_assertions), simulated))]
pub(crate) use unchecked::Holder;

#[cfg(all(debug_assertions, not(simulated)))]
mod checked {
    use corecast_base::sync::{AtomicU32, Ordering};

    use crate::this_thread;

    /// The thread that holds the lock.
    #[derive(Debug)]
    pub(crate) struct Holder {
        /// The number of that thread, 0 for none. Written by holders.
        thread: AtomicU32,
    }

    #[cfg(not(loom))]
    impl Holder {
        #[allow(clippy::declare_interior_mutable_const, reason = "each use is a holder of its own")]
        pub(crate) const NOBODY: Self = Self { thread: AtomicU32::new(0) };
    }

    impl Holder {
        pub(crate) fn new() -> Self {
            Self { thread: AtomicU32::new(0) }
        }

        #[track_caller]
        pub(crate) fn expect_another(&self) {
            assert!(!self.is_this_thread(), "a thread must not lock a mutex that it holds");
        }

        pub(crate) fn is_this_thread(&self) -> bool {
            // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
            self.thread.load(Ordering::Relaxed) == this_thread::number()
        }

        pub(crate) fn enter(&self) {
            // ORDERING: Relaxed, as in is_this_thread
            self.thread.store(this_thread::number(), Ordering::Relaxed);
        }

        pub(crate) fn leave(&self) {
            // ORDERING: Relaxed, as in is_this_thread
            self.thread.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(any(not(debug_assertions), simulated))]
mod unchecked {
    /// Nobody asks.
    #[derive(Debug)]
    pub(crate) struct Holder;

    impl Holder {
        #[cfg(not(loom))]
        pub(crate) const NOBODY: Self = Self;

        pub(crate) fn new() -> Self {
            Self
        }

        #[inline(always)]
        pub(crate) fn expect_another(&self) {}

        #[inline(always)]
        pub(crate) fn is_this_thread(&self) -> bool {
            false
        }

        #[inline(always)]
        pub(crate) fn enter(&self) {}

        #[inline(always)]
        pub(crate) fn leave(&self) {}
    }
}

#[cfg(all(test, debug_assertions, not(loom)))]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_thread_is_not_taken_for_one_that_has_ended() {
        let holder = Holder::new();
        thread::scope(|scope| {
            let enters = || {
                holder.enter();
                assert!(holder.is_this_thread());
            };
            scope.spawn(enters).join().expect("it enters");
            for _ in 0..8 {
                // Each is likely to have the stack of the one before.
                assert!(!scope.spawn(|| holder.is_this_thread()).join().expect("it looks"));
            }
        });
        holder.leave();
        assert!(!holder.is_this_thread());
    }
}
