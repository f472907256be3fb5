//! The operations that are counted for people who ask for it.

use corecast_preload::{Operation, Statistics};

static OPERATIONS: [Operation; 5] = [
    // Per thread and round, by which a round of two threads is shorter than the C library's: docs/design/shim-pthread.md.
    Operation::new("barrier_wait", 10_000),
    Operation::new("mutex_lock", 0),
    Operation::new("cond_wait", 0),
    Operation::new("rwlock_lock", 0),
    Operation::new("spin_lock", 0),
];
pub(crate) static BARRIER_WAIT: &Operation = &OPERATIONS[0];
pub(crate) static MUTEX_LOCK: &Operation = &OPERATIONS[1];
pub(crate) static COND_WAIT: &Operation = &OPERATIONS[2];
pub(crate) static RW_LOCK: &Operation = &OPERATIONS[3];
pub(crate) static SPIN_LOCK: &Operation = &OPERATIONS[4];

pub(crate) static STATISTICS: Statistics = Statistics { object: "corecast pthread", operations: &OPERATIONS };
