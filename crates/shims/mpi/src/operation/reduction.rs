//! Reductions, for one rank or for all.
//!
//! Served are operations that the standard defines, with the types that it says they take. So all ranks have equal ones and
//! decide alike; calls with operations of the program's own pass, and those with types that an operation does not take.
//! `PMPI_Reduce_local` combines, so results are the library's own.
//!
//! Values travel by extent, as pairs of a value and a place have gaps. They are combined in the order of the plan, which is the
//! same in each call on the communicator. Tried and dropped: a combination by rank at the root, which took 100 ns more among two
//! ranks; values of 504 bytes one after the other up to 2 KiB, which took 1.3 times as long as a slice.

use std::ffi::{c_int, c_void};
use std::ptr;

use corecast::Member;
use corecast::collective::Error;

use super::payoff::pays;
use super::value::{self, with_words};
use crate::communicator::{Record, Served, passes, serve};
use crate::datatype::Datatype;
use crate::lengths::Kind;
use crate::library::{Handle, Library, SUCCESS};

/// The arguments of a reduction.
#[derive(Clone, Copy)]
pub(crate) struct Reduction {
    from: *const c_void,
    into: *mut c_void,
    count: i64,
    datatype: Handle,
    op: Handle,
}

impl Reduction {
    #[inline]
    pub(crate) fn new(
        from: *const c_void,
        into: *mut c_void,
        count: impl Into<i64>,
        datatype: Handle,
        op: Handle,
    ) -> Self {
        Self { from, into, count: count.into(), datatype, op }
    }
}

/// A reduction whose arguments have been looked at.
#[derive(Clone, Copy)]
struct Checked {
    library: &'static Library,
    /// The values of this rank.
    from: *const u8,
    /// Whether they lie where the result goes, by `MPI_IN_PLACE`.
    is_in_place: bool,
    into: *mut u8,
    /// The number of elements.
    count: usize,
    /// The distance of elements, in bytes.
    extent: usize,
    datatype: Handle,
    op: Handle,
}

/// Combines the values of all ranks at the root.
#[inline]
pub(crate) fn reduce(library: &'static Library, call: Reduction, root: c_int, comm: Handle) -> Option<c_int> {
    if passes(comm) {
        return None;
    }
    let checked = Checked::of(library, call)?;
    serve(
        library,
        comm,
        |crowd| pays(Kind::Reduce, checked.len(), crowd, library),
        |served| {
            let Some(root) = usize::try_from(root).ok().filter(|&root| root < served.member.size()) else {
                return Ok(None);
            };
            let is_root = served.member.rank() == root;
            if checked.count > 0 {
                // Only the root may pass MPI_IN_PLACE, and only for its values.
                let has_place = if is_root { checked.can_store() } else { !checked.is_in_place };
                if checked.from.is_null() || !has_place {
                    return Ok(None);
                }
                reduce_checked(served, &checked, root)?;
            }
            Ok(Some(SUCCESS))
        },
    )
}

/// Combines the values of all ranks for all of them.
#[inline]
pub(crate) fn allreduce(library: &'static Library, call: Reduction, comm: Handle) -> Option<c_int> {
    if passes(comm) {
        return None;
    }
    let checked = Checked::of(library, call)?;
    serve(
        library,
        comm,
        |crowd| pays(Kind::Allreduce, checked.len(), crowd, library),
        |served| {
            if checked.count > 0 {
                if checked.from.is_null() || !checked.can_store() {
                    return Ok(None);
                }
                allreduce_checked(served, &checked)?;
            }
            Ok(Some(SUCCESS))
        },
    )
}

fn reduce_checked(served: &mut Served, checked: &Checked, root: usize) -> Result<(), Error> {
    let len = checked.len();
    if len <= value::MOST_BYTES {
        let member = &mut served.member;
        return with_words!(len, reduce_value(member, checked, root));
    }
    checked.load_records(&mut served.records);
    served.member.reduce_slice(root, &mut served.records, |left, right| checked.combine_record(left, right))?;
    if served.member.rank() == root {
        checked.store_records(&served.records);
    }
    Ok(())
}

fn allreduce_checked(served: &mut Served, checked: &Checked) -> Result<(), Error> {
    let len = checked.len();
    if len <= value::MOST_BYTES {
        let member = &mut served.member;
        return with_words!(len, allreduce_value(member, checked));
    }
    checked.load_records(&mut served.records);
    served.member.allreduce_slice(&mut served.records, |left, right| checked.combine_record(left, right))?;
    checked.store_records(&served.records);
    Ok(())
}

#[inline]
fn reduce_value<const WORDS: usize>(member: &mut Member, checked: &Checked, root: usize) -> Result<(), Error> {
    // SAFETY: the caller of MPI gives that many bytes, and the number of words was chosen for them.
    let value = unsafe { value::load::<WORDS>(checked.from, checked.len()) };
    if let Some(result) = member.reduce(root, value, |left, right| checked.combine(left, right, checked.count))? {
        // SAFETY: the same.
        unsafe { value::store(&result, checked.into, checked.len()) };
    }
    Ok(())
}

#[inline]
fn allreduce_value<const WORDS: usize>(member: &mut Member, checked: &Checked) -> Result<(), Error> {
    // SAFETY: the caller of MPI gives that many bytes, and the number of words was chosen for them.
    let value = unsafe { value::load::<WORDS>(checked.from, checked.len()) };
    let result = member.allreduce(value, |left, right| checked.combine(left, right, checked.count))?;
    // SAFETY: the same.
    unsafe { value::store(&result, checked.into, checked.len()) };
    Ok(())
}

impl Checked {
    /// The reduction, if it is one that may be served. All ranks decide alike, by what is equal at all of them.
    #[inline]
    fn of(library: &'static Library, call: Reduction) -> Option<Self> {
        let operation = library.constants.operation_of(call.op)?;
        let Datatype { handle, extent, class, .. } = Datatype::of(library, call.datatype)?;
        class.filter(|class| class.takes(operation))?;
        let count = usize::try_from(call.count).ok()?;
        count.checked_mul(extent)?;
        let is_served = extent <= size_of::<Record>();
        let is_in_place = library.constants.is_in_place(call.from);
        let from = if is_in_place { call.into.cast_const() } else { call.from };
        let (from, into) = (from.cast(), call.into.cast());
        is_served.then_some(Self { library, from, is_in_place, into, count, extent, datatype: handle, op: call.op })
    }

    /// Whether the caller has named a place for the result.
    fn can_store(&self) -> bool {
        !self.into.is_null() && !self.library.constants.is_in_place(self.into.cast())
    }

    fn len(&self) -> usize {
        self.count * self.extent
    }

    /// Combines two values; the left one is that of lower ranks.
    #[inline]
    fn combine<const WORDS: usize>(&self, left: [u64; WORDS], right: [u64; WORDS], count: usize) -> [u64; WORDS] {
        let mut result = right;
        let (from, into) = (left.as_ptr().cast(), result.as_mut_ptr().cast());
        // SAFETY: the library's own function; both hold that many elements. The operation takes the type, so it refuses nothing.
        let _ = unsafe { (self.library.functions.reduce_local)(from, into, count as c_int, self.datatype, self.op) };
        result
    }

    /// Combines two records. The last one has zeroes behind its last element, which no rank reads once they are combined.
    fn combine_record(&self, left: Record, right: Record) -> Record {
        self.combine(left, right, self.each())
    }

    /// The number of elements of a record.
    fn each(&self) -> usize {
        size_of::<Record>() / self.extent.max(1)
    }

    fn load_records(&self, records: &mut Vec<Record>) {
        records.clear();
        records.resize(self.count.div_ceil(self.each()), [0; size_of::<Record>() / size_of::<u64>()]);
        for (record, Part { at, len }) in records.iter_mut().zip(self.parts()) {
            // SAFETY: the caller of MPI gives all elements.
            let from = unsafe { self.from.add(at) };
            // SAFETY: the part is within the elements, and fits a record, which is another place.
            unsafe { ptr::copy_nonoverlapping(from, record.as_mut_ptr().cast(), len) };
        }
    }

    fn store_records(&self, records: &[Record]) {
        for (record, Part { at, len }) in records.iter().zip(self.parts()) {
            // SAFETY: the caller of MPI gives room for all elements.
            let into = unsafe { self.into.add(at) };
            // SAFETY: as in load_records.
            unsafe { ptr::copy_nonoverlapping(record.as_ptr().cast(), into, len) };
        }
    }

    /// The bytes of each record among those of all elements.
    fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        let (all, each) = (self.len(), self.each() * self.extent);
        (0..all).step_by(each.max(1)).map(move |at| Part { at, len: each.min(all - at) })
    }
}

/// Some bytes.
struct Part {
    at: usize,
    len: usize,
}
