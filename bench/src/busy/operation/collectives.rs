//! Barrier, broadcast and reduction to all, with the contenders of `corecast bench collectives`.

use super::candidate::{Candidate, of_std, ours, registered, rival, runtime};

/// corecast's group, and the barriers of the C library and the standard library.
pub(super) fn barriers() -> Vec<Candidate> {
    let mut all = ours(registered("corecast"));
    all.push(of_std(registered("std")));
    all.push(rival("pthread", true, registered("pthread")));
    all.extend(runtimes());
    all
}

/// corecast's group, and slots of the standard library's atomics with its barrier.
pub(super) fn broadcasts() -> Vec<Candidate> {
    slots()
}

/// As for broadcasts.
pub(super) fn allreductions() -> Vec<Candidate> {
    slots()
}

fn slots() -> Vec<Candidate> {
    let mut all = ours(registered("corecast"));
    all.push(of_std(registered("slots+std-barrier")));
    all.push(rival("mutex+condvar", true, registered("mutex+condvar")));
    all.extend(runtimes());
    all
}

/// OpenMP's threads sleep after a while; MPI's processes poll, or yield where CPUs are shared.
fn runtimes() -> [Candidate; 4] {
    [runtime("libgomp", true), runtime("libomp", true), runtime("openmpi", false), runtime("mpich", false)]
}
