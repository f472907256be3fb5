//! Values that are nothing but their bytes.

/// What is nothing but its bytes, so that it can be read from memory that anybody may have written.
///
/// Numbers are, and arrays of what is; a structure is where its author says so. `bool`, `char` and most enums are not, as
/// some bytes are no value of them, and tuples are not, as their layout is the compiler's to choose.
///
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
pub unsafe trait Plain: Copy + Send + 'static {}

/// The value of all zeroes: room to receive into.
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
