//! The functions that Fortran programs call.
//!
//! MPICH's and Intel MPI's functions for Fortran call those for C, which are ours; Open MPI's call its `PMPI_` functions, so here
//! they are converted. A Fortran program names `MPI_IN_PLACE` by the address of a variable.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use corecast_mpi_engine::abi::Symbols;
use corecast_preload::Real;

use crate::exports::{MPI_Allreduce, MPI_Barrier, MPI_Bcast, MPI_Reduce};
use crate::library::{Handle, Library};

/// An integer of Fortran's default kind, by which handles are passed.
type Fint = c_int;

/// Converts a handle of Fortran to one of C.
type Convert = unsafe extern "C" fn(Fint) -> Handle;

/// Open MPI's conversions.
struct Conversions {
    comm: Convert,
    datatype: Convert,
    op: Convert,
    /// The addresses that stand for `MPI_IN_PLACE`, under the names of different compilers.
    in_place: [usize; 4],
    /// Those that stand for `MPI_BOTTOM`.
    bottom: [usize; 4],
}

const IN_PLACE: [&CStr; 4] =
    [c"mpi_fortran_in_place_", c"mpi_fortran_in_place", c"mpi_fortran_in_place__", c"MPI_FORTRAN_IN_PLACE"];
const BOTTOM: [&CStr; 4] =
    [c"mpi_fortran_bottom_", c"mpi_fortran_bottom", c"mpi_fortran_bottom__", c"MPI_FORTRAN_BOTTOM"];

impl Conversions {
    fn get(library: &Library) -> Option<&'static Self> {
        static CONVERSIONS: OnceLock<Option<Conversions>> = OnceLock::new();
        CONVERSIONS.get_or_init(|| Self::find(library)).as_ref()
    }

    fn find(library: &Library) -> Option<Self> {
        if !library.constants.is_open_mpi() {
            return None;
        }
        let convert = |name: &CStr| {
            let found = Some(library.source.function(name)).filter(|found| !found.is_null())?;
            // SAFETY: the MPI standard gives the function of this name this signature.
            Some(unsafe { std::mem::transmute::<*mut c_void, Convert>(found) })
        };
        let addresses = |names: [&CStr; 4]| names.map(|name| library.source.variable(name).addr());
        Some(Self {
            comm: convert(c"PMPI_Comm_f2c")?,
            datatype: convert(c"PMPI_Type_f2c")?,
            op: convert(c"PMPI_Op_f2c")?,
            in_place: addresses(IN_PLACE),
            bottom: addresses(BOTTOM),
        })
    }

    /// The place that C would name.
    fn place(&self, library: &Library, passed: *mut c_void) -> *mut c_void {
        let address = passed.addr();
        if address != 0 && self.in_place.contains(&address) {
            return library.constants.in_place as *mut c_void;
        }
        if address != 0 && self.bottom.contains(&address) { std::ptr::null_mut() } else { passed }
    }
}

/// Exports a function under the name that Fortran compilers give it today. `$serve` converts the arguments for Open MPI; for
/// other libraries their own function is called, which calls ours for C.
macro_rules! export {
    ($about:literal, $name:ident $real:literal ($($argument:ident: $type:ty),*), $library:ident, $conversions:ident,
     $serve:expr) => {
        #[doc = $about]
        ///
        /// # Safety
        /// - As the MPI standard says of the function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type,)* error: *mut Fint) {
            let Some($library) = Library::get() else { return };
            if let Some($conversions) = Conversions::get($library) {
                let code: c_int = $serve;
                if !error.is_null() {
                    // SAFETY: the caller's place for the error.
                    unsafe { error.write(code) };
                }
                return;
            }
            static REAL: Real = Real::new($real);
            let real = REAL.next();
            if real.is_null() {
                return;
            }
            // SAFETY: the library's function of this name, which has this signature.
            let real = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type,)* *mut Fint)>(real) };
            // SAFETY: the caller's arguments.
            unsafe { real($($argument,)* error) };
        }
    };
}

export!("`MPI_BARRIER`.", mpi_barrier_ c"mpi_barrier_" (comm: *const Fint), library, conversions, {
    let comm = conversions.comm(comm);
    // SAFETY: the caller's arguments.
    unsafe { MPI_Barrier(comm) }
});
export!("`MPI_BCAST`.", mpi_bcast_ c"mpi_bcast_"
(buffer: *mut c_void, count: *const Fint, datatype: *const Fint, root: *const Fint, comm: *const Fint),
library, conversions, {
    let buffer = conversions.place(library, buffer);
    // SAFETY: the caller's arguments.
    unsafe { MPI_Bcast(buffer, at(count), conversions.datatype(datatype), at(root), conversions.comm(comm)) }
});
export!("`MPI_REDUCE`.", mpi_reduce_ c"mpi_reduce_"
(from: *mut c_void, into: *mut c_void, count: *const Fint, datatype: *const Fint, op: *const Fint, root: *const Fint,
 comm: *const Fint), library, conversions, {
    let (from, into) = (conversions.place(library, from), conversions.place(library, into));
    let (datatype, op, comm) = (conversions.datatype(datatype), conversions.op(op), conversions.comm(comm));
    // SAFETY: the caller's arguments.
    unsafe { MPI_Reduce(from, into, at(count), datatype, op, at(root), comm) }
});
export!("`MPI_ALLREDUCE`.", mpi_allreduce_ c"mpi_allreduce_"
(from: *mut c_void, into: *mut c_void, count: *const Fint, datatype: *const Fint, op: *const Fint, comm: *const Fint),
library, conversions, {
    let (from, into) = (conversions.place(library, from), conversions.place(library, into));
    let (datatype, op, comm) = (conversions.datatype(datatype), conversions.op(op), conversions.comm(comm));
    // SAFETY: the caller's arguments.
    unsafe { MPI_Allreduce(from, into, at(count), datatype, op, comm) }
});

/// The integer that Fortran passes by its place.
fn at(place: *const Fint) -> Fint {
    // SAFETY: Fortran passes places of integers.
    unsafe { place.read() }
}

impl Conversions {
    fn comm(&self, place: *const Fint) -> Handle {
        // SAFETY: the library's own function.
        unsafe { (self.comm)(at(place)) }
    }

    fn datatype(&self, place: *const Fint) -> Handle {
        // SAFETY: the library's own function.
        unsafe { (self.datatype)(at(place)) }
    }

    fn op(&self, place: *const Fint) -> Handle {
        // SAFETY: the library's own function.
        unsafe { (self.op)(at(place)) }
    }
}
