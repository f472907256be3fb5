//! The broadcast.
//!
//! All ranks have signatures of equal length, so all of them see the same number of bytes; their types may differ. A rank whose
//! type has gaps, or an order of its own, converts by sending to itself.

use std::ffi::{c_int, c_void};
use std::slice;
use std::sync::{Mutex, PoisonError};

use corecast::Member;
use corecast::collective::Error;

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
}

/// The tag of messages of a rank to itself.
const TAG: c_int = 0;

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
            let mut result = if is_root { pack(library, &call, packed) } else { Ok(()) };
            broadcast_bytes(member, root, packed.as_mut_ptr(), len)?;
            if !is_root {
                result = unpack(library, &call, packed);
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

/// Converts the root's data to bytes.
fn pack(library: &Library, call: &Broadcast, packed: &mut [u8]) -> Result<(), c_int> {
    let (from, count) = (call.buffer.cast_const(), call.count as c_int);
    let (into, len) = (packed.as_mut_ptr().cast(), packed.len() as c_int);
    let byte = library.constants.byte;
    // SAFETY: the caller's data, of its own type, and room for as many bytes as it has.
    unsafe { send_to_self(library, from, count, call.datatype, into, len, byte) }
}

/// Converts bytes to data of another rank's type.
fn unpack(library: &Library, call: &Broadcast, packed: &[u8]) -> Result<(), c_int> {
    let (from, len, byte) = (packed.as_ptr().cast(), packed.len() as c_int, library.constants.byte);
    // SAFETY: the bytes, and the caller's room for data of its own type.
    unsafe { send_to_self(library, from, len, byte, call.buffer, call.count as c_int, call.datatype) }
}

/// Sends data from one place and type to another.
///
/// # Safety
/// - `from` and `into` point to that many elements of their types.
unsafe fn send_to_self(
    library: &Library,
    from: *const c_void,
    from_count: c_int,
    from_type: Handle,
    into: *mut c_void,
    into_count: c_int,
    into_type: Handle,
) -> Result<(), c_int> {
    let mut own = own_communicator().lock().unwrap_or_else(PoisonError::into_inner);
    if own.is_none() {
        let mut dup = 0;
        // SAFETY: the library's own function, and a place for the handle.
        checked(unsafe { (library.functions.comm_dup)(library.constants.comm_self, &mut dup) })?;
        let dup = library.constants.handle(dup);
        // Its errors are for the handler of the communicator that the program broadcasts in.
        // SAFETY: the library's own function and handles.
        checked(unsafe { (library.functions.comm_set_errhandler)(dup, library.constants.errors_return) })?;
        *own = Some(dup);
    }
    let comm = own.expect("it was just made");
    let ignore = library.constants.status_ignore as *mut c_void;
    // SAFETY: the library's own function; the caller answers for the places.
    checked(unsafe {
        (library.functions.sendrecv)(
            from, from_count, from_type, 0, TAG, into, into_count, into_type, 0, TAG, comm, ignore,
        )
    })
}

/// The communicator in which ranks send to themselves: a duplicate, so that no receive of the program takes the message. One
/// thread at a time.
fn own_communicator() -> &'static Mutex<Option<Handle>> {
    static OWN: Mutex<Option<Handle>> = Mutex::new(None);
    &OWN
}
