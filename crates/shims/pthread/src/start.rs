//! What this object serves in this process: decided once, before it serves anything.
//!
//! The loader's call of the constructor is late: libraries that it has started before may have locked mutexes. So the first call of
//! any exported function decides too. Several threads may decide at once, and all find the same.

use corecast_preload::{Family, Operation, Settings, Statistics};

/// The operations that are counted, in this order.
static OPERATIONS: [Operation; 4] = [
    // Per thread and round, what a round of two threads takes less than the C library's: docs/design/shim-pthread.md.
    Operation::new("barrier_wait", 10_000),
    Operation::new("mutex_lock", 0),
    Operation::new("cond_wait", 0),
    Operation::new("spin_lock", 0),
];
pub(crate) static BARRIER_WAIT: &Operation = &OPERATIONS[0];
pub(crate) static MUTEX_LOCK: &Operation = &OPERATIONS[1];
pub(crate) static COND_WAIT: &Operation = &OPERATIONS[2];
pub(crate) static SPIN_LOCK: &Operation = &OPERATIONS[3];

static STATISTICS: Statistics = Statistics { object: "corecast pthread", operations: &OPERATIONS };

/// Decides.
#[cold]
pub(crate) fn start() {
    let settings = Settings::get();
    crate::barrier::choose(settings.serves(Family::Barrier));
    crate::spin::choose(settings.serves(Family::Lock) && !crate::chosen::is_pass_through());
    locks::choose(settings.serves(Family::Lock), settings.counts());
}

/// A child of `fork` begins.
pub(crate) fn in_child() {
    locks::in_child();
}

/// The constructor.
extern "C" fn construct() {
    start();
    STATISTICS.tell_at_exit();
}

#[cfg_attr(not(test), used, unsafe(link_section = ".init_array"))]
static CONSTRUCT: extern "C" fn() = construct;

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
use crate::mutex as locks;

/// Locks are served where the layout of the C library's objects is known; elsewhere nothing of them is exported.
#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
mod locks {
    pub(super) fn choose(_serves: bool, _counts: bool) {}

    pub(super) fn in_child() {}
}
