//! The `PMPI_` functions that are called.

use std::ffi::{c_char, c_int, c_void};

use corecast_mpi_engine::abi::Handle;

/// A count of the functions whose names end in `_c`.
pub(crate) type Count = i64;
/// A difference of addresses, `MPI_Aint`.
pub(crate) type Address = isize;

/// Called when a communicator is duplicated that has an attribute.
pub(crate) type CopyAttribute =
    unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
/// Called when a communicator is freed that has an attribute.
pub(crate) type DeleteAttribute = unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut c_void) -> c_int;

corecast_mpi_engine::mpi_functions! {
{
    allgather c"PMPI_Allgather" (*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle);
    allreduce c"PMPI_Allreduce" (*const c_void, *mut c_void, c_int, Handle, Handle, Handle);
    barrier c"PMPI_Barrier" (Handle);
    broadcast c"PMPI_Bcast" (*mut c_void, c_int, Handle, c_int, Handle);
    comm_call_errhandler c"PMPI_Comm_call_errhandler" (Handle, c_int);
    comm_create_keyval c"PMPI_Comm_create_keyval" (CopyAttribute, DeleteAttribute, *mut c_int, *mut c_void);
    comm_dup c"PMPI_Comm_dup" (Handle, *mut Handle);
    comm_get_attr c"PMPI_Comm_get_attr" (Handle, c_int, *mut *mut c_void, *mut c_int);
    comm_rank c"PMPI_Comm_rank" (Handle, *mut c_int);
    comm_set_attr c"PMPI_Comm_set_attr" (Handle, c_int, *mut c_void);
    comm_set_errhandler c"PMPI_Comm_set_errhandler" (Handle, Handle);
    comm_size c"PMPI_Comm_size" (Handle, *mut c_int);
    comm_test_inter c"PMPI_Comm_test_inter" (Handle, *mut c_int);
    finalize c"PMPI_Finalize" ();
    initialized c"PMPI_Initialized" (*mut c_int);
    iprobe c"PMPI_Iprobe" (c_int, c_int, Handle, *mut c_int, *mut c_void);
    reduce c"PMPI_Reduce" (*const c_void, *mut c_void, c_int, Handle, Handle, c_int, Handle);
    reduce_local c"PMPI_Reduce_local" (*const c_void, *mut c_void, c_int, Handle, Handle);
    sendrecv c"PMPI_Sendrecv"
        (*const c_void, c_int, Handle, c_int, c_int, *mut c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void);
    type_get_envelope c"PMPI_Type_get_envelope" (Handle, *mut c_int, *mut c_int, *mut c_int, *mut c_int);
    type_get_extent c"PMPI_Type_get_extent" (Handle, *mut Address, *mut Address);
    type_get_name c"PMPI_Type_get_name" (Handle, *mut c_char, *mut c_int);
    type_size c"PMPI_Type_size" (Handle, *mut c_int);
}
optional {
    allgather_large c"PMPI_Allgather_c" (*const c_void, Count, Handle, *mut c_void, Count, Handle, Handle);
    allreduce_large c"PMPI_Allreduce_c" (*const c_void, *mut c_void, Count, Handle, Handle, Handle);
    broadcast_large c"PMPI_Bcast_c" (*mut c_void, Count, Handle, c_int, Handle);
    reduce_large c"PMPI_Reduce_c" (*const c_void, *mut c_void, Count, Handle, Handle, c_int, Handle);
}
}
