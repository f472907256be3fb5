//! A pair of fences for "store, then look at the other's word", of which the frequent side costs nothing.
//!
//! A sender publishes and then looks whether the receiver sleeps; a receiver announces that it sleeps and then looks once
//! more for a message. Without a fence between store and load on *both* sides each may miss the other's store, and the
//! receiver sleeps although a message is there. A real fence makes the sender wait until its store has reached the
//! receiver, which is a whole line transfer. So where Linux offers `membarrier`, the sender's side is a compiler fence. The
//! sleeper, which has time, makes the kernel run a fence on every CPU that runs a thread of the scope: `PRIVATE_EXPEDITED`
//! among threads of one process, `GLOBAL_EXPEDITED` among processes that registered. Where the kernel refuses it, both
//! sides are ordinary SeqCst fences.

use std::sync::OnceLock;
use std::sync::atomic::compiler_fence;

use rustix::thread::{MembarrierCommand, membarrier};

use super::Scope;
use super::native::{AtomicU64, Ordering, fence};

static OF_THIS_PROCESS: OnceLock<Fences> = OnceLock::new();
static OF_ALL_PROCESSES: OnceLock<Fences> = OnceLock::new();
/// System calls of the heavy side, by all threads of this process.
static HEAVY_CALLS: AtomicU64 = AtomicU64::new(0);

/// The pair in use. Both sides must be of one kind, so the thread that creates the shared word chooses the pair once and
/// keeps the choice with the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Fences {
    /// Both sides are real fences.
    Full = 1,
    /// The heavy side runs a fence on all CPUs of this process.
    Private = 2,
    /// The heavy side runs a fence on all CPUs of the processes that registered.
    Global = 3,
}

impl Fences {
    /// The best pair for the threads of `scope`; the first call registers this process with the kernel.
    #[must_use]
    pub fn of(scope: Scope) -> Self {
        let (known, best, register, command) = match scope {
            Scope::Process => {
                let (register, command) =
                    (MembarrierCommand::RegisterPrivateExpedited, MembarrierCommand::PrivateExpedited);
                (&OF_THIS_PROCESS, Self::Private, register, command)
            }
            Scope::Machine => {
                let (register, command) =
                    (MembarrierCommand::RegisterGlobalExpedited, MembarrierCommand::GlobalExpedited);
                (&OF_ALL_PROCESSES, Self::Global, register, command)
            }
        };
        *known.get_or_init(|| {
            let registered = !cfg!(miri) && membarrier(register).is_ok();
            // The kernel may refuse the command where it accepts the registration (seccomp filters see each), so try it.
            if registered && membarrier(command).is_ok() { best } else { Self::Full }
        })
    }

    /// The pair with this number, for a process that joins others which use it already; `None` if there is no such pair, or
    /// the kernel does not grant it to this process.
    #[must_use]
    pub fn joined(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Full),
            2 => Some(Self::of(Scope::Process)).filter(|&fences| fences == Self::Private),
            3 => Some(Self::of(Scope::Machine)).filter(|&fences| fences == Self::Global),
            _ => None,
        }
    }

    /// The light side: orders this thread's earlier stores before its later loads, as seen by a thread that calls
    /// [`heavy`](Self::heavy) between a store and a load of its own. At most one of the two can miss the other's store.
    #[inline(always)]
    pub fn light(self) {
        if self == Self::Full {
            // ORDERING: SeqCst, pairs with heavy; forbids that the publisher misses the sleeper and the sleeper misses the
            // message [asymmetric]
            fence(Ordering::SeqCst);
        } else {
            // ORDERING: SeqCst, pairs with heavy, whose system call runs the real fence on this CPU; forbids the same
            // outcome [asymmetric]
            compiler_fence(Ordering::SeqCst);
        }
    }

    /// The fence of both sides while they have agreed to do without the heavy side: a real fence.
    #[inline]
    pub fn equal(self) {
        // ORDERING: SeqCst, pairs with itself on the other side; forbids the same outcome [asymmetric]
        fence(Ordering::SeqCst);
    }

    /// True if the heavy side is a system call.
    #[inline]
    #[must_use]
    pub fn is_asymmetric(self) -> bool {
        self != Self::Full
    }

    /// The heavy side, for a thread about to sleep. It takes about a microsecond, as it interrupts the CPUs on which
    /// threads of the scope run.
    #[cold]
    pub fn heavy(self) {
        // ORDERING: SeqCst, pairs with light where that is a real fence [asymmetric]
        fence(Ordering::SeqCst);
        let command = match self {
            Self::Full => return,
            Self::Private => MembarrierCommand::PrivateExpedited,
            Self::Global => MembarrierCommand::GlobalExpedited,
        };
        // ORDERING: Relaxed, a count of its own
        HEAVY_CALLS.fetch_add(1, Ordering::Relaxed);
        // The kernel may refuse now what it granted before (a filter put on this thread since). Then a wake-up may be
        // missed, and the sleeper finds the message when its slice of sleep ends.
        let _ = membarrier(command);
    }

    /// The number of times that threads of this process have asked the system for the heavy side.
    #[must_use]
    pub fn heavy_calls() -> u64 {
        // ORDERING: Relaxed, a count of its own
        HEAVY_CALLS.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_joined_by_its_number_if_it_is_granted_here() {
        for scope in [Scope::Process, Scope::Machine] {
            let fences = Fences::of(scope);
            assert_eq!(Fences::joined(fences as u32), Some(fences));
        }
        assert_eq!(Fences::joined(0), None);
        assert_eq!(Fences::joined(99), None);
    }

    #[test]
    fn system_calls_of_the_heavy_side_are_counted() {
        let fences = Fences::of(Scope::Process);
        let before = Fences::heavy_calls();
        (0..3).for_each(|_| fences.heavy());
        // Tests beside this one fence, too.
        assert!(Fences::heavy_calls() >= before + if fences.is_asymmetric() { 3 } else { 0 });
    }
}
