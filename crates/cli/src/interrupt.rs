//! Ctrl-C during a long run: the first one asks the run to stop, the second one does not wait for it.
//!
//! A run that was asked looks between two of its blocks, and wherever it waits. Some waits cannot look, such as one for a thread
//! that a busy machine does not let run: so what has not stopped after `PATIENCE` is ended. Processes that a benchmark started
//! end with it; a temporary folder may be left then.
//!
//! Commands that write nothing and take no time leave the signal to the system.

use std::process;
use std::thread;
use std::time::Duration;

use corecast::base::sync::{Arc, AtomicBool, Ordering};
use corecast_race::Cancel;

use crate::failure::Failure;
use crate::output;

/// The exit code of a program that was interrupted.
pub const INTERRUPTED: i32 = 130;

/// How long a run that was asked to stop may go on.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Knows whether the user wants the run to stop.
#[derive(Debug)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    cancel: Cancel,
}

impl Interrupt {
    /// Begins to catch SIGINT, SIGTERM and SIGHUP. Once per process. A run that was asked to stop has `PATIENCE` to do so.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn watch() -> Result<Self, Failure> {
        // Without a thread to wait in only the run itself ends it, or a second signal.
        Self::watch_and(|| drop(thread::Builder::new().spawn(end_soon)))
    }

    /// The same for a run that has a result to give when it is stopped, and takes its time for that.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn watch_for_best() -> Result<Self, Failure> {
        Self::watch_and(|| ())
    }

    fn watch_and(then: impl Fn() + Send + 'static) -> Result<Self, Failure> {
        let interrupt = Self { raised: Arc::default(), cancel: Cancel::new() };
        let cancel = interrupt.cancel.clone();
        on_signal(Arc::clone(&interrupt.raised), move || {
            cancel.cancel();
            then();
        })?;
        Ok(interrupt)
    }

    /// True once the user wants the run to stop.
    pub fn is_raised(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The flag for a measurement.
    pub fn flag(&self) -> &AtomicBool {
        &self.raised
    }

    /// The flag for a benchmark.
    pub fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Stops between two parts of a run.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn check(&self) -> Result<(), Failure> {
        if self.is_raised() { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

/// Ends the program if it does not end by itself.
fn end_soon() {
    thread::sleep(PATIENCE);
    output::complain(Failure::Interrupted);
    process::exit(INTERRUPTED);
}

/// Calls this at the first SIGINT, SIGTERM or SIGHUP, in a thread of its own. Once per process, instead of [`Interrupt`].
///
/// # Errors
/// A `Failure` with its exit code: bad input, or trouble of the environment.
pub fn on_first(stop: impl Fn() + Send + 'static) -> Result<(), Failure> {
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
    ctrlc::set_handler(handler).map_err(|error| Failure::environment(format!("cannot catch signals: {error}")))
}
