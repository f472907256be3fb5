//! The objects (program and libraries) from which functions are called, by number.
//!
//! A table that only grows maps addresses of code to numbers. An object that was unloaded keeps its number, and another one
//! loaded at its place is taken for it: runtimes of parallel programs are not unloaded, as their threads live in them.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use corecast_base::sync::{AtomicUsize, Ordering};

/// Objects that are told apart; calls from further ones get the next function in the loader's order.
pub(crate) const MOST_OBJECTS: usize = 16;

/// The addresses of an object.
struct Extent {
    /// 0 before the object is known. Written once, by the thread that claims the place.
    start: AtomicUsize,
    /// The first address behind it; 0 before it is known. Written by the same thread, after `start`.
    end: AtomicUsize,
}

static KNOWN: [Extent; MOST_OBJECTS] =
    [const { Extent { start: AtomicUsize::new(0), end: AtomicUsize::new(0) } }; MOST_OBJECTS];

impl Extent {
    fn has(&self, address: usize) -> bool {
        // ORDERING: Acquire, pairs with the Release in claim: the start is there [caller-extent]
        let end = self.end.load(Ordering::Acquire);
        // ORDERING: Relaxed, ordered by the load of the end
        address < end && self.start.load(Ordering::Relaxed) <= address
    }

    /// Takes this place for an object; false if it has one.
    fn claim(&self, extent: &Range<usize>) -> bool {
        // ORDERING: Relaxed, readers wait for the end
        let is_mine = self.start.compare_exchange(0, extent.start, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_mine {
            // ORDERING: Release, pairs with the Acquire in has [caller-extent]
            self.end.store(extent.end, Ordering::Release);
        }
        is_mine
    }
}

/// The number of the object with this address; `None` if there is none, or too many are known.
pub(crate) fn number_of(address: *const c_void) -> Option<usize> {
    let known = KNOWN.iter().position(|extent| extent.has(address.addr()));
    known.or_else(|| enter(address.addr()))
}

/// Two threads may enter an object twice; both numbers are right.
#[cold]
fn enter(address: usize) -> Option<usize> {
    let mut search = Search { address, found: None };
    // SAFETY: the function and what it is given, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), ptr::from_mut(&mut search).cast()) };
    let extent = search.found?;
    KNOWN.iter().position(|place| place.claim(&extent))
}

struct Search {
    address: usize,
    found: Option<Range<usize>>,
}

/// Called by the loader for each object; ends the search when one has the address.
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _len: libc::size_t, search: *mut c_void) -> libc::c_int {
    // SAFETY: enter has passed it, and looks at it only after the search.
    let search = unsafe { &mut *search.cast::<Search>() };
    // SAFETY: the loader describes an object for the time of this call.
    let info = unsafe { &*info };
    // SAFETY: the loader says how many headers are there.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let base = info.dlpi_addr as usize;
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let parts = loaded.map(|header| {
        let start = base.wrapping_add(header.p_vaddr as usize);
        start..start.wrapping_add(header.p_memsz as usize)
    });
    let whole = parts.reduce(|all, part| all.start.min(part.start)..all.end.max(part.end));
    search.found = whole.filter(|extent| extent.contains(&search.address));
    search.found.is_some().into()
}

/// Lets `use_it` look into the library with this address, as if opened; `None` if there is none.
pub(crate) fn with_library<R>(address: *const c_void, use_it: impl FnOnce(*mut c_void) -> R) -> Option<R> {
    let name = described(address)?.dli_fname;
    // SAFETY: a text of the loader.
    if name.is_null() || unsafe { CStr::from_ptr(name) }.is_empty() {
        return None;
    }
    // SAFETY: a text; the library is loaded already, so no code of it runs.
    let library = unsafe { libc::dlopen(name, libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    if library.is_null() {
        return None;
    }
    let result = use_it(library);
    // SAFETY: opened above; the program keeps it loaded as it did before.
    unsafe { libc::dlclose(library) };
    Some(result)
}

/// True if the function lies in the object that this code is part of.
pub(crate) fn is_ours(function: *mut c_void) -> bool {
    let base = |address| described(address).map(|described| described.dli_fbase);
    base(function) == base(KNOWN.as_ptr().cast())
}

fn described(address: *const c_void) -> Option<libc::Dl_info> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for, and the answer has room.
    if unsafe { libc::dladdr(address, info.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: zeroes are a description, too, and the loader has written one.
    Some(unsafe { info.assume_init() })
}
