//! Reductions of records: values whose size is known only at run time.
//!
//! **When to take it:** the values belong to another language, or their layout is read from somewhere. **When not:** for a
//! type of the program, [`Member::reduce_slice`] knows the size at compile time, and checks that all members mean the same
//! type.
//!
//! Records lie side by side, as bytes, and travel as slices do; a record is never split. Two records at a time are
//! combined, in place. By rank, the records of all members travel to the root, which combines them alone.
//!
//! **Progress:** blocking. **Memory ordering:** what every member wrote before is visible to the members that its records
//! reach.
//!
//! ```
//! use corecast_collective::{Group, Order};
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! let last = group.run(|me| {
//!     let mut words = *b"oneseven";
//!     words[me.rank()] = b'z';
//!     me.allreduce_records(Order::Plan, &mut words, 4, |own, their| {
//!         if &*own < their {
//!             own.copy_from_slice(their);
//!         }
//!     })?;
//!     Ok::<_, corecast_collective::Error>(words)
//! })?;
//! assert!(last.into_iter().all(|words| words == Ok(*b"zneseven")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Member, prepared};

use crate::error::Error;
use crate::operation::Order;

/// Operations on records.
impl Member {
    /// Combines all members' records of `record_bytes` each, first with first and so on, and leaves the results in the
    /// root's `records`. The others' `records` are of no use afterwards. `combine` leaves the combination of its two
    /// records in the first one. For [`Order::Plan`] and [`Order::Arrival`], which are the same here, it must be
    /// associative and commutative, up to rounding; for [`Order::Rank`] associative. Records may lie at any address, so
    /// `combine` has to check their alignment or copy them before it reads them as a type of its own.
    ///
    /// All members give the same number of bytes, the same size and the same order. Members that differ only in the size of
    /// a record may get no error.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if a record is more than the 504 bytes that travel in one message; those of
    /// [`reduce_slice`](Self::reduce_slice).
    ///
    /// # Panics
    /// If the records have no bytes, or `records` is not a whole number of them.
    #[track_caller]
    pub fn reduce_records(
        &mut self,
        order: Order,
        root: usize,
        records: &mut [u8],
        record_bytes: usize,
        combine: impl FnMut(&mut [u8], &[u8]),
    ) -> Result<(), Error> {
        self.run(prepared::reduce_records(self.rank_and_size(), order, root, records, record_bytes, combine)?)
    }

    /// Combines all members' records, as [`reduce_records`](Self::reduce_records) does, and leaves the results, the same
    /// bytes, in the `records` of all.
    ///
    /// # Errors
    /// As for [`reduce_records`](Self::reduce_records).
    ///
    /// # Panics
    /// As [`reduce_records`](Self::reduce_records).
    #[track_caller]
    pub fn allreduce_records(
        &mut self,
        order: Order,
        records: &mut [u8],
        record_bytes: usize,
        combine: impl FnMut(&mut [u8], &[u8]),
    ) -> Result<(), Error> {
        self.run(prepared::allreduce_records(order, records, record_bytes, combine)?)
    }
}
