//! The combinations of bytes that stand for values of a kind.

use corecast_base::{Plain, bytes_of, bytes_of_mut};
use corecast_channel::zeroed;

use super::super::engine::ValueKind;
use crate::op::{And, Max, Min, Op, Or, PredefinedOp, Prod, Sum, Xor};

/// Leaves the combinations of the left values with the right ones in `left`; false if there is no such operation on the kind.
pub(super) fn combine(kind: ValueKind, op: PredefinedOp, left: &mut [u8], right: &[u8]) -> bool {
    match kind {
        ValueKind::U8 => integers::<u8>(op, left, right),
        ValueKind::U16 => integers::<u16>(op, left, right),
        ValueKind::U32 => integers::<u32>(op, left, right),
        ValueKind::U64 => integers::<u64>(op, left, right),
        ValueKind::I8 => integers::<i8>(op, left, right),
        ValueKind::I16 => integers::<i16>(op, left, right),
        ValueKind::I32 => integers::<i32>(op, left, right),
        ValueKind::I64 => integers::<i64>(op, left, right),
        ValueKind::F32 => numbers::<f32>(op, left, right),
        ValueKind::F64 => numbers::<f64>(op, left, right),
    }
}

fn integers<T: Plain>(op: PredefinedOp, left: &mut [u8], right: &[u8]) -> bool
where
    Sum: Op<T>,
    Prod: Op<T>,
    Min: Op<T>,
    Max: Op<T>,
    And: Op<T>,
    Or: Op<T>,
    Xor: Op<T>,
{
    match op {
        PredefinedOp::And => each::<T>(And, left, right),
        PredefinedOp::Or => each::<T>(Or, left, right),
        PredefinedOp::Xor => each::<T>(Xor, left, right),
        _ => return numbers::<T>(op, left, right),
    }
    true
}

fn numbers<T: Plain>(op: PredefinedOp, left: &mut [u8], right: &[u8]) -> bool
where
    Sum: Op<T>,
    Prod: Op<T>,
    Min: Op<T>,
    Max: Op<T>,
{
    match op {
        PredefinedOp::Sum => each::<T>(Sum, left, right),
        PredefinedOp::Prod => each::<T>(Prod, left, right),
        PredefinedOp::Min => each::<T>(Min, left, right),
        PredefinedOp::Max => each::<T>(Max, left, right),
        PredefinedOp::And | PredefinedOp::Or | PredefinedOp::Xor => return false,
    }
    true
}

fn each<T: Plain>(op: impl Op<T>, left: &mut [u8], right: &[u8]) {
    let mut pair = [zeroed::<T>(); 2];
    for (left, right) in left.chunks_exact_mut(size_of::<T>()).zip(right.chunks_exact(size_of::<T>())) {
        bytes_of_mut(&mut pair[..1]).copy_from_slice(left);
        bytes_of_mut(&mut pair[1..]).copy_from_slice(right);
        let [first, second] = pair;
        left.copy_from_slice(bytes_of(&[op.combine(first, second)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_combined_and_floats_have_no_bits() {
        for kind in ValueKind::ALL {
            for op in [PredefinedOp::Sum, PredefinedOp::Min, PredefinedOp::Or] {
                let (mut left, right) = (vec![0; 4 * kind.bytes()], vec![1; 4 * kind.bytes()]);
                assert_eq!(combine(kind, op, &mut left, &right), kind.is_exact() || op != PredefinedOp::Or);
                let is_or = op == PredefinedOp::Or;
                if op != PredefinedOp::Min && (kind.is_exact() || !is_or) {
                    assert_eq!(left, right, "{kind:?} {op:?}");
                }
            }
        }
        let mut left = 250_u8.to_ne_bytes();
        assert!(combine(ValueKind::U8, PredefinedOp::Sum, &mut left, &10_u8.to_ne_bytes()));
        assert_eq!(left, [4]);
    }
}
