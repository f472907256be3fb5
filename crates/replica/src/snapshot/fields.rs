//! Numbers in arrays of 64 bytes, little-endian.

/// Writes one field after the other.
pub(super) struct FieldWriter {
    bytes: [u8; 64],
    at: usize,
}

impl FieldWriter {
    pub(super) fn new() -> Self {
        Self { bytes: [0; 64], at: 0 }
    }

    pub(super) fn put<const N: usize>(mut self, field: [u8; N]) -> Self {
        self.bytes[self.at..self.at + N].copy_from_slice(&field);
        self.at += N;
        self
    }

    pub(super) fn end(self) -> [u8; 64] {
        debug_assert_eq!(self.at, 64, "the fields fill the array");
        self.bytes
    }
}

/// The field of `N` bytes at this offset.
pub(super) fn field<const N: usize>(bytes: &[u8; 64], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a slice of that length")
}
