//! Operations to combine values with, and their properties.
//!
//! **When to take it:** for these operations [`Member::reduce_with`](crate::Member::reduce_with) knows the order in which
//! to combine. **When not:** any other operation is a closure for [`Member::reduce`](crate::Member::reduce), or with an order of
//! its own [`in_order`].
//!
//! Integers wrap around. If one of two numbers is NaN, it counts as both the least and the greatest, so that it is not
//! lost. [`MinLoc`] and [`MaxLoc`] work on pairs of a value and a place; of equal values they take the lower place.
//!
//! ```
//! use corecast_collective::Order;
//! use corecast_collective::op::{MaxLoc, Min, Op, Sum};
//! assert_eq!(Sum.combine(250u8, 10), 4);
//! assert!(Min.combine(1.0, f64::NAN).is_nan());
//! assert_eq!(MaxLoc.combine([7, 2], [7, 1]), [7, 1]);
//! assert_eq!((Op::<u8>::order(&Sum), Op::<f64>::order(&Sum)), (Order::Arrival, Order::Plan));
//! ```

use std::fmt;

use crate::operation::Order;

/// The operations that libraries for messages between nodes know: see [`Op::predefined`]. Integers wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PredefinedOp {
    /// The sum.
    Sum,
    /// The product.
    Prod,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The bits that all have, of integers.
    And,
    /// The bits that one has, of integers.
    Or,
    /// The bits that an odd number have, of integers.
    Xor,
}

impl PredefinedOp {
    /// The one that the type of this name stands for.
    fn named(name: &str) -> Option<Self> {
        match name {
            "Sum" => Some(Self::Sum),
            "Prod" => Some(Self::Prod),
            "Min" => Some(Self::Min),
            "Max" => Some(Self::Max),
            "And" => Some(Self::And),
            "Or" => Some(Self::Or),
            "Xor" => Some(Self::Xor),
            _ => None,
        }
    }
}

/// An associative operation on values of type T.
pub trait Op<T> {
    /// True if the operands may change places.
    const COMMUTATIVE: bool;
    /// True if a value combined with itself is that value.
    const IDEMPOTENT: bool;
    /// True if every order of combining gives the same bits.
    const EXACT: bool;

    /// The combination of two values.
    fn combine(&self, left: T, right: T) -> T;

    /// The best order of combining: as values arrive if that cannot change the result, by rank if operands must not change
    /// places, otherwise as the plan says.
    fn order(&self) -> Order {
        match (Self::COMMUTATIVE, Self::EXACT) {
            (true, true) => Order::Arrival,
            (true, false) => Order::Plan,
            (false, _) => Order::Rank,
        }
    }

    /// The operation as libraries for messages between nodes know it, if they do.
    fn predefined(&self) -> Option<PredefinedOp> {
        None
    }
}

/// An operation of the program's own, combined in an order that it names.
///
/// ```
/// use corecast_collective::{Group, Order, op};
/// use corecast_machine::{Machine, Topology, source};
/// let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
/// let group = Group::builder(&machine).members(3).build()?;
/// // The first and the last of all members: associative, and operands must not change places.
/// let ends = op::in_order(Order::Rank, |first: [usize; 2], last: [usize; 2]| [first[0], last[1]]);
/// let found = group.run(|me| me.allreduce_with([me.rank(); 2], &ends))?;
/// assert_eq!(found, vec![Ok([0, 2]); 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn in_order<T, F: Fn(T, T) -> T>(order: Order, combine: F) -> InOrder<F> {
    InOrder { order, combine }
}

/// An operation with its order: see [`in_order`].
#[derive(Clone, Copy)]
pub struct InOrder<F> {
    order: Order,
    combine: F,
}

/// Of a closure nothing is known beside the order.
impl<T, F: Fn(T, T) -> T> Op<T> for InOrder<F> {
    const COMMUTATIVE: bool = false;
    const IDEMPOTENT: bool = false;
    const EXACT: bool = false;

    fn combine(&self, left: T, right: T) -> T {
        (self.combine)(left, right)
    }

    fn order(&self) -> Order {
        self.order
    }
}

impl<F> fmt::Debug for InOrder<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InOrder").field("order", &self.order).finish_non_exhaustive()
    }
}

impl<T, O: Op<T>> Op<T> for &O {
    const COMMUTATIVE: bool = O::COMMUTATIVE;
    const IDEMPOTENT: bool = O::IDEMPOTENT;
    const EXACT: bool = O::EXACT;

    fn combine(&self, left: T, right: T) -> T {
        O::combine(self, left, right)
    }

    fn order(&self) -> Order {
        O::order(self)
    }

    fn predefined(&self) -> Option<PredefinedOp> {
        O::predefined(self)
    }
}

macro_rules! operations {
    ($($name:ident: $about:literal,)*) => {
        $(
            #[doc = $about]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct $name;
        )*
    };
}

operations! {
    Sum: "The sum.",
    Prod: "The product.",
    Min: "The least.",
    Max: "The greatest.",
    And: "The bits that all have.",
    Or: "The bits that one has.",
    Xor: "The bits that an odd number have.",
    MinLoc: "The least of the first numbers, with the second number that came with it.",
    MaxLoc: "The greatest of the first numbers, with the second number that came with it.",
}

/// `Name for types, IDEMPOTENT, EXACT: |left, right| combination`.
macro_rules! combines {
    ($name:ident for $($number:ty)*, $idempotent:literal, $exact:literal: |$left:ident, $right:ident| $combined:expr) => {
        $(
            impl Op<$number> for $name {
                const COMMUTATIVE: bool = true;
                const IDEMPOTENT: bool = $idempotent;
                const EXACT: bool = $exact;

                #[inline]
                fn combine(&self, $left: $number, $right: $number) -> $number {
                    $combined
                }

                fn predefined(&self) -> Option<PredefinedOp> {
                    PredefinedOp::named(stringify!($name))
                }
            }
        )*
    };
}

macro_rules! integers {
    ($($number:ty)*) => {
        combines!(Sum for $($number)*, false, true: |left, right| left.wrapping_add(right));
        combines!(Prod for $($number)*, false, true: |left, right| left.wrapping_mul(right));
        combines!(Min for $($number)*, true, true: |left, right| left.min(right));
        combines!(Max for $($number)*, true, true: |left, right| left.max(right));
        combines!(And for $($number)*, true, true: |left, right| left & right);
        combines!(Or for $($number)*, true, true: |left, right| left | right);
        combines!(Xor for $($number)*, false, true: |left, right| left ^ right);
        combines!(MinLoc for $([$number; 2])*, true, true: |left, right| left.min(right));
        combines!(MaxLoc for $([$number; 2])*, true, true: |left, right| {
            if (right[0], left[1]) > (left[0], right[1]) { right } else { left }
        });
    };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

// The bits of a NaN, and the sign of a zero, depend on the order.
combines!(Sum for f32 f64, false, false: |left, right| left + right);
combines!(Prod for f32 f64, false, false: |left, right| left * right);
combines!(Min for f32 f64, true, false: |left, right| if left.is_nan() || left < right { left } else { right });
combines!(Max for f32 f64, true, false: |left, right| if left.is_nan() || left > right { left } else { right });
combines!(MinLoc for [f32; 2] [f64; 2], true, false: |left, right| {
    if wins(left, right, left[0] < right[0]) { left } else { right }
});
combines!(MaxLoc for [f32; 2] [f64; 2], true, false: |left, right| {
    if wins(left, right, left[0] > right[0]) { left } else { right }
});

/// Whether the left one of two pairs is taken, where `is_better` compares their numbers: a NaN is best, and of equal ones
/// the lower place.
fn wins<T: PartialOrd + Copy>(left: [T; 2], right: [T; 2], is_better: bool) -> bool {
    let is_nan = |number: T| number.partial_cmp(&number).is_none();
    match (is_nan(left[0]), is_nan(right[0])) {
        (true, false) => true,
        (false, true) => false,
        (false, false) if left[0] != right[0] => is_better,
        _ => left[1] <= right[1],
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Both ways round, which must agree.
    fn both<T: PartialEq + std::fmt::Debug + Copy>(op: impl Op<T>, a: T, b: T) -> T {
        let combined = op.combine(a, b);
        assert_eq!(combined, op.combine(b, a));
        combined
    }

    #[test]
    fn operands_change_places() {
        assert_eq!(both(Sum, u8::MAX, 2), 1);
        assert_eq!(both(Prod, i8::MIN, -1), i8::MIN);
        assert_eq!((both(Min, -3, 4), both(Max, -3, 4)), (-3, 4));
        assert_eq!((both(And, 6, 3), both(Or, 6, 3), both(Xor, 6, 3)), (2, 7, 5));
        assert_eq!((both(Min, 1.5, -2.0), both(Max, 1.5, -2.0)), (-2.0, 1.5));
    }

    #[test]
    fn the_lower_place_is_taken_of_equal_values() {
        assert_eq!((both(MinLoc, [5, 9], [5, 3]), both(MaxLoc, [5, 9], [5, 3])), ([5, 3], [5, 3]));
        assert_eq!((both(MinLoc, [5, 9], [6, 3]), both(MaxLoc, [5, 9], [6, 3])), ([5, 9], [6, 3]));
        assert_eq!(
            (both(MinLoc, [0.5, 9.0], [0.5, 3.0]), both(MaxLoc, [0.5, 9.0], [1.0, 3.0])),
            ([0.5, 3.0], [1.0, 3.0])
        );
    }

    #[test]
    fn nan_wins() {
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(Min.combine(a, b).is_nan() && Max.combine(a, b).is_nan() && Sum.combine(a, b).is_nan());
            let (pair, other) = ([a, 1.0], [b, 2.0]);
            assert!(MinLoc.combine(pair, other)[0].is_nan() && MaxLoc.combine(other, pair)[0].is_nan());
        }
        assert_eq!(MaxLoc.combine([f64::NAN, 4.0], [f64::NAN, 2.0])[1], 2.0);
    }

    #[test]
    fn floating_point_numbers_keep_the_order_of_the_plan() {
        assert_eq!((Op::<f32>::order(&Max), Op::<[f64; 2]>::order(&MinLoc)), (Order::Plan, Order::Plan));
        assert_eq!((Op::<u64>::order(&Xor), Op::<[i32; 2]>::order(&MaxLoc)), (Order::Arrival, Order::Arrival));
    }
}
