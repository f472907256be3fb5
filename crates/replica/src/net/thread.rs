//! The thread of a node: it does what no caller of the node is there to do.

use std::time::Duration;

use super::inner::Inner;
use crate::StateMachine;
use crate::runtime::{EXPECTING, IDLE};

/// How long the thread leaves the work to callers that look for results themselves.
const NAP: Duration = Duration::from_micros(200);

/// How often it finds the driver taken before it waits for it.
const PATIENT: u32 = 2;

/// Runs until the node stops.
pub(super) fn run<S: StateMachine>(inner: &Inner<S>) {
    let mut missed = 0;
    while !inner.is_stopping() {
        if inner.callers.are_waiting() {
            nap(inner);
        } else {
            serve(inner);
        }
        inner.turn();
        // Callers that poll take the driver again and again.
        let driver = if missed < PATIENT { inner.try_driver() } else { Some(inner.driver.lock()) };
        missed = if driver.is_some() { 0 } else { missed + 1 };
        if let Some(mut driver) = driver {
            driver.shorten_files(inner);
            driver.come_back_if_out(inner);
        }
    }
}

/// Waits until something was done, or it is time to look around.
fn serve<S: StateMachine>(inner: &Inner<S>) {
    let poll = || (inner.turn() || inner.is_stopping()).then_some(());
    let check = |waited: Duration| {
        let is_idle = inner.try_driver().is_some_and(|driver| !driver.expects_something(inner));
        let longest = if is_idle { IDLE } else { EXPECTING };
        if waited >= longest || inner.callers.are_waiting() { Err(()) } else { Ok(longest - waited) }
    };
    let _ = inner.callers.until(poll, check);
}

/// Sleeps on a word that other nodes do not know: a caller looks for what they do, and each wake-up would cost them.
fn nap<S: StateMachine>(inner: &Inner<S>) {
    let poll = || inner.is_stopping().then_some(());
    let check = |waited: Duration| NAP.checked_sub(waited).filter(|left| !left.is_zero()).ok_or(());
    let _ = inner.naps.with(|waiter| waiter.until(&inner.nap, poll, check));
}
