//! For architectures without a known instruction that flushes a line: cases that need one are skipped by name.

use corecast::base::sync::{AtomicU64, Ordering, fence};

use super::lines::Line;

/// Whether lines can be put out of all caches here.
pub(super) const FLUSHES: bool = false;

/// Does nothing: a caller that needs a flush asks [`FLUSHES`] first.
pub(super) fn flush(_word: &AtomicU64) {}

/// Never.
pub(super) fn knows_prefetch_for_write() -> bool {
    false
}

/// Does nothing: a caller that needs it asks first.
pub(super) fn prefetch_for_write(_word: &AtomicU64) {}

/// Never.
pub(super) fn knows_demote() -> bool {
    false
}

/// Does nothing: a caller that needs it asks first.
pub(super) fn demote(_word: &AtomicU64) {}

/// Never.
pub(super) fn knows_write_back() -> bool {
    false
}

/// Does nothing: a caller that needs it asks first.
pub(super) fn write_back(_word: &AtomicU64) {}

/// Never.
pub(super) fn knows_wide_cas() -> bool {
    false
}

/// Returns what is expected: a caller that needs it asks first.
pub(super) fn wide_cas(_line: &Line, compare: [u64; 2], _value: [u64; 2]) -> [u64; 2] {
    compare
}

/// The language's acquire fence.
#[inline(always)]
pub(super) fn load_fence() {
    // ORDERING: Acquire, timed for its own sake; pairs with the Release in store_fence [timed-fence]
    fence(Ordering::Acquire);
}

/// The language's release fence.
#[inline(always)]
pub(super) fn store_fence() {
    // ORDERING: Release, timed for its own sake; pairs with the Acquire in load_fence [timed-fence]
    fence(Ordering::Release);
}

/// The language's strongest fence.
#[inline(always)]
pub(super) fn full_fence() {
    // ORDERING: SeqCst, pairs with itself: forbids that the clock is read while a store is on its way [drained]
    fence(Ordering::SeqCst);
}

/// An instruction that does nothing is not known here; the compiler puts none.
pub(super) fn nop() {}
