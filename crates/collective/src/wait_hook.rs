//! Work of its own that a member does while it waits.

use std::fmt;
use std::time::Duration;

use corecast_base::wait::LONGEST_SLEEP;

/// The function that a member calls while it waits; none at first.
#[derive(Default)]
pub(crate) struct WaitHook(Option<Box<dyn FnMut(Duration) -> Duration + Send>>);

impl WaitHook {
    pub(crate) fn of(hook: impl FnMut(Duration) -> Duration + Send + 'static) -> Self {
        Self(Some(Box::new(hook)))
    }

    /// Calls it with the time waited so far, and returns the longest time that the member may sleep.
    #[inline]
    pub(crate) fn call(&mut self, waited: Duration) -> Duration {
        self.0.as_mut().map_or(LONGEST_SLEEP, |hook| hook(waited))
    }
}

impl fmt::Debug for WaitHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "WaitHook(set)" } else { "WaitHook(none)" })
    }
}
