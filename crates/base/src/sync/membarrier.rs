//! A pair of fences for "store, then look at the other's word" of which the frequent side costs nothing.
//!
//! A sender publishes and then looks whether the receiver sleeps; a receiver announces that it sleeps and then looks
//! once more for a message. Without a fence between store and load on *both* sides each may miss the other's store, and
//! the receiver sleeps on a message. A real fence makes the sender wait until its store has reached the receiver, which
//! is a whole line transfer; so where Linux offers `membarrier(PRIVATE_EXPEDITED)` the sender's side is a compiler fence
//! and the sleeper, who has time, makes the kernel run a fence on every CPU of the process. Where it is refused both
//! sides are ordinary SeqCst fences.

use std::sync::Once;
use std::sync::atomic::compiler_fence;

use rustix::thread::{MembarrierCommand, membarrier};

use super::native::{AtomicBool, Ordering, fence};

static DECIDE: Once = Once::new();
static EXPEDITED: AtomicBool = AtomicBool::new(false);

/// Decides, once per process, which fences are used, and registers the process with the kernel. Whoever makes a wake
/// word calls this first: the making happens before every use, so all users of one word see the same decision.
pub fn prepare_fences() {
    DECIDE.call_once(|| {
        let registered = !cfg!(miri) && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok();
        // The command itself may be refused where registering is not (seccomp filters see each): try it.
        if registered && membarrier(MembarrierCommand::PrivateExpedited).is_ok() {
            // ORDERING: Relaxed, call_once orders it before everything that follows any prepare_fences
            EXPEDITED.store(true, Ordering::Relaxed);
        }
    });
}

#[inline(always)]
fn is_expedited() -> bool {
    // ORDERING: Relaxed, decided before the wake word that the caller uses was made
    EXPEDITED.load(Ordering::Relaxed)
}

/// The cheap side: orders this thread's earlier stores before its later loads, as seen by a thread that calls
/// [`heavy_fence`] between a store and a load of its own. At most one of the two can miss the other's store.
#[inline(always)]
pub fn light_fence() {
    if is_expedited() {
        // ORDERING: SeqCst, pairs with heavy_fence, whose system call runs the real fence on this CPU; forbids that the
        // publisher misses the sleeper and the sleeper misses the message [asymmetric]
        compiler_fence(Ordering::SeqCst);
    } else {
        // ORDERING: SeqCst, pairs with heavy_fence; forbids the same outcome [asymmetric]
        fence(Ordering::SeqCst);
    }
}

/// The dear side: about a microsecond, as it interrupts the CPUs on which threads of this process run. For a thread
/// about to sleep.
#[cold]
pub fn heavy_fence() {
    // ORDERING: SeqCst, pairs with light_fence where that is a real fence [asymmetric]
    fence(Ordering::SeqCst);
    if is_expedited() {
        // Refused now although it was granted before (a filter put on this thread since): a wake-up may be missed, and
        // the sleeper finds the message when its slice of sleep ends.
        let _ = membarrier(MembarrierCommand::PrivateExpedited);
    }
}
