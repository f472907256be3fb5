//! Ctrl-C during a long run: the first one asks the run to stop, the second one does not wait for it.
//!
//! Commands that write nothing and take no time leave the signal to the system.

use std::process;

use corecast::base::sync::{Arc, AtomicBool, Ordering};
use corecast_bench::Cancel;

use crate::failure::Failure;

/// The exit code of a program that was interrupted.
pub(crate) const INTERRUPTED: i32 = 130;

/// Knows whether the user wants the run to stop.
#[derive(Debug)]
pub(crate) struct Interrupt {
    raised: Arc<AtomicBool>,
    cancel: Cancel,
}

impl Interrupt {
    /// Begins to catch SIGINT, SIGTERM and SIGHUP. Once per process.
    pub(crate) fn watch() -> Result<Self, Failure> {
        let interrupt = Self { raised: Arc::default(), cancel: Cancel::new() };
        let cancel = interrupt.cancel.clone();
        on_signal(Arc::clone(&interrupt.raised), move || cancel.cancel())?;
        Ok(interrupt)
    }

    /// True once the user wants the run to stop.
    pub(crate) fn is_raised(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The flag for a measurement.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.raised
    }

    /// The flag for a benchmark.
    pub(crate) fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Stops between two parts of a run.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_raised() { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

/// Calls this at the first SIGINT, SIGTERM or SIGHUP, in a thread of its own. Once per process, instead of [`Interrupt`].
pub(crate) fn on_first(stop: impl Fn() + Send + 'static) -> Result<(), Failure> {
    on_signal(Arc::default(), stop)
}

fn on_signal(raised: Arc<AtomicBool>, stop: impl Fn() + Send + 'static) -> Result<(), Failure> {
    let handler = move || {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        if raised.swap(true, Ordering::Relaxed) {
            process::exit(INTERRUPTED);
        }
        stop();
    };
    ctrlc::set_handler(handler).map_err(Failure::environment)
}
