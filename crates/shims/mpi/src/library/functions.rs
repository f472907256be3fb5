//! The `PMPI_` functions that are called.

use std::ffi::{CStr, c_int, c_void};

use super::abi::Handle;
use super::find::Source;

/// A count of the functions whose names end in `_c`.
pub(crate) type Count = i64;
/// A difference of addresses, `MPI_Aint`.
pub(crate) type Address = isize;

/// Called when a communicator is duplicated that has an attribute.
pub(crate) type CopyAttribute =
    unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
/// Called when a communicator is freed that has an attribute.
pub(crate) type DeleteAttribute = unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void) -> c_int;

macro_rules! functions {
    ({ $($name:ident $symbol:literal ($($argument:ty),*);)* }
     optional { $($optional:ident $optional_symbol:literal ($($optional_argument:ty),*);)* }) => {
        /// The functions of the library. Handles are passed as words; callees that take 32 bits look at the lower half.
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> c_int,)*
            $(pub(crate) $optional: Option<unsafe extern "C" fn($($optional_argument),*) -> c_int>,)*
        }

        impl Functions {
            /// Finds them; `None` if one is missing that every library has.
            pub(super) fn find(source: &Source) -> Option<Self> {
                Some(Self {
                    $($name: {
                        let found = found(source, $symbol)?;
                        type Function = unsafe extern "C" fn($($argument),*) -> c_int;
                        // SAFETY: the MPI standard gives the function of this name this signature.
                        unsafe { std::mem::transmute::<*mut c_void, Function>(found) }
                    },)*
                    $($optional: found(source, $optional_symbol).map(|found| {
                        type Function = unsafe extern "C" fn($($optional_argument),*) -> c_int;
                        // SAFETY: the same.
                        unsafe { std::mem::transmute::<*mut c_void, Function>(found) }
                    }),)*
                })
            }
        }
    };
}

functions! {
{
    allreduce c"PMPI_Allreduce" (*const c_void, *mut c_void, c_int, Handle, Handle, Handle);
    barrier c"PMPI_Barrier" (Handle);
    broadcast c"PMPI_Bcast" (*mut c_void, c_int, Handle, c_int, Handle);
    comm_create_keyval c"PMPI_Comm_create_keyval" (CopyAttribute, DeleteAttribute, *mut c_int, *mut c_void);
    comm_dup c"PMPI_Comm_dup" (Handle, *mut Handle);
    comm_get_attr c"PMPI_Comm_get_attr" (Handle, c_int, *mut *mut c_void, *mut c_int);
    comm_rank c"PMPI_Comm_rank" (Handle, *mut c_int);
    comm_set_attr c"PMPI_Comm_set_attr" (Handle, c_int, *mut c_void);
    comm_size c"PMPI_Comm_size" (Handle, *mut c_int);
    comm_test_inter c"PMPI_Comm_test_inter" (Handle, *mut c_int);
    finalize c"PMPI_Finalize" ();
    iprobe c"PMPI_Iprobe" (c_int, c_int, Handle, *mut c_int, *mut c_void);
    reduce c"PMPI_Reduce" (*const c_void, *mut c_void, c_int, Handle, Handle, c_int, Handle);
    reduce_local c"PMPI_Reduce_local" (*const c_void, *mut c_void, c_int, Handle, Handle);
    sendrecv c"PMPI_Sendrecv"
        (*const c_void, c_int, Handle, c_int, c_int, *mut c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void);
    type_get_envelope c"PMPI_Type_get_envelope" (Handle, *mut c_int, *mut c_int, *mut c_int, *mut c_int);
    type_get_extent c"PMPI_Type_get_extent" (Handle, *mut Address, *mut Address);
    type_size c"PMPI_Type_size" (Handle, *mut c_int);
}
optional {
    allreduce_large c"PMPI_Allreduce_c" (*const c_void, *mut c_void, Count, Handle, Handle, Handle);
    broadcast_large c"PMPI_Bcast_c" (*mut c_void, Count, Handle, c_int, Handle);
    reduce_large c"PMPI_Reduce_c" (*const c_void, *mut c_void, Count, Handle, Handle, c_int, Handle);
}
}

fn found(source: &Source, symbol: &CStr) -> Option<*mut c_void> {
    Some(source.function(symbol)).filter(|found| !found.is_null())
}
