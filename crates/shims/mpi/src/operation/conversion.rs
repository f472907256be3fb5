//! Data of types with gaps, or with an order of their own, as bytes: a rank sends them to itself.

use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

use crate::library::{Handle, Library, checked};

/// The tag of messages of a rank to itself.
const TAG: c_int = 0;

/// Some elements of a program's data, of any type.
#[derive(Clone, Copy)]
pub(super) struct Elements {
    pub(super) place: *mut c_void,
    pub(super) count: i64,
    pub(super) datatype: Handle,
}

/// Converts elements to bytes, for all of which there is room.
pub(super) fn pack(library: &Library, from: Elements, packed: &mut [u8]) -> Result<(), c_int> {
    let (into, len) = (packed.as_mut_ptr().cast(), packed.len() as c_int);
    let (count, byte) = (from.count as c_int, library.constants.byte);
    // SAFETY: the caller's data, of its own type, and room for as many bytes as it has.
    unsafe { send_to_self(library, from.place, count, from.datatype, into, len, byte) }
}

/// Converts bytes to elements, which may be of another type than those that were packed.
pub(super) fn unpack(library: &Library, into: Elements, packed: &[u8]) -> Result<(), c_int> {
    let (from, len, byte) = (packed.as_ptr().cast(), packed.len() as c_int, library.constants.byte);
    // SAFETY: the bytes, and the caller's room for data of its own type.
    unsafe { send_to_self(library, from, len, byte, into.place, into.count as c_int, into.datatype) }
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
        // Its errors are for the handler of the communicator that the program has named.
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
