//! Who holds a mutex, in builds with debug assertions: a thread that would wait for itself is told so.

#[cfg(debug_assertions)]
pub(crate) use checked::Holder;
#[cfg(not(debug_assertions))]
pub(crate) use unchecked::Holder;

#[cfg(debug_assertions)]
mod checked {
    use corecast_base::sync::{AtomicUsize, Ordering};

    /// The thread that holds the lock.
    #[derive(Debug)]
    pub(crate) struct Holder {
        /// A number of that thread, 0 for none. Written by holders.
        thread: AtomicUsize,
    }

    thread_local! {
        static HERE: u8 = const { 0 };
    }

    /// A number that no other thread has at the same time. A thread that ends has none any more.
    fn this_thread() -> usize {
        HERE.try_with(|here| std::ptr::from_ref(here).addr()).unwrap_or(0)
    }

    #[cfg(not(loom))]
    impl Holder {
        #[allow(clippy::declare_interior_mutable_const, reason = "each use is a holder of its own")]
        pub(crate) const NOBODY: Self = Self { thread: AtomicUsize::new(0) };
    }

    impl Holder {
        pub(crate) fn new() -> Self {
            Self { thread: AtomicUsize::new(0) }
        }

        #[track_caller]
        pub(crate) fn expect_another(&self) {
            assert!(!self.is_this_thread(), "a thread must not lock a mutex that it holds");
        }

        pub(crate) fn is_this_thread(&self) -> bool {
            // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
            let holder = self.thread.load(Ordering::Relaxed);
            holder != 0 && holder == this_thread()
        }

        pub(crate) fn enter(&self) {
            // ORDERING: Relaxed, as in is_this_thread
            self.thread.store(this_thread(), Ordering::Relaxed);
        }

        pub(crate) fn leave(&self) {
            // ORDERING: Relaxed, as in is_this_thread
            self.thread.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(not(debug_assertions))]
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
