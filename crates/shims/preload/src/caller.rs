//! The functions that calls from an object (the program or a library) mean, kept by the addresses of that object.
//!
//! Objects are loaded and unloaded, and another one may come to lie where one was. So a function that was found counts
//! until the next [`unload`], which a preload object of this kind exports as `dlclose`; after that each object is looked at
//! again. The table grows by the objects that are loaded at once, and never shrinks.

use std::ffi::{CStr, c_int, c_void};
use std::iter;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use corecast_base::sync::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

use crate::real::Real;

/// Objects in one part of a table.
const PART: usize = 16;

/// The number of times that a library was closed, from 1 on: the time, as far as addresses of code are concerned.
static TIME: AtomicU64 = AtomicU64::new(1);

/// The closing function that stands behind that of a preload object.
static CLOSE: Real = Real::new(c"dlclose");

fn now() -> u64 {
    // ORDERING: Relaxed, a call from an object that lies where another one was comes after the loader's lock was handed over by
    // the thread that closed that one, which had counted before it took the lock
    TIME.load(Ordering::Relaxed)
}

/// Does as `dlclose`, for objects that replace it: what is known of objects is looked for again.
///
/// # Safety
/// - As of that function.
#[must_use]
pub unsafe fn unload(library: *mut c_void) -> c_int {
    // ORDERING: Relaxed, as in now
    TIME.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller's promise.
    let code = unsafe { close(library) };
    // The library's last functions may have called meanwhile.
    // ORDERING: Relaxed, as in now
    TIME.fetch_add(1, Ordering::Relaxed);
    code
}

/// # Safety
/// - As of `dlclose`.
unsafe fn close(library: *mut c_void) -> c_int {
    let real = CLOSE.next();
    if real.is_null() {
        // Not of a loader that has opened one; then it stays.
        return 0;
    }
    // SAFETY: the loader's function of this name has this type.
    let real = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> c_int>(real) };
    // SAFETY: the caller's promise.
    unsafe { real(library) }
}

/// The function that was found for an object.
#[derive(Debug)]
struct Entry {
    /// The time for which the rest counts; 0 before there is any, and while it is written. Written by the thread that adds.
    time: AtomicU64,
    /// The first address of the object. Written by the same thread, between two values of `time`.
    start: AtomicUsize,
    /// The first address behind it. Written likewise.
    end: AtomicUsize,
    /// The function that calls from it mean. Written likewise.
    found: AtomicPtr<c_void>,
}

impl Entry {
    const fn new() -> Self {
        Self {
            time: AtomicU64::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The function for the object with this address, if the entry is of that object.
    #[inline]
    fn get(&self, address: usize, now: u64) -> Option<*mut c_void> {
        // ORDERING: Acquire, pairs with the Release in put: the rest is there [entry-whole]
        if self.time.load(Ordering::Acquire) != now {
            return None;
        }
        // ORDERING: Relaxed, the load of the time and the fence behind order it
        let extent = self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed);
        // ORDERING: Relaxed, as at the access above
        let found = self.found.load(Ordering::Relaxed);
        // ORDERING: Acquire, pairs with the Release fence in put: if any of it was newer, so is the time [entry-torn]
        fence(Ordering::Acquire);
        // ORDERING: Relaxed, the fence orders it
        let is_whole = self.time.load(Ordering::Relaxed) == now;
        (is_whole && extent.contains(&address)).then_some(found)
    }

    /// Whether nothing in it counts now.
    fn is_past(&self, now: u64) -> bool {
        // ORDERING: Relaxed, only the thread that adds writes it
        self.time.load(Ordering::Relaxed) != now
    }

    /// For the thread that adds.
    fn put(&self, extent: Range<usize>, found: *mut c_void, now: u64) {
        // ORDERING: Relaxed, the fence orders it
        self.time.store(0, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire fence in get [entry-torn]
        fence(Ordering::Release);
        // ORDERING: Relaxed, the fence and the store of the time order it
        self.start.store(extent.start, Ordering::Relaxed);
        // ORDERING: Relaxed, as at the access above
        self.end.store(extent.end, Ordering::Relaxed);
        // ORDERING: Relaxed, as at the access above
        self.found.store(found, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in get [entry-whole]
        self.time.store(now, Ordering::Release);
    }
}

/// Entries, and where there are more. None is ever freed.
#[derive(Debug)]
struct Part {
    entries: [Entry; PART],
    /// Null at the end. Written once, by a thread that adds.
    more: AtomicPtr<Part>,
}

impl Part {
    const fn new() -> Self {
        Self { entries: [const { Entry::new() }; PART], more: AtomicPtr::new(ptr::null_mut()) }
    }

    fn next(&self) -> Option<&Self> {
        // ORDERING: Acquire, pairs with the Release in ByObject::add [more-entries]
        let more = self.more.load(Ordering::Acquire);
        // SAFETY: null, or a part, which is never freed.
        unsafe { more.as_ref() }
    }
}

/// The function that was found for each object of the process.
#[derive(Debug)]
pub(crate) struct ByObject {
    first: Part,
    /// True while a thread adds an entry.
    is_taken: AtomicBool,
}

impl ByObject {
    pub(crate) const fn new() -> Self {
        Self { first: Part::new(), is_taken: AtomicBool::new(false) }
    }

    /// The function that calls from this address mean. `look_for` finds it where it is not known; two threads may look at once,
    /// and both are right.
    #[inline]
    pub(crate) fn get(&self, address: *const c_void, look_for: impl FnOnce() -> *mut c_void) -> *mut c_void {
        let (address, now) = (address.addr(), now());
        let known = self.parts().flat_map(|part| &part.entries).find_map(|entry| entry.get(address, now));
        known.unwrap_or_else(|| {
            let found = look_for();
            if let Some(extent) = extent_of(address) {
                self.add(extent, found, now);
            }
            found
        })
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        iter::successors(Some(&self.first), |part| part.next())
    }

    /// Remembers a function that was found at a time. A thread that cannot at once leaves it: the next call looks for it again.
    #[cold]
    fn add(&self, extent: Range<usize>, found: *mut c_void, then: u64) {
        // ORDERING: Acquire, pairs with the Release below [entries-taken]
        if self.is_taken.swap(true, Ordering::Acquire) {
            return;
        }
        // An entry of now is never written over, so none gets a time that it had before.
        if then == now() {
            let free = self.parts().flat_map(|part| &part.entries).find(|entry| entry.is_past(then));
            free.unwrap_or_else(|| self.grow()).put(extent, found, then);
        }
        // ORDERING: Release, pairs with the Acquire above [entries-taken]
        self.is_taken.store(false, Ordering::Release);
    }

    fn grow(&self) -> &Entry {
        let part: &Part = Box::leak(Box::new(Part::new()));
        let last = self.parts().last().unwrap_or(&self.first);
        // ORDERING: Release, pairs with the Acquire in Part::next [more-entries]
        last.more.store(ptr::from_ref(part).cast_mut(), Ordering::Release);
        &part.entries[0]
    }
}

/// The addresses of the object with this one; `None` if there is none.
fn extent_of(address: usize) -> Option<Range<usize>> {
    let mut search = Search { address, found: None };
    // SAFETY: the function and what it is given, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), ptr::from_mut(&mut search).cast()) };
    search.found
}

struct Search {
    address: usize,
    found: Option<Range<usize>>,
}

/// Called by the loader for each object; ends the search when one has the address.
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _len: libc::size_t, search: *mut c_void) -> c_int {
    // SAFETY: extent_of has passed it, and looks at it only after the search.
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
    unsafe { close(library) };
    Some(result)
}

/// True if the function lies in the object that this code is part of.
pub(crate) fn is_ours(function: *mut c_void) -> bool {
    let base = |address| described(address).map(|described| described.dli_fbase);
    base(function) == base(ptr::from_ref(&TIME).cast())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(number: usize) -> *mut c_void {
        ptr::without_provenance_mut(number)
    }

    #[test]
    fn any_number_of_objects_is_known_until_one_is_unloaded() {
        let known = ByObject::new();
        // Not by get, as other tests may unload meanwhile.
        let get = |address: usize, now| {
            known.parts().flat_map(|part| &part.entries).find_map(|entry| entry.get(address, now))
        };
        let fill = |now: u64| {
            for object in 1..=50 {
                let free = known.parts().flat_map(|part| &part.entries).find(|entry| entry.is_past(now));
                let extent = object * 0x1000..object * 0x1000 + 0x800;
                free.unwrap_or_else(|| known.grow()).put(extent, mark(object), now);
            }
        };
        for now in [1, 2] {
            fill(now);
            for object in 1..=50 {
                let answers = [0, 0x7ff, 0x800].map(|at| get(object * 0x1000 + at, now));
                assert_eq!(answers, [Some(mark(object)), Some(mark(object)), None]);
            }
            assert_eq!(get(0x1000, now + 1), None);
        }
        assert_eq!(known.parts().count(), 50_usize.div_ceil(PART), "the places of the past are used again");
    }

    #[test]
    fn an_object_is_looked_at_once_and_again_after_an_unload() {
        let known = ByObject::new();
        let here = ptr::from_ref(&TIME).cast();
        let looks = std::cell::Cell::new(0);
        let look = || {
            known.get(here, || {
                looks.set(looks.get() + 1);
                mark(7)
            })
        };
        assert_eq!([look(), look()], [mark(7); 2]);
        assert_eq!(looks.get(), 1);
        // SAFETY: the library that holds this program's C functions, opened once more for that.
        let library = unsafe { libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        if !library.is_null() {
            // SAFETY: opened above.
            assert_eq!(unsafe { unload(library) }, 0);
            assert_eq!((look(), looks.get()), (mark(7), 2));
        }
        // No object has this address, so nothing is kept.
        let nowhere = mark(8);
        assert_eq!([(); 2].map(|()| known.get(nowhere, || mark(9))), [mark(9); 2]);
    }
}
