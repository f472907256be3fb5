//! Messages that travel in cache lines of 56 bytes and a control word, one receiver at a time: how a message is cut into
//! lines, for the two published channels of that kind.

use super::super::wire::Wire;
use super::shared_memory::SharedMemory;

/// A line with its word.
pub(super) const LINE: usize = 64;
/// The bytes that a line carries beside its word.
pub(super) const CARGO: usize = 56;

/// The lines of one message.
pub(super) fn per_message(wire: &Wire) -> usize {
    wire.bytes.div_ceil(CARGO)
}

/// Writes a part of a message into the line at `offset`.
///
/// # Safety
/// - The protocol has given the line to the caller.
#[inline(always)]
pub(super) unsafe fn fill(memory: &SharedMemory, offset: usize, part: &[u8]) {
    // SAFETY: nobody else looks at the line, by the caller's promise.
    let line = unsafe { memory.bytes_mut(offset, CARGO) };
    line[..part.len()].copy_from_slice(part);
}

/// Reads a part of a message out of the line at `offset`.
///
/// # Safety
/// - The protocol has given the line to the caller.
#[inline(always)]
pub(super) unsafe fn empty(memory: &SharedMemory, offset: usize, part: &mut [u8]) {
    // SAFETY: nobody writes the line, by the caller's promise.
    let line = unsafe { memory.bytes(offset, CARGO) };
    part.copy_from_slice(&line[..part.len()]);
}
