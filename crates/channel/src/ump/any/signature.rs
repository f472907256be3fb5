//! A number for a type that means the same in all programs that share memory.
//!
//! Two builds of a program agree on it. Two types of one name and size share it, which is sound, as any bytes are a value
//! of a plain type.

use std::any::{TypeId, type_name};

/// A type as a value, so that the rare paths of a channel are compiled once and not for each type.
#[derive(Clone, Copy)]
pub(super) struct TypeOf {
    pub(super) id: TypeId,
    pub(super) name: fn() -> &'static str,
    /// Computed where it is needed only.
    pub(super) signature: fn() -> u64,
}

impl TypeOf {
    #[inline(always)]
    pub(super) fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: type_name::<T>, signature: signature::<T> }
    }
}

/// The hash of a type's name and size: FNV-1a of 64 bits (Fowler, Noll, Vo). Computed when a type is first met only.
#[must_use]
pub fn signature<T>() -> u64 {
    let size = (size_of::<T>() as u64).to_le_bytes();
    type_name::<T>()
        .bytes()
        .chain(size)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_differ_by_name_and_size() {
        let mut all = [signature::<u32>(), signature::<i32>(), signature::<[u8; 3]>(), signature::<[u8; 4]>()];
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
