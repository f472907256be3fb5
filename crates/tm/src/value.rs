//! Values of one word: the types that a variable may hold.

/// A value that fits into 8 bytes.
///
/// Integers of up to 64 bits, floats, `bool`, `char`, small arrays and pairs of them, and links: [`TVar`](crate::TVar) and
/// `Option<TVar>`. Implement it for types of your own; both functions must be total, as a transaction that is about to be
/// aborted may have read the words of another type where variables are freed and taken again without locks
/// ([`Tx::read_unlocked`](crate::Tx::read_unlocked)).
///
/// Larger values do not compile; a [`TBlock`](crate::TBlock) has room for seven words:
///
/// ```compile_fail
/// fn is_value<T: corecast_tm::Value>() {}
/// is_value::<u128>(); // 16 bytes
/// ```
///
/// ```compile_fail
/// fn is_value<T: corecast_tm::Value>() {}
/// is_value::<[u32; 3]>(); // 12 bytes
/// ```
///
/// Nor do variables of larger types with an implementation of their own:
///
/// ```compile_fail
/// # use corecast_tm::{Abort, TVar, Tx, Value};
/// #[derive(Clone, Copy)]
/// struct Large([u8; 9]); // 9 bytes
///
/// impl Value for Large {
///     fn to_word(self) -> u64 {
///         self.0[0].into()
///     }
///
///     fn from_word(word: u64) -> Self {
///         Self([word as u8; 9])
///     }
/// }
///
/// fn write(tx: &mut Tx<'_>) -> Result<TVar<Large>, Abort> {
///     tx.new_var(Large([0; 9]))
/// }
/// let used: fn(&mut Tx<'_>) -> Result<TVar<Large>, Abort> = write;
/// std::hint::black_box(used);
/// ```
pub trait Value: Copy + Send + 'static {
    /// The value as a word.
    fn to_word(self) -> u64;

    /// The value that the word stands for.
    fn from_word(word: u64) -> Self;
}

macro_rules! integers {
    ($($unsigned:ty, $signed:ty);*) => {$(
        impl Value for $unsigned {
            #[inline]
            fn to_word(self) -> u64 {
                self as u64
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                word as $unsigned
            }
        }

        impl Value for $signed {
            #[inline]
            fn to_word(self) -> u64 {
                self as $unsigned as u64
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                word as $unsigned as $signed
            }
        }
    )*};
}

integers!(u8, i8; u16, i16; u32, i32; u64, i64; usize, isize);

impl Value for () {
    #[inline]
    fn to_word(self) -> u64 {
        0
    }

    #[inline]
    fn from_word(_: u64) -> Self {}
}

impl Value for bool {
    #[inline]
    fn to_word(self) -> u64 {
        self.into()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        word != 0
    }
}

impl Value for char {
    #[inline]
    fn to_word(self) -> u64 {
        self.into()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        char::from_u32(word as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

impl Value for f32 {
    #[inline]
    fn to_word(self) -> u64 {
        self.to_bits().into()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        Self::from_bits(word as u32)
    }
}

impl Value for f64 {
    #[inline]
    fn to_word(self) -> u64 {
        self.to_bits()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        Self::from_bits(word)
    }
}

macro_rules! arrays {
    ($part:ty: $($len:literal),*) => {$(
        impl Value for [$part; $len] {
            #[inline]
            fn to_word(self) -> u64 {
                let bits = size_of::<$part>() * 8;
                let mut word = 0;
                for (at, part) in self.into_iter().enumerate() {
                    word |= part.to_word() << (at * bits);
                }
                word
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                let bits = size_of::<$part>() * 8;
                std::array::from_fn(|at| <$part>::from_word(word >> (at * bits)))
            }
        }
    )*};
}

arrays!(u8: 1, 2, 3, 4, 5, 6, 7, 8);
arrays!(i8: 1, 2, 3, 4, 5, 6, 7, 8);
arrays!(u16: 1, 2, 3, 4);
arrays!(i16: 1, 2, 3, 4);
arrays!(u32: 1, 2);
arrays!(i32: 1, 2);
arrays!(f32: 1, 2);

macro_rules! pairs {
    ($($first:ty, $second:ty);*) => {$(
        impl Value for ($first, $second) {
            #[inline]
            fn to_word(self) -> u64 {
                self.0.to_word() | (self.1.to_word() << 32)
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                (<$first>::from_word(word & u64::from(u32::MAX)), <$second>::from_word(word >> 32))
            }
        }
    )*};
}

pairs!(u32, u32; u32, i32; u32, f32; i32, u32; i32, i32; i32, f32; f32, u32; f32, i32; f32, f32);
pairs!(u32, bool; i32, bool; bool, u32; bool, i32; u32, u16; u16, u32; u16, u16; u8, u32; u32, u8; u8, u8; u32, char; char, u32);

#[cfg(test)]
mod tests {
    use super::Value;

    #[track_caller]
    fn comes_back<T: Value + PartialEq + std::fmt::Debug>(value: T) {
        assert_eq!(T::from_word(value.to_word()), value);
    }

    #[test]
    fn every_value_comes_back_from_its_word() {
        comes_back(-1i8);
        comes_back(i64::MIN);
        comes_back(u64::MAX);
        comes_back(-2.5f32);
        comes_back(f64::MAX);
        comes_back('ß');
        comes_back(true);
        comes_back(());
        comes_back([1u8, 2, 3, 4, 5, 6, 7, 255]);
        comes_back([-1i8, 2, -3]);
        comes_back([-1i16, 2, -3, 4]);
        comes_back([-1.5f32, 2.5]);
        comes_back((-1i32, -2i32));
        comes_back((7u8, u32::MAX));
    }

    #[test]
    fn words_of_other_types_make_values_too() {
        assert_eq!(char::from_word(u64::MAX), char::REPLACEMENT_CHARACTER);
        assert!(bool::from_word(77));
        assert_eq!(<[u8; 2]>::from_word(0x0403_0201), [1, 2]);
    }
}
