//! The barrier of POSIX threads, as the C library provides it.

use std::mem::MaybeUninit;
use std::sync::Arc;

use corecast::base::CacheLine;
use corecast::base::sync::UnsafeCell;

use super::body::{BarrierEnd, barrier_bodies};
use super::{Body, Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::Abort;

pub(super) struct PthreadBarrier;

struct End(Arc<Native>);

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
        "pthread_barrier_wait of the C library, private to the process, sleeps at once".to_owned()
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
