//! Broadcast and reduction of slices of any length.
//!
//! **When to take it:** the number of values is known only at run time, or they fill more than a few lines. **When not:**
//! values of a fixed size up to 504 bytes go in one message without a length.
//!
//! In a small group, members that reduce a slice for all show each other their values, chunk after chunk of up to 64 KiB,
//! and combine them by rank: all of them, or from 8 KiB on a part each. Everything else goes along trees:
//!
//! The length travels first, so that members with another length get an error instead of waiting for ever. Then the values
//! follow in parts: messages of up to 504 bytes, or from 2 KiB on chunks of 16 KiB beside the edges. A member passes a part
//! on before it receives the next, so all levels of the tree work at once, whatever the length. A message is written once
//! for each child; a chunk is written once, and all children read it in place.
//!
//! **Progress:** blocking. **Memory ordering:** what the root of a broadcast, and every member of a reduction, wrote before
//! is visible to the members that receive the values.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::Request::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! let sums = group.run(|me| {
//!     let mut counts = vec![me.rank() as u64; 10_000];
//!     me.allreduce_slice(&mut counts, |a, b| a + b).map(|()| counts)
//! })?;
//! assert!(sums.into_iter().all(|sums| sums == Ok(vec![3; 10_000])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::time::Duration;

use corecast_channel::Plain;

use crate::call::{Call, Operation};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::member::{Ends, Member};
use crate::slice_exchange::{self, Exchanging};
use crate::slice_steps::{Progress, Reduction, broadcast, reduce};
use crate::started::{Started, check_size, started};

/// Slices to all, to one, and both; at once, in parts ([`Started`]) or with limits.
impl Member {
    /// Gives the root's `values` to all members; all slices have the same length.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such root, [`Error::MemberLost`], which for a slice of another length is
    /// [`Loss::OtherLength`](crate::Loss::OtherLength) and names the neighbour in the tree whose length differs,
    /// [`Error::Pending`].
    pub fn broadcast_slice<T: Plain>(&mut self, root: usize, values: &mut [T]) -> Result<(), Error> {
        self.check_rank(root)?;
        let ends = self.begin(Call::rooted(Operation::BroadcastSlice, root))?;
        broadcast(&mut ends.core, &mut ends.broadcast, root, values, &mut Progress::default())
    }

    /// Combines all members' values, first with first and so on, in the order of the plan, and leaves the results in the
    /// root's `values`. The others' `values` are of no use afterwards.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice).
    pub fn reduce_slice<T: Plain>(
        &mut self,
        root: usize,
        values: &mut [T],
        combine: impl FnMut(T, T) -> T,
    ) -> Result<(), Error> {
        self.check_rank(root)?;
        let ends = self.begin(Call::rooted(Operation::ReduceSlice, root))?;
        reduce(&mut ends.core, &mut ends.reduce, root, values, &mut Reduction::default(), combine)
    }

    /// Combines all members' values, first with first and so on, and leaves the results, the same bits, in the `values` of all.
    /// `combine` must be associative and commutative up to rounding; the same group combines the same lengths in the same order.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice); in a small group the error may name any member with another
    /// length.
    pub fn allreduce_slice<T: Plain>(&mut self, values: &mut [T], combine: impl FnMut(T, T) -> T) -> Result<(), Error> {
        let ends = self.begin(Call::of(Operation::AllreduceSlice))?;
        allreduce(ends, values, &mut Allreduction::default(), combine)
    }

    /// Begins to give the root's `values` to all members. Until it is finished, only some of the `values` may have come
    /// from the root.
    ///
    /// # Errors
    /// Those of [`broadcast_slice`](Self::broadcast_slice); [`Error::TooLarge`] if a single value is more than the 504 bytes
    /// that travel in one message.
    pub fn start_broadcast_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: &'a mut [T],
    ) -> Result<Started<'a, ()>, Error> {
        started(self.begin_broadcast_slice(root, values)?)
    }

    /// Begins to combine all members' values in the root's `values`.
    ///
    /// # Errors
    /// As [`start_broadcast_slice`](Self::start_broadcast_slice).
    pub fn start_reduce_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: &'a mut [T],
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        started(self.begin_reduce_slice(root, values, combine)?)
    }

    /// Begins to combine all members' values in the `values` of all.
    ///
    /// # Errors
    /// As [`start_broadcast_slice`](Self::start_broadcast_slice).
    pub fn start_allreduce_slice<'a, T: Plain>(
        &'a mut self,
        values: &'a mut [T],
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        started(self.begin_allreduce_slice(values, combine)?)
    }

    /// As [`broadcast_slice`](Self::broadcast_slice), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_broadcast_slice`](Self::start_broadcast_slice).
    pub fn broadcast_slice_timeout<T: Plain>(
        &mut self,
        root: usize,
        values: &mut [T],
        limit: Duration,
    ) -> Result<(), Error> {
        self.begin_broadcast_slice(root, values)?.finish_timeout(limit)
    }

    /// As [`reduce_slice`](Self::reduce_slice), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_reduce_slice`](Self::start_reduce_slice).
    pub fn reduce_slice_timeout<T: Plain>(
        &mut self,
        root: usize,
        values: &mut [T],
        combine: impl FnMut(T, T) -> T + Send,
        limit: Duration,
    ) -> Result<(), Error> {
        self.begin_reduce_slice(root, values, combine)?.finish_timeout(limit)
    }

    /// As [`allreduce_slice`](Self::allreduce_slice), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_allreduce_slice`](Self::start_allreduce_slice).
    pub fn allreduce_slice_timeout<T: Plain>(
        &mut self,
        values: &mut [T],
        combine: impl FnMut(T, T) -> T + Send,
        limit: Duration,
    ) -> Result<(), Error> {
        self.begin_allreduce_slice(values, combine)?.finish_timeout(limit)
    }

    fn begin_broadcast_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: &'a mut [T],
    ) -> Result<Started<'a, ()>, Error> {
        self.check_rank(root)?;
        check_size::<T>()?;
        let mut progress = Progress::default();
        let steps = move |ends: &mut Ends| broadcast(&mut ends.core, &mut ends.broadcast, root, values, &mut progress);
        Started::begin(self, Call::rooted(Operation::BroadcastSlice, root), Box::new(steps))
    }

    fn begin_reduce_slice<'a, T: Plain>(
        &'a mut self,
        root: usize,
        values: &'a mut [T],
        mut combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        self.check_rank(root)?;
        check_size::<T>()?;
        let mut reduction = Reduction::default();
        let steps =
            move |ends: &mut Ends| reduce(&mut ends.core, &mut ends.reduce, root, values, &mut reduction, &mut combine);
        Started::begin(self, Call::rooted(Operation::ReduceSlice, root), Box::new(steps))
    }

    fn begin_allreduce_slice<'a, T: Plain>(
        &'a mut self,
        values: &'a mut [T],
        mut combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        check_size::<T>()?;
        let mut state = Allreduction::default();
        let steps = move |ends: &mut Ends| allreduce(ends, values, &mut state, &mut combine);
        Started::begin(self, Call::of(Operation::AllreduceSlice), Box::new(steps))
    }
}

/// The progress of an allreduce at one member, whichever way it goes.
type Allreduction<T> = (Exchanging<T>, Reduction<T>, Progress);

/// Members show each other the values, if there are few members and there is room; otherwise a reduction, and a broadcast
/// of its result. If a wait ends at a limit, another call goes on where it ended.
fn allreduce<T: Plain>(
    Ends { core, broadcast: down, reduce: up, reduce_root: root, exchange, basis, .. }: &mut Ends,
    values: &mut [T],
    (exchanging, reduction, progress): &mut Allreduction<T>,
    mut combine: impl FnMut(T, T) -> T,
) -> Result<(), Error> {
    if exchange.is_none() && slice_exchange::suits(core.members, basis.is_crowded) {
        let (rank, members) = (core.rank, core.members);
        *exchange = core.lay_out(|arena| Exchange::lay_out(rank, members, arena))?.map(Box::new);
    }
    if let Some(exchange) = exchange {
        slice_exchange::allreduce(core, exchange, values, exchanging, &mut combine)?;
        if slice_exchange::fits::<T>() {
            return Ok(());
        }
    }
    reduce(core, up, *root, values, reduction, combine)?;
    broadcast(core, down, *root, values, progress)
}
