//! Which carries a long broadcast of two ranks faster here: the group, or the library.
//!
//! That depends on how far apart the two CPUs are, which the ranks cannot look up: MPICH's broadcast of 4 KiB took 1.5 times as
//! long as the group's where the CPUs are near, and 0.87 of it where they are far. So both are timed once, when the group is
//! set up. The least time of some short blocks decides, so that a rank that loses its CPU meanwhile does not.

use std::time::{Duration, Instant};

use corecast::Member;

use crate::library::{Handle, Library};

/// The length that is timed, in bytes.
const LEN: usize = 4096;
const BLOCKS: usize = 8;
/// Broadcasts of a block: each rank is the root in turn, so that none runs ahead.
const TURNS: usize = 16;

/// True if the group and this library are so close that it is worth the time.
pub(super) fn matters(library: &Library) -> bool {
    !library.constants.is_open_mpi()
}

/// True if the library is faster, by the clock of rank 0; `None` if a broadcast failed at any rank. All ranks get the same.
pub(super) fn library_wins(library: &Library, comm: Handle, member: &mut Member) -> Option<bool> {
    let mut bytes = [0; LEN];
    let mut is_well = true;
    let [mut ours, mut theirs] = [Duration::MAX; 2];
    for _ in 0..BLOCKS {
        let start = Instant::now();
        is_well = is_well && (0..TURNS).all(|turn| member.broadcast_slice(turn % 2, &mut bytes).is_ok());
        ours = ours.min(start.elapsed());
        let start = Instant::now();
        // A failure shows in the exchange below as well.
        is_well &= (0..TURNS).all(|turn| library.broadcast_bytes(&mut bytes, turn % 2, comm).is_ok());
        theirs = theirs.min(start.elapsed());
    }
    let mut told = [u8::from(!is_well), u8::from(member.rank() == 0 && theirs < ours)];
    library.or_bytes(&mut told, comm).ok()?;
    (told[0] == 0).then_some(told[1] != 0)
}
