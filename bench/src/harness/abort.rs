//! The flag by which the participants of one contender learn that one of them failed.

use corecast::base::sync::{AtomicBool, Ordering};

use crate::failure::Failure;

/// Set by the harness when a participant fails or the time is over; read by whoever polls, off the fast path.
#[derive(Debug, Default)]
pub struct Abort(AtomicBool);

impl Abort {
    /// Tells everybody to give up.
    pub fn raise(&self) {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.0.store(true, Ordering::Relaxed);
    }

    /// Goes on, or gives up.
    ///
    /// # Errors
    /// [`Failure::Aborted`] once somebody raised the flag.
    pub fn check(&self) -> Result<(), Failure> {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        if self.0.load(Ordering::Relaxed) { Err(Failure::Aborted) } else { Ok(()) }
    }
}
