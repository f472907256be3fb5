//! Functions with large counts for a library that has none: Open MPI to version 5.
//!
//! A program may ask by a weak symbol whether there are any, as mpi4py does, and finds those of this object. So they work with
//! each library: a count that the plain function takes goes there, and a larger one is an error.

use std::ffi::{c_int, c_void};

use corecast_mpi_engine::abi::Handle;

use super::Library;
use super::functions::Count;

/// `MPI_ERR_COUNT` of every library.
const ERR_COUNT: c_int = 2;

type Broadcast = unsafe extern "C" fn(*mut c_void, Count, Handle, c_int, Handle) -> c_int;
type Reduce = unsafe extern "C" fn(*const c_void, *mut c_void, Count, Handle, Handle, c_int, Handle) -> c_int;
type Allreduce = unsafe extern "C" fn(*const c_void, *mut c_void, Count, Handle, Handle, Handle) -> c_int;
type Allgather = unsafe extern "C" fn(*const c_void, Count, Handle, *mut c_void, Count, Handle, Handle) -> c_int;

impl Library {
    /// `MPI_Bcast_c`, the library's or ours.
    pub(crate) fn broadcast_large(&self) -> Broadcast {
        self.functions.broadcast_large.unwrap_or(broadcast)
    }

    /// `MPI_Reduce_c`.
    pub(crate) fn reduce_large(&self) -> Reduce {
        self.functions.reduce_large.unwrap_or(reduce)
    }

    /// `MPI_Allreduce_c`.
    pub(crate) fn allreduce_large(&self) -> Allreduce {
        self.functions.allreduce_large.unwrap_or(allreduce)
    }

    /// `MPI_Allgather_c`.
    pub(crate) fn allgather_large(&self) -> Allgather {
        self.functions.allgather_large.unwrap_or(allgather)
    }
}

/// Calls a plain function with this count, or the error handler of the communicator.
fn narrowed(count: Count, comm: Handle, call: impl FnOnce(&Library, c_int) -> c_int) -> c_int {
    let library = Library::get().expect("the caller has found it");
    match c_int::try_from(count) {
        Ok(count) => call(library, count),
        Err(_) => library.raise(comm, ERR_COUNT),
    }
}

unsafe extern "C" fn broadcast(
    buffer: *mut c_void,
    count: Count,
    datatype: Handle,
    root: c_int,
    comm: Handle,
) -> c_int {
    narrowed(count, comm, |library, count| {
        // SAFETY: the caller's arguments.
        unsafe { (library.functions.broadcast)(buffer, count, datatype, root, comm) }
    })
}

unsafe extern "C" fn reduce(
    from: *const c_void,
    into: *mut c_void,
    count: Count,
    datatype: Handle,
    op: Handle,
    root: c_int,
    comm: Handle,
) -> c_int {
    narrowed(count, comm, |library, count| {
        // SAFETY: the caller's arguments.
        unsafe { (library.functions.reduce)(from, into, count, datatype, op, root, comm) }
    })
}

unsafe extern "C" fn allreduce(
    from: *const c_void,
    into: *mut c_void,
    count: Count,
    datatype: Handle,
    op: Handle,
    comm: Handle,
) -> c_int {
    narrowed(count, comm, |library, count| {
        // SAFETY: the caller's arguments.
        unsafe { (library.functions.allreduce)(from, into, count, datatype, op, comm) }
    })
}

unsafe extern "C" fn allgather(
    from: *const c_void,
    from_count: Count,
    from_type: Handle,
    into: *mut c_void,
    into_count: Count,
    into_type: Handle,
    comm: Handle,
) -> c_int {
    narrowed(into_count, comm, |library, into_count| {
        let from_count = if library.constants.is_in_place(from) { 0 } else { from_count };
        narrowed(from_count, comm, |_, from_count| {
            // SAFETY: the caller's arguments.
            unsafe { (library.functions.allgather)(from, from_count, from_type, into, into_count, into_type, comm) }
        })
    })
}
