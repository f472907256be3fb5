//! Waits that give the interpreter's lock away, and end at signals.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error;

/// The longest part of a wait between two looks at signals. A signal also ends a part, where the system says so.
const PART: Duration = Duration::from_millis(100);

/// The end of a wait.
#[derive(Clone, Copy)]
pub(crate) struct Limit(Option<Instant>);

impl Limit {
    /// After this many seconds from now; never for `None`.
    pub(crate) fn of(seconds: Option<f64>) -> PyResult<Self> {
        let Some(seconds) = seconds else { return Ok(Self(None)) };
        let wrong =
            || error::value(format_args!("timeout is {seconds}: expected seconds from 0, or None to wait for ever"));
        if seconds.is_nan() || seconds < 0.0 {
            return Err(wrong());
        }
        let end = Duration::try_from_secs_f64(seconds).ok().and_then(|time| Instant::now().checked_add(time));
        // A time that no clock reaches is for ever.
        Ok(Self(end))
    }

    /// The time that is left, at most that of one part; `None` once it is over.
    pub(crate) fn part(self) -> Option<Duration> {
        self.part_of(PART)
    }

    /// As [`part`](Self::part), where a part may take `longest`.
    pub(crate) fn part_of(self, longest: Duration) -> Option<Duration> {
        let Some(end) = self.0 else { return Some(longest) };
        let left = end.saturating_duration_since(Instant::now());
        (!left.is_zero()).then(|| left.min(longest))
    }
}

/// A value that leaves a call which gave the interpreter's lock away, in the thread that made it.
struct Here<T>(T);

// SAFETY: `Python::detach` runs its closure in the calling thread.
unsafe impl<T> Send for Here<T> {}

impl<T> Here<T> {
    fn into_inner(self) -> T {
        self.0
    }
}

/// Runs `work` without the interpreter's lock.
pub(crate) fn detached<T>(py: Python<'_>, work: impl FnOnce() -> T) -> T {
    let work = Here(work);
    py.detach(move || Here(work.into_inner()())).into_inner()
}

/// Tries until there is an outcome: each attempt gets the longest time that it may wait, and returns `None` when that is over.
pub(crate) fn until<T>(
    py: Python<'_>,
    limit: Limit,
    mut attempt: impl FnMut(Duration) -> Option<PyResult<T>>,
) -> PyResult<T> {
    loop {
        let Some(part) = limit.part() else { return Err(error::timeout()) };
        if let Some(outcome) = detached(py, || attempt(part)) {
            return outcome;
        }
        py.check_signals()?;
    }
}
