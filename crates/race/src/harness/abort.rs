//! The flag by which the participants of one contender learn that one of them failed, or that the user stops the run.

use corecast::base::sync::{AtomicBool, Ordering};

use crate::cancel::Cancel;
use crate::failure::Failure;

/// Set by the harness when a participant fails or the time is over; read by bodies that poll, off the fast path.
#[derive(Debug, Default)]
pub struct Abort {
    raised: AtomicBool,
    user: Cancel,
}

impl Abort {
    /// A flag that is also raised when the user stops the run.
    #[must_use]
    pub fn heeding(user: &Cancel) -> Self {
        Self { raised: AtomicBool::new(false), user: user.clone() }
    }

    /// Tells everybody to give up.
    pub fn raise(&self) {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Goes on, or gives up.
    ///
    /// # Errors
    /// [`Failure::Aborted`] once somebody raised the flag, or the user stopped the run.
    pub fn check(&self) -> Result<(), Failure> {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        let is_raised = self.raised.load(Ordering::Relaxed);
        if is_raised || self.user.is_cancelled() { Err(Failure::Aborted) } else { Ok(()) }
    }
}
