//! How members wait: as `OMP_WAIT_POLICY` says, and as the CPUs allow.

use std::sync::OnceLock;
use std::time::Duration;

use corecast_base::sync::Mutex;
use corecast_base::wait::{CpuSharing, Wait, Waiter};
use corecast_preload::Errno;

use crate::runtime::Runtime;

/// The policy that the environment asks for: `active` never sleeps, `passive` sleeps at once.
pub(crate) fn policy() -> Wait {
    static POLICY: OnceLock<Wait> = OnceLock::new();
    *POLICY.get_or_init(|| of_variable(std::env::var("OMP_WAIT_POLICY").ok().as_deref()))
}

fn of_variable(value: Option<&str>) -> Wait {
    match value.map(|value| value.trim().to_ascii_lowercase()).as_deref() {
        Some("active") => Wait::Spin,
        Some("passive") => Wait::Park,
        _ => Wait::Adaptive,
    }
}

/// As long as libgomp's 300,000 looks before a thread of a team sleeps whose members have a CPU each. Without it a barrier beside
/// one busy process took 2,000 us, with libgomp 0.63: a sleeper gets the CPU back after the busy process's slice.
const AS_LONG_AS_THE_RUNTIME: Duration = Duration::from_millis(4);

/// A waiter for one of `size` members. It looks at masks and quotas when it is first asked for that size; later ones are copies,
/// which take no system call.
#[cold]
pub(crate) fn waiter_for(runtime: &Runtime, size: usize) -> Waiter {
    static OF_SIZES: Mutex<Vec<(usize, Waiter)>> = Mutex::new(Vec::new());
    let _errno = Errno::keep();
    let mut known = OF_SIZES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, waiter)) = known.iter().find(|(known, _)| *known == size) {
        return waiter.clone();
    }
    let sharing = sharing_of(runtime, size);
    // A member that only spins could keep away the one it waits for.
    let is_crowded = policy() == Wait::Spin && sharing.is_oversubscribed();
    let waiter = Waiter::new(if is_crowded { Wait::Yield } else { policy() }, sharing, None);
    let waiter = waiter.spinning_before_sleep(AS_LONG_AS_THE_RUNTIME);
    known.push((size, waiter.clone()));
    waiter
}

/// Where the runtime binds threads to places, the mask of a thread no longer tells the CPUs of the process; the runtime does.
fn sharing_of(runtime: &Runtime, size: usize) -> CpuSharing {
    let cpus = usize::try_from(runtime.num_procs()).unwrap_or(1).max(1);
    if runtime.binds_threads() { CpuSharing::pinned(size, size.div_ceil(cpus)) } else { CpuSharing::unpinned(size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_is_that_of_the_environment() {
        let policies = [None, Some("ACTIVE"), Some(" passive "), Some("else")].map(of_variable);
        assert_eq!(policies, [Wait::Adaptive, Wait::Spin, Wait::Park, Wait::Adaptive]);
    }
}
