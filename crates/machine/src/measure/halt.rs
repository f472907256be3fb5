//! Ends a measurement early: every waiter checks this now and then.
//!
//! A thread that waits for another one polls with PAUSE, and after some 1000 polls yields: where two threads share a
//! CPU, the other thread may need this very CPU. It also checks whether the measurement is over, because the user
//! cancelled it, a thread panicked, or nothing has arrived for too long. So no failure leaves a thread waiting for one
//! that has left.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicBool, Ordering, spin_hint, yield_now};

use super::error::MeasureError;

/// Polls between two yields, some tens of microseconds.
const POLLS: u32 = 1000;

/// The measurement is over; [`Halt::cause`] knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Halted;

/// Whether the measurement is over, and why.
#[derive(Debug)]
pub(super) struct Halt {
    /// Set once by the thread that ends it, read by all that wait.
    stopped: AtomicBool,
    /// The first reason given.
    cause: Mutex<Option<MeasureError>>,
    /// How long a wait may last before it counts as hopeless.
    patience: Duration,
}

impl Halt {
    pub(super) fn new(patience: Duration) -> Self {
        Self { stopped: AtomicBool::new(false), cause: Mutex::new(None), patience }
    }

    /// Ends the measurement. Of several reasons the first one counts.
    pub(super) fn stop(&self, cause: MeasureError) {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
        // ORDERING: Relaxed, it only says that there is a cause; the mutex publishes which
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Why it is over; cancelled if no thread gave a reason.
    pub(super) fn cause(&self) -> MeasureError {
        let cause = self.cause.lock().unwrap_or_else(PoisonError::into_inner);
        cause.clone().unwrap_or(MeasureError::Cancelled)
    }

    /// An error if it is over.
    pub(super) fn check(&self) -> Result<(), Halted> {
        // ORDERING: Relaxed, nothing is read on the strength of it; a late look only ends a little later
        if self.stopped.load(Ordering::Relaxed) { Err(Halted) } else { Ok(()) }
    }

    /// Polls until there is something.
    #[inline(always)]
    pub(super) fn until<T>(&self, mut poll: impl FnMut() -> Option<T>) -> Result<T, Halted> {
        let mut since = None;
        loop {
            for _ in 0..POLLS {
                if let Some(found) = poll() {
                    return Ok(found);
                }
                spin_hint();
            }
            self.look_around(&mut since)?;
        }
    }

    /// Between two series of polls; `since` is when the first one ended.
    #[cold]
    fn look_around(&self, since: &mut Option<Instant>) -> Result<(), Halted> {
        self.check()?;
        let waited = since.get_or_insert_with(Instant::now).elapsed();
        if waited > self.patience {
            self.stop(MeasureError::Stalled { waited_s: waited.as_secs() });
        }
        yield_now();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_never_comes_ends_the_wait_with_a_reason() {
        let halt = Halt::new(Duration::from_millis(20));
        assert_eq!(halt.until(|| None::<()>), Err(Halted));
        assert_eq!(halt.cause(), MeasureError::Stalled { waited_s: 0 });
    }

    #[test]
    fn the_first_reason_counts_and_ends_waits_at_once() {
        let halt = Halt::new(Duration::from_secs(3600));
        assert_eq!(halt.check(), Ok(()));
        halt.stop(MeasureError::NoCpus);
        halt.stop(MeasureError::Cancelled);
        assert_eq!(halt.until(|| None::<()>), Err(Halted));
        assert_eq!(halt.cause(), MeasureError::NoCpus);
    }

    #[test]
    fn a_late_value_is_still_found() {
        let halt = Halt::new(Duration::from_secs(3600));
        let mut polls = 0;
        let found = halt.until(|| {
            polls += 1;
            (polls == 2 * POLLS + 3).then_some(polls)
        });
        assert_eq!(found, Ok(2 * POLLS + 3));
    }
}
