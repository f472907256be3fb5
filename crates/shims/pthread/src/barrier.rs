//! `pthread_barrier_*` over [`Ticket`].
//!
//! A barrier of ours is known by a number at its end, where the C library's have nothing. Barriers among processes, and those for
//! more threads than a ticket's state can count, are the C library's.

use std::cell::RefCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::{CpuSharing, Wait, Waiter};
use corecast_preload::{Family, Real};
use libc::{pthread_barrier_t, pthread_barrierattr_t};

use crate::counts::BARRIER_WAIT;
use crate::release::ReleaseFlag;
use crate::slot::export;
use crate::ticket::{MOST, Ticket};
use crate::{cpus, withdrawn};

type Init = unsafe extern "C" fn(*mut pthread_barrier_t, *const pthread_barrierattr_t, u32) -> c_int;
type Call = unsafe extern "C" fn(*mut pthread_barrier_t) -> c_int;

export! { "C":
    INIT: Init = first_init, pthread_barrier_init
        (barrier: *mut pthread_barrier_t, attributes: *const pthread_barrierattr_t, count: u32);
    WAIT: Call = first_wait, pthread_barrier_wait (barrier: *mut pthread_barrier_t);
    DESTROY: Call = first_destroy, pthread_barrier_destroy (barrier: *mut pthread_barrier_t);
}

static REAL_INIT: Real = Real::new(c"pthread_barrier_init");
static REAL_WAIT: Real = Real::new(c"pthread_barrier_wait");
static REAL_DESTROY: Real = Real::new(c"pthread_barrier_destroy");

/// A barrier of ours.
#[repr(C)]
struct Barrier {
    ticket: Ticket,
    /// [`mark`], or anything in a barrier of the C library's. Written when it is made and destroyed.
    mark: AtomicU64,
}

const _: () = assert!(size_of::<Barrier>() == 32 && size_of::<Barrier>() == size_of::<pthread_barrier_t>());
const _: () = assert!(align_of::<Barrier>() == align_of::<pthread_barrier_t>());

/// The number that marks a barrier of ours at this address.
fn mark(barrier: *const pthread_barrier_t) -> u64 {
    0x7a9b_12c5_e04f_86d3 ^ barrier.addr() as u64
}

impl Barrier {
    /// The barrier at this address, if it is ours.
    ///
    /// # Safety
    /// - A barrier is there that was initialised.
    #[inline]
    unsafe fn at<'a>(barrier: *mut pthread_barrier_t) -> Option<&'a Self> {
        // SAFETY: initialised, as the caller promises, by us or by the C library; all fields are numbers.
        let ours = unsafe { &*barrier.cast::<Self>() };
        // ORDERING: Relaxed, written before the barrier was shared
        (ours.mark.load(Ordering::Relaxed) == mark(barrier)).then_some(ours)
    }
}

/// Chooses who serves barriers.
pub(crate) fn choose() {
    if withdrawn::serves(Family::Barrier) {
        INIT.put(init);
        DESTROY.put(destroy);
        WAIT.put(wait);
    } else {
        INIT.put_real(REAL_INIT.next());
        WAIT.put_real(REAL_WAIT.next());
        DESTROY.put_real(REAL_DESTROY.next());
    }
}

unsafe extern "C" fn init(
    barrier: *mut pthread_barrier_t,
    attributes: *const pthread_barrierattr_t,
    count: u32,
) -> c_int {
    if count == 0 {
        return libc::EINVAL;
    }
    // SAFETY: the caller's attributes.
    let is_ours = count <= MOST && unsafe { is_private(attributes) };
    let made = Barrier { ticket: Ticket::new(count), mark: AtomicU64::new(if is_ours { mark(barrier) } else { 0 }) };
    // SAFETY: room for a barrier, as the caller promises. One of the C library's loses a mark that was left there.
    unsafe { barrier.cast::<Barrier>().write(made) };
    if is_ours {
        if let Some(flag) = ReleaseFlag::of(barrier.addr()) {
            flag.clear();
        }
        return 0;
    }
    // SAFETY: the C library's function of this type.
    let real = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Init>(REAL_INIT.next()) };
    // SAFETY: the caller's promise.
    unsafe { real(barrier, attributes, count) }
}

unsafe extern "C" fn wait(barrier: *mut pthread_barrier_t) -> c_int {
    // SAFETY: the caller's promise.
    let Some(ours) = (unsafe { Barrier::at(barrier) }) else {
        BARRIER_WAIT.pass();
        // SAFETY: the C library's function of this type.
        let real = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Call>(REAL_WAIT.next()) };
        // SAFETY: the caller's promise.
        return unsafe { real(barrier) };
    };
    BARRIER_WAIT.serve();
    let is_last = with_waiter(ours.ticket.count(), |waiter| ours.ticket.wait(ReleaseFlag::of(barrier.addr()), waiter));
    if is_last { libc::PTHREAD_BARRIER_SERIAL_THREAD } else { 0 }
}

/// Calls `body` with this thread's waiter for barriers of `count` threads. It keeps what the thread has learnt: there is
/// one for counts that the CPUs can bear, and one for others.
fn with_waiter<R>(count: u32, body: impl FnOnce(&mut Waiter) -> R) -> R {
    /// Nothing in them is to be dropped, which would take a destructor when the thread ends.
    type Waiters = [Option<ManuallyDrop<Waiter>>; 2];
    thread_local! {
        static WAITERS: RefCell<Waiters> = const { RefCell::new([None, None]) };
    }
    let is_crowd = count > cpus::allowed();
    let made = || {
        let sharing = CpuSharing::among(2, if is_crowd { 1 } else { 2 });
        ManuallyDrop::new(Waiter::new(Wait::Adaptive, sharing, None))
    };
    WAITERS.with(|waiters| match waiters.try_borrow_mut() {
        Ok(mut waiters) => body(waiters[usize::from(is_crowd)].get_or_insert_with(made)),
        // A handler of a signal that came while this thread waits.
        Err(_) => body(&mut made()),
    })
}

unsafe extern "C" fn destroy(barrier: *mut pthread_barrier_t) -> c_int {
    // SAFETY: the caller's promise.
    let Some(ours) = (unsafe { Barrier::at(barrier) }) else {
        // SAFETY: the C library's function of this type.
        let real = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Call>(REAL_DESTROY.next()) };
        // SAFETY: the caller's promise.
        return unsafe { real(barrier) };
    };
    if !ours.ticket.is_between_rounds() {
        return libc::EBUSY;
    }
    with_waiter(ours.ticket.count(), |waiter| ours.ticket.empty(waiter));
    // ORDERING: Relaxed, nobody uses it any more
    ours.mark.store(0, Ordering::Relaxed);
    0
}

/// # Safety
/// - Null, or attributes that were initialised.
unsafe fn is_private(attributes: *const pthread_barrierattr_t) -> bool {
    let mut shared = libc::PTHREAD_PROCESS_PRIVATE;
    if !attributes.is_null() {
        // SAFETY: the caller's attributes, and room for the answer.
        unsafe { libc::pthread_barrierattr_getpshared(attributes, ptr::from_mut(&mut shared)) };
    }
    shared == libc::PTHREAD_PROCESS_PRIVATE
}
