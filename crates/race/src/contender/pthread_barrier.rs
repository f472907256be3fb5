//! The barrier of POSIX threads, as the C library provides it.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use corecast::base::sync::{AtomicU32, UnsafeCell};
use corecast::base::{Arena, CacheLine, Place};

use super::bodies::{BarrierEnd, barrier_bodies, barrier_body};
use super::{Contender, Seat, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body};

pub(super) struct PthreadBarrier;

struct End(Arc<Native>);

/// Memory for a `pthread_barrier_t`, whose words the C library treats as atomic integers of 32 bits.
type Words = CacheLine<[AtomicU32; 16]>;

/// A `pthread_barrier_t` that processes share. It is never destroyed, which would wait for members that were killed.
struct Shared(Place<Words>);

/// A `pthread_barrier_t` that does not move while it is used, on lines of its own.
struct Native(CacheLine<UnsafeCell<MaybeUninit<libc::pthread_barrier_t>>>);

// SAFETY: the C library's barrier is made to be used by many threads at once, and nothing else is reached through it.
unsafe impl Send for Native {}
// SAFETY: as for Send.
unsafe impl Sync for Native {}

impl Contender for PthreadBarrier {
    fn name(&self) -> String {
        "pthread".to_owned()
    }

    fn about(&self) -> String {
        "pthread_barrier_wait of the C library, private to the process or shared by processes, sleeps at once"
            .to_owned()
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let members = setting.participants();
        let barrier = Arc::new(Native(CacheLine::new(UnsafeCell::new(MaybeUninit::uninit()))));
        let count = libc::c_uint::try_from(members).map_err(|error| Unfit(error.to_string()))?;
        // SAFETY: the barrier is at its final place and not yet initialised; no attributes mean private to the process.
        let status =
            barrier.0.with_mut(|raw| unsafe { libc::pthread_barrier_init(raw.cast(), std::ptr::null(), count) });
        if status != 0 {
            // Not initialised: it must not be destroyed either.
            std::mem::forget(barrier);
            return Err(Unfit(format!("pthread_barrier_init refused {members} members: error {status}")));
        }
        Ok(barrier_bodies((0..members).map(|_| End(Arc::clone(&barrier))).collect()))
    }

    fn found(&self, setting: &Setting<'_>, arena: &mut Arena) -> Result<Vec<OwnedFd>, Unfit> {
        let members = libc::c_uint::try_from(setting.participants()).map_err(|error| Unfit(error.to_string()))?;
        match Shared::lay_out(arena)?.initialise(members) {
            0 => Ok(Vec::new()),
            status => Err(Unfit(format!("pthread_barrier_init refused {members} members: error {status}"))),
        }
    }

    fn attend(&self, seat: Seat, arena: &mut Arena, _fds: Vec<OwnedFd>) -> Result<Box<dyn Body>, Unfit> {
        Ok(barrier_body(seat.rank, Shared::lay_out(arena)?, seat.witness))
    }
}

impl Shared {
    fn lay_out(arena: &mut Arena) -> Result<Self, Unfit> {
        const { assert!(size_of::<Words>() >= size_of::<libc::pthread_barrier_t>()) };
        arena.place().map(Self).map_err(|error| Unfit(error.to_string()))
    }

    fn raw(&self) -> *mut libc::pthread_barrier_t {
        std::ptr::from_ref::<Words>(&self.0).cast_mut().cast()
    }

    /// Makes a barrier of it; the library's error, or 0.
    fn initialise(&self, members: libc::c_uint) -> libc::c_int {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the attributes are at their place and not yet initialised; this never fails with that.
        unsafe { libc::pthread_barrierattr_init(attributes.as_mut_ptr()) };
        // SAFETY: initialised above; the value is one of the two that there are.
        unsafe { libc::pthread_barrierattr_setpshared(attributes.as_mut_ptr(), libc::PTHREAD_PROCESS_SHARED) };
        // SAFETY: the memory is as large and aligned as a barrier, mapped for as long as self lives, and no member has it yet.
        unsafe { libc::pthread_barrier_init(self.raw(), attributes.as_ptr(), members) }
    }
}

impl BarrierEnd for Shared {
    #[inline]
    fn wait(&mut self) -> Result<(), Failure> {
        // SAFETY: the founder initialised it before any member was started, and nobody destroys it.
        let status = unsafe { libc::pthread_barrier_wait(self.raw()) };
        if status == 0 || status == libc::PTHREAD_BARRIER_SERIAL_THREAD {
            return Ok(());
        }
        Err(Failure::Refused(format!("pthread_barrier_wait returned {status}")))
    }
}

impl BarrierEnd for End {
    #[inline]
    fn wait(&mut self) -> Result<(), Failure> {
        // SAFETY: build initialised the barrier before it made an end, and it lives as long as any end.
        let status = self.0.0.with_mut(|raw| unsafe { libc::pthread_barrier_wait(raw.cast()) });
        if status == 0 || status == libc::PTHREAD_BARRIER_SERIAL_THREAD {
            return Ok(());
        }
        Err(Failure::Refused(format!("pthread_barrier_wait returned {status}")))
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: initialised by build, and no end is left that could wait on it.
        self.0.with_mut(|raw| unsafe { libc::pthread_barrier_destroy(raw.cast()) });
    }
}
