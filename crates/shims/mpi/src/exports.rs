//! The functions that C programs call, under the names of the MPI standard.

use std::ffi::{c_int, c_void};

use crate::communicator;
use crate::library::{Handle, Library};
use crate::operation::{self, Broadcast, Reduction};
use crate::statistics;

/// The error where the process has no MPI library to pass a call on to: `MPI_ERR_OTHER` of most.
const NO_LIBRARY: c_int = 16;

/// Counts a call as served or passed, and passes it on if it was not served.
macro_rules! or_pass {
    ($operation:expr, $library:ident, $served:expr, $pass:expr) => {
        match if $library.serves { $served } else { None } {
            Some(code) => {
                $operation.serve();
                code
            }
            None => {
                $operation.pass();
                $pass
            }
        }
    };
}

/// `MPI_Barrier`.
///
/// # Safety
/// - As the MPI standard says of the function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Barrier(comm: Handle) -> c_int {
    let Some(library) = Library::get() else { return NO_LIBRARY };
    let comm = library.constants.handle(comm);
    or_pass!(statistics::barrier(), library, operation::barrier(library, comm), {
        // SAFETY: the caller's arguments.
        unsafe { (library.functions.barrier)(comm) }
    })
}

/// `MPI_Bcast`.
///
/// # Safety
/// - As the MPI standard says of the function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Bcast(
    buffer: *mut c_void,
    count: c_int,
    datatype: Handle,
    root: c_int,
    comm: Handle,
) -> c_int {
    let Some(library) = Library::get() else { return NO_LIBRARY };
    let [datatype, comm] = [datatype, comm].map(|handle| library.constants.handle(handle));
    let call = Broadcast { buffer, count: count.into(), datatype, root };
    or_pass!(statistics::broadcast(), library, operation::broadcast(library, call, comm), {
        // SAFETY: the caller's arguments.
        unsafe { (library.functions.broadcast)(buffer, count, datatype, root, comm) }
    })
}

/// `MPI_Bcast_c`.
///
/// # Safety
/// - As the MPI standard says of the function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Bcast_c(
    buffer: *mut c_void,
    count: i64,
    datatype: Handle,
    root: c_int,
    comm: Handle,
) -> c_int {
    let Some(library) = Library::get() else { return NO_LIBRARY };
    let Some(real) = library.functions.broadcast_large else { return NO_LIBRARY };
    let [datatype, comm] = [datatype, comm].map(|handle| library.constants.handle(handle));
    let call = Broadcast { buffer, count, datatype, root };
    or_pass!(statistics::broadcast(), library, operation::broadcast(library, call, comm), {
        // SAFETY: the caller's arguments.
        unsafe { real(buffer, count, datatype, root, comm) }
    })
}

/// `MPI_Reduce`.
///
/// # Safety
/// - As the MPI standard says of the function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Reduce(
    from: *const c_void,
    into: *mut c_void,
    count: c_int,
    datatype: Handle,
    op: Handle,
    root: c_int,
    comm: Handle,
) -> c_int {
    let Some(library) = Library::get() else { return NO_LIBRARY };
    let [datatype, op, comm] = [datatype, op, comm].map(|handle| library.constants.handle(handle));
    let call = Reduction { from, into, count: count.into(), datatype, op };
    or_pass!(statistics::reduce(), library, operation::reduce(library, call, root, comm), {
        // SAFETY: the caller's arguments.
        unsafe { (library.functions.reduce)(from, into, count, datatype, op, root, comm) }
    })
}

/// `MPI_Reduce_c`.
///
/// # Safety
/// - As the MPI standard says of the function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Reduce_c(
    from: *const c_void,
    into: *mut c_void,
    count: i64,
    datatype: Handle,
    op: Handle,
    root: c_int,
    comm: Handle,
) -> c_int {
    let Some(library) = Library::get() else { return NO_LIBRARY };
    let Some(real) = library.functions.reduce_large else { return NO_LIBRARY };
    let [datatype, op, comm] = [datatype, op, comm].map(|handle| library.constants.handle(handle));
    let call = Reduction { from, into, count, datatype, op };
    or_pass!(statistics::reduce(), library, operation::reduce(library, call, root, comm), {
        // SAFETY: the caller's arguments.
        unsafe { real(from, into, count, datatype, op, root, comm) }
    })
}

/// `MPI_Allreduce`.
///
/// # Safety
/// - As the MPI standard says of the function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Allreduce(
    from: *const c_void,
    into: *mut c_void,
    count: c_int,
    datatype: Handle,
    op: Handle,
    comm: Handle,
) -> c_int {
    let Some(library) = Library::get() else { return NO_LIBRARY };
    let [datatype, op, comm] = [datatype, op, comm].map(|handle| library.constants.handle(handle));
    let call = Reduction { from, into, count: count.into(), datatype, op };
    or_pass!(statistics::allreduce(), library, operation::allreduce(library, call, comm), {
        // SAFETY: the caller's arguments.
        unsafe { (library.functions.allreduce)(from, into, count, datatype, op, comm) }
    })
}

/// `MPI_Allreduce_c`.
///
/// # Safety
/// - As the MPI standard says of the function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Allreduce_c(
    from: *const c_void,
    into: *mut c_void,
    count: i64,
    datatype: Handle,
    op: Handle,
    comm: Handle,
) -> c_int {
    let Some(library) = Library::get() else { return NO_LIBRARY };
    let Some(real) = library.functions.allreduce_large else { return NO_LIBRARY };
    let [datatype, op, comm] = [datatype, op, comm].map(|handle| library.constants.handle(handle));
    let call = Reduction { from, into, count, datatype, op };
    or_pass!(statistics::allreduce(), library, operation::allreduce(library, call, comm), {
        // SAFETY: the caller's arguments.
        unsafe { real(from, into, count, datatype, op, comm) }
    })
}

/// `MPI_Finalize`.
///
/// # Safety
/// - As the MPI standard says of the function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Finalize() -> c_int {
    let Some(library) = Library::get() else { return NO_LIBRARY };
    communicator::stop();
    // SAFETY: the caller's arguments.
    unsafe { (library.functions.finalize)() }
}
