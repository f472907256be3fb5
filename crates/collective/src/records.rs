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
//! let machine = Machine::from_topology(&source::discover(&source::Request::default())?);
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

use crate::error::{Error, Loss};
use crate::member::{Ends, Member};
use crate::reduce::{Order, bracketed};
use crate::slice_gather::SliceGathering;
use crate::slice_steps::{Progress, Reduction, broadcast, reduce_runs};
use crate::started::{Started, started};
use crate::web::LONGEST_MESSAGE;

/// Records to one and to all; at once, or in parts ([`Started`]).
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
        self.check_rank(root)?;
        check_records(records, record_bytes)?;
        let ends = self.begin(order.reduce_records(root))?;
        RecordReduction::of(ends, order, root, records).go_on(ends, (records, record_bytes), combine)
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
        check_records(records, record_bytes)?;
        let ends = self.begin(order.allreduce_records())?;
        RecordAllreduction::of(ends, order, records).go_on(ends, (records, record_bytes), combine)
    }

    /// Begins to combine all members' records in the root's `records`.
    ///
    /// # Errors
    /// As for [`reduce_records`](Self::reduce_records).
    ///
    /// # Panics
    /// As [`reduce_records`](Self::reduce_records).
    #[track_caller]
    pub fn start_reduce_records<'a>(
        &'a mut self,
        order: Order,
        root: usize,
        records: &'a mut [u8],
        record_bytes: usize,
        mut combine: impl FnMut(&mut [u8], &[u8]) + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        self.check_rank(root)?;
        check_records(records, record_bytes)?;
        let mut reduction = RecordReduction::of(self.ends(), order, root, records);
        let steps = move |ends: &mut Ends| reduction.go_on(ends, (records, record_bytes), &mut combine);
        started(Started::begin(self, order.reduce_records(root), Box::new(steps))?)
    }

    /// Begins to combine all members' records in the `records` of all.
    ///
    /// # Errors
    /// As for [`reduce_records`](Self::reduce_records).
    ///
    /// # Panics
    /// As [`reduce_records`](Self::reduce_records).
    #[track_caller]
    pub fn start_allreduce_records<'a>(
        &'a mut self,
        order: Order,
        records: &'a mut [u8],
        record_bytes: usize,
        mut combine: impl FnMut(&mut [u8], &[u8]) + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        check_records(records, record_bytes)?;
        let mut reduction = RecordAllreduction::of(self.ends(), order, records);
        let steps = move |ends: &mut Ends| reduction.go_on(ends, (records, record_bytes), &mut combine);
        started(Started::begin(self, order.allreduce_records(), Box::new(steps))?)
    }
}

/// Refuses bytes that are not a whole number of records.
#[track_caller]
fn check_records(records: &[u8], record_bytes: usize) -> Result<(), Error> {
    let (bytes, most) = (record_bytes, LONGEST_MESSAGE);
    assert!(bytes > 0, "a record of no bytes cannot be combined");
    assert!(records.len() % bytes == 0, "{} bytes are no whole number of records of {bytes}", records.len());
    if bytes <= most { Ok(()) } else { Err(Error::TooLarge { bytes, most }) }
}

/// The progress of a reduction of records at one member.
#[derive(Debug)]
struct RecordReduction {
    root: usize,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// In the order of the plan, in place.
    InPlace(Reduction<u8>),
    /// By rank: all records at the root, until they are combined, or until they have been passed on.
    ByRank(Option<SliceGathering<u8>>),
}

impl RecordReduction {
    /// A reduction that has not begun, of a member with these records.
    fn of(ends: &Ends, order: Order, root: usize, records: &[u8]) -> Self {
        let way = match order {
            Order::Plan | Order::Arrival => Way::InPlace(Reduction::default()),
            Order::Rank => Way::ByRank(Some(SliceGathering::of(ends, root, records))),
        };
        Self { root, way }
    }

    /// Combines all members' records in those of the root. If a wait ends at a limit, another call goes on where it ended.
    fn go_on(
        &mut self,
        ends: &mut Ends,
        (records, record_bytes): (&mut [u8], usize),
        mut combine: impl FnMut(&mut [u8], &[u8]),
    ) -> Result<(), Error> {
        let mut each = |own: &mut [u8], theirs: &[u8]| {
            let pairs = own.chunks_exact_mut(record_bytes).zip(theirs.chunks_exact(record_bytes));
            pairs.for_each(|(own, their)| combine(own, their));
        };
        match &mut self.way {
            Way::InPlace(reduction) => {
                let Ends { core, reduce: web, .. } = ends;
                reduce_runs(core, web, self.root, (records, record_bytes), reduction, each)
            }
            Way::ByRank(gathering) => {
                let Some(all) = gathering.as_mut().map(|gathering| gathering.go_on(ends)).transpose()? else {
                    return Ok(());
                };
                *gathering = None;
                let Some(mut all) = all else { return Ok(()) };
                if let Some(rank) = all.iter().position(|theirs| theirs.len() != records.len()) {
                    return Err(ends.core.fail(rank, Loss::OtherLength));
                }
                bracketed(&mut all, &mut |left, right| each(left, right));
                records.copy_from_slice(&all[0]);
                Ok(())
            }
        }
    }
}

/// The progress of an allreduction of records at one member.
#[derive(Debug)]
struct RecordAllreduction {
    reduction: RecordReduction,
    progress: Progress,
}

impl RecordAllreduction {
    /// An allreduction that has not begun, of a member with these records.
    fn of(ends: &Ends, order: Order, records: &[u8]) -> Self {
        let reduction = RecordReduction::of(ends, order, ends.reduce_root, records);
        Self { reduction, progress: Progress::default() }
    }

    /// A reduction, and a broadcast of its result. If a wait ends at a limit, another call goes on where it ended.
    fn go_on(
        &mut self,
        ends: &mut Ends,
        (records, record_bytes): (&mut [u8], usize),
        combine: impl FnMut(&mut [u8], &[u8]),
    ) -> Result<(), Error> {
        self.reduction.go_on(ends, (records, record_bytes), combine)?;
        broadcast(&mut ends.core, &mut ends.broadcast, self.reduction.root, records, &mut self.progress)
    }
}
