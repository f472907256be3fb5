//! The operations that are counted for people who ask for it.

use corecast_preload::{Operation, Statistics};

pub(crate) static STATISTICS: Statistics = Statistics { object: "corecast pthread", operations: &OPERATIONS };

static OPERATIONS: [Operation; 9] = [
    // Per thread and round, by which a round of two threads is shorter than the C library's: docs/design/shim-pthread.md.
    Operation::new("barrier_wait", 10_000),
    Operation::new("mutex_lock", 0),
    Operation::new("mutex_trylock", 0),
    Operation::new("mutex_timedlock", 0),
    Operation::new("cond_wait", 0),
    Operation::new("rwlock_lock", 0),
    Operation::new("rwlock_trylock", 0),
    Operation::new("spin_lock", 0),
    Operation::new("spin_trylock", 0),
];
pub(crate) static BARRIER_WAIT: &Operation = &OPERATIONS[0];
/// Calls that may wait for ever.
pub(crate) static MUTEX_LOCK: &Operation = &OPERATIONS[1];
/// Tries, whether or not they take it.
pub(crate) static MUTEX_TRY_LOCK: &Operation = &OPERATIONS[2];
/// Calls with a time limit, by either clock.
pub(crate) static MUTEX_TIMED_LOCK: &Operation = &OPERATIONS[3];
pub(crate) static COND_WAIT: &Operation = &OPERATIONS[4];
/// To read or to write, with a time limit or without.
pub(crate) static RW_LOCK: &Operation = &OPERATIONS[5];
/// To read or to write.
pub(crate) static RW_TRY_LOCK: &Operation = &OPERATIONS[6];
pub(crate) static SPIN_LOCK: &Operation = &OPERATIONS[7];
pub(crate) static SPIN_TRY_LOCK: &Operation = &OPERATIONS[8];
