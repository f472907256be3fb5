//! The threads of a node that wait for something: they drive the node meanwhile, and are woken when another one drives it.
//!
//! ```text
//! a waker     store what the caller waits for | SeqCst fence | is anyone waiting? then wake
//! a caller    count itself as waiting | look | before it sleeps: the wake word's fence | look once more
//! ```
//! So a result costs its waker a fence and a look at a line that hardly ever changes while all callers poll. The fences forbid
//! that the waker misses the caller and the caller, which is about to sleep, misses the result. A caller that does not sleep
//! looks again by itself and needs no fence; one of its own stood here, at the price of a locked instruction for each
//! operation, and no model could tell that it was gone. `tests/loom/runtime.rs` has the model.

use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU32, Ordering, fence};
use corecast_base::wait::{LONGEST_SLEEP, WakeWord};

use super::waiters::Waiters;

/// The longest sleep of the node's own thread while the node waits for others, and at other times.
pub(crate) const EXPECTING: Duration = Duration::from_millis(1);
pub(crate) const IDLE: Duration = Duration::from_millis(20);

/// System calls for the sake of waiting, of which a node makes none while its threads find what they wait for by polling. Those
/// of a wait count once the wait has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WaitCalls {
    /// Times that a thread of the node went to sleep.
    pub sleeps: u64,
    /// Times that a thread gave up its CPU, or asked whether another thread had wanted it.
    pub yields: u64,
    /// Times that some thread had the system wake those that slept at the node, modulo 2^32.
    pub wakes: u64,
}

impl WaitCalls {
    /// All of them.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sleeps + self.yields + self.wakes
    }
}

/// The threads of a node that wait, and the word that they sleep on.
#[derive(Debug)]
pub struct Callers {
    /// The number of threads that wait for something, and poll for it unless they sleep. Written by them, read by wakers.
    waiting: CacheLine<AtomicU32>,
    word: WakeWord,
    waiters: Waiters,
}

impl Callers {
    /// Threads that sleep on `word` and wait as `waiters` do.
    #[must_use]
    pub fn new(word: WakeWord, waiters: Waiters) -> Self {
        Self { waiting: CacheLine::new(AtomicU32::new(0)), word, waiters }
    }

    /// The word that callers, and the node's own thread, sleep on.
    #[must_use]
    pub fn word(&self) -> &WakeWord {
        &self.word
    }

    /// True while a thread waits. Only a hint where no fence is before it.
    #[inline]
    #[must_use]
    pub fn are_waiting(&self) -> bool {
        self.count() > 0
    }

    #[inline]
    fn count(&self) -> u32 {
        // ORDERING: Relaxed, a thread that sees it late naps once more, and a waker has fenced before
        self.waiting.load(Ordering::Relaxed)
    }

    /// Wakes the threads that wait, after this one has stored what they wait for. In the common case of none it costs a fence.
    #[inline]
    pub fn wake(&self) {
        self.wake_others(false);
    }

    /// The same by a thread that `is_caller`, itself counted as waiting: where it is alone, nobody is woken, and least of all the
    /// node's own thread, which sleeps on the same word.
    #[inline]
    pub fn wake_others(&self, is_caller: bool) {
        // ORDERING: SeqCst, pairs with the fence of a sleeper in its wake word, behind the addition in wait_for; forbids that
        // this thread misses the caller and the caller misses what this thread has stored [callers]
        fence(Ordering::SeqCst);
        if self.count() > u32::from(is_caller) {
            self.word.notify();
        }
    }

    /// Waits until `found` says something, and meanwhile calls `turn`, which drives the node and tells whether that did
    /// anything.
    /// `None` when the time is up.
    #[inline]
    pub fn wait_for<T>(
        &self,
        limit: Option<Duration>,
        mut found: impl FnMut() -> Option<T>,
        mut turn: impl FnMut() -> bool,
    ) -> Option<T> {
        // ORDERING: Relaxed, the fence of a sleeper comes before its last look; wakers look behind a fence [callers]
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let poll = || {
            if let Some(found) = found() {
                return Some(found);
            }
            if turn() { found() } else { None }
        };
        // The node's own thread looks after callers that sleep. One that came after it fell asleep does so itself.
        let longest = |waited: Duration| if waited < IDLE { EXPECTING } else { LONGEST_SLEEP };
        let check = |waited: Duration| match limit {
            None => Ok(longest(waited)),
            Some(limit) => {
                limit.checked_sub(waited).filter(|left| !left.is_zero()).map(|left| left.min(longest(waited))).ok_or(())
            }
        };
        let result = self.until(poll, check);
        // ORDERING: Relaxed, a waker that counts this thread still wakes nobody
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// System calls of those that waited here, and of the node's own thread, which also `naps`.
    #[must_use]
    pub fn wait_calls(&self, naps: &Waiters) -> WaitCalls {
        let mut counts = self.waiters.counts();
        counts += naps.counts();
        WaitCalls { sleeps: counts.parks, yields: counts.yields + counts.asks, wakes: self.word.wake_calls().into() }
    }

    /// Waits as a caller does, without being counted as one: for the node's own thread.
    #[inline]
    pub fn until<T>(
        &self,
        poll: impl FnMut() -> Option<T>,
        check: impl FnMut(Duration) -> Result<Duration, ()>,
    ) -> Option<T> {
        self.waiters.with(|waiter| waiter.until(&self.word, poll, check).ok())
    }
}
