//! The OpenMP runtimes of this process: which of them a call is for, and what it can do.
//!
//! A process may have several, such as that of the program and that of a Python wheel. A team belongs to one of them.
//!
//! A reference to a runtime's function binds to the first library in the loader's order that has it. Without this object that
//! would be the library behind it; only where there is none do objects have private runtimes, and the caller's object tells
//! which.

mod table;
mod unload;

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use corecast_base::sync::{AtomicBool, AtomicPtr, Mutex, Ordering};
use corecast_preload::{Errno, Family, RealOfCallers, Settings, is_watched};

use crate::statistics;

pub(crate) use self::table::{Body, Functions, Ident, Plain};

/// An OpenMP runtime. It lives until the process ends.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) functions: Functions,
    /// True if it is of LLVM's family, whose teams tools are told of.
    pub(crate) has_tools: bool,
    /// True if its teams are served at all.
    is_served: bool,
    /// The runtime that was found before this one.
    earlier: Option<&'static Runtime>,
}

/// Runtimes that were found. None is ever taken out, so that readers need no lock.
#[derive(Debug)]
struct Found {
    /// Null before the first one. Written by the thread that has the lock in `enter`, read by all.
    latest: AtomicPtr<Runtime>,
}

static FOUND: Found = Found::new();

/// True in a process that was forked from one that had a team: its threads are gone, and it is not served.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// A function that every runtime of a family has, and the runtime that the loader's order leads to.
#[derive(Debug)]
pub(crate) struct Anchor {
    real: RealOfCallers,
    /// Null if it is not known, or each caller's object has a private one.
    next: AtomicPtr<Runtime>,
    /// True once it was looked for.
    was_sought: AtomicBool,
}

/// For callers whose compiler follows GCC.
pub(crate) static GOMP: Anchor = Anchor::new(c"GOMP_parallel");
/// For callers whose compiler follows LLVM.
pub(crate) static KMPC: Anchor = Anchor::new(c"__kmpc_barrier");

impl Anchor {
    const fn new(name: &'static CStr) -> Self {
        Self {
            real: RealOfCallers::new(name),
            next: AtomicPtr::new(ptr::null_mut()),
            was_sought: AtomicBool::new(false),
        }
    }

    /// The runtime that a call from this address is for; `None` if there is none: a program may ask whether it runs with
    /// OpenMP by looking for such a function.
    #[inline]
    pub(crate) fn of(&self, caller: *const c_void) -> Option<&'static Runtime> {
        // ORDERING: Acquire, pairs with the Release in seek [next-runtime]
        let next = self.next.load(Ordering::Acquire);
        // SAFETY: null, or a runtime, which is never freed.
        unsafe { next.as_ref() }.or_else(|| self.of_caller(caller))
    }

    /// True if calls from everywhere are for one runtime.
    pub(crate) fn is_one(&self) -> bool {
        // ORDERING: Relaxed, the answer is no reason to read what the runtime is
        !self.next.load(Ordering::Relaxed).is_null()
    }

    #[inline(never)]
    fn of_caller(&self, caller: *const c_void) -> Option<&'static Runtime> {
        // ORDERING: Relaxed, the second to seek finds the same
        if !self.was_sought.load(Ordering::Relaxed) {
            let found = self.seek();
            if found.is_some() {
                return found;
            }
        }
        known(self.real.of_caller(caller))
    }

    #[cold]
    fn seek(&self) -> Option<&'static Runtime> {
        let found = known(self.real.next());
        if let Some(runtime) = found {
            // ORDERING: Release, pairs with the Acquire in of [next-runtime]
            self.next.store(ptr::from_ref(runtime).cast_mut(), Ordering::Release);
        }
        // ORDERING: Relaxed, the second to seek finds the same
        self.was_sought.store(true, Ordering::Relaxed);
        found
    }
}

/// The runtime that has this function; `None` for null.
fn known(anchor: *mut c_void) -> Option<&'static Runtime> {
    if anchor.is_null() {
        return None;
    }
    FOUND.with(anchor).or_else(|| enter(anchor))
}

#[cold]
fn enter(anchor: *mut c_void) -> Option<&'static Runtime> {
    static ENTERING: Mutex<()> = Mutex::new(());
    let _errno = Errno::keep();
    let _guard = ENTERING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(runtime) = FOUND.with(anchor) {
        return Some(runtime);
    }
    Some(FOUND.add(Runtime::with(anchor)?))
}

impl Found {
    const fn new() -> Self {
        Self { latest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The runtime that has this function.
    fn with(&self, anchor: *mut c_void) -> Option<&'static Runtime> {
        std::iter::successors(self.latest(), |runtime| runtime.earlier).find(|runtime| runtime.has(anchor))
    }

    /// Adds a runtime. One thread at a time does so.
    fn add(&self, runtime: Runtime) -> &'static Runtime {
        let runtime: &'static Runtime = Box::leak(Box::new(Runtime { earlier: self.latest(), ..runtime }));
        // ORDERING: Release, pairs with the Acquire in latest [found-runtime]
        self.latest.store(ptr::from_ref(runtime).cast_mut(), Ordering::Release);
        runtime
    }

    fn latest(&self) -> Option<&'static Runtime> {
        // ORDERING: Acquire, pairs with the Release in add [found-runtime]
        let latest = self.latest.load(Ordering::Acquire);
        // SAFETY: null, or a runtime, which is never freed.
        unsafe { latest.as_ref() }
    }
}

impl Runtime {
    /// The runtime whose library has this function.
    fn with(anchor: *mut c_void) -> Option<Self> {
        let library = Library::of(anchor)?;
        // SAFETY: a library with an anchor's name is a runtime.
        let functions = unsafe { Functions::of(|name| library.find(name)) };
        let has_tools = !library.find(c"__kmpc_fork_call").is_null();
        let mut runtime = Self { functions, has_tools, is_served: false, earlier: None };
        runtime.is_served = runtime.can_be_served();
        if runtime.is_served {
            statistics::tell_at_exit();
            // SAFETY: the function lives as long as the process.
            unsafe { libc::pthread_atfork(None, None, Some(after_fork)) };
        }
        Some(runtime)
    }

    /// True if this is a function by which runtimes are found, and this one's.
    fn has(&self, anchor: *mut c_void) -> bool {
        let Functions { parallel, kmpc_barrier, .. } = self.functions;
        let addresses =
            [parallel.map(|function| function as *mut c_void), kmpc_barrier.map(|function| function as *mut c_void)];
        addresses.contains(&Some(anchor))
    }

    /// True if teams of this runtime are served. It may change to false, by a fork, while there is one thread.
    #[inline]
    pub(crate) fn is_served(&self) -> bool {
        self.is_served && !is_forked()
    }

    /// The number of regions around this thread.
    #[inline]
    pub(crate) fn level(&self) -> c_int {
        call(self.functions.level)
    }

    /// The number of this thread in its team.
    #[inline]
    pub(crate) fn thread_num(&self) -> c_int {
        call(self.functions.thread_num)
    }

    /// The number of members of this thread's team.
    #[inline]
    pub(crate) fn num_threads(&self) -> c_int {
        call(self.functions.num_threads)
    }

    /// The members that the next team may have at most, if the region does not tell.
    #[inline]
    pub(crate) fn max_threads(&self) -> c_int {
        call(self.functions.max_threads)
    }

    /// The CPUs that the process might use before any thread was bound.
    pub(crate) fn num_procs(&self) -> c_int {
        call(self.functions.num_procs)
    }

    /// True if threads are bound to places.
    pub(crate) fn binds_threads(&self) -> bool {
        call(self.functions.proc_bind) != 0
    }

    fn can_be_served(&self) -> bool {
        let Functions { level, thread_num, num_threads, max_threads, cancellation, .. } = self.functions;
        let is_complete = level.is_some() && thread_num.is_some() && num_threads.is_some() && max_threads.is_some();
        // A cancelled region leaves out barriers, not alike for all members.
        let may_cancel = cancellation.is_none() || call(cancellation) != 0;
        Settings::get().serves(Family::Omp) && is_complete && !may_cancel && !is_watched()
    }
}

/// The answer of a runtime; 0 if it has no such function.
#[inline]
fn call(function: Option<unsafe extern "C" fn() -> c_int>) -> c_int {
    // SAFETY: a question without conditions.
    function.map_or(0, |function| unsafe { function() })
}

/// An opened library.
struct Library(*mut c_void);

impl Library {
    /// The library that has this function.
    fn of(function: *mut c_void) -> Option<Self> {
        let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: any address may be asked for, and the answer has room.
        if unsafe { libc::dladdr(function, info.as_mut_ptr()) } == 0 {
            return None;
        }
        // SAFETY: the loader has written it.
        let info = unsafe { info.assume_init() };
        // SAFETY: a text; the library is loaded already, so no code of it runs. It is not closed: a runtime's threads are in it.
        let library = unsafe { libc::dlopen(info.dli_fname, libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        (!library.is_null()).then_some(Self(library))
    }

    fn find(&self, name: &CStr) -> *mut c_void {
        // SAFETY: an open library, and a text.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }
}

/// True in a process that was forked from one that had a team.
#[inline]
pub(crate) fn is_forked() -> bool {
    // ORDERING: Relaxed, written while there is one thread
    IS_FORKED.load(Ordering::Relaxed)
}

/// In the child there is one thread, and no team.
pub(crate) unsafe extern "C" fn after_fork() {
    // ORDERING: Relaxed, there is one thread
    IS_FORKED.store(true, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_runtimes_is_told_apart_and_each_is_entered_once() {
        let found = Found::new();
        let anchors: Vec<*mut c_void> = (1..=20).map(|address| ptr::without_provenance_mut(address * 16)).collect();
        for &anchor in &anchors {
            assert!(found.with(anchor).is_none());
            // SAFETY: nothing calls the function.
            let functions =
                unsafe { Functions::of(|name| if name == c"GOMP_parallel" { anchor } else { ptr::null_mut() }) };
            found.add(Runtime { functions, has_tools: false, is_served: false, earlier: None });
        }
        for anchor in anchors {
            let runtime = found.with(anchor).expect("it was added");
            assert!(runtime.has(anchor) && found.with(anchor).is_some_and(|again| ptr::eq(again, runtime)));
        }
    }
}
