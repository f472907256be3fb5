//! The functions of the library that are called, found by name.

use std::ffi::{c_char, c_int, c_void};

use crate::abi::Handle;

/// Declares a struct of the functions of an MPI library that a crate calls, with a function `find` that looks them up among
/// [`Symbols`](crate::abi::Symbols). All return a code. Handles are passed as words; callees that take 32 bits look at the lower
/// half, and write the lower half of one that was 0.
#[doc(hidden)]
#[macro_export]
macro_rules! mpi_functions {
    ({ $($name:ident $symbol:literal ($($argument:ty),*);)* }
     optional { $($optional:ident $optional_symbol:literal ($($optional_argument:ty),*);)* }) => {
        /// The functions of the library.
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> ::std::ffi::c_int,)*
            $(pub(crate) $optional: Option<unsafe extern "C" fn($($optional_argument),*) -> ::std::ffi::c_int>,)*
        }

        impl Functions {
            /// Finds them; the error is the name of one that every library has and this one lacks.
            pub(crate) fn find(symbols: &dyn $crate::abi::Symbols) -> Result<Self, &'static ::std::ffi::CStr> {
                let found = |symbol: &::std::ffi::CStr| {
                    Some(symbols.function(symbol)).filter(|found| !found.is_null())
                };
                Ok(Self {
                    $($name: {
                        type Function = unsafe extern "C" fn($($argument),*) -> ::std::ffi::c_int;
                        let found = found($symbol).ok_or($symbol)?;
                        // SAFETY: the MPI standard gives the function of this name this signature.
                        unsafe { ::std::mem::transmute::<*mut ::std::ffi::c_void, Function>(found) }
                    },)*
                    $($optional: found($optional_symbol).map(|found| {
                        type Function = unsafe extern "C" fn($($optional_argument),*) -> ::std::ffi::c_int;
                        // SAFETY: the same.
                        unsafe { ::std::mem::transmute::<*mut ::std::ffi::c_void, Function>(found) }
                    }),)*
                })
            }
        }
    };
}

/// Room for a status of any interface, in words; the test of the table holds it against headers.
pub(crate) type Status = [i32; 16];

mpi_functions! {
{
    init_thread c"MPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    initialized c"MPI_Initialized" (*mut c_int);
    finalized c"MPI_Finalized" (*mut c_int);
    finalize c"MPI_Finalize" ();
    query_thread c"MPI_Query_thread" (*mut c_int);
    get_version c"MPI_Get_version" (*mut c_int, *mut c_int);
    get_library_version c"MPI_Get_library_version" (*mut c_char, *mut c_int);
    comm_rank c"MPI_Comm_rank" (Handle, *mut c_int);
    comm_size c"MPI_Comm_size" (Handle, *mut c_int);
    comm_split c"MPI_Comm_split" (Handle, c_int, c_int, *mut Handle);
    comm_free c"MPI_Comm_free" (*mut Handle);
    comm_set_errhandler c"MPI_Comm_set_errhandler" (Handle, Handle);
    error_class c"MPI_Error_class" (c_int, *mut c_int);
    error_string c"MPI_Error_string" (c_int, *mut c_char, *mut c_int);
    isend c"MPI_Isend" (*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    irecv c"MPI_Irecv" (*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    iprobe c"MPI_Iprobe" (c_int, c_int, Handle, *mut c_int, *mut Status);
    test c"MPI_Test" (*mut Handle, *mut c_int, *mut Status);
    cancel c"MPI_Cancel" (*mut Handle);
    request_free c"MPI_Request_free" (*mut Handle);
    iallreduce c"MPI_Iallreduce" (*const c_void, *mut c_void, c_int, Handle, Handle, Handle, *mut Handle);
    ibcast c"MPI_Ibcast" (*mut c_void, c_int, Handle, c_int, Handle, *mut Handle);
    iallgather c"MPI_Iallgather" (*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle, *mut Handle);
    comm_idup c"MPI_Comm_idup" (Handle, *mut Handle, *mut Handle);
    comm_group c"MPI_Comm_group" (Handle, *mut Handle);
    group_size c"MPI_Group_size" (Handle, *mut c_int);
    group_translate_ranks c"MPI_Group_translate_ranks" (Handle, c_int, *const c_int, Handle, *mut c_int);
    group_free c"MPI_Group_free" (*mut Handle);
}
optional {
    t_init_thread c"MPI_T_init_thread" (c_int, *mut c_int);
    t_finalize c"MPI_T_finalize" ();
    t_cvar_get_index c"MPI_T_cvar_get_index" (*const c_char, *mut c_int);
    t_cvar_handle_alloc c"MPI_T_cvar_handle_alloc" (c_int, *mut c_void, *mut *mut c_void, *mut c_int);
    t_cvar_read c"MPI_T_cvar_read" (*mut c_void, *mut c_void);
    comm_revoke c"MPIX_Comm_revoke" (Handle);
    comm_shrink c"MPIX_Comm_shrink" (Handle, *mut Handle);
    comm_iagree c"MPIX_Comm_iagree" (Handle, *mut c_int, *mut Handle);
    comm_failure_ack c"MPIX_Comm_failure_ack" (Handle);
    comm_failure_get_acked c"MPIX_Comm_failure_get_acked" (Handle, *mut Handle);
}
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn a_status_has_the_64_bytes_that_the_table_is_tested_for() {
        assert_eq!(size_of::<Status>(), 64);
    }
}
