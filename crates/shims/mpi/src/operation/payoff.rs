//! The lengths that are left to the library although they could be served.
//!
//! Among two ranks with a CPU each, a message of some lines of corecast's channels takes longer than one of the library: each
//! line is waited for by itself, while a copy of bytes lets the CPU fetch the next ones ahead. The limits are those of
//! `docs/design/shim-mpi.md`. Where ranks share CPUs, a served operation needs fewer turns of the scheduler, whatever its length.
//! Longer ones than the limit are left to it, too. The call has counted by then, so ranks with other limits set up together, and
//! find out. All ranks decide alike: by the number of ranks and CPUs on which they have agreed, the library, and the length.

use std::ops::RangeInclusive;

use crate::communicator::Served;
use crate::library::Library;
use crate::settings::Settings;

/// The operations that carry something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Broadcast,
    Reduce,
    Allreduce,
}

/// The most ranks of which the limits are known.
const MOST_RANKS: usize = 2;
const NOTHING: RangeInclusive<usize> = 1..=0;

/// True if an operation of this length is to be served.
#[inline]
pub(super) fn pays(kind: Kind, len: usize, served: &Served, library: &Library) -> bool {
    if len > Settings::get().limit_bytes {
        return false;
    }
    let is_known = served.member.size() <= MOST_RANKS && !served.is_crowded;
    !is_known || !left_to_library(kind, library.constants.is_open_mpi()).contains(&len)
}

/// The lengths, in bytes, that the library carries faster.
fn left_to_library(kind: Kind, is_open_mpi: bool) -> RangeInclusive<usize> {
    match (kind, is_open_mpi) {
        (Kind::Broadcast, true) => 113..=2047,
        (Kind::Broadcast, false) => NOTHING,
        (Kind::Reduce, true) => 57..=2047,
        (Kind::Reduce, false) => 505..=4095,
        (Kind::Allreduce, true) => NOTHING,
        (Kind::Allreduce, false) => 2048..=usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_travels_in_a_line_is_served_always() {
        for kind in [Kind::Broadcast, Kind::Reduce, Kind::Allreduce] {
            for is_open_mpi in [false, true] {
                assert!((0..=56).all(|len| !left_to_library(kind, is_open_mpi).contains(&len)), "{kind:?}");
            }
        }
    }
}
