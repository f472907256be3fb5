//! A function that is called when a thread ends, if the thread has asked for it.
//!
//! Take it where Rust's thread-local destructors cannot be used. A function that asks again while it is called is called once
//! more, some times at most.
//!
//! It is a key of pthread, and not a destructor of Rust's thread-local variables: those allocate, and take the loader's lock,
//! when they are registered. A key of a low number does neither.
//!
//! ```
//! use corecast_base::ThreadEnd;
//! use corecast_base::sync::{AtomicU32, Ordering};
//!
//! static ENDED: AtomicU32 = AtomicU32::new(0);
//! // ORDERING: Relaxed, the join orders it
//! static AT_END: ThreadEnd = ThreadEnd::new(|| drop(ENDED.fetch_add(1, Ordering::Relaxed)));
//!
//! std::thread::spawn(|| assert!(AT_END.ask())).join().expect("it ends");
//! // ORDERING: Relaxed, the join orders it
//! assert_eq!(ENDED.load(Ordering::Relaxed), 1);
//! ```

use std::ffi::c_void;
use std::ptr;

use crate::sync::{AtomicU32, Ordering};

/// Before a thread has asked.
const UNMADE: u32 = 0;
/// Where the system has no key left.
const NO_KEY: u32 = u32::MAX;

/// Calls a function at the end of each thread that asks.
#[derive(Debug)]
pub struct ThreadEnd {
    /// [`UNMADE`], [`NO_KEY`], or the key plus one. Written once, by a thread that asks.
    key: AtomicU32,
    then: fn(),
}

/// Called by the system with what the thread has set: the function.
unsafe extern "C" fn at_end(then: *mut c_void) {
    // SAFETY: ask has set a function of this type.
    let then = unsafe { std::mem::transmute::<*mut c_void, fn()>(then) };
    then();
}

impl ThreadEnd {
    /// Calls `then`, once a thread has asked for it.
    #[must_use]
    pub const fn new(then: fn()) -> Self {
        Self { key: AtomicU32::new(UNMADE), then }
    }

    /// Has the function called when this thread ends; false if that is not possible.
    #[must_use]
    #[cfg(not(simulated))]
    pub fn ask(&self) -> bool {
        self.ask_host()
    }

    /// Has the function called when this thread ends, which may be a simulated one; false if that is not possible.
    #[must_use]
    #[cfg(simulated)]
    pub fn ask(&self) -> bool {
        corecast_sim_core::with_current(|thread| match thread {
            Some(thread) => {
                thread.at_end(self.then);
                true
            }
            None => self.ask_host(),
        })
    }

    fn ask_host(&self) -> bool {
        // ORDERING: Relaxed, the number is all there is
        let key = match self.key.load(Ordering::Relaxed) {
            UNMADE => self.make_key(),
            key => key,
        };
        if key == NO_KEY {
            return false;
        }
        // SAFETY: a key that was made, and is never deleted.
        unsafe { libc::pthread_setspecific(key - 1, self.then as *const c_void) == 0 }
    }

    fn make_key(&self) -> u32 {
        let mut made = 0;
        // SAFETY: room for a key, and a function for what is set.
        let is_made = unsafe { libc::pthread_key_create(ptr::from_mut(&mut made), Some(at_end)) } == 0;
        let key = if is_made { made + 1 } else { NO_KEY };
        // ORDERING: Relaxed, as in ask
        match self.key.compare_exchange(UNMADE, key, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => key,
            Err(theirs) => {
                if is_made {
                    // SAFETY: made above, and nobody else knows it.
                    unsafe { libc::pthread_key_delete(made) };
                }
                theirs
            }
        }
    }
}
