//! The numbers that members combine, and what they combine them with.

use corecast::collective::Plain;
use corecast::collective::op::{And, Max, Min, Op as Operation, Or, Prod, Sum, Xor};

use crate::argument::choice;
use crate::error::Failure;

/// The type of the numbers of a reduction.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum Number {
    /// int32_t.
    Int32 = 0,
    /// int64_t.
    Int64 = 1,
    /// uint32_t.
    Uint32 = 2,
    /// uint64_t.
    Uint64 = 3,
    /// float.
    Float = 4,
    /// double.
    Double = 5,
}

/// What combines two numbers. Integers wrap around; of a number and a NaN the NaN is the least and the greatest.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum Op {
    /// The sum.
    Sum = 0,
    /// The product.
    Prod = 1,
    /// The least.
    Min = 2,
    /// The greatest.
    Max = 3,
    /// The bits that all have; integers only.
    And = 4,
    /// The bits that one has; integers only.
    Or = 5,
    /// The bits that an odd number have; integers only.
    Xor = 6,
}

/// The number's type of an argument.
pub(crate) fn number(number: u32) -> Result<Number, Failure> {
    use Number::{Double, Float, Int32, Int64, Uint32, Uint64};
    choice(number, &[Int32, Int64, Uint32, Uint64, Float, Double], "number")
}

/// What is combined, and how.
pub(crate) trait Combined: Plain {
    /// The operation of an argument.
    fn combination(op: u32) -> Result<fn(Self, Self) -> Self, Failure>;
}

/// The operation of this kind.
fn of<T: Combined, O: Operation<T> + Default>(_: O) -> fn(T, T) -> T {
    |left, right| O::default().combine(left, right)
}

macro_rules! integers {
    ($($number:ty)*) => {
        $(
            impl Combined for $number {
                fn combination(op: u32) -> Result<fn(Self, Self) -> Self, Failure> {
                    choice(op, &[of(Sum), of(Prod), of(Min), of(Max), of(And), of(Or), of(Xor)], "op")
                }
            }
        )*
    };
}

macro_rules! floats {
    ($($number:ty)*) => {
        $(
            impl Combined for $number {
                fn combination(op: u32) -> Result<fn(Self, Self) -> Self, Failure> {
                    choice(op, &[of(Sum), of(Prod), of(Min), of(Max)], "op")
                }
            }
        )*
    };
}

integers!(i32 i64 u32 u64);
floats!(f32 f64);
