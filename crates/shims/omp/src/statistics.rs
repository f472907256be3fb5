//! Counts of what was served, for users who ask for it with `CORECAST_SHIM_STATS=1`.

use std::sync::Once;

use corecast_preload::{Operation, Settings, Statistics};

/// Barriers of every kind. A served one saves 0.1 us between two members with a CPU each, the case in which it saves least.
pub(crate) const BARRIERS: usize = 0;
/// Tasks that were announced.
pub(crate) const TASKS: usize = 1;
/// Regions: served where the shim gave the team lines, passed where it did not.
pub(crate) const REGIONS: usize = 2;

static OPERATIONS: [Operation; 3] =
    [Operation::new("barriers", 100), Operation::new("tasks", 0), Operation::new("regions", 0)];
static STATISTICS: Statistics = Statistics { object: "corecast omp", operations: &OPERATIONS };

/// One of the counters.
#[inline]
pub(crate) fn of(operation: usize) -> &'static Operation {
    &OPERATIONS[operation]
}

/// True if calls are counted.
pub(crate) fn are_kept() -> bool {
    Settings::get().counts()
}

/// Tells the counts when the program ends. Called when the first runtime is found.
pub(crate) fn tell_at_exit() {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| STATISTICS.tell_at_exit());
}
