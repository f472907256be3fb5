//! The numbers that members combine, and the operations.

use corecast::collective::Plain;
use corecast::collective::nodes::{PredefinedOp, ValueKind};
use corecast::collective::op::{And, Max, MaxLoc, Min, MinLoc, Op as Operation, Or, Prod, Sum, Xor};

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

/// The operation that combines two numbers. Integers wrap around; of a number and a NaN the NaN is the least and the
/// greatest.
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
    /// Bitwise and; integers only.
    And = 4,
    /// Bitwise or; integers only.
    Or = 5,
    /// Bitwise exclusive or; integers only.
    Xor = 6,
    /// Of pairs of a number and a place, the pair with the least number; of equal ones the least place. `count` is twice the
    /// number of pairs.
    MinLoc = 7,
    /// The same with the greatest number, and the least place.
    MaxLoc = 8,
}

/// An operation on integers, as the libraries between machines know it. Any order of it gives the same bits.
pub(crate) struct KnownOperation<T> {
    op: PredefinedOp,
    combine: fn(T, T) -> T,
}

impl<T: 'static> KnownOperation<T> {
    /// The one that `combine` does, as an argument of a call names it; `None` if it is not on integers.
    pub(crate) fn of(op: u32, combine: fn(T, T) -> T) -> Option<Self> {
        use PredefinedOp::{And, Max, Min, Or, Prod, Sum, Xor};
        // In the order of `Op`.
        let op = [Sum, Prod, Min, Max, And, Or, Xor].get(op as usize).copied()?;
        ValueKind::of::<T>().is_some_and(ValueKind::is_exact).then_some(Self { op, combine })
    }
}

impl<T> Operation<T> for KnownOperation<T> {
    const COMMUTATIVE: bool = true;
    const IDEMPOTENT: bool = false;
    const EXACT: bool = true;

    fn combine(&self, left: T, right: T) -> T {
        (self.combine)(left, right)
    }

    fn predefined(&self) -> Option<PredefinedOp> {
        Some(self.op)
    }
}

/// An action on numbers whose type is known at run time.
pub(crate) trait ForNumbers {
    type Output;

    /// Acts on `count` values, which may be pairs of numbers, that `combine` combines.
    fn with<T: Plain>(self, count: usize, combine: fn(T, T) -> T) -> Result<Self::Output, Failure>;
}

/// Does it with `count` numbers of the type and with the operation that the arguments of a call name.
pub(crate) fn for_numbers<A: ForNumbers>(number: u32, op: u32, count: usize, act: A) -> Result<A::Output, Failure> {
    use Number::{Double, Float, Int32, Int64, Uint32, Uint64};
    match choice(number, &[Int32, Int64, Uint32, Uint64, Float, Double], "number")? {
        Int32 => with_number::<i32, A>(op, count, act),
        Int64 => with_number::<i64, A>(op, count, act),
        Uint32 => with_number::<u32, A>(op, count, act),
        Uint64 => with_number::<u64, A>(op, count, act),
        Float => with_number::<f32, A>(op, count, act),
        Double => with_number::<f64, A>(op, count, act),
    }
}

fn with_number<T: Combined, A: ForNumbers>(op: u32, count: usize, act: A) -> Result<A::Output, Failure>
where
    MinLoc: Operation<[T; 2]>,
    MaxLoc: Operation<[T; 2]>,
{
    let pairs: fn([T; 2], [T; 2]) -> [T; 2] = match op {
        op if op == Op::MinLoc as u32 => of(MinLoc),
        op if op == Op::MaxLoc as u32 => of(MaxLoc),
        op => return act.with::<T>(count, T::combination(op)?),
    };
    if count % 2 != 0 {
        return Err(Failure::argument("count", format_args!("is {count}, which are no pairs")));
    }
    act.with::<[T; 2]>(count / 2, pairs)
}

/// A number that has operations.
trait Combined: Plain {
    /// The operation of an argument.
    fn combination(op: u32) -> Result<fn(Self, Self) -> Self, Failure>;
}

/// The operation of this kind.
fn of<T: Plain, O: Operation<T> + Default>(_: O) -> fn(T, T) -> T {
    |left, right| O::default().combine(left, right)
}

/// One of these, or the failure that there is no such operation of numbers of this kind.
fn one_of<T: Plain>(op: u32, known: &[fn(T, T) -> T], kind: &str) -> Result<fn(T, T) -> T, Failure> {
    let unknown = || Failure::argument("op", format_args!("is {op}, which is no corecast_op of {kind}"));
    known.get(op as usize).copied().ok_or_else(unknown)
}

macro_rules! numbers {
    ($kind:literal: $($number:ty)*, $operations:expr) => {
        $(
            impl Combined for $number {
                fn combination(op: u32) -> Result<fn(Self, Self) -> Self, Failure> {
                    one_of(op, &$operations, $kind)
                }
            }
        )*
    };
}

numbers!("integers": i32 i64 u32 u64, [of(Sum), of(Prod), of(Min), of(Max), of(And), of(Or), of(Xor)]);
numbers!("floating-point numbers": f32 f64, [of(Sum), of(Prod), of(Min), of(Max)]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_between_machines_know_operations_on_integers_by_their_names() {
        let ops = [Op::Sum, Op::Prod, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor, Op::MinLoc, Op::MaxLoc];
        for op in ops {
            let combine = u64::combination(op as u32).unwrap_or(|left, _| left);
            let known = KnownOperation::of(op as u32, combine);
            let name = known.map(|known| format!("{:?}", known.predefined().expect("it has a name")));
            let is_of_pairs = matches!(op, Op::MinLoc | Op::MaxLoc);
            assert_eq!(name, (!is_of_pairs).then(|| format!("{op:?}")));
        }
        assert!(KnownOperation::<f64>::of(Op::Sum as u32, |left, _| left).is_none(), "the order changes the bits");
        assert!(KnownOperation::<[u64; 2]>::of(Op::Min as u32, |left, _| left).is_none());
    }
}
