//! Where the MPI library of this process is: in the process already, named by the user, or the one that belongs to the launcher.
//!
//! The order is: symbols that the process has; the file that `CORECAST_MPI` names; the libraries of the launcher's family;
//! `libmpi_abi.so.1`. It is loaded with all names global, as its plugins look for them, and never closed: libraries of MPI leave
//! threads and exit handlers behind.

use std::ffi::{CStr, CString, c_int, c_void};
use std::fmt;
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;

use crate::abi::Symbols;
use crate::error::OpenError;
use crate::launcher::Launcher;

/// The variable that names the file of the library.
pub const VARIABLE: &str = "CORECAST_MPI";

/// The library of the MPI 5 standard.
const STANDARD: &str = "libmpi_abi.so.1";
/// The libraries that are tried where no launcher has told its family.
const ALL: [&str; 3] = ["libmpi.so.40", "libmpi.so.12", "libmpich.so.12"];

/// Every MPI library has it.
const SIGN: &CStr = c"MPI_Init_thread";

/// The reason why this library was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The program was linked to it, or has loaded it.
    Process,
    /// `CORECAST_MPI` names it.
    Variable,
    /// It belongs to the launcher's family.
    Launcher,
    /// It is the first one that the loader found.
    First,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Process => "the program has loaded it",
            Self::Variable => "CORECAST_MPI names it",
            Self::Launcher => "it belongs to the launcher",
            Self::First => "the loader found it first",
        })
    }
}

/// A loaded MPI library.
#[derive(Debug)]
pub struct Loaded {
    /// `RTLD_DEFAULT`, or the handle of an object that stays open.
    object: *mut c_void,
    /// Why it was taken.
    pub origin: Origin,
    /// Its file, as the loader tells it.
    pub path: String,
}

// SAFETY: a handle of the loader, which all threads may use.
unsafe impl Send for Loaded {}
// SAFETY: the same.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// Finds the library, and loads it if the process has none.
    ///
    /// # Errors
    /// [`OpenError::NoLibrary`] with the loader's words about each file that was tried.
    pub fn find(launcher: Option<Launcher>) -> Result<Self, OpenError> {
        if let Some(found) = Self::in_process() {
            return Ok(found);
        }
        if let Some(path) = std::env::var_os(VARIABLE) {
            let name = path.to_string_lossy().into_owned();
            return Self::open(&name, Origin::Variable).map_err(|tried| OpenError::NoLibrary { tried });
        }
        let (names, origin) = match launcher {
            Some(launcher) => (launcher.libraries(), Origin::Launcher),
            None => (&ALL[..], Origin::First),
        };
        let mut tried = Vec::new();
        for (&name, origin) in names.iter().map(|name| (name, origin.clone())).chain([(&STANDARD, Origin::First)]) {
            match Self::open(name, origin) {
                Ok(found) => return Ok(found),
                Err(error) => tried.push(error),
            }
        }
        Err(OpenError::NoLibrary { tried: tried.join("; ") })
    }

    /// The library that the program has loaded itself, if it has.
    fn in_process() -> Option<Self> {
        let found = symbol(libc::RTLD_DEFAULT, SIGN);
        (!found.is_null()).then(|| Self {
            object: libc::RTLD_DEFAULT,
            origin: Origin::Process,
            path: file_of(found).unwrap_or_default(),
        })
    }

    fn open(name: &str, origin: Origin) -> Result<Self, String> {
        let text = CString::new(name).map_err(|_| format!("{name:?} is no file name"))?;
        // SAFETY: a text. The object's start-up code runs, which is that of an MPI library, or of a file the user has named.
        let object = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if object.is_null() {
            return Err(last_error().unwrap_or_else(|| format!("{name} cannot be loaded")));
        }
        let sign = symbol(object, SIGN);
        if sign.is_null() {
            return Err(format!("{name} has no function MPI_Init_thread"));
        }
        Ok(Self { object, origin, path: file_of(sign).unwrap_or_else(|| name.to_owned()) })
    }
}

impl Symbols for Loaded {
    fn function(&self, name: &CStr) -> *mut c_void {
        symbol(self.object, name)
    }

    fn variable(&self, name: &CStr) -> *mut c_void {
        // A program that is linked at a fixed address has copies of a library's variables, and the loader's order finds those.
        symbol(self.object, name)
    }

    fn file_name(&self) -> Option<String> {
        Path::new(&self.path).file_name().map(|name| name.to_string_lossy().into_owned())
    }
}

fn symbol(object: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: a handle of the loader, and a text.
    unsafe { libc::dlsym(object, name.as_ptr()) }
}

/// The file that an address was loaded from.
fn file_of(address: *mut c_void) -> Option<String> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for, and the answer has room.
    let found: c_int = unsafe { libc::dladdr(address, info.as_mut_ptr()) };
    // SAFETY: zeroes are a description, too, and the loader has written one if it found the address.
    let path = unsafe { info.assume_init() }.dli_fname;
    text(if found == 0 { ptr::null() } else { path })
}

/// The loader's words about its last failure.
fn last_error() -> Option<String> {
    // SAFETY: the loader keeps its words for each thread, and they are copied at once.
    text(unsafe { libc::dlerror() })
}

fn text(of: *const libc::c_char) -> Option<String> {
    if of.is_null() {
        return None;
    }
    // SAFETY: not null, and a text of the loader that nothing changes before it is copied.
    Some(unsafe { CStr::from_ptr(of) }.to_string_lossy().into_owned())
}
