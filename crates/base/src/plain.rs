//! Values that any bytes make.

/// A type that any bytes make a value of, so that it can be read from memory that another process wrote.
///
/// Numbers are plain, and so are arrays of plain values; for a structure its author says so. `bool`, `char` and most enums
/// are not plain, as some bytes are no value of them. Tuples are not plain, as the compiler chooses their layout.
/// ```
/// use corecast_base::Plain;
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Sample {
///     node: u32,
///     load: f32,
/// }
/// // SAFETY: two numbers of 4 bytes, laid out as C does: no padding, and any bytes are a value.
/// unsafe impl Plain for Sample {}
/// ```
///
/// # Safety
/// - Any bytes are a value of it.
/// - It has no padding: each of its bytes is initialised.
/// - Its layout is fixed: `repr(C)`, `repr(transparent)` or primitive.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

/// The value of all zeroes, as room to receive into.
#[must_use]
pub fn zeroed<T: Plain>() -> T {
    // SAFETY: any bytes are a value of a plain type.
    unsafe { std::mem::zeroed() }
}

/// The bytes of values, in the machine's byte order.
#[must_use]
pub fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: the bytes of plain values, all of which are initialised, for as long as they are borrowed.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }
}

/// The bytes of values, to be written: any bytes make values.
#[must_use]
pub fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: the bytes of plain values, all of which are initialised; any bytes may be written, as they make values; borrowed
    // by this slice alone.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), size_of_val(values)) }
}

/// The values that these bytes are, to be read and written; `None` if the bytes do not begin where such a value may, or end in
/// the midst of one.
#[must_use]
pub fn values_in_mut<T: Plain>(bytes: &mut [u8]) -> Option<&mut [T]> {
    // SAFETY: any bytes make plain values, and all bytes of plain values are initialised.
    let (before, values, behind) = unsafe { bytes.align_to_mut() };
    (before.is_empty() && behind.is_empty()).then_some(values)
}

// SAFETY: no bytes.
unsafe impl Plain for () {}

macro_rules! plain {
    ($($number:ty)*) => {
        $(
            // SAFETY: a primitive number: all bits are valid, all of its bytes are initialised.
            unsafe impl Plain for $number {}
        )*
    };
}

plain!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

// SAFETY: plain values side by side, without gaps.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_values() {
        let mut values = [0x0102_u16, 0x0304];
        assert_eq!(bytes_of(&values), [0x0102_u16.to_ne_bytes(), 0x0304_u16.to_ne_bytes()].concat());
        bytes_of_mut(&mut values).copy_from_slice(&[5; 4]);
        assert_eq!(values, [0x0505; 2]);
        assert_eq!(values_in_mut::<u16>(bytes_of_mut(&mut values)), Some(&mut [0x0505; 2][..]));
        assert!(values_in_mut::<u16>(&mut bytes_of_mut(&mut values)[1..3]).is_none(), "not aligned");
        assert!(values_in_mut::<u16>(&mut bytes_of_mut(&mut values)[..3]).is_none(), "half a value");
        assert!(bytes_of::<u64>(&[]).is_empty() && bytes_of(&[(); 3]).is_empty());
    }
}
