//! Operations on one value of each member.

use corecast_channel::Plain;

use super::{Member, prepared};

use crate::error::Error;
use crate::op::Op;
use crate::operation::Order;

/// The barrier, and operations on one value of each member.
impl Member {
    /// Returns when every member has entered. Everything that any member wrote before is visible to all afterwards.
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    #[inline]
    pub fn barrier(&mut self) -> Result<(), Error> {
        self.run(prepared::barrier())
    }

    /// Gives the root's `value` to all members. The root may run ahead of the others by some operations. A broadcast of
    /// `()` tells all others that the root has come.
    ///
    /// # Errors
    /// [`Error::MemberLost`]; [`Error::BadRank`] if there is no such root.
    #[inline]
    pub fn broadcast<T: Plain>(&mut self, root: usize, value: &mut T) -> Result<(), Error> {
        self.run(prepared::broadcast(self.rank_and_size(), root, value)?)
    }

    /// Combines all members' values and returns the result at `root`, `None` elsewhere. `combine` must be associative and
    /// commutative up to rounding; the same plan combines in the same order. A reduction of `()` tells the root that all
    /// have come.
    ///
    /// # Errors
    /// [`Error::MemberLost`]; [`Error::BadRank`] if there is no such root.
    #[inline]
    pub fn reduce<T: Plain>(
        &mut self,
        root: usize,
        value: T,
        combine: impl FnMut(T, T) -> T,
    ) -> Result<Option<T>, Error> {
        self.run(prepared::reduce(self.rank_and_size(), Order::Plan, root, value, combine)?)
    }

    /// As [`reduce`](Self::reduce), with an operation of [`op`](crate::op), in the order that suits it or that
    /// [`op::in_order`](crate::op::in_order) names.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    pub fn reduce_with<T: Plain>(&mut self, root: usize, value: T, op: impl Op<T>) -> Result<Option<T>, Error> {
        self.run(prepared::reduce(self.rank_and_size(), op.order(), root, value, |left, right| {
            op.combine(left, right)
        })?)
    }

    /// Combines all members' values and returns the result, the same bits to all. In a small group each member combines all
    /// values itself, in rank order for every [`Order`].
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    #[inline]
    pub fn allreduce<T: Plain>(&mut self, value: T, combine: impl FnMut(T, T) -> T) -> Result<T, Error> {
        self.run(prepared::allreduce(Order::Plan, value, combine))
    }

    /// As [`allreduce`](Self::allreduce), with an operation of [`op`](crate::op), in the order that suits it or that
    /// [`op::in_order`](crate::op::in_order) names.
    ///
    /// # Errors
    /// As [`allreduce`](Self::allreduce).
    pub fn allreduce_with<T: Plain>(&mut self, value: T, op: impl Op<T>) -> Result<T, Error> {
        self.run(prepared::allreduce(op.order(), value, |left, right| op.combine(left, right)))
    }

    /// Brings all members' values to `root` and returns them there, by rank; `None` elsewhere. Take it where the root wants
    /// the values and not their combination: all of them travel through the members next to the root, which keep their
    /// subtrees' values until they are passed on.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such root, [`Error::MemberLost`], [`Error::Pending`].
    pub fn gather<T: Plain>(&mut self, root: usize, value: T) -> Result<Option<Vec<T>>, Error> {
        self.run(prepared::gather(self.rank_and_size(), root, value)?)
    }

    /// Gives each member its value of the root's `values`, the first to member 0 and so on. The other members give `None`;
    /// values from them are ignored.
    ///
    /// # Errors
    /// [`Error::WrongCount`] at a root that gives another number of values than there are members, which is then as if it
    /// had not called; those of [`gather`](Self::gather).
    pub fn scatter<T: Plain>(&mut self, root: usize, values: Option<&[T]>) -> Result<T, Error> {
        self.run(prepared::scatter(self.rank_and_size(), root, values)?)
    }
}
