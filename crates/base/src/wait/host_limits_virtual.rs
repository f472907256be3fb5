//! The limits of a simulated machine, which has a CPU for each of its threads, whatever the host has.

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
