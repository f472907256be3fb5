//! The lengths that are left to the library although they could be served.
//!
//! Among two ranks with a CPU each, a message of some lines of corecast's channels takes longer than one of the library: each
//! line is waited for by itself, while a copy of bytes lets the CPU fetch the next ones ahead. Where ranks share CPUs, Open
//! MPI's root leaves its message behind and goes on. The limits are those of `docs/design/shim-mpi.md`; where nothing was
//! measured everything is served. MPICH's long broadcasts between two ranks are timed when the group is set up. Longer ones
//! than the limit are left to the library, too. The call has counted by then, so ranks with other limits set up together, and
//! find out.
//!
//! All ranks decide alike: by the number of ranks and CPUs on which they have agreed, the library, and the length.

use std::ops::RangeInclusive;

use crate::communicator::Crowd;
use crate::library::Library;
use crate::settings::Settings;

/// The operations that carry something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Broadcast,
    Reduce,
    Allreduce,
}

/// True if an operation of this length is to be served.
#[inline]
pub(super) fn pays(kind: Kind, len: usize, crowd: Crowd, library: &Library) -> bool {
    let left = left_to_library(kind, crowd, library.constants.is_open_mpi());
    len <= Settings::get().limit_bytes && !left.is_some_and(|left| left.contains(&len))
}

/// The lengths, in bytes, that the library carries faster; `None` if there are none.
#[inline]
fn left_to_library(kind: Kind, crowd: Crowd, is_open_mpi: bool) -> Option<RangeInclusive<usize>> {
    Some(match (crowd, kind, is_open_mpi) {
        (Crowd::Pair, Kind::Broadcast, true) => 113..=2047,
        (Crowd::Pair, Kind::Reduce, true) => 57..=2047,
        (Crowd::Pair, Kind::Allreduce, true) => 57..=usize::MAX,
        (Crowd::PairApart, Kind::Broadcast, false) => 505..=usize::MAX,
        (Crowd::Pair | Crowd::PairApart, Kind::Reduce, false) => 505..=4095,
        (Crowd::Pair | Crowd::PairApart, Kind::Allreduce, false) => 2048..=usize::MAX,
        (Crowd::Crowded, Kind::Broadcast, true) => 1..=504,
        (Crowd::Crowded, Kind::Reduce, true) => 225..=2047,
        (Crowd::Crowded, Kind::Allreduce, true) => 505..=2047,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_travels_in_a_line_is_served_but_for_broadcasts_in_a_crowd() {
        for kind in [Kind::Broadcast, Kind::Reduce, Kind::Allreduce] {
            for (crowd, is_open_mpi) in [
                (Crowd::Pair, false),
                (Crowd::PairApart, false),
                (Crowd::Pair, true),
                (Crowd::Crowded, false),
                (Crowd::Wide, true),
            ] {
                let left = left_to_library(kind, crowd, is_open_mpi);
                assert!(left.is_none_or(|left| (0..=56).all(|len| !left.contains(&len))), "{kind:?} {crowd:?}");
            }
        }
        let of_crowd = left_to_library(Kind::Broadcast, Crowd::Crowded, true);
        assert!(of_crowd.is_some_and(|left| left.contains(&8)));
    }
}
