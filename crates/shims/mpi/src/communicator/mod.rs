//! The group of processes behind a communicator.
//!
//! A communicator carries its state as an attribute, as handles are reused after a communicator was freed. The first calls on it
//! pass; then all its ranks, which are in the same call, set the group up together or agree not to. A state never goes back
//! from passing calls on.
//!
//! - `attribute`: where the state is kept;
//! - `terms`: what all ranks have to agree on;
//! - `founder`: rank 0, which makes the group;
//! - `set_up`: the protocol;
//! - `progress`: the library's pending messages while a member waits.

mod attribute;
mod founder;
mod progress;
mod set_up;
mod terms;

use std::cell::UnsafeCell;

use corecast::Member;
use corecast::collective::Error;
use corecast_base::sync::{AtomicBool, Ordering};
use corecast_base::wait::Spinner;
use corecast_preload::Errno;

use crate::library::{Handle, Library};
use crate::settings::Settings;
pub(crate) use attribute::stop;

/// The unit in which long reductions travel: whole elements of nearly every type fit it, and it fits a message.
pub(crate) type Record = [u64; 60];

/// The state of a communicator in this process.
pub(crate) struct Communicator {
    /// True while a thread is in a call. MPI wants one call on a communicator at a time; this keeps two calls that come one
    /// after the other from different threads in order.
    is_busy: AtomicBool,
    /// True once calls pass for good. Written by the thread in the call that finds out.
    is_passed: AtomicBool,
    /// Used by the thread that has set `is_busy`.
    stage: UnsafeCell<Stage>,
}

// SAFETY: the stage is used by one thread at a time, which is_busy sees to; what is in it may go from thread to thread.
unsafe impl Sync for Communicator {}

/// How far a communicator is.
enum Stage {
    /// Calls pass until there have been enough. The number is the same at all ranks, as they all make the same calls.
    Counting { calls: u32 },
    /// Calls are served.
    Served(Box<Served>),
    /// Calls pass for good.
    Passed,
}

/// A group in use.
pub(crate) struct Served {
    pub(crate) member: Member,
    /// True if there are more ranks than CPUs on which they may run.
    pub(crate) is_crowded: bool,
    /// Room for the values of a reduction, as long as it was ever needed.
    pub(crate) records: Vec<Record>,
    /// Room for the data of types with gaps.
    pub(crate) packed: Vec<u8>,
}

impl Communicator {
    fn new(can_be_served: bool) -> Self {
        let stage = if can_be_served { Stage::Counting { calls: 0 } } else { Stage::Passed };
        let is_passed = AtomicBool::new(!can_be_served);
        Self { is_busy: AtomicBool::new(false), is_passed, stage: UnsafeCell::new(stage) }
    }

    #[inline]
    fn lock(&self) {
        // ORDERING: Acquire, pairs with the Release in unlock [communicator]
        if self.is_busy.swap(true, Ordering::Acquire) {
            self.wait_for_turn();
        }
    }

    #[cold]
    fn wait_for_turn(&self) {
        let mut spinner = Spinner::new();
        // ORDERING: Acquire, pairs with the Release in unlock [communicator]
        while self.is_busy.swap(true, Ordering::Acquire) {
            spinner.pause();
        }
    }

    #[inline]
    fn unlock(&self) {
        // ORDERING: Release, pairs with the Acquire in lock [communicator]
        self.is_busy.store(false, Ordering::Release);
    }
}

impl Stage {
    /// The group, if calls are served now.
    #[inline]
    fn served(&mut self, library: &'static Library, comm: Handle) -> Option<&mut Served> {
        if let Self::Counting { calls } = self {
            *calls += 1;
            if *calls <= Settings::get().after {
                return None;
            }
            *self = set_up::set_up(library, comm).map_or(Self::Passed, |served| Self::Served(Box::new(served)));
        }
        match self {
            Self::Served(served) => Some(served),
            _ => None,
        }
    }
}

/// Lets `operate` use the group of a communicator. `None` if the call is to be passed on: because `operate` says so, which all
/// ranks do or none, or because the communicator is not served. After an error, as when a rank has died, it is not served any
/// more.
#[inline]
pub(crate) fn serve<R>(
    library: &'static Library,
    comm: Handle,
    operate: impl FnOnce(&mut Served) -> Result<Option<R>, Error>,
) -> Option<R> {
    let communicator = attribute::find(library, comm)?;
    // ORDERING: Relaxed, a call that does not see it yet finds the stage
    if communicator.is_passed.load(Ordering::Relaxed) {
        return None;
    }
    let _errno = Errno::keep();
    communicator.lock();
    // SAFETY: locked, so no other thread has it.
    let stage = unsafe { &mut *communicator.stage.get() };
    let result = match stage.served(library, comm).map(operate) {
        None => None,
        Some(Ok(result)) => result,
        Some(Err(_)) => {
            *stage = Stage::Passed;
            None
        }
    };
    if let Stage::Passed = stage {
        // ORDERING: Relaxed, as above
        communicator.is_passed.store(true, Ordering::Relaxed);
    }
    communicator.unlock();
    result
}
