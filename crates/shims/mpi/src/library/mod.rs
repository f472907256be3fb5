//! The MPI library of this process: which one it is, its functions and its constants.
//!
//! - `find`: where its symbols are;
//! - `functions`: the `PMPI_` functions that are called; `large`: those with large counts where the library has none.
//!
//! The constants of the binary interfaces are those of [`corecast_mpi_engine::abi`].

mod find;
mod functions;
mod large;

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use corecast_mpi_engine::abi::Operation;
pub(crate) use corecast_mpi_engine::abi::{Constants, Handle, SUCCESS};
use find::Source;
pub(crate) use find::{Elsewhere, everywhere};
use functions::Functions;

use crate::settings::Settings;

/// The MPI library.
pub(crate) struct Library {
    /// False if all calls are passed on.
    pub(crate) serves: bool,
    pub(crate) source: Source,
    pub(crate) constants: Constants,
    pub(crate) functions: Functions,
}

impl Library {
    /// The library of this process; `None` if there is none, it lacks something, or its interface is unknown: its calls are then
    /// passed on unseen. It is looked for once.
    #[inline]
    pub(crate) fn get() -> Option<&'static Self> {
        static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
        LIBRARY.get_or_init(Self::find).as_ref()
    }

    #[cold]
    fn find() -> Option<Self> {
        let _errno = corecast_preload::Errno::keep();
        let source = Source::find()?;
        let (constants, functions) = (Constants::of(&source)?, Functions::find(&source).ok()?);
        Some(Self { serves: Settings::get().serves, constants, functions, source })
    }

    /// True if the program has called `MPI_Init`. One that uses sessions alone has no `MPI_COMM_SELF`, in which ranks send to
    /// themselves to convert data; and Open MPI's `PMPI_Reduce_local` crashes there.
    pub(crate) fn has_world(&self) -> bool {
        let mut flag = 0;
        // SAFETY: the library's own function, and a place for the answer.
        checked(unsafe { (self.functions.initialized)(&mut flag) }).is_ok() && flag != 0
    }

    /// Calls the error handler of a communicator, and returns the code where that returns.
    #[cold]
    pub(crate) fn raise(&self, comm: Handle, code: c_int) -> c_int {
        // SAFETY: the library's own function.
        let _ = unsafe { (self.functions.comm_call_errhandler)(comm, code) };
        code
    }

    /// Combines these bytes of all ranks by a bitwise or.
    pub(crate) fn or_bytes(&self, bytes: &mut [u8], comm: Handle) -> Result<(), c_int> {
        let (Constants { in_place, byte, .. }, bor) = (&self.constants, self.constants.operation(Operation::Bor));
        let (into, count) = (bytes.as_mut_ptr().cast::<c_void>(), bytes.len() as c_int);
        // SAFETY: the library's own function, and that many bytes.
        checked(unsafe { (self.functions.allreduce)(*in_place as *const c_void, into, count, *byte, bor, comm) })
    }

    /// Gives the bytes of rank `root` to all ranks.
    pub(crate) fn broadcast_bytes(&self, bytes: &mut [u8], root: usize, comm: Handle) -> Result<(), c_int> {
        let (into, count) = (bytes.as_mut_ptr().cast::<c_void>(), bytes.len() as c_int);
        // SAFETY: the library's own function, and that many bytes.
        checked(unsafe { (self.functions.broadcast)(into, count, self.constants.byte, root as c_int, comm) })
    }

    /// Lets the library deal with pending messages.
    pub(crate) fn progress(&self, comm: Handle) {
        let Constants { any_source, any_tag, status_ignore, .. } = self.constants;
        let mut flag = 0;
        // SAFETY: the library's own function; a status that is ignored, and a place for the flag.
        let _ = unsafe { (self.functions.iprobe)(any_source, any_tag, comm, &mut flag, status_ignore as *mut c_void) };
    }
}

/// The error that a function of the library returned, if it did.
pub(crate) fn checked(code: c_int) -> Result<(), c_int> {
    if code == SUCCESS { Ok(()) } else { Err(code) }
}
