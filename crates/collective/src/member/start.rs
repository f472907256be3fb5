//! The operations of a member, to be started now and finished later.

use corecast_channel::Plain;

use super::prepared::{self, Prepared, RankAndSize, Steps};
use super::{Member, Started};
use crate::error::Error;
use crate::link::check_one_message;
use crate::operation::Order;

/// The operations of a member, each started instead of run: see [`Member::start`].
///
/// Each takes what the plain operation takes, and has its errors. Besides, those that combine, gather or pass on values
/// fail with [`Error::TooLarge`] if a single value is more than the 504 bytes that travel in one message.
#[derive(Debug)]
pub struct Start<'a> {
    me: &'a mut Member,
}

impl Member {
    /// The operations to be started now and finished later, or within a limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use corecast_collective::Group;
    /// use corecast_machine::{Machine, Topology, source};
    /// let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
    /// let group = Group::builder(&machine).members(2).build()?;
    /// let sums = group.run(|me| {
    ///     let rank = me.rank();
    ///     me.start().allreduce(rank, |a, b| a + b)?.finish_timeout(Duration::from_secs(60))
    /// })?;
    /// assert_eq!(sums, [Ok(1), Ok(1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn start(&mut self) -> Start<'_> {
        Start { me: self }
    }
}

impl<'a> Start<'a> {
    /// Enters the [barrier](Member::barrier), and returns before the others have.
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn barrier(self) -> Result<Started<'a, ()>, Error> {
        self.begin(prepared::barrier())
    }

    /// Begins to give the root's `value` to all members: [`Member::broadcast`].
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn broadcast<T: Plain>(self, root: usize, value: &'a mut T) -> Result<Started<'a, ()>, Error> {
        let me = self.rank_and_size_for::<T>()?;
        self.begin(prepared::broadcast(me, root, value)?)
    }

    /// Begins to combine all members' values at `root`: [`Member::reduce`].
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn reduce<T: Plain>(
        self,
        root: usize,
        value: T,
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, Option<T>>, Error> {
        let me = self.rank_and_size_for::<T>()?;
        self.begin(prepared::reduce(me, Order::Plan, root, value, combine)?)
    }

    /// Begins to combine all members' values for all of them: [`Member::allreduce`].
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn allreduce<T: Plain>(
        self,
        value: T,
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, T>, Error> {
        self.rank_and_size_for::<T>()?;
        self.begin(prepared::allreduce(Order::Plan, value, combine))
    }

    /// Begins to bring all members' values to `root`: [`Member::gather`].
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn gather<T: Plain>(self, root: usize, value: T) -> Result<Started<'a, Option<Vec<T>>>, Error> {
        let me = self.rank_and_size_for::<T>()?;
        self.begin(prepared::gather(me, root, value)?)
    }

    /// Begins to give each member its value of the root's `values`, which are copied: [`Member::scatter`].
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn scatter<T: Plain>(self, root: usize, values: Option<&[T]>) -> Result<Started<'a, T>, Error> {
        let me = self.rank_and_size_for::<T>()?;
        self.begin(prepared::scatter(me, root, values.map(<[T]>::to_vec))?)
    }

    /// Begins to give the root's `values` to all members: [`Member::broadcast_slice`]. Until it is finished, only some of the
    /// `values` may have come from the root.
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn broadcast_slice<T: Plain>(self, root: usize, values: &'a mut [T]) -> Result<Started<'a, ()>, Error> {
        let me = self.rank_and_size_for::<T>()?;
        self.begin(prepared::broadcast_slice(me, root, values)?)
    }

    /// Begins to combine all members' values in the root's `values`: [`Member::reduce_slice`].
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn reduce_slice<T: Plain>(
        self,
        root: usize,
        values: &'a mut [T],
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        let me = self.rank_and_size_for::<T>()?;
        self.begin(prepared::reduce_slice(me, root, values, combine)?)
    }

    /// Begins to combine all members' values in the `values` of all: [`Member::allreduce_slice`].
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn allreduce_slice<T: Plain>(
        self,
        values: &'a mut [T],
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        self.rank_and_size_for::<T>()?;
        self.begin(prepared::allreduce_slice(values, combine))
    }

    /// Begins to bring all members' slices to `root`; the `values` are copied: [`Member::gather_slice`].
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn gather_slice<T: Plain>(self, root: usize, values: &[T]) -> Result<Started<'a, Option<Vec<Vec<T>>>>, Error> {
        let me = self.rank_and_size_for::<T>()?;
        self.begin(prepared::gather_slice(me, root, values)?)
    }

    /// Begins to give each member its part of the root's `values`, which are copied: [`Member::scatter_slice`]. Until it is
    /// finished, `own` may have been filled only in part.
    ///
    /// # Errors
    /// Those of the plain operation; [`Error::TooLarge`].
    pub fn scatter_slice<T: Plain>(
        self,
        root: usize,
        values: Option<&[T]>,
        own: &'a mut [T],
    ) -> Result<Started<'a, ()>, Error> {
        let me = self.rank_and_size_for::<T>()?;
        self.begin(prepared::scatter_slice(me, root, values.map(<[T]>::to_vec), own)?)
    }

    /// Begins to combine all members' records in the root's `records`: [`Member::reduce_records`].
    ///
    /// # Errors
    /// Those of the plain operation.
    ///
    /// # Panics
    /// As the plain operation.
    #[track_caller]
    pub fn reduce_records(
        self,
        order: Order,
        root: usize,
        records: &'a mut [u8],
        record_bytes: usize,
        combine: impl FnMut(&mut [u8], &[u8]) + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        let prepared = prepared::reduce_records(self.me.rank_and_size(), order, root, records, record_bytes, combine)?;
        self.begin(prepared)
    }

    /// Begins to combine all members' records in the `records` of all: [`Member::allreduce_records`].
    ///
    /// # Errors
    /// Those of the plain operation.
    ///
    /// # Panics
    /// As the plain operation.
    #[track_caller]
    pub fn allreduce_records(
        self,
        order: Order,
        records: &'a mut [u8],
        record_bytes: usize,
        combine: impl FnMut(&mut [u8], &[u8]) + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        self.begin(prepared::allreduce_records(order, records, record_bytes, combine)?)
    }

    /// The member's rank and the group's size, unless a value of this type is too large.
    fn rank_and_size_for<T>(&self) -> Result<RankAndSize, Error> {
        check_one_message::<T>().map(|()| self.me.rank_and_size())
    }

    fn begin<T>(self, prepared: Prepared<impl Steps<T> + Send + 'a>) -> Result<Started<'a, T>, Error> {
        Started::begin(self.me, prepared)
    }
}
