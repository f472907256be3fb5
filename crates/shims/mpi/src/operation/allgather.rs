//! The parts of all ranks at all of them.
//!
//! Each rank counts the bytes that it is to get of one other, which is what all of them send: so all ranks see the same number,
//! and their types may differ. A rank whose types have gaps converts by sending to itself. One that is to get another number of
//! bytes than it sends, which MPI forbids, converts, too, so that the library says what it thinks of that.

use std::ffi::{c_int, c_void};
use std::slice;

use corecast::Member;
use corecast::collective::Error;

use super::conversion::{Elements, pack, unpack};
use super::payoff::pays;
use super::value::{self, with_words};
use crate::communicator::{Served, passes, serve};
use crate::datatype::Datatype;
use crate::lengths::Kind;
use crate::library::{Handle, Library, SUCCESS, checked};

/// The most ranks: in larger groups that share CPUs parts go along trees, in messages of a few lines.
const MOST_RANKS: usize = 4;

/// The arguments of an allgather.
#[derive(Clone, Copy)]
pub(crate) struct Allgather {
    /// The part of this rank; ignored if its place is `MPI_IN_PLACE`.
    from: Elements,
    /// The part of each rank, at the place of all of them.
    into: Elements,
}

impl Allgather {
    /// Each part is told by its place, count and type.
    #[inline]
    pub(crate) fn new<C: Into<i64>>(from: (*const c_void, C, Handle), into: (*mut c_void, C, Handle)) -> Self {
        let from = Elements { place: from.0.cast_mut(), count: from.1.into(), datatype: from.2 };
        Self { from, into: Elements { place: into.0, count: into.1.into(), datatype: into.2 } }
    }
}

/// Where the part of this rank is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    /// Among the parts of all, as `MPI_IN_PLACE` says.
    InPlace,
    /// There, as bytes that may travel.
    Bytes,
    /// There, to be converted.
    Elements,
}

/// An allgather whose arguments have been looked at.
struct Checked {
    call: Allgather,
    own: Own,
    /// The bytes that this rank sends.
    len: usize,
    /// Whether the parts of all ranks go to their place as they come.
    is_direct: bool,
    /// Whether a place is missing, of which the library shall tell.
    is_nowhere: bool,
}

/// Gives the parts of all ranks to all of them.
#[inline]
pub(crate) fn allgather(library: &'static Library, call: Allgather, comm: Handle) -> Option<c_int> {
    if passes(comm) {
        return None;
    }
    let into = Datatype::of(library, call.into.datatype)?;
    let expected = into.data_bytes(call.into.count)?;
    let checked_call = Checked::of(library, call, into, expected)?;
    let code = serve(
        library,
        comm,
        |crowd| pays(Kind::Allgather, expected, crowd, library),
        |served| {
            let is_empty = checked_call.len == 0 && expected == 0;
            if served.member.size() > MOST_RANKS || checked_call.is_nowhere && !is_empty {
                return Ok(None);
            }
            let result = if is_empty { Ok(()) } else { gather(library, served, &checked_call)? };
            Ok(Some(result.err().unwrap_or(SUCCESS)))
        },
    )?;
    Some(checked(code).err().map_or(SUCCESS, |code| library.raise(comm, code)))
}

impl Checked {
    fn of(library: &Library, call: Allgather, into: Datatype, expected: usize) -> Option<Self> {
        let (own, len) = if library.constants.is_in_place(call.from.place) {
            (Own::InPlace, expected)
        } else {
            let from = Datatype::of(library, call.from.datatype)?;
            let own = if from.is_contiguous() { Own::Bytes } else { Own::Elements };
            (own, from.data_bytes(call.from.count)?)
        };
        let is_direct = into.is_contiguous() && len == expected;
        let is_nowhere = into.is_contiguous() && call.into.place.is_null()
            || library.constants.is_in_place(call.into.place)
            || own == Own::Bytes && call.from.place.is_null();
        Some(Self { call, own, len, is_direct, is_nowhere })
    }

    /// The parts of all ranks, of which there are `ranks`.
    fn all(&self, ranks: usize) -> Elements {
        Elements { count: self.call.into.count * ranks as i64, ..self.call.into }
    }
}

/// Gathers the parts. A conversion that fails is told when the others have this rank's part, for which they wait.
fn gather(library: &Library, served: &mut Served, checked: &Checked) -> Result<Result<(), c_int>, Error> {
    let Served { member, packed, .. } = served;
    let (rank, ranks, len) = (member.rank(), member.size(), checked.len);
    let all_len = ranks * len;
    let own_len = if checked.own == Own::Bytes { 0 } else { len };
    packed.resize(own_len + if checked.is_direct { 0 } else { all_len }, 0);
    let (own, all) = packed.split_at_mut(own_len);
    let mut result = Ok(());
    let all = if checked.is_direct {
        // SAFETY: the caller of MPI gives room for that many bytes, and touches them only after the call.
        unsafe { slice::from_raw_parts_mut(checked.call.into.place.cast::<u8>(), all_len) }
    } else {
        all
    };
    let own = match checked.own {
        // SAFETY: the caller of MPI gives that many bytes, which are none of those that it gets.
        Own::Bytes => unsafe { slice::from_raw_parts(checked.call.from.place.cast_const().cast::<u8>(), len) },
        Own::Elements => {
            result = pack(library, checked.call.from, own);
            own
        }
        Own::InPlace => {
            if !checked.is_direct {
                result = pack(library, checked.all(ranks), all);
            }
            own.copy_from_slice(&all[rank * len..][..len]);
            own
        }
    };
    exchange(member, own, all)?;
    if !checked.is_direct {
        result = result.and(unpack(library, checked.all(ranks), all));
    }
    Ok(result)
}

/// Brings the parts of all ranks to all of them.
fn exchange(member: &mut Member, own: &[u8], all: &mut [u8]) -> Result<(), Error> {
    let len = own.len();
    if len > value::MOST_BYTES {
        return member.allgather_slice(own, all);
    }
    with_words!(len, exchange_values(member, own, all))
}

#[inline]
fn exchange_values<const WORDS: usize>(member: &mut Member, own: &[u8], all: &mut [u8]) -> Result<(), Error> {
    // SAFETY: the slice is there, and the number of words was chosen for it.
    let value = unsafe { value::load::<WORDS>(own.as_ptr(), own.len()) };
    let mut values = [[0; WORDS]; MOST_RANKS];
    let values = &mut values[..member.size()];
    member.allgather(value, values)?;
    for (value, into) in values.iter().zip(all.chunks_exact_mut(own.len().max(1))) {
        // SAFETY: a chunk has the length of a part, for which the number of words was chosen.
        unsafe { value::store(value, into.as_mut_ptr(), own.len()) };
    }
    Ok(())
}
