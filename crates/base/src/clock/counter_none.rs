//! No counter is known on this architecture: the clock falls back to the system's.

/// Never.
pub(super) fn is_invariant() -> bool {
    false
}

/// Not called, as the counter is not invariant.
pub(super) fn read() -> u64 {
    0
}

/// Not called, as the counter is not invariant.
pub(super) fn read_in_order() -> u64 {
    0
}
