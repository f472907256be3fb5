//! The limits of a simulated machine, which do not depend on those of the host.

/// Not known: simulated threads do not count the CPUs of their machine.
pub(super) fn allowed_cpus() -> Option<usize> {
    None
}

/// There is none.
pub(super) fn quota() -> Option<f64> {
    None
}

/// Calls `take` with the CPU of this thread.
pub(super) fn for_each_cpu_of_thread(mut take: impl FnMut(usize)) {
    take(crate::sync::cpu() as usize);
}
