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
