//! A pair of fences for "store, then look at the other's word" of which the frequent side costs nothing.
//!
//! A sender publishes and then looks whether the receiver sleeps; a receiver announces that it sleeps and then looks
//! once more for a message. Without a fence between store and load on *both* sides each may miss the other's store, and
//! the receiver sleeps on a message. A real fence makes the sender wait until its store has reached the receiver, which
//! is a whole line transfer; so where Linux offers `membarrier(PRIVATE_EXPEDITED)` the sender's side is a compiler fence
//! and the sleeper, who has time, makes the kernel run a fence on every CPU of the process. Where it is refused both
//! sides are ordinary SeqCst fences.

use std::sync::OnceLock;
use std::sync::atomic::compiler_fence;

use rustix::thread::{MembarrierCommand, membarrier};

use super::native::{Ordering, fence};

static EXPEDITED: OnceLock<bool> = OnceLock::new();

/// Which of the two pairs is in use. Both sides of a pair must be of one kind, so whoever makes what they meet at decides
/// once and keeps the answer with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fences {
    is_expedited: bool,
}

impl Fences {
    /// The best pair that this process may use; the first call registers it with the kernel.
    #[must_use]
    pub fn of_this_process() -> Self {
        let is_expedited = *EXPEDITED.get_or_init(|| {
            let registered = !cfg!(miri) && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok();
            // The command itself may be refused where registering is not (seccomp filters see each): try it.
            registered && membarrier(MembarrierCommand::PrivateExpedited).is_ok()
        });
        Self { is_expedited }
    }

    /// The cheap side: orders this thread's earlier stores before its later loads, as seen by a thread that calls
    /// [`heavy`](Self::heavy) between a store and a load of its own. At most one of the two can miss the other's store.
    #[inline(always)]
    pub fn light(self) {
        if self.is_expedited {
            // ORDERING: SeqCst, pairs with heavy, whose system call runs the real fence on this CPU; forbids that the
            // publisher misses the sleeper and the sleeper misses the message [asymmetric]
            compiler_fence(Ordering::SeqCst);
        } else {
            // ORDERING: SeqCst, pairs with heavy; forbids the same outcome [asymmetric]
            fence(Ordering::SeqCst);
        }
    }

    /// The dear side: about a microsecond, as it interrupts the CPUs on which threads of this process run. For a thread
    /// about to sleep.
    #[cold]
    pub fn heavy(self) {
        // ORDERING: SeqCst, pairs with light where that is a real fence [asymmetric]
        fence(Ordering::SeqCst);
        if self.is_expedited {
            // Refused now although it was granted before (a filter put on this thread since): a wake-up may be missed,
            // and the sleeper finds the message when its slice of sleep ends.
            let _ = membarrier(MembarrierCommand::PrivateExpedited);
        }
    }
}
