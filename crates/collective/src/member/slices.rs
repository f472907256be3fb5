//! Operations on slices of any length.
//!
//! **When to take it:** the number of values is known only at run time, or they fill more than a few lines. **When not:**
//! values of a fixed size up to 504 bytes go in one message without a length.
//!
//! In a small group, members that reduce a slice for all, or gather one, show each other their values, chunk after chunk of
//! up to 64 KiB. Those that reduce combine them by rank: all of them, or from 8 KiB on a part each. Everything else goes along
//! trees:
//!
//! The length travels first, so that members with another length get an error instead of waiting for ever. Then the values
//! follow in parts: messages of up to 504 bytes, or from 2 KiB on chunks of 16 KiB beside the edges. A member passes a part
//! on before it receives the next, so all levels of the tree work at once, whatever the length. A message is written once
//! for each child; a chunk is written once, and all children read it in place.
//!
//! Among up to eight threads no long slice is copied on its way: all read it where it lies. A slice is long from 32 KiB on
//! for an allreduction; for a broadcast and a reduction from 256 KiB on where members share CPUs, and from 1 MiB on
//! elsewhere. The root of such a broadcast returns when all have read its values, and the members of such a reduction when
//! the root has.
//!
//! Slices that are gathered or scattered stay apart: they travel in the depth-first order of their members, each behind its
//! length and in messages of up to 504 bytes. A member keeps the slices that it gathers until they have been passed on, so
//! it needs room for its subtree's slices. Scattered slices pass through it message by message.
//!
//! **Progress:** blocking. **Memory ordering:** what the root of a broadcast, and every member of a reduction, wrote before
//! is visible to the members that receive the values.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! let sums = group.run(|me| {
//!     let mut counts = vec![me.rank() as u64; 10_000];
//!     me.allreduce_slice(&mut counts, |a, b| a + b).map(|()| counts)
//! })?;
//! assert!(sums.into_iter().all(|sums| sums == Ok(vec![3; 10_000])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use corecast_channel::Plain;

use super::{Member, prepared};

use crate::error::Error;

/// Operations on slices, whose length may be known only at run time.
impl Member {
    /// Gives the root's `values` to all members; all slices have the same length.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such root, [`Error::MemberLost`], which for a slice of another length is
    /// [`Loss::OtherLength`](crate::Loss::OtherLength) and names the neighbour in the tree whose length differs,
    /// [`Error::Pending`].
    pub fn broadcast_slice<T: Plain>(&mut self, root: usize, values: &mut [T]) -> Result<(), Error> {
        self.run(prepared::broadcast_slice(self.rank_and_size(), root, values)?)
    }

    /// Combines all members' values, first with first and so on, in the order of the plan, or by rank in a long slice among few
    /// threads, and leaves the results in the root's `values`. The others' `values` are of no use afterwards.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice).
    pub fn reduce_slice<T: Plain>(
        &mut self,
        root: usize,
        values: &mut [T],
        combine: impl FnMut(T, T) -> T,
    ) -> Result<(), Error> {
        self.run(prepared::reduce_slice(self.rank_and_size(), root, values, combine)?)
    }

    /// Combines all members' values, first with first and so on, and leaves the results, the same bits, in the `values` of all.
    /// `combine` must be associative and commutative up to rounding; the same group combines the same lengths in the same order.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice); in a small group the error may name any member with another
    /// length.
    pub fn allreduce_slice<T: Plain>(&mut self, values: &mut [T], combine: impl FnMut(T, T) -> T) -> Result<(), Error> {
        self.run(prepared::allreduce_slice(values, combine))
    }

    /// Brings all members' slices, of any lengths, to `root` and returns them there, by rank; `None` elsewhere.
    ///
    /// # Errors
    /// As for [`gather`](Self::gather).
    pub fn gather_slice<T: Plain>(&mut self, root: usize, values: &[T]) -> Result<Option<Vec<Vec<T>>>, Error> {
        self.run(prepared::gather_slice(self.rank_and_size(), root, values)?)
    }

    /// Gives each member its part of the root's `values`: the number for which its `own` has room, the first part to member
    /// 0 and so on. The other members give `None`; values from them are ignored. All members have room for the same number.
    ///
    /// # Errors
    /// [`Error::WrongCount`] at a root that gives another number of values than fill one `own` for each member, which is
    /// then as if it had not called; those of [`broadcast_slice`](Self::broadcast_slice).
    pub fn scatter_slice<T: Plain>(&mut self, root: usize, values: Option<&[T]>, own: &mut [T]) -> Result<(), Error> {
        self.run(prepared::scatter_slice(self.rank_and_size(), root, values, own)?)
    }

    /// Brings all members' `own` values, of which each has the same number, to `all` at all of them, by rank.
    ///
    /// # Errors
    /// [`Error::WrongCount`] at a member whose `all` has not room for just as many values of each member, which is then as if it
    /// had not called; those of [`allreduce_slice`](Self::allreduce_slice).
    pub fn allgather_slice<T: Plain>(&mut self, own: &[T], all: &mut [T]) -> Result<(), Error> {
        self.run(prepared::allgather_slice(self.rank_and_size(), own, all)?)
    }
}
