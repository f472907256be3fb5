//! The lengths that are left to the library although they could be served.
//!
//! Among two ranks with a CPU each, a message of some lines of corecast's channels takes longer than one of the library: each
//! line is waited for by itself, while a copy of bytes lets the CPU fetch the next ones ahead. Where ranks share CPUs, Open MPI's
//! root leaves its message behind and goes on. The table is in `lengths`. MPICH's long broadcasts between two ranks are timed
//! when the group is set up. Longer operations than the limit are left to the library, too. The call has counted by then, so
//! ranks with other limits set up together, and find out.
//!
//! All ranks decide alike: by the number of ranks and CPUs on which they have agreed, the library, and the length.

use crate::lengths::{Crowd, Kind, left_to_library};
use crate::library::Library;
use crate::settings::Settings;

/// True if an operation of this length is to be served.
#[inline]
pub(super) fn pays(kind: Kind, len: usize, crowd: Crowd, library: &Library) -> bool {
    let left = left_to_library(kind, crowd, library.constants.is_open_mpi());
    len <= Settings::get().limit_bytes && !left.is_some_and(|left| left.contains(&len))
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
        for (crowd, is_open_mpi) in [(Crowd::Wide, false), (Crowd::Crowded, true)] {
            assert!(left_to_library(Kind::Allgather, crowd, is_open_mpi).is_some_and(|left| left.contains(&8)));
        }
        let of_pair = left_to_library(Kind::Allgather, Crowd::Pair, true);
        assert!(of_pair.is_some_and(|left| !left.contains(&6000) && left.contains(&8192)));
        let of_pair = left_to_library(Kind::Allreduce, Crowd::Pair, false);
        assert!(of_pair.is_some_and(|left| left.contains(&1025) && !left.contains(&1024)));
        let of_crowd = left_to_library(Kind::Broadcast, Crowd::Crowded, true);
        assert!(of_crowd.is_some_and(|left| left.contains(&8)));
    }
}
