//! The broadcast.
//!
//! All ranks have signatures of equal length, so all of them see the same number of bytes; their types may differ. A rank whose
//! type has gaps, or an order of its own, converts by sending to itself.

use std::ffi::{c_int, c_void};
use std::slice;

use corecast::Member;
use corecast::collective::Error;

use super::conversion::{Elements, pack, unpack};
use super::payoff::pays;
use super::value::{self, with_words};
use crate::communicator::{passes, serve};
use crate::datatype::Datatype;
use crate::lengths::Kind;
use crate::library::{Handle, Library, SUCCESS, checked};

/// The arguments of a broadcast.
#[derive(Clone, Copy)]
pub(crate) struct Broadcast {
    buffer: *mut c_void,
    count: i64,
    datatype: Handle,
    root: c_int,
}

impl Broadcast {
    #[inline]
    pub(crate) fn new(buffer: *mut c_void, count: impl Into<i64>, datatype: Handle, root: c_int) -> Self {
        Self { buffer, count: count.into(), datatype, root }
    }

    fn elements(&self) -> Elements {
        Elements { place: self.buffer, count: self.count, datatype: self.datatype }
    }
}

/// Gives the root's data to all ranks.
#[inline]
pub(crate) fn broadcast(library: &'static Library, call: Broadcast, comm: Handle) -> Option<c_int> {
    if passes(comm) {
        return None;
    }
    let datatype = Datatype::of(library, call.datatype)?;
    let len = datatype.data_bytes(call.count)?;
    // No place for data: the library says so.
    let is_nowhere = datatype.is_contiguous() && call.buffer.is_null() || library.constants.is_in_place(call.buffer);
    let code = serve(
        library,
        comm,
        |crowd| pays(Kind::Broadcast, len, crowd, library),
        |served| {
            if is_nowhere && len > 0 {
                return Ok(None);
            }
            let (member, packed) = (&mut served.member, &mut served.packed);
            let Some(root) = usize::try_from(call.root).ok().filter(|&root| root < member.size()) else {
                return Ok(None);
            };
            if len == 0 {
                return Ok(Some(SUCCESS));
            }
            if datatype.is_contiguous() {
                broadcast_bytes(member, root, call.buffer.cast(), len)?;
                return Ok(Some(SUCCESS));
            }
            packed.resize(len, 0);
            let is_root = member.rank() == root;
            let mut result = if is_root { pack(library, call.elements(), packed) } else { Ok(()) };
            broadcast_bytes(member, root, packed.as_mut_ptr(), len)?;
            if !is_root {
                result = unpack(library, call.elements(), packed);
            }
            Ok(Some(result.err().unwrap_or(SUCCESS)))
        },
    )?;
    Some(checked(code).err().map_or(SUCCESS, |code| library.raise(comm, code)))
}

fn broadcast_bytes(member: &mut Member, root: usize, data: *mut u8, len: usize) -> Result<(), Error> {
    if len > value::MOST_BYTES {
        // SAFETY: the caller of MPI gives that many bytes, and touches them only after the call.
        let bytes = unsafe { slice::from_raw_parts_mut(data, len) };
        return member.broadcast_slice(root, bytes);
    }
    with_words!(len, broadcast_value(member, root, data, len))
}

#[inline]
fn broadcast_value<const WORDS: usize>(
    member: &mut Member,
    root: usize,
    data: *mut u8,
    len: usize,
) -> Result<(), Error> {
    if member.rank() == root {
        // SAFETY: the caller of MPI gives that many bytes, and the number of words was chosen for them.
        let mut value = unsafe { value::load::<WORDS>(data, len) };
        return member.broadcast(root, &mut value);
    }
    let mut value = [0; WORDS];
    member.broadcast(root, &mut value)?;
    // SAFETY: the caller of MPI gives room for that many bytes, and the number of words was chosen for them.
    unsafe { value::store(&value, data, len) };
    Ok(())
}
