//! How the harness and the bare contenders wait: poll, and after a while give the CPU away after every look.
//!
//! Not [`corecast::base::wait::Waiter`], because that is part of what is measured: a bare exchange of two flags shall
//! show what the machine does, with nothing of ours in its loop. Never sleeps; gives up when the contender is aborted.

use corecast::base::sync::{spin_hint, yield_now};

use super::abort::Abort;
use crate::failure::Failure;

/// Polls before the first yield where everybody has a CPU: about 50 us, longer than any exchange between two CPUs.
const POLLS_ALONE: u32 = 4096;

/// Polls before yielding.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    polls: u32,
}

impl Patience {
    /// With more participants than CPUs nobody polls: on 2 CPUs a barrier of 8 threads takes 4 us if each yields at once
    /// and 1279 us if each polls 2000 times first.
    #[must_use]
    pub fn new(oversubscribed: bool) -> Self {
        Self { polls: if oversubscribed { 0 } else { POLLS_ALONE } }
    }

    /// With this many polls before a member's first yield.
    pub fn polling(polls: u32) -> Self {
        Self { polls }
    }

    /// Polls before the first yield.
    pub fn polls(self) -> u32 {
        self.polls
    }

    /// Returns when `is_ready` says so.
    ///
    /// # Errors
    /// [`Failure::Aborted`] if the contender is aborted meanwhile.
    #[inline(always)]
    pub fn until(self, abort: &Abort, mut is_ready: impl FnMut() -> bool) -> Result<(), Failure> {
        for _ in 0..self.polls {
            if is_ready() {
                return Ok(());
            }
            spin_hint();
        }
        yield_until(abort, is_ready)
    }
}

#[cold]
fn yield_until(abort: &Abort, mut is_ready: impl FnMut() -> bool) -> Result<(), Failure> {
    while !is_ready() {
        abort.check()?;
        yield_now();
    }
    Ok(())
}
