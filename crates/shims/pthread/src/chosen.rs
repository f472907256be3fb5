//! The lock that the user has chosen.

use corecast_lock::Algorithm;
use corecast_preload::{Errno, Family, Settings, variable};

/// The lock to use, if locks are served: `auto` if none is named; none for `pthread`, for names that are no lock's, and under a
/// sanitizer that watches locks.
///
/// `word` stands for `byte`: it is the same algorithm where there is room for it, and its sleepers need no table that a child of
/// `fork` could find locked.
pub(crate) fn algorithm() -> Option<Algorithm> {
    if !Settings::get().serves(Family::Lock) || is_watched() {
        return None;
    }
    let Some(name) = variable(c"CORECAST_LOCK") else { return Some(Algorithm::Auto) };
    let found = Algorithm::ALL.iter().copied().find(|algorithm| algorithm.name().as_bytes() == name)?;
    Some(if found == Algorithm::Byte { Algorithm::Word } else { found })
}

/// True if ThreadSanitizer's runtime is in the process. It has to see the locks, and it finds the C library's functions behind
/// this object by their versions, so that it would mix them with ours.
fn is_watched() -> bool {
    let _errno = Errno::keep();
    // SAFETY: all libraries, and a text.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__tsan_init".as_ptr()) }.is_null()
}
