//! The attribute that holds the state of a communicator, and the thread's memory of the last one.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use corecast_base::sync::{AtomicBool, AtomicU64, Ordering};
use corecast_preload::Errno;

use super::Communicator;
use crate::library::{Handle, Library, SUCCESS};

/// Counts the communicators that were freed, so that threads forget them.
static FREED: AtomicU64 = AtomicU64::new(0);
/// True once MPI is at its end.
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// The most ranks of a group.
const MOST_RANKS: c_int = corecast::collective::MAX_MEMBERS as c_int;

/// A thread's memory of the last communicator.
#[derive(Clone, Copy)]
struct Last {
    comm: Handle,
    /// [`FREED`] at that time.
    freed: u64,
    /// Null before the first one.
    state: *const Communicator,
}

thread_local! {
    static LAST: Cell<Last> = const { Cell::new(Last { comm: 0, freed: 0, state: ptr::null() }) };
}

/// Passes all later calls on.
pub(crate) fn stop() {
    // ORDERING: Relaxed, a program that ends MPI has no other thread in it
    HAS_ENDED.store(true, Ordering::Relaxed);
    // ORDERING: Relaxed, as above: threads forget what they know
    FREED.fetch_add(1, Ordering::Relaxed);
}

/// The state of a communicator; `None` if it cannot have one.
#[inline]
pub(super) fn find(library: &'static Library, comm: Handle) -> Option<&'static Communicator> {
    if let known @ Some(_) = recall(comm) {
        return known;
    }
    look_up(library, comm)
}

/// The state of a communicator that this thread has used last.
#[inline]
pub(super) fn recall(comm: Handle) -> Option<&'static Communicator> {
    let last = LAST.get();
    // ORDERING: Relaxed, a thread that uses a handle anew learnt of it from the one that freed the communicator
    let is_known = last.comm == comm && last.freed == FREED.load(Ordering::Relaxed);
    // SAFETY: null, or a state whose communicator has not been freed since, or the count would differ.
    if is_known { unsafe { last.state.as_ref() } } else { None }
}

#[cold]
fn look_up(library: &'static Library, comm: Handle) -> Option<&'static Communicator> {
    let _errno = Errno::keep();
    // No library has a communicator of handle 0. It would tell of the attribute that is asked for, and then of the call.
    // ORDERING: Relaxed, as in stop
    if comm == 0 || comm == library.constants.comm_null || HAS_ENDED.load(Ordering::Relaxed) {
        return None;
    }
    // ORDERING: Relaxed, as in recall; read before the attribute, so that a state that is freed meanwhile is forgotten
    let freed = FREED.load(Ordering::Relaxed);
    let keyval = keyval(library)?;
    let state = match existing(library, comm, keyval)? {
        known if known.is_null() => attach(library, comm, keyval)?,
        known => known,
    };
    LAST.set(Last { comm, freed, state });
    // SAFETY: a state that lives until its communicator is freed.
    unsafe { state.as_ref() }
}

/// The state that the communicator has; null if it has none, `None` if it cannot be asked.
fn existing(library: &Library, comm: Handle, keyval: c_int) -> Option<*const Communicator> {
    let (mut state, mut is_there) = (ptr::null_mut(), 0);
    // SAFETY: the library's own function, its key, and places for the answers.
    let code = unsafe { (library.functions.comm_get_attr)(comm, keyval, &mut state, &mut is_there) };
    (code == SUCCESS).then(|| if is_there == 0 { ptr::null() } else { state.cast_const().cast() })
}

/// Gives a communicator a state.
fn attach(library: &Library, comm: Handle, keyval: c_int) -> Option<*const Communicator> {
    let state = Box::into_raw(Box::new(Communicator::new(can_be_served(library, comm)?)));
    // SAFETY: the library's own function and its key; delete takes the state back.
    let code = unsafe { (library.functions.comm_set_attr)(comm, keyval, state.cast()) };
    if code == SUCCESS {
        return Some(state);
    }
    // SAFETY: made above, and the library did not take it.
    drop(unsafe { Box::from_raw(state) });
    None
}

/// True for an intra-communicator of some ranks, which is the same at all of them.
fn can_be_served(library: &Library, comm: Handle) -> Option<bool> {
    let (mut is_inter, mut size) = (0, 0);
    // SAFETY: the library's own function, and a place for the answer.
    let told = unsafe { (library.functions.comm_test_inter)(comm, &mut is_inter) };
    // SAFETY: the same.
    let counted = unsafe { (library.functions.comm_size)(comm, &mut size) };
    let is_known = told == SUCCESS && counted == SUCCESS;
    is_known.then_some(is_inter == 0 && (2..=MOST_RANKS).contains(&size))
}

/// The key of the attribute, made once.
fn keyval(library: &Library) -> Option<c_int> {
    static KEYVAL: OnceLock<Option<c_int>> = OnceLock::new();
    *KEYVAL.get_or_init(|| {
        let mut keyval = 0;
        // SAFETY: the library's own function, two functions that stay, and a place for the key.
        let code = unsafe { (library.functions.comm_create_keyval)(copy, delete, &mut keyval, ptr::null_mut()) };
        (code == SUCCESS).then_some(keyval)
    })
}

/// Called by the library for a communicator that is duplicated: the new one gets no state.
unsafe extern "C" fn copy(
    _comm: Handle,
    _keyval: c_int,
    _extra: *mut c_void,
    _state: *mut c_void,
    _new: *mut c_void,
    is_copied: *mut c_int,
) -> c_int {
    // SAFETY: the library gives a place for the answer.
    unsafe { is_copied.write(0) };
    SUCCESS
}

/// Called by the library when a communicator is freed.
unsafe extern "C" fn delete(_comm: Handle, _keyval: c_int, state: *mut c_void, _extra: *mut c_void) -> c_int {
    let _errno = Errno::keep();
    // ORDERING: Relaxed, as in recall
    FREED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: attach gave it to the library, which gives it back once; MPI allows no call on the communicator any more.
    drop(unsafe { Box::from_raw(state.cast::<Communicator>()) });
    SUCCESS
}
