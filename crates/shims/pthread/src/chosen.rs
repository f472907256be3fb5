//! The lock that the user has chosen.

use corecast_lock::Algorithm;
use corecast_preload::{Family, Settings, variable};

/// The lock to use, if locks are served: `auto` if none is named; none for `pthread` and for names that are no lock's.
///
/// `word` stands for `byte`: it is the same algorithm where there is room for it, and its sleepers need no table that a child of
/// `fork` could find locked.
pub(crate) fn algorithm() -> Option<Algorithm> {
    if !Settings::get().serves(Family::Lock) {
        return None;
    }
    let Some(name) = variable(c"CORECAST_LOCK") else { return Some(Algorithm::Auto) };
    let found = Algorithm::ALL.iter().copied().find(|algorithm| algorithm.name().as_bytes() == name)?;
    Some(if found == Algorithm::Byte { Algorithm::Word } else { found })
}
