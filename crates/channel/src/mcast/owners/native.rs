//! The owners of ends in this process, or in a region that several processes map.

use std::time::Duration;

use corecast_base::region::{Liveness, ParticipantId, SharedRegion};
use corecast_base::wait::{CpuSharing, LONGEST_SLEEP};

use super::super::line::Owner;

/// Sleeps between processes are short, so that a death is noticed within 100 ms.
const LONGEST_NAP_IN_REGION: Duration = Duration::from_millis(50);

const INDEX_BITS: u32 = 11;

/// The owners of a channel's ends.
#[derive(Debug, Clone)]
pub(in super::super) struct Owners {
    region: Option<SharedRegion>,
}

impl Owners {
    /// All ends are threads of this process.
    pub(in super::super) fn heap() -> Self {
        Self { region: None }
    }

    /// Ends are participants of a region.
    pub(in super::super) fn within(region: SharedRegion) -> Self {
        Self { region: Some(region) }
    }

    /// True if the ends are participants of this region.
    pub(in super::super) fn is_in(&self, region: &SharedRegion) -> bool {
        self.region.as_ref().is_some_and(|ours| ours.generation() == region.generation())
    }

    /// The name by which this participant holds lines.
    pub(in super::super) fn owner(&self) -> Owner {
        let Some(region) = &self.region else { return Owner(0) };
        let me = region.me();
        Owner(u64::from(me.generation) << INDEX_BITS | u64::from(me.index + 1))
    }

    /// True in a forked child of the process that opened the end.
    #[inline(always)]
    pub(in super::super) fn is_forked(&self) -> bool {
        self.region.as_ref().is_some_and(|region| region.check_fork().is_err())
    }

    /// True if some end may die without the others.
    pub(in super::super) fn may_die(&self) -> bool {
        self.region.is_some()
    }

    /// This participant.
    ///
    /// # Panics
    /// If the ends are threads of one process.
    pub(in super::super) fn me(&self) -> ParticipantId {
        self.region.as_ref().expect("asked for in regions only").me()
    }

    /// The participant with this name; `None` if no participant has it.
    pub(in super::super) fn participant(owner: Owner) -> Option<ParticipantId> {
        let index = (owner.0 & ((1 << INDEX_BITS) - 1)).checked_sub(1)?;
        Some(ParticipantId { index: index as u32, generation: (owner.0 >> INDEX_BITS) as u32 })
    }

    /// True if there is evidence that the holder of a line is gone.
    pub(in super::super) fn is_dead(&self, owner: Owner) -> bool {
        let Some(region) = &self.region else { return false };
        Self::participant(owner).is_none_or(|who| region.liveness(who) != Liveness::Alive)
    }

    /// Runs `settle` unless another thread of any process is at it; then there is nothing to do here.
    pub(in super::super) fn exclusively(&self, settle: impl FnOnce()) {
        if let Some(region) = &self.region {
            // In a forked child the caller finds out by itself.
            let _ = region.try_exclusively(settle);
        }
    }

    /// The sharing of CPUs among the participants, or among `ends` threads of this process.
    pub(in super::super) fn cpu_sharing(&self, ends: usize) -> CpuSharing {
        self.region.as_ref().map_or_else(|| CpuSharing::unpinned(ends), |region| region.cpu_sharing(ends))
    }

    /// The longest that an end sleeps without looking around.
    pub(in super::super) fn longest_nap(&self) -> Duration {
        if self.region.is_some() { LONGEST_NAP_IN_REGION } else { LONGEST_SLEEP }
    }
}
