//! The thread that owns the data.

use std::convert::Infallible;
use std::ptr;

use corecast_base::sync::{Arc, AtomicBool, Ordering};
use corecast_base::wait::{Crowd, LONGEST_NAP, Wait, Waiter, WakeWord};

use crate::request::{Begun, Queue, chain};

/// Where clients and their server meet.
pub(super) struct Shared<T> {
    /// Locked by the server until it ends.
    pub(super) queue: Queue<T>,
    /// What the server sleeps on.
    pub(super) bell: WakeWord,
    /// The clients are gone. Written by them, read by the server.
    is_over: AtomicBool,
}

// SAFETY: requests are pushed by their threads, and run by the one that has the queue; both may be any thread.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    /// With a queue that is locked for the server to be.
    pub(super) fn served() -> Arc<Self> {
        let queue = Queue::new();
        assert!(queue.try_lock(), "nobody else has it yet");
        Arc::new(Self { queue, bell: WakeWord::new(Wait::Adaptive), is_over: AtomicBool::new(false) })
    }

    /// By which its closures are known.
    pub(super) fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// For the clients, which send nothing more.
    pub(super) fn end(&self) {
        // ORDERING: Relaxed, the bell's fences order it before the server's last look
        self.is_over.store(true, Ordering::Relaxed);
        self.bell.notify();
    }
}

/// What a server finds.
enum Found<T> {
    Request(Begun<T>),
    End,
}

/// Runs closures on this thread until the clients are gone.
pub(super) fn serve<T>(shared: &Shared<T>, data: &mut T) {
    let mut waiter = Waiter::new(Wait::Adaptive, Crowd::unpinned(2), None);
    chain::with(shared.address(), || {
        loop {
            let look = || {
                // SAFETY: the queue was locked for this server.
                let request = unsafe { shared.queue.begin_oldest() };
                // ORDERING: Relaxed, the bell's fences order it after what the clients did
                request.map(Found::Request).or_else(|| shared.is_over.load(Ordering::Relaxed).then_some(Found::End))
            };
            match waiter.until(&shared.bell, look, |_| Ok::<_, Infallible>(LONGEST_NAP)) {
                Ok(Found::Request(begun)) => begun.run(data),
                Ok(Found::End) => return,
            }
        }
    });
}
