//! Where the symbols of the MPI library are.
//!
//! Programs that are linked to MPI have it behind this object in the loader's order. Python loads it privately, with a module
//! that is linked to it; then all loaded objects are asked.

use std::ffi::{CStr, CString, c_int, c_void};
use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use corecast_mpi_engine::abi::Symbols;

/// The objects in which symbols are looked for.
pub(crate) struct Source {
    /// The place of functions: `RTLD_NEXT`, or the handle of an object. It stays open.
    functions: *mut c_void,
}

// SAFETY: a handle of the loader, which all threads may use.
unsafe impl Send for Source {}
// SAFETY: the same.
unsafe impl Sync for Source {}

/// Every MPI library has it.
const SIGN: &CStr = c"PMPI_Barrier";

impl Source {
    /// The objects that hold the MPI library; `None` if it is not loaded.
    pub(crate) fn find() -> Option<Self> {
        if !symbol(libc::RTLD_NEXT, SIGN).is_null() {
            return Some(Self { functions: libc::RTLD_NEXT });
        }
        names_of_objects().iter().find_map(|name| Self::of_object(name))
    }

    fn of_object(name: &CStr) -> Option<Self> {
        // SAFETY: a text; the object is loaded already, so no code of it runs.
        let object = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        if object.is_null() {
            return None;
        }
        if !symbol(object, SIGN).is_null() {
            return Some(Self { functions: object });
        }
        // SAFETY: opened above.
        unsafe { libc::dlclose(object) };
        None
    }
}

impl Symbols for Source {
    fn function(&self, name: &CStr) -> *mut c_void {
        symbol(self.functions, name)
    }

    fn file_name(&self) -> Option<String> {
        let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: any address may be asked for, and the answer has room.
        if unsafe { libc::dladdr(self.function(SIGN), info.as_mut_ptr()) } == 0 {
            return None;
        }
        // SAFETY: zeroes are a description, too, and the loader has written one.
        let path = unsafe { info.assume_init() }.dli_fname;
        if path.is_null() {
            return None;
        }
        // SAFETY: a text of the loader, which stays as long as the library.
        let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
        path.rsplit('/').next().map(str::to_owned)
    }

    fn variable(&self, name: &CStr) -> *mut c_void {
        // A program that is linked at a fixed address has copies of a library's variables, and the library uses those; so the
        // loader's order comes first.
        let first = symbol(libc::RTLD_DEFAULT, name);
        if first.is_null() { symbol(self.functions, name) } else { first }
    }
}

/// The function of a name that is not ours, for calls that pass without a look at them; `F` is its type. Looked for once.
pub(crate) struct Elsewhere<F> {
    name: &'static CStr,
    /// `None` in it if there is none.
    found: OnceLock<Option<F>>,
}

impl<F: Copy> Elsewhere<F> {
    /// # Safety
    /// - `F` is the type of pointers to functions of this name.
    pub(crate) const unsafe fn new(name: &'static CStr) -> Self {
        Self { name, found: OnceLock::new() }
    }

    /// The function behind `own` in the loader's order, or of an object that was loaded privately; `None` if there is none.
    pub(crate) fn get(&self, own: *const c_void) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
        *self.found.get_or_init(|| {
            let found = NonNull::new(self.look_for(own))?;
            // SAFETY: the address of a function of this name, of which `F` is the type, as `new` was promised.
            Some(unsafe { mem::transmute_copy::<NonNull<c_void>, F>(&found) })
        })
    }

    #[cold]
    fn look_for(&self, own: *const c_void) -> *mut c_void {
        let _errno = corecast_preload::Errno::keep();
        let next = symbol(libc::RTLD_NEXT, self.name);
        if !next.is_null() {
            return next;
        }
        let others = names_of_objects();
        let found = others.iter().find_map(|name| of_object(name, self.name, own.addr()));
        ptr::with_exposed_provenance_mut(found.unwrap_or(0))
    }
}

/// The address of this symbol in an object that is loaded, if it is not `own`.
fn of_object(object: &CStr, name: &CStr, own: usize) -> Option<usize> {
    // SAFETY: a text; the object is loaded already, so no code of it runs. The handle is kept: the function is called later.
    let object = unsafe { libc::dlopen(object.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    if object.is_null() {
        return None;
    }
    let found = symbol(object, name).addr();
    if found != 0 && found != own {
        return Some(found);
    }
    // SAFETY: opened above.
    unsafe { libc::dlclose(object) };
    None
}

/// The addresses of these variables in the loader's order and in every object that is loaded.
pub(crate) fn everywhere(names: &[&CStr]) -> Vec<usize> {
    let objects = names_of_objects();
    let of_objects = objects.iter().flat_map(|object| names.iter().filter_map(|name| of_object(object, name, 0)));
    let in_order = names.iter().map(|name| symbol(libc::RTLD_DEFAULT, name).addr());
    let mut found: Vec<usize> = in_order.filter(|&address| address != 0).chain(of_objects).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn symbol(object: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: a handle of the loader, and a text.
    unsafe { libc::dlsym(object, name.as_ptr()) }
}

/// The names of all loaded objects but the program itself.
fn names_of_objects() -> Vec<CString> {
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: the function and what it is given, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(note_name), ptr::from_mut(&mut names).cast()) };
    names
}

/// Called by the loader for each object.
unsafe extern "C" fn note_name(info: *mut libc::dl_phdr_info, _len: libc::size_t, names: *mut c_void) -> c_int {
    // SAFETY: names_of_objects has passed it, and looks at it only afterwards.
    let names = unsafe { &mut *names.cast::<Vec<CString>>() };
    // SAFETY: the loader describes an object for the time of this call.
    let name = unsafe { (*info).dlpi_name };
    if !name.is_null() {
        // SAFETY: a text of the loader.
        let name = unsafe { CStr::from_ptr(name) };
        if !name.is_empty() {
            names.push(name.to_owned());
        }
    }
    0
}
