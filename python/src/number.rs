//! The numbers of arrays, and the operations that combine them.

use corecast::collective::Plain;
use corecast::collective::op::{And, Max, Min, Op, Or, Prod, Sum, Xor};
use half::f16;
use pyo3::prelude::*;

use crate::borrowed::Borrowed;
use crate::error;

/// An action on numbers whose type is known at run time only.
pub(crate) trait ForNumbers {
    type Output;

    /// Acts on values of this type, which `combine` combines.
    fn with<T: Plain>(self, combine: impl Fn(T, T) -> T + Send + Copy + 'static) -> PyResult<Self::Output>;
}

/// The name of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Sum,
    Prod,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl Named {
    fn parse(name: &str) -> PyResult<Self> {
        let known = [
            ("sum", Self::Sum),
            ("prod", Self::Prod),
            ("min", Self::Min),
            ("max", Self::Max),
            ("and", Self::And),
            ("or", Self::Or),
            ("xor", Self::Xor),
        ];
        let found = known.into_iter().find(|(known, _)| *known == name).map(|(_, op)| op);
        found.ok_or_else(|| {
            error::value(format_args!(
                "op is '{name}': expected 'sum', 'prod', 'min', 'max', 'and', 'or', 'xor', or a callable of two values"
            ))
        })
    }
}

/// Does it with the numbers of an array and the operation of this name.
///
/// # Errors
/// `ValueError` for another name, `TypeError` if the array has no numbers, or such as have no such operation.
pub(crate) fn for_numbers<A: ForNumbers>(array: &Borrowed, name: &str, act: A) -> PyResult<A::Output> {
    let op = Named::parse(name)?;
    let format = array.format();
    // Signs for the order of this machine's bytes, and for the sizes of this machine.
    let letters = format.strip_prefix(['=', '@', '<', '|']).unwrap_or(format);
    let refused = || {
        error::dtype(format_args!(
            "numbers of format '{format}' have no operation '{name}': integers have all, floating-point numbers have sum, prod, min and max, \
             complex ones sum and prod, bools and, or, xor, min and max; other values need op as a callable"
        ))
    };
    match (letters, array.item_bytes()) {
        ("?", 1) => bools(op, act).ok_or_else(refused)?,
        ("b", 1) => integers::<i8, A>(op, act),
        ("B", 1) => integers::<u8, A>(op, act),
        ("h", 2) => integers::<i16, A>(op, act),
        ("H", 2) => integers::<u16, A>(op, act),
        ("i" | "l", 4) => integers::<i32, A>(op, act),
        ("I" | "L", 4) => integers::<u32, A>(op, act),
        ("l" | "q", 8) => integers::<i64, A>(op, act),
        ("L" | "Q", 8) => integers::<u64, A>(op, act),
        ("e", 2) => halves(op, act).ok_or_else(refused)?,
        ("f", 4) => floats::<f32, A>(op, act).ok_or_else(refused)?,
        ("d", 8) => floats::<f64, A>(op, act).ok_or_else(refused)?,
        ("Zf", 8) => complex::<f32, A>(op, act).ok_or_else(refused)?,
        ("Zd", 16) => complex::<f64, A>(op, act).ok_or_else(refused)?,
        _ => Err(refused()),
    }
}

fn integers<T: Plain, A: ForNumbers>(op: Named, act: A) -> PyResult<A::Output>
where
    Sum: Op<T>,
    Prod: Op<T>,
    Min: Op<T>,
    Max: Op<T>,
    And: Op<T>,
    Or: Op<T>,
    Xor: Op<T>,
{
    let combine: fn(T, T) -> T = match op {
        // Compiled by itself, so that it is vectorised.
        Named::Sum => return act.with(|left, right| Sum.combine(left, right)),
        Named::Prod => |left, right| Prod.combine(left, right),
        Named::Min => |left, right| Min.combine(left, right),
        Named::Max => |left, right| Max.combine(left, right),
        Named::And => |left, right| And.combine(left, right),
        Named::Or => |left, right| Or.combine(left, right),
        Named::Xor => |left, right| Xor.combine(left, right),
    };
    act.with(combine)
}

/// `None` if floating-point numbers have no such operation.
fn floats<T: Plain, A: ForNumbers>(op: Named, act: A) -> Option<PyResult<A::Output>>
where
    Sum: Op<T>,
    Prod: Op<T>,
    Min: Op<T>,
    Max: Op<T>,
{
    let combine: fn(T, T) -> T = match op {
        Named::Sum => return Some(act.with(|left, right| Sum.combine(left, right))),
        Named::Prod => |left, right| Prod.combine(left, right),
        Named::Min => |left, right| Min.combine(left, right),
        Named::Max => |left, right| Max.combine(left, right),
        Named::And | Named::Or | Named::Xor => return None,
    };
    Some(act.with(combine))
}

/// Numbers of 16 bits, which are combined as ones of 32 bits are, and rounded.
fn halves<A: ForNumbers>(op: Named, act: A) -> Option<PyResult<A::Output>> {
    fn by<O: Op<f32> + Default>(left: u16, right: u16) -> u16 {
        f16::from_f32(O::default().combine(f16::from_bits(left).to_f32(), f16::from_bits(right).to_f32())).to_bits()
    }
    let combine: fn(u16, u16) -> u16 = match op {
        Named::Sum => by::<Sum>,
        Named::Prod => by::<Prod>,
        Named::Min => by::<Min>,
        Named::Max => by::<Max>,
        Named::And | Named::Or | Named::Xor => return None,
    };
    Some(act.with(combine))
}

/// Pairs of a real and an imaginary part.
fn complex<T, A: ForNumbers>(op: Named, act: A) -> Option<PyResult<A::Output>>
where
    T: Plain + std::ops::Add<Output = T> + std::ops::Sub<Output = T> + std::ops::Mul<Output = T>,
{
    let combine: fn([T; 2], [T; 2]) -> [T; 2] = match op {
        Named::Sum => |left, right| [left[0] + right[0], left[1] + right[1]],
        Named::Prod => |left, right| [left[0] * right[0] - left[1] * right[1], left[0] * right[1] + left[1] * right[0]],
        _ => return None,
    };
    Some(act.with(combine))
}

/// Bytes of 0 and 1.
fn bools<A: ForNumbers>(op: Named, act: A) -> Option<PyResult<A::Output>> {
    let combine: fn(u8, u8) -> u8 = match op {
        Named::And | Named::Min => |left, right| left & right,
        Named::Or | Named::Max => |left, right| left | right,
        Named::Xor => |left, right| left ^ right,
        Named::Sum | Named::Prod => return None,
    };
    Some(act.with(combine))
}
