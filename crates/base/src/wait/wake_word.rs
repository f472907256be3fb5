//! What a waiter sleeps on and a publisher rings.
//!
//! The publisher's side costs one fence that is normally free (`sync/membarrier.rs`) and one load of a line that nobody
//! writes while nobody sleeps. Its protocol, against a publisher P and a sleeper S:
//!
//! ```text
//! P: publish; light fence; if armed != 0 and swap(armed, 0) != 0: advance the event count, wake all sleepers on it
//! S: seen = event count; armed = 1; heavy fence; look once more; nothing: sleep until the count differs from seen
//! ```
//! The fences forbid that P misses `armed` *and* S misses the message. Only the publisher that takes `armed` from 1 to 0
//! pays for the wake-up, so a stream of messages to a thread that is still getting up costs one system call. The count
//! is read before arming: whoever clears `armed` after that advances the count after that, so a sleep with `armed`
//! cleared returns at once. (Reading it after arming loses a wake-up: a publisher of something else may clear and
//! advance in between. The model found it.) Another sleeper on the same word whose message is not yet there wakes too,
//! and arms again before it looks again. Model-checked in `tests/loom.rs`.

use std::time::Duration;

use super::Wait;
use crate::sync::{AtomicU32, EventCount, Fences, Ordering};

/// One sleeping place, for one thread or for all that wait for the same thing.
#[derive(Debug)]
pub struct WakeWord {
    /// The fences of publishers and sleepers; `None` if nobody ever sleeps here, so that nobody needs to be woken. Constant.
    fences: Option<Fences>,
    /// 1 while somebody may sleep; set by sleepers, cleared by the publisher that wakes them.
    armed: AtomicU32,
    /// Advanced by publishers, slept on by waiters.
    count: EventCount,
}

impl WakeWord {
    /// A word for threads that wait as `policy` says. Where that never sleeps, notifying costs nothing.
    #[must_use]
    pub fn new(policy: Wait) -> Self {
        let fences = policy.sleeps().then(Fences::of_this_process);
        Self { fences, armed: AtomicU32::new(0), count: EventCount::new() }
    }

    /// Wakes whoever sleeps here. Call it after publishing what they wait for.
    #[inline(always)]
    pub fn notify(&self) {
        let Some(fences) = self.fences else { return };
        fences.light();
        // ORDERING: Relaxed, the fences order it against the publication before it and the sleeper's last look
        if self.armed.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        // ORDERING: Relaxed, it only chooses who pays for the wake-up; advance releases what was published
        if self.armed.swap(0, Ordering::Relaxed) != 0 {
            self.count.advance();
        }
    }

    /// Looks once more, and sleeps for at most `longest` if there is still nothing. `None` is no news: look again.
    ///
    /// # Panics
    /// If the word was made for a policy that never sleeps: nobody would wake this thread.
    pub fn sleep_unless<T>(&self, longest: Duration, look: impl FnOnce() -> Option<T>) -> Option<T> {
        let fences = self.fences.expect("a wake word made for a policy that never sleeps must not be slept on");
        let seen = self.count.now();
        // ORDERING: Relaxed, the fence orders it before the look, and the Acquire in now orders it after the count
        self.armed.store(1, Ordering::Relaxed);
        fences.heavy();
        let found = look();
        if found.is_none() {
            self.count.wait(seen, longest);
        }
        found
    }
}
