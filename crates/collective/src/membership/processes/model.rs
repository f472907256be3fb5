//! No processes: models have none.

use corecast_base::sync::Arc;
use corecast_base::wait::WakeWord;
use corecast_base::wait::{CpuSharing, WakeCell};
use corecast_base::{CacheLine, Place};

/// Nothing.
#[derive(Debug)]
pub(crate) enum MemberProcesses {}

impl MemberProcesses {
    pub(crate) fn part(&self, _ranks: &[usize]) -> Self {
        match *self {}
    }

    pub(crate) fn wake_word(&self, _cell: Place<CacheLine<WakeCell>>) -> WakeWord {
        match *self {}
    }

    pub(crate) fn crowd(this: &Arc<Self>) -> CpuSharing {
        match **this {}
    }

    pub(crate) fn is_copy(&self) -> bool {
        match *self {}
    }

    pub(crate) fn first_dead(&self, _has_left: impl Fn(usize) -> bool) -> Option<usize> {
        match *self {}
    }

    pub(crate) fn dead_among(&self, _ranks: &[usize]) -> Vec<usize> {
        match *self {}
    }
}
