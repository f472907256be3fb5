//! The threads of a model, which do not die.

use std::time::Duration;

use corecast_base::wait::CpuSharing;

use super::super::line::Owner;

/// The process of a model.
#[derive(Debug, Clone)]
pub(in super::super) struct Owners;

impl Owners {
    pub(in super::super) fn heap() -> Self {
        Self
    }

    pub(in super::super) fn owner(&self) -> Owner {
        Owner(0)
    }

    pub(in super::super) fn is_forked(&self) -> bool {
        false
    }

    pub(in super::super) fn may_die(&self) -> bool {
        false
    }

    pub(in super::super) fn is_dead(&self, _: Owner) -> bool {
        false
    }

    pub(in super::super) fn exclusively(&self, _: impl FnOnce()) {}

    pub(in super::super) fn cpu_sharing(&self, ends: usize) -> CpuSharing {
        CpuSharing::unpinned(ends)
    }

    pub(in super::super) fn longest_nap(&self) -> Duration {
        Duration::MAX
    }
}
