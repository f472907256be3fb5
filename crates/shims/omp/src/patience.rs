//! How members wait: as `OMP_WAIT_POLICY` says, and as the CPUs allow.

use std::sync::OnceLock;
use std::time::Duration;

use corecast_base::sync::{AtomicUsize, Mutex, Ordering};
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

/// The threads that the teams of this process have together, as far as it has more than one: those of nested teams, and of
/// several masters. Written by a thread that takes a team, changes its size, or gives it back.
static ALL_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Counts a team of another size.
pub(crate) fn count_threads(before: usize, now: usize) {
    // ORDERING: Relaxed, a count that only says how to wait
    ALL_THREADS.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
}

/// The members to reckon with in a team of `size`: more than there are CPUs where all teams together have more. libgomp does so,
/// too, by the threads that it manages.
#[inline]
pub(crate) fn members_of_all(runtime: &Runtime, size: usize) -> usize {
    // ORDERING: Relaxed, as in count_threads
    let all = ALL_THREADS.load(Ordering::Relaxed);
    if all <= size { size } else { members_among(all, size, cpus(runtime)) }
}

/// One number for all crowds: a waiter that is made anew has learnt nothing.
fn members_among(all: usize, size: usize, cpus: usize) -> usize {
    if all > cpus { size.max(cpus + 1) } else { size }
}

/// The CPUs that the process might use when it was first asked for.
fn cpus(runtime: &Runtime) -> usize {
    static CPUS: OnceLock<usize> = OnceLock::new();
    *CPUS.get_or_init(|| usize::try_from(runtime.num_procs()).unwrap_or(1).max(1))
}

/// A waiter for a thread that has to reckon with this many members. It looks at masks and quotas when it is first asked for that
/// number; later ones are copies, which take no system call.
#[cold]
pub(crate) fn waiter_for(runtime: &Runtime, members: usize) -> Waiter {
    static OF_NUMBERS: Mutex<Vec<(usize, Waiter)>> = Mutex::new(Vec::new());
    let _errno = Errno::keep();
    let mut known = OF_NUMBERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, waiter)) = known.iter().find(|(known, _)| *known == members) {
        return waiter.clone();
    }
    let sharing = sharing_of(runtime, members);
    // A member that only spins could keep away the one it waits for.
    let is_crowded = policy() == Wait::Spin && sharing.is_oversubscribed();
    let waiter = Waiter::new(if is_crowded { Wait::Yield } else { policy() }, sharing, None);
    let waiter = waiter.spinning_before_sleep(AS_LONG_AS_THE_RUNTIME);
    known.push((members, waiter.clone()));
    waiter
}

/// Where the runtime binds threads to places, the mask of a thread no longer tells the CPUs of the process; the runtime does.
fn sharing_of(runtime: &Runtime, members: usize) -> CpuSharing {
    if !runtime.binds_threads() {
        return CpuSharing::unpinned(members);
    }
    CpuSharing::pinned(members, members.div_ceil(cpus(runtime)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_reckons_with_the_others_where_all_do_not_have_a_cpu_each() {
        assert_eq!(members_among(4, 2, 4), 2);
        assert_eq!([members_among(4, 2, 2), members_among(40, 2, 2), members_among(40, 8, 2)], [3, 3, 8]);
    }

    #[test]
    fn the_policy_is_that_of_the_environment() {
        let policies = [None, Some("ACTIVE"), Some(" passive "), Some("else")].map(of_variable);
        assert_eq!(policies, [Wait::Adaptive, Wait::Spin, Wait::Park, Wait::Adaptive]);
    }
}
