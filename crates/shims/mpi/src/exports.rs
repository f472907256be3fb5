//! The functions that C programs call, under the names of the MPI standard.

use std::ffi::{CStr, c_int, c_void};

use crate::communicator;
use crate::library::{Elsewhere, Handle, Library};
use crate::operation::{self, Allgather, Broadcast, Reduction};
use crate::statistics;

/// The error where the process has no MPI library to pass a call on to: `MPI_ERR_OTHER` of most.
pub(crate) const NO_LIBRARY: c_int = 16;

/// The name with this text, which ends in a zero.
const fn name_of(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("one zero, at the end"),
    }
}

/// Exports a function that the library has as `$real`, and counts its calls: `$served` serves a call or returns `None`, and
/// then the library gets it. The handles among the arguments are made as the library wants them.
macro_rules! export {
    ($about:literal $name:ident ($($argument:ident: $type:ty),*), handles ($($handle:ident),*), $counts:expr,
     |$library:ident| $real:expr, $served:expr) => {
        #[doc = $about]
        ///
        /// # Safety
        /// - As the MPI standard says of the function.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            let Some($library) = Library::get() else {
                static REAL: Elsewhere<unsafe extern "C" fn($($type),*) -> c_int> =
                    // SAFETY: the signature of the MPI standard.
                    unsafe { Elsewhere::new(name_of(concat!(stringify!($name), "\0"))) };
                let Some(real) = REAL.get($name as *const c_void) else { return NO_LIBRARY };
                // SAFETY: the caller's arguments.
                return unsafe { real($($argument),*) };
            };
            let real = $real;
            $(let $handle = $library.constants.handle($handle);)*
            let served = if $library.serves { $served } else { None };
            if let Some(code) = served {
                $counts.serve();
                return code;
            }
            $counts.pass();
            // SAFETY: the caller's arguments.
            unsafe { real($($argument),*) }
        }
    };
}

export! {
    "`MPI_Barrier`."
    MPI_Barrier(comm: Handle), handles (comm), statistics::barrier(),
    |library| library.functions.barrier,
    operation::barrier(library, comm)
}
export! {
    "`MPI_Bcast`."
    MPI_Bcast(buffer: *mut c_void, count: c_int, datatype: Handle, root: c_int, comm: Handle),
    handles (datatype, comm), statistics::broadcast(),
    |library| library.functions.broadcast,
    operation::broadcast(library, Broadcast::new(buffer, count, datatype, root), comm)
}
export! {
    "`MPI_Reduce`."
    MPI_Reduce(from: *const c_void, into: *mut c_void, count: c_int, datatype: Handle, op: Handle, root: c_int, comm: Handle),
    handles (datatype, op, comm), statistics::reduce(),
    |library| library.functions.reduce,
    operation::reduce(library, Reduction::new(from, into, count, datatype, op), root, comm)
}
export! {
    "`MPI_Allreduce`."
    MPI_Allreduce(from: *const c_void, into: *mut c_void, count: c_int, datatype: Handle, op: Handle, comm: Handle),
    handles (datatype, op, comm), statistics::allreduce(),
    |library| library.functions.allreduce,
    operation::allreduce(library, Reduction::new(from, into, count, datatype, op), comm)
}
export! {
    "`MPI_Allgather`."
    MPI_Allgather(from: *const c_void, from_count: c_int, from_type: Handle, into: *mut c_void, into_count: c_int,
                  into_type: Handle, comm: Handle),
    handles (from_type, into_type, comm), statistics::allgather(),
    |library| library.functions.allgather,
    operation::allgather(library, Allgather::new((from, from_count, from_type), (into, into_count, into_type)), comm)
}
export! {
    "`MPI_Bcast_c`."
    MPI_Bcast_c(buffer: *mut c_void, count: i64, datatype: Handle, root: c_int, comm: Handle),
    handles (datatype, comm), statistics::broadcast(),
    |library| library.broadcast_large(),
    operation::broadcast(library, Broadcast::new(buffer, count, datatype, root), comm)
}
export! {
    "`MPI_Reduce_c`."
    MPI_Reduce_c(from: *const c_void, into: *mut c_void, count: i64, datatype: Handle, op: Handle, root: c_int, comm: Handle),
    handles (datatype, op, comm), statistics::reduce(),
    |library| library.reduce_large(),
    operation::reduce(library, Reduction::new(from, into, count, datatype, op), root, comm)
}
export! {
    "`MPI_Allreduce_c`."
    MPI_Allreduce_c(from: *const c_void, into: *mut c_void, count: i64, datatype: Handle, op: Handle, comm: Handle),
    handles (datatype, op, comm), statistics::allreduce(),
    |library| library.allreduce_large(),
    operation::allreduce(library, Reduction::new(from, into, count, datatype, op), comm)
}

export! {
    "`MPI_Allgather_c`."
    MPI_Allgather_c(from: *const c_void, from_count: i64, from_type: Handle, into: *mut c_void, into_count: i64,
                    into_type: Handle, comm: Handle),
    handles (from_type, into_type, comm), statistics::allgather(),
    |library| library.allgather_large(),
    operation::allgather(library, Allgather::new((from, from_count, from_type), (into, into_count, into_type)), comm)
}

/// `MPI_Finalize`.
///
/// # Safety
/// - As the MPI standard says of the function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Finalize() -> c_int {
    // SAFETY: the signature of the MPI standard.
    static REAL: Elsewhere<unsafe extern "C" fn() -> c_int> = unsafe { Elsewhere::new(c"MPI_Finalize") };
    if let Some(library) = Library::get() {
        communicator::stop();
        // SAFETY: the library's own function.
        return unsafe { (library.functions.finalize)() };
    }
    let Some(real) = REAL.get(MPI_Finalize as *const c_void) else { return NO_LIBRARY };
    // SAFETY: it takes nothing.
    unsafe { real() }
}
