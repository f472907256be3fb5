//! How far a request is, in a word that outlives it.
//!
//! The word lies in a node of the pool: a runner that leaves requests behind calls one of them after it has freed the data. By
//! then another thread may have run that request, and the word may serve another one. A call in vain makes the called thread look
//! at the data once more.

use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::{LONGEST_SLEEP, Spinner};

use crate::pool;
use crate::three_states::IS_MODEL;

/// Its thread may sleep on this word. Set by that thread.
const ASLEEP: u32 = 1;
/// It has run. Set by the thread that ran it, which does not look at the request again.
const DONE: u32 = 1 << 1;
/// The data was free a moment ago, and nobody else was told. Set by the leaving thread, cleared by the request's thread.
const CALLED: u32 = 1 << 2;
/// It is not to run. Set by its thread, which does not look at the request again.
const WITHDRAWN: u32 = 1 << 3;
/// It runs, and cannot be withdrawn. Set by the thread that runs it, if it can be withdrawn.
const BEGUN: u32 = 1 << 4;

/// The number of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress(u32);

/// The next step for the thread of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Done,
    Called,
    Nothing,
}

/// The request has begun, or is done.
#[derive(Debug)]
struct Late;

impl Progress {
    /// Of a request to be made.
    pub(crate) fn take() -> Self {
        let progress = Self(pool::take());
        // ORDERING: Relaxed, released with the request; a late call is lost here, as it should be
        progress.word().store(0, Ordering::Relaxed);
        progress
    }

    /// For the thread that has the request last.
    pub(crate) fn give_back(self) {
        pool::give(self.0);
    }

    fn word(self) -> &'static AtomicU32 {
        &pool::node(self.0).request
    }

    /// For the request's thread: waits until it is done, and calls `called` whenever it is called. At the deadline it withdraws
    /// the request: false if that was in time. It may be called at that moment, too.
    pub(crate) fn wait(self, deadline: Option<Instant>, called: impl Fn()) -> bool {
        let mut spinner = Spinner::new();
        let mut deadline = deadline;
        loop {
            match self.look() {
                Seen::Done => return true,
                Seen::Called => {
                    self.hear();
                    called();
                    continue;
                }
                Seen::Nothing => {}
            }
            let left = deadline.map_or(LONGEST_SLEEP, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                match self.withdraw() {
                    Ok(was_called) => {
                        if was_called {
                            called();
                        }
                        return false;
                    }
                    // It runs: its caller has to wait for it.
                    Err(Late) => deadline = None,
                }
            } else if IS_MODEL || spinner.is_spent() {
                self.sleep(left);
            } else {
                spinner.pause();
            }
        }
    }

    #[inline]
    fn look(self) -> Seen {
        // ORDERING: Relaxed, the results are acquired where the state is found
        let word = self.word().load(Ordering::Relaxed);
        if word & DONE != 0 {
            // ORDERING: Acquire, pairs with the Release in finish [combine-done]
            self.word().load(Ordering::Acquire);
            return Seen::Done;
        }
        if word & CALLED != 0 { Seen::Called } else { Seen::Nothing }
    }

    /// For the request's thread, which looks at the data next.
    fn hear(self) {
        // ORDERING: Acquire, pairs with the Release in call: it sees the data free, or taken by somebody later [combine-called]
        self.word().fetch_and(!(CALLED | ASLEEP), Ordering::Acquire);
    }

    /// For the request's thread: sleeps while there is nothing to do, but not for longer.
    fn sleep(self, longest: Duration) {
        // ORDERING: Relaxed, a woken thread looks again
        let seen = self.word().fetch_or(ASLEEP, Ordering::Relaxed) | ASLEEP;
        if seen & (DONE | CALLED) == 0 {
            futex_wait(self.word(), seen, longest, Scope::Process);
        }
    }

    /// For the request's thread: nobody runs it from now on, and the thread that finds it frees it. Tells whether it was called.
    fn withdraw(self) -> Result<bool, Late> {
        // ORDERING: Acquire, pairs with the Release in call, as in hear [combine-called]
        let before = self.word().fetch_or(WITHDRAWN, Ordering::Acquire);
        if before & (BEGUN | DONE) == 0 { Ok(before & CALLED != 0) } else { Err(Late) }
    }

    /// Whether it is withdrawn; if not, it may be a moment later.
    pub(crate) fn is_withdrawn(self) -> bool {
        // ORDERING: Relaxed, the withdrawing thread published nothing
        self.word().load(Ordering::Relaxed) & WITHDRAWN != 0
    }

    /// For a thread about to run a request that can be withdrawn: false if it was.
    pub(crate) fn begin(self) -> bool {
        // ORDERING: Relaxed, the request came with the queue, and the withdrawing thread published nothing
        self.word().fetch_or(BEGUN, Ordering::Relaxed) & WITHDRAWN == 0
    }

    /// For the thread that has run it; the request may be gone at once.
    pub(crate) fn finish(self) {
        // ORDERING: Release, pairs with the Acquire in look [combine-done]
        self.wake_if(self.word().swap(DONE, Ordering::Release));
    }

    /// For a thread that has left and freed the data: the request's thread looks whether it is free. False if that has withdrawn.
    pub(crate) fn call(self) -> bool {
        // ORDERING: Release, pairs with the Acquire in hear and withdraw [combine-called]
        let before = self.word().fetch_or(CALLED, Ordering::Release);
        self.wake_if(before);
        before & WITHDRAWN == 0
    }

    fn wake_if(self, before: u32) {
        if before & ASLEEP != 0 {
            // One thread sleeps here; after it has gone perhaps another one, which looks and sleeps again.
            futex_wake(self.word(), u32::MAX, Scope::Process);
        }
    }
}
