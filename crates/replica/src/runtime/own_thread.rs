//! The thread that a node has for itself.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The thread of a node; nothing once its end was waited for.
#[derive(Debug)]
pub(super) struct OwnThread(Mutex<Option<JoinHandle<()>>>);

impl OwnThread {
    /// Starts it with this name. It does `work` until its node stops.
    pub(super) fn start(name: String, work: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let thread = thread::Builder::new().name(name).spawn(work)?;
        Ok(Self(Mutex::new(Some(thread))))
    }

    /// Waits for its end.
    pub(super) fn join(&self) {
        let thread = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic of it was told by the thread itself.
            let _ = thread.join();
        }
    }
}

/// The CPUs that nodes of this process run on, as far as the system tells.
pub(crate) fn cpus() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
