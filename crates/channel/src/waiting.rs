//! The waiting of both ends of a channel in a region, as three words of its configuration.
//!
//! All threads that use a wake word must use the same fences, so the channel's creator chooses them when it registers with
//! the kernel.

use std::time::Duration;

use corecast_base::region::{Section, SharedRegion};
use corecast_base::sync::{Fences, Scope};
use corecast_base::wait::{Wait, Waiter, WakeWord};

use crate::open::OpenChannelError;

/// The waiting of both ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    wait: Wait,
    wake_cost: Option<Duration>,
    /// `None` if no end ever sleeps.
    fences: Option<Fences>,
}

impl Waiting {
    pub(crate) fn new(wait: Wait, wake_cost: Option<Duration>) -> Self {
        Self { wait, wake_cost, fences: wait.sleeps().then(|| Fences::of(Scope::Machine)) }
    }

    /// The policy's number; the wake cost in ns and one, or 0; the fences' number, or 0.
    pub(crate) fn to_words(self) -> [u64; 3] {
        let wait = Wait::ALL.iter().position(|&wait| wait == self.wait).expect("ALL names every policy");
        let nanoseconds = |cost: Duration| u64::try_from(cost.as_nanos()).unwrap_or(u64::MAX - 1) + 1;
        [wait as u64, self.wake_cost.map_or(0, nanoseconds), self.fences.map_or(0, |fences| fences as u64)]
    }

    /// The settings in these words; `None` if they are no settings, or the kernel does not grant the fences to this
    /// process.
    pub(crate) fn from_words([wait, wake_cost, fences]: [u64; 3]) -> Option<Self> {
        let wait = *Wait::ALL.get(usize::try_from(wait).ok()?)?;
        let wake_cost = wake_cost.checked_sub(1).map(Duration::from_nanos);
        let fences = if wait.sleeps() { Some(Fences::joined(u32::try_from(fences).ok()?)?) } else { None };
        Some(Self { wait, wake_cost, fences })
    }

    /// The wake word at `offset` of a channel's section.
    ///
    /// # Errors
    /// [`OpenChannelError`] if it is not inside.
    pub(crate) fn wake_word(
        self,
        region: &SharedRegion,
        section: &Section,
        offset: usize,
        name: &str,
    ) -> Result<WakeWord, OpenChannelError> {
        let cell = section.place(offset).map_err(OpenChannelError::section(name))?;
        Ok(WakeWord::within(cell, region.parkers(), region.me().index, self.fences))
    }

    /// A waiter for one of the two ends.
    pub(crate) fn waiter(self, region: &SharedRegion) -> Waiter {
        Waiter::new(self.wait, region.cpu_sharing(2), self.wake_cost)
    }
}
