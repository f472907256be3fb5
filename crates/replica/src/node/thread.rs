//! The thread of a node: it does what nobody of the node's callers is there to do.

use std::time::Duration;

use corecast_base::sync::Ordering;

use super::inner::Inner;
use crate::StateMachine;
use crate::runtime::{EXPECTING, IDLE, Member};

/// How long the thread leaves the work to callers that look for results themselves.
const NAP: Duration = Duration::from_micros(200);

/// How long a node sleeps whose driver says that it may lag, before it learns what has come meanwhile.
const LAG: Duration = Duration::from_millis(1);

/// Callers who have served the other nodes this often since the thread last looked are likely to go on. It leaves them the work:
/// each request of another node would wake it, at that node's cost.
const OFTEN: u64 = 16;

/// How often it finds the driver taken before it waits for it.
const PATIENT: u32 = 2;

/// Runs until the node stops.
pub(super) fn run<S: StateMachine>(inner: &Inner<S>) {
    let (mut missed, mut may_lag, mut served, mut is_served) = (0, false, 0, false);
    while !inner.is_stopping() {
        let before = inner.applied();
        match () {
            () if inner.callers.are_waiting() || is_served => nap(inner, NAP),
            () if may_lag => nap(inner, LAG),
            () => serve(inner),
        }
        // Callers that poll take the driver again and again.
        let driver = if missed < PATIENT { inner.driver.try_lock() } else { Some(inner.claim_driver()) };
        missed = if driver.is_some() { 0 } else { missed + 1 };
        if let Some(mut driver) = driver {
            // A caller whose requests are done at once never looks around.
            driver.turn(inner);
            driver.maintain(inner);
            driver.move_roles(inner);
            may_lag = driver.may_lag(inner.applied().saturating_sub(before));
            (is_served, served) = (driver.counters.served >= served + OFTEN, driver.counters.served);
            let job = driver.learning_to_plan();
            drop(driver);
            if let Some(job) = job {
                let plan = job.plan();
                inner.driver.lock().follow(plan);
            }
        }
    }
}

/// Waits until something was done, or it is time to look around.
fn serve<S: StateMachine>(inner: &Inner<S>) {
    let mut longest = IDLE;
    let poll = || (inner.turn() || inner.is_stopping()).then_some(());
    let check = |waited: Duration| {
        let is_idle = inner.try_driver().is_some_and(|driver| !driver.expects_something() && !driver.learns_alone());
        longest = if is_idle { IDLE } else { EXPECTING };
        if waited >= longest || inner.callers.are_waiting() { Err(()) } else { Ok(longest - waited) }
    };
    let _ = inner.callers.until(poll, check);
}

/// Sleeps on a word that other nodes do not know: a caller looks for what they do, and each wake-up would cost them.
fn nap<S: StateMachine>(inner: &Inner<S>, time: Duration) {
    let poll = || inner.is_stopping().then_some(());
    let check = |waited: Duration| time.checked_sub(waited).filter(|left| !left.is_zero()).ok_or(());
    let _ = inner.naps.with(|waiter| waiter.until(&inner.nap, poll, check));
    inner.turn();
}

impl<S: StateMachine> Inner<S> {
    pub(super) fn is_stopping(&self) -> bool {
        // ORDERING: Relaxed, the flag says everything: the thread that set it waits for this one's end
        self.is_stopping.load(Ordering::Relaxed)
    }
}
