//! Decides whether participants have to wait for a CPU.

use corecast::base::wait::CpuSharing;

/// True if this number of participants, bound in turn to that number of CPUs, share them, or the container grants less
/// time than they could use.
pub fn is_crowded(participants: usize, cpus: usize) -> bool {
    CpuSharing::pinned(participants, participants.div_ceil(cpus)).is_oversubscribed()
}
