//! The group of processes behind a communicator.
//!
//! A communicator carries its state as an attribute, as handles are reused after a communicator was freed. The first calls on it
//! pass; then all its ranks, which are in the same call, set the group up together or agree not to. A state never goes back
//! from passing calls on.
//!
//! - `attribute`: where the state is kept;
//! - `terms`: what all ranks have to agree on;
//! - `founder`: rank 0, which makes the group;
//! - `set_up`: the protocol; `contest`: what is timed in it;
//! - `progress`: the library's pending messages while a member waits.

mod attribute;
mod contest;
mod founder;
mod progress;
mod set_up;
mod terms;

use corecast::Member;
use corecast::collective::Error;
use corecast_base::sync::{AtomicBool, AtomicU32, Ordering, UnsafeCell};
use corecast_base::wait::Spinner;
use corecast_preload::Errno;

use crate::lengths::Crowd;
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
    /// How calls are served now, as a number of [`Crowd`]; [`COUNTING`] before. Written by the thread in the call that finds out.
    crowd: AtomicU32,
    /// Used by the thread that has set `is_busy`.
    stage: UnsafeCell<Stage>,
}

// SAFETY: the stage is used by one thread at a time, which is_busy sees to; what is in it may go from thread to thread.
unsafe impl Sync for Communicator {}

impl Crowd {
    const ALL: [Self; 4] = [Self::Pair, Self::PairApart, Self::Wide, Self::Crowded];
}

/// Calls pass until there have been enough.
const COUNTING: u32 = 0;
/// Calls pass for good.
const PASSED: u32 = 4;

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
    pub(crate) crowd: Crowd,
    /// Room for the values of a reduction, as long as it was ever needed.
    pub(crate) records: Vec<Record>,
    /// Room for the data of types with gaps.
    pub(crate) packed: Vec<u8>,
}

impl Communicator {
    fn new(can_be_served: bool) -> Self {
        let stage = if can_be_served { Stage::Counting { calls: 0 } } else { Stage::Passed };
        let crowd = AtomicU32::new(if can_be_served { COUNTING } else { PASSED });
        Self { is_busy: AtomicBool::new(false), crowd, stage: UnsafeCell::new(stage) }
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
            spinner.pause_or_sleep();
        }
    }

    /// Notes how calls are served, so that those that pass need no lock. Called by the thread that has the lock.
    fn note(&self, stage: &Stage) {
        let crowd = match stage {
            Stage::Counting { .. } => COUNTING,
            Stage::Served(served) => served.crowd as u32,
            Stage::Passed => PASSED,
        };
        // ORDERING: Relaxed, a call that does not see it yet finds the stage
        self.crowd.store(crowd, Ordering::Relaxed);
    }

    /// The ranks and CPUs of a communicator that is served, and whether calls pass for good.
    #[inline]
    fn crowd(&self) -> (Option<Crowd>, bool) {
        // ORDERING: Relaxed, as the number says all
        let noted = self.crowd.load(Ordering::Relaxed);
        let crowd = Crowd::ALL.into_iter().find(|&crowd| crowd as u32 == noted);
        (crowd, noted == PASSED)
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

/// True if all calls on the communicator are known to pass, for good. Asked first: such a call shall cost next to nothing.
#[inline]
pub(crate) fn passes(comm: Handle) -> bool {
    attribute::recall(comm).is_some_and(|communicator| communicator.crowd().1)
}

/// Lets `operate` use the group of a communicator, if `pays` says that this is worth it among its ranks. `None` if the call is to
/// be passed on: because one of them says so, which all ranks do or none, or because the communicator is not served. After an
/// error, as when a rank has died, it is not served any more.
#[inline]
pub(crate) fn serve<R>(
    library: &'static Library,
    comm: Handle,
    pays: impl Fn(Crowd) -> bool,
    operate: impl FnOnce(&mut Served) -> Result<Option<R>, Error>,
) -> Option<R> {
    let communicator = attribute::find(library, comm)?;
    match communicator.crowd() {
        (_, true) => return None,
        (Some(crowd), _) if !pays(crowd) => return None,
        _ => {}
    }
    let _errno = Errno::keep();
    communicator.lock();
    let result = communicator.stage.with_mut(|stage| {
        // SAFETY: locked, so no other thread has it.
        let stage = unsafe { &mut *stage };
        let result = match stage.served(library, comm).filter(|served| pays(served.crowd)).map(operate) {
            None => None,
            Some(Ok(result)) => result,
            Some(Err(_)) => {
                *stage = Stage::Passed;
                None
            }
        };
        communicator.note(stage);
        result
    });
    communicator.unlock();
    result
}
