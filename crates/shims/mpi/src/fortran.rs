//! The functions that Fortran programs call.
//!
//! MPICH's and Intel MPI's functions for Fortran call those for C, which are ours; Open MPI's call its `PMPI_` functions, so here
//! they are converted. A module that was opened privately, as Python does, has its library for Fortran beyond the loader's order,
//! and all loaded objects are asked. A Fortran program names `MPI_IN_PLACE` by the address of a variable.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use corecast_mpi_engine::abi::Symbols;

use crate::exports::{MPI_Allgather, MPI_Allreduce, MPI_Barrier, MPI_Bcast, MPI_Reduce, NO_LIBRARY};
use crate::library::{Elsewhere, Handle, Library, everywhere};

/// An integer of Fortran's default kind, by which handles are passed.
type Fint = c_int;

/// Converts a handle of Fortran to one of C.
type Convert = unsafe extern "C" fn(Fint) -> Handle;

/// Open MPI's conversions.
struct Conversions {
    comm: Convert,
    datatype: Convert,
    op: Convert,
    /// `MPI_IN_PLACE` of C.
    in_place_of_c: usize,
    /// The addresses that stand for `MPI_IN_PLACE`, under the names of different compilers: each object that was opened privately
    /// has its own.
    in_place: Vec<usize>,
    /// Those that stand for `MPI_BOTTOM`.
    bottom: Vec<usize>,
}

const IN_PLACE: [&CStr; 4] =
    [c"mpi_fortran_in_place_", c"mpi_fortran_in_place", c"mpi_fortran_in_place__", c"MPI_FORTRAN_IN_PLACE"];
const BOTTOM: [&CStr; 4] =
    [c"mpi_fortran_bottom_", c"mpi_fortran_bottom", c"mpi_fortran_bottom__", c"MPI_FORTRAN_BOTTOM"];

impl Conversions {
    /// Those of the library, if that is Open MPI.
    fn get() -> Option<&'static Self> {
        static CONVERSIONS: OnceLock<Option<Conversions>> = OnceLock::new();
        CONVERSIONS.get_or_init(|| Self::find(Library::get()?)).as_ref()
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
        Some(Self {
            comm: convert(c"PMPI_Comm_f2c")?,
            datatype: convert(c"PMPI_Type_f2c")?,
            op: convert(c"PMPI_Op_f2c")?,
            in_place_of_c: library.constants.in_place,
            in_place: everywhere(&IN_PLACE),
            bottom: everywhere(&BOTTOM),
        })
    }

    /// The place that C would name.
    fn place(&self, passed: *mut c_void) -> *mut c_void {
        let address = passed.addr();
        if self.in_place.contains(&address) {
            return self.in_place_of_c as *mut c_void;
        }
        if self.bottom.contains(&address) { std::ptr::null_mut() } else { passed }
    }
}

/// Exports a function under the name that Fortran compilers give it today. `$serve` converts the arguments for Open MPI; for
/// other libraries their own function is called, which calls ours for C.
macro_rules! export {
    ($about:literal, $name:ident $real:literal ($($argument:ident: $type:ty),*), $conversions:ident, $serve:expr) => {
        #[doc = $about]
        ///
        /// # Safety
        /// - As the MPI standard says of the function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type,)* error: *mut Fint) {
            if let Some($conversions) = Conversions::get() {
                return tell(error, $serve);
            }
            static REAL: Elsewhere<unsafe extern "C" fn($($type,)* *mut Fint)> =
                // SAFETY: the signature of the MPI standard.
                unsafe { Elsewhere::new($real) };
            let Some(real) = REAL.get($name as *const c_void) else { return tell(error, NO_LIBRARY) };
            // SAFETY: the caller's arguments.
            unsafe { real($($argument,)* error) };
        }
    };
}

export!("`MPI_BARRIER`.", mpi_barrier_ c"mpi_barrier_" (comm: *const Fint), conversions, {
    let comm = conversions.comm(comm);
    // SAFETY: the caller's arguments.
    unsafe { MPI_Barrier(comm) }
});
export!("`MPI_BCAST`.", mpi_bcast_ c"mpi_bcast_"
(buffer: *mut c_void, count: *const Fint, datatype: *const Fint, root: *const Fint, comm: *const Fint),
conversions, {
    let buffer = conversions.place(buffer);
    // SAFETY: the caller's arguments.
    unsafe { MPI_Bcast(buffer, at(count), conversions.datatype(datatype), at(root), conversions.comm(comm)) }
});
export!("`MPI_REDUCE`.", mpi_reduce_ c"mpi_reduce_"
(from: *mut c_void, into: *mut c_void, count: *const Fint, datatype: *const Fint, op: *const Fint, root: *const Fint,
 comm: *const Fint), conversions, {
    let (from, into) = (conversions.place(from), conversions.place(into));
    let (datatype, op, comm) = (conversions.datatype(datatype), conversions.op(op), conversions.comm(comm));
    // SAFETY: the caller's arguments.
    unsafe { MPI_Reduce(from, into, at(count), datatype, op, at(root), comm) }
});
export!("`MPI_ALLREDUCE`.", mpi_allreduce_ c"mpi_allreduce_"
(from: *mut c_void, into: *mut c_void, count: *const Fint, datatype: *const Fint, op: *const Fint, comm: *const Fint),
conversions, {
    let (from, into) = (conversions.place(from), conversions.place(into));
    let (datatype, op, comm) = (conversions.datatype(datatype), conversions.op(op), conversions.comm(comm));
    // SAFETY: the caller's arguments.
    unsafe { MPI_Allreduce(from, into, at(count), datatype, op, comm) }
});

export!("`MPI_ALLGATHER`.", mpi_allgather_ c"mpi_allgather_"
(from: *mut c_void, from_count: *const Fint, from_type: *const Fint, into: *mut c_void, into_count: *const Fint,
 into_type: *const Fint, comm: *const Fint), conversions, {
    let (from, into) = (conversions.place(from), conversions.place(into));
    let (from_type, into_type) = (conversions.datatype(from_type), conversions.datatype(into_type));
    // SAFETY: the caller's arguments.
    unsafe { MPI_Allgather(from, at(from_count), from_type, into, at(into_count), into_type, conversions.comm(comm)) }
});

/// Writes the code at the caller's place for it, which C programs may leave out.
fn tell(error: *mut Fint, code: c_int) {
    if !error.is_null() {
        // SAFETY: the caller's place for the error.
        unsafe { error.write(code) };
    }
}

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
