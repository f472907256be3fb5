//! A measurement that is cancelled ends, with all its threads, whatever it is waiting for.

use std::time::Duration;

use corecast_base::sync::{AtomicBool, Ordering};
use corecast_machine::measure::{MeasureError, Options, Progress, Silent, Step, measure};
use corecast_machine::{LineProbe, Probe, ProbeReceiver, ProbeSender};

use crate::{here, two_cpus};

/// Hours of measurement, unless cancelled.
fn for_hours(cancelled: &AtomicBool) -> Options<'_> {
    let hours = Some(Duration::from_secs(7200));
    Options { cpus: two_cpus(), budget: hours, cancelled: Some(cancelled), ..Options::default() }
}

#[test]
fn cancelled_between_rounds() {
    struct CancelAtThird<'a>(&'a AtomicBool);
    impl Progress for CancelAtThird<'_> {
        fn step(&mut self, step: &Step<'_>) {
            assert!(step.done <= 3, "a round was begun after the cancellation");
            self.0.store(step.done == 3, Ordering::Relaxed);
        }
    }
    if two_cpus().is_none() {
        return;
    }
    let cancelled = AtomicBool::new(false);
    let result = measure(&here(), &LineProbe, &for_hours(&cancelled), &mut CancelAtThird(&cancelled));
    assert_eq!(result, Err(MeasureError::Cancelled));
}

#[test]
fn cancelled_while_waiting_for_a_message_that_never_comes() {
    /// Loses every message, and cancels the measurement once one was lost.
    #[derive(Clone, Copy)]
    struct Hole<'a>(&'a AtomicBool);
    impl Probe for Hole<'_> {
        type Sender = Self;
        type Receiver = Self;
        fn name(&self) -> &str {
            "a hole"
        }
        fn connect(&self, _: usize) -> (Self, Self) {
            (*self, *self)
        }
    }
    impl ProbeSender for Hole<'_> {
        fn try_send(&mut self, _: u64) -> bool {
            self.0.store(true, Ordering::Relaxed);
            true
        }
    }
    impl ProbeReceiver for Hole<'_> {
        fn try_receive(&mut self) -> Option<u64> {
            None
        }
    }
    if two_cpus().is_none() {
        return;
    }
    let cancelled = AtomicBool::new(false);
    let result = measure(&here(), &Hole(&cancelled), &for_hours(&cancelled), &mut Silent);
    assert_eq!(result, Err(MeasureError::Cancelled));
}

#[test]
fn cancelled_before_it_began() {
    let cancelled = AtomicBool::new(true);
    let result = measure(&here(), &LineProbe, &for_hours(&cancelled), &mut Silent);
    assert_eq!(result, Err(MeasureError::Cancelled));
}
