//! The parameters of CPUs that share a core, as the hardware threads of simultaneous multithreading do.

use crate::costs::Ticks;

/// The costs of CPUs that share a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smt {
    /// Computing and accesses that hit take longer by this factor while one other CPU of the core computes; each further one
    /// adds as much again. From 1, where CPUs do not disturb each other, to 2 and more, where two of them do no more than one.
    pub slowdown: f64,
    /// An access to a line that another CPU of the core has: it lies in the first-level cache that they share.
    pub line: Ticks,
}
