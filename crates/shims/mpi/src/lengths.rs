//! The table of lengths that are left to the library, by operation, ranks and library.
//!
//! The limits are those of `docs/design/shim-mpi.md`; where nothing was measured everything is served. The benchmark `mpi` has
//! this file as a module, too, as it judges what is served and what is passed on by rules of their own; so it names nothing of
//! this crate, and its tests are in `operation/payoff.rs`.

use std::ops::RangeInclusive;

/// The longest operation that is served unless `CORECAST_MPI_LIMIT` says otherwise, in bytes.
pub(crate) const LIMIT_BYTES: usize = 8 << 10;

/// The operations that carry something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Broadcast,
    Reduce,
    Allreduce,
    /// Its length is that of the part of one rank.
    #[allow(dead_code, reason = "the benchmark has no allgather")]
    Allgather,
}

/// The ranks and the CPUs they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crowd {
    /// Two ranks with a CPU each.
    Pair = 1,
    /// Two ranks with a CPU each, so far apart that the library carries long broadcasts faster.
    PairApart = 5,
    /// More ranks with a CPU each.
    Wide = 2,
    /// More ranks than CPUs on which they may run.
    Crowded = 3,
}

/// The lengths, in bytes, that the library carries faster; `None` if there are none.
#[inline]
pub(crate) fn left_to_library(kind: Kind, crowd: Crowd, is_open_mpi: bool) -> Option<RangeInclusive<usize>> {
    Some(match (crowd, kind, is_open_mpi) {
        (Crowd::Pair, Kind::Broadcast, true) => 113..=2047,
        (Crowd::Pair, Kind::Reduce, true) => 57..=2047,
        (Crowd::Pair, Kind::Allreduce, true) => 57..=usize::MAX,
        (Crowd::PairApart, Kind::Broadcast, false) => 505..=usize::MAX,
        (Crowd::Pair | Crowd::PairApart, Kind::Reduce, false) => 505..=4095,
        (Crowd::Pair | Crowd::PairApart, Kind::Allreduce, false) => 1025..=usize::MAX,
        (Crowd::Crowded, Kind::Broadcast, true) => 1..=504,
        (Crowd::Crowded, Kind::Reduce, true) => 225..=2047,
        (Crowd::Crowded, Kind::Allreduce, true) => 505..=2047,
        (Crowd::Pair, Kind::Allgather, true) => 8192..=usize::MAX,
        (Crowd::Pair | Crowd::PairApart, Kind::Allgather, false) => 2048..=usize::MAX,
        (Crowd::Crowded, Kind::Allgather, true) => 0..=2047,
        // Not measured.
        (Crowd::Wide, Kind::Allgather, _) => 0..=usize::MAX,
        _ => return None,
    })
}
