//! Data behind the locks of C and C++ libraries: Concurrency Kit's spinlocks, and abseil's mutex.
//!
//! Each library's locks are wrapped by a small source beside this file, which the library's first compiler that can builds as a
//! shared object, once for a run. The object is loaded into the benchmark, so that these locks are raced by the same threads as
//! all others. Each lock and each unlock is a call, as of the C library's mutex, in which the lock's own code is inline. A
//! library that is not installed has rows with the compiler's first error and the command that installs it.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use corecast::base::CacheLine;
use corecast::base::sync::UnsafeCell;
use corecast::lock::Setup;

use super::guarded::{Guarded, Line};
use crate::c_object::{Object, Source};
use corecast_race::failure::Failure;

/// A library with locks.
struct Library {
    source: Source,
    installs: &'static str,
}

const CK: Library = Library {
    source: Source {
        text: include_str!("ck.c"),
        file: "ck.c",
        compilers: &["cc", "gcc", "clang"],
        flags: &[],
        package: "ck",
    },
    installs: "apt-get install libck-dev gcc pkg-config",
};
const ABSL: Library = Library {
    source: Source {
        text: include_str!("absl.cc"),
        file: "absl.cc",
        compilers: &["c++", "g++", "clang++"],
        flags: &[],
        package: "absl_synchronization",
    },
    installs: "apt-get install libabsl-dev g++ pkg-config",
};

/// One lock of a library.
pub(super) struct Kind {
    /// Its functions' names begin with it, after `corecast_bench_`.
    pub(super) name: &'static str,
    library: &'static Library,
    gives_way: bool,
}

/// All of them.
pub(super) const KINDS: [Kind; 5] = [
    Kind { name: "ck_fas", library: &CK, gives_way: false },
    Kind { name: "ck_ticket", library: &CK, gives_way: false },
    Kind { name: "ck_mcs", library: &CK, gives_way: false },
    Kind { name: "ck_clh", library: &CK, gives_way: false },
    Kind { name: "absl", library: &ABSL, gives_way: true },
];

type Call = unsafe extern "C" fn(*mut c_void);

/// The functions of one lock.
#[derive(Clone, Copy)]
struct Calls {
    init: Call,
    lock: Call,
    unlock: Call,
}

/// Of each kind, or why there are none.
fn calls(kind: usize) -> &'static Result<Calls, String> {
    static LOADED: [OnceLock<Result<Calls, String>>; KINDS.len()] = [const { OnceLock::new() }; KINDS.len()];
    LOADED[kind].get_or_init(|| {
        let Kind { name, library, .. } = &KINDS[kind];
        let object = library.built().map_err(|why| format!("{why} ({})", library.installs))?;
        let call = |verb: &str| find(object, &format!("corecast_bench_{name}_{verb}"));
        Ok(Calls { init: call("init")?, lock: call("lock")?, unlock: call("unlock")? })
    })
}

impl Library {
    /// The object, built at the first call.
    fn built(&self) -> Result<Object, String> {
        static BUILT: [OnceLock<Result<Object, String>>; 2] = [const { OnceLock::new() }; 2];
        BUILT[usize::from(self.source.package != CK.source.package)].get_or_init(|| self.source.build()).clone()
    }
}

fn find(object: Object, name: &str) -> Result<Call, String> {
    let found = object.find(name)?;
    // SAFETY: the sources beside this file declare all functions with these names so.
    Ok(unsafe { std::mem::transmute::<*mut c_void, Call>(found) })
}

/// The largest lock has fewer bytes.
const LOCK_BYTES: usize = 128;

/// A lock of this number, on lines of its own.
pub(super) struct Foreign<const KIND: usize> {
    raw: Box<CacheLine<UnsafeCell<MaybeUninit<[u8; LOCK_BYTES]>>>>,
    calls: Calls,
    line: UnsafeCell<Line>,
}

// SAFETY: the lock is made to be used by many threads, and lets one at a time reach the line.
unsafe impl<const KIND: usize> Sync for Foreign<KIND> {}

impl<const KIND: usize> Guarded for Foreign<KIND> {
    const GIVES_WAY: bool = KINDS[KIND].gives_way;

    fn is_there() -> Result<(), Failure> {
        calls(KIND).as_ref().map(|_| ()).map_err(|why| Failure::Refused(why.clone()))
    }

    fn new(_setup: &Setup) -> Self {
        let calls = *calls(KIND).as_ref().expect("it is there");
        let raw = Box::new(CacheLine(UnsafeCell::new(MaybeUninit::zeroed())));
        // SAFETY: at its final place, with room for any of these locks.
        raw.with_mut(|raw| unsafe { (calls.init)(raw.cast()) });
        Self { raw, calls, line: UnsafeCell::new(Line::default()) }
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        // SAFETY: initialised; a thread that holds it never comes here.
        self.raw.with_mut(|raw| unsafe { (self.calls.lock)(raw.cast()) });
        // SAFETY: the lock is held.
        let result = self.line.with_mut(|line| work(unsafe { &mut *line }));
        // SAFETY: this thread holds it.
        self.raw.with_mut(|raw| unsafe { (self.calls.unlock)(raw.cast()) });
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_testing::skipped;

    #[test]
    fn what_is_missing_is_told_with_the_command_that_installs_it() {
        let absent = Source { text: "#include <no_such_header.h>\n", package: "no-such-package", ..CK.source };
        let why = absent.build().err().expect("there is none");
        if why.starts_with("cc: ") {
            skipped("a missing header of a lock's library", why);
        } else {
            assert!(why.starts_with("ck.c:1:") && why.contains("no_such_header.h"), "{why}");
        }
        let unbuilt = Source { compilers: &["no-such-compiler"], ..CK.source };
        assert!(unbuilt.build().err().is_some_and(|why| why.contains("no-such-compiler")));
    }
}
