//! The lock that the user has chosen.

use corecast_lock::Algorithm;
use corecast_preload::{Family, is_watched, variable};

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
