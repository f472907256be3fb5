//! The lock that the user has chosen.

use corecast_lock::Algorithm;
use corecast_preload::{Family, variable};

use crate::withdrawn;

/// The lock to use, if locks are served: `auto` if none is named; none for `pthread`, for names that are no lock's, and under a
/// sanitizer that watches locks.
///
/// `word` stands for `byte`: it is the same algorithm where there is room for it, and its sleepers need no table that a child of
/// `fork` could find locked.
pub(crate) fn algorithm() -> Option<Algorithm> {
    if !withdrawn::serves(Family::Lock) || is_watched() {
        return None;
    }
    let Some(name) = variable(c"CORECAST_LOCK") else { return Some(Algorithm::Auto) };
    let found = Algorithm::ALL.iter().copied().find(|algorithm| algorithm.name().as_bytes() == name)?;
    Some(if found == Algorithm::Byte { Algorithm::Word } else { found })
}

// The address of the runtime's entry, or 0: the loader fills it in. To ask the loader for a name that is missing would allocate,
// and an allocator may lock a mutex, which asks for this choice.
std::arch::global_asm!(
    ".weak __tsan_init",
    ".pushsection .data.rel.ro,\"aw\"",
    ".balign 8",
    ".globl corecast_pthread_tsan_init",
    ".hidden corecast_pthread_tsan_init",
    "corecast_pthread_tsan_init: .quad __tsan_init",
    ".popsection",
);

unsafe extern "C" {
    #[link_name = "corecast_pthread_tsan_init"]
    static TSAN_INIT: usize;
}

/// True if ThreadSanitizer's runtime is in the process. It has to see the locks, and it finds the C library's functions behind
/// this object by their versions, so that it would mix them with ours.
fn is_watched() -> bool {
    // SAFETY: the word above, which nobody writes once the loader has.
    let address = unsafe { TSAN_INIT };
    address != 0
}
