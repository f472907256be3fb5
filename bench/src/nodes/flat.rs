//! Plain MPI: the blocking collectives of the library, among all ranks.

use std::ffi::{c_int, c_void};
use std::ptr;

use corecast::mpi::abi::{Constants, Handle, Operation, SUCCESS, Scalar};
use corecast::mpi::load::Loaded;
use corecast::mpi::{Launcher, mpi_functions};
use corecast_race::failure::Failure;

mpi_functions! {
{
    init c"MPI_Init" (*mut c_int, *mut c_void);
    finalize c"MPI_Finalize" ();
    comm_rank c"MPI_Comm_rank" (Handle, *mut c_int);
    comm_size c"MPI_Comm_size" (Handle, *mut c_int);
    barrier c"MPI_Barrier" (Handle);
    broadcast c"MPI_Bcast" (*mut c_void, c_int, Handle, c_int, Handle);
    allreduce c"MPI_Allreduce" (*const c_void, *mut c_void, c_int, Handle, Handle, Handle);
}
optional {}
}

/// This rank among all.
pub(super) struct Flat {
    functions: Functions,
    constants: Constants,
    pub(super) rank: usize,
    pub(super) size: usize,
}

impl Flat {
    pub(super) fn open() -> Result<Self, Failure> {
        let loaded = Loaded::find(Launcher::from_env()).map_err(Failure::refused)?;
        let lacks = |name: &std::ffi::CStr| Failure::refused(format!("the library lacks {}", name.to_string_lossy()));
        let functions = Functions::find(&loaded).map_err(lacks)?;
        let constants = Constants::of(&loaded).ok_or_else(|| lacks(c"a handle"))?;
        // SAFETY: null arguments are allowed, and nothing in this process has called the library before.
        checked("MPI_Init", unsafe { (functions.init)(ptr::null_mut(), ptr::null_mut()) })?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the communicator of all, and a place for the answer.
        checked("MPI_Comm_rank", unsafe { (functions.comm_rank)(constants.comm_world, &mut rank) })?;
        // SAFETY: the same.
        checked("MPI_Comm_size", unsafe { (functions.comm_size)(constants.comm_world, &mut size) })?;
        Ok(Self { functions, constants, rank: rank as usize, size: size as usize })
    }

    pub(super) fn barrier(&mut self) -> Result<(), Failure> {
        // SAFETY: the communicator of all.
        checked("MPI_Barrier", unsafe { (self.functions.barrier)(self.constants.comm_world) })
    }

    pub(super) fn broadcast(&mut self, root: usize, values: &mut [u64]) -> Result<(), Failure> {
        let (start, count) = (values.as_mut_ptr().cast(), values.len() as c_int);
        let (world, datatype) = (self.constants.comm_world, self.constants.scalar(Scalar::U64));
        // SAFETY: that many values, borrowed until the call returns.
        let code = unsafe { (self.functions.broadcast)(start, count, datatype, root as c_int, world) };
        checked("MPI_Bcast", code)
    }

    pub(super) fn sum(&mut self, values: &mut [u64]) -> Result<(), Failure> {
        let (start, count) = (values.as_mut_ptr().cast(), values.len() as c_int);
        let Constants { comm_world, in_place, .. } = self.constants;
        let (datatype, op) = (self.constants.scalar(Scalar::U64), self.constants.operation(Operation::Sum));
        let allreduce = self.functions.allreduce;
        // SAFETY: that many values, borrowed until the call returns, which are read in place.
        let code = unsafe { allreduce(in_place as *const c_void, start, count, datatype, op, comm_world) };
        checked("MPI_Allreduce", code)
    }

    pub(super) fn close(self) -> Result<(), Failure> {
        // SAFETY: initialised by open, and not called again.
        checked("MPI_Finalize", unsafe { (self.functions.finalize)() })
    }
}

fn checked(call: &str, code: c_int) -> Result<(), Failure> {
    if code == SUCCESS { Ok(()) } else { Err(Failure::refused(format!("{call} returned {code}"))) }
}
