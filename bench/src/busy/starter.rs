//! Starts the processes of a run and waits for their answers, until the user stops the run.

use std::time::{Duration, Instant};

use rustix::event::Timespec;

use super::BusyOptions;
use super::member::Assignment;
use corecast_race::child::Child;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;

/// The time between two checks whether the user has stopped the run.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// The longest time that a process may take to be ready; beside many neighbours it needs seconds.
const LONGEST_START: Duration = Duration::from_secs(30);

/// Starts processes of the program that the options name.
pub(super) struct Starter<'a> {
    pub(super) options: &'a BusyOptions,
}

impl Starter<'_> {
    pub(super) fn start(&self, who: String, assignment: &Assignment) -> Result<Child, BenchError> {
        let BusyOptions { program, arguments, .. } = self.options;
        Ok(Child::start_group(who, (program, arguments), assignment)?)
    }

    /// Waits until the process is ready; the inner error is why it cannot be.
    pub(super) fn await_ready(&self, child: &mut Child) -> Result<Result<(), Failure>, BenchError> {
        if self.await_news(child, LONGEST_START)? {
            return Ok(child.await_ready());
        }
        Ok(Err(Failure::Ended(format!("it was not ready within {} s", LONGEST_START.as_secs()))))
    }

    /// Whether the process says something, or ends, within this time.
    pub(super) fn await_news(&self, child: &Child, longest: Duration) -> Result<bool, BenchError> {
        let end = Instant::now() + longest;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: 0, tv_nsec: left.as_nanos().min(LOOK.tv_nsec as u128) as i64 };
            if child.has_news_within(left) {
                // A process that Ctrl-C has ended as well says nothing of its work.
                self.options.options.go_on()?;
                return Ok(true);
            }
            self.options.options.go_on()?;
            if Instant::now() >= end {
                return Ok(false);
            }
        }
    }
}
