//! How the ranks of a communicator become a group, or agree not to.
//!
//! ```text
//! all:     exchange the terms: one machine, equal settings, nobody refuses            [or of all ranks]
//! rank 0:  found the group, offer it                                                  [broadcast]
//! others:  open what is offered, check that it is that file
//! all:     exchange whether it has gone well                                          [or of all ranks]
//! all:     join; exchange whether it has gone well                                    [or of all ranks]
//! two:     time long broadcasts, where that decides what is served                    [or of all ranks]
//! ```
//! Each exchange is a collective of the library on the same communicator, so all ranks know the same and go the same way.

use std::ffi::c_int;
use std::os::fd::OwnedFd;
use std::time::Duration;

use corecast::Member;
use corecast::processes::Invitation;
use corecast_base::sync::{AtomicUsize, Ordering};

use super::Served;
use super::contest;
use super::founder::{self, OfferBytes};
use super::progress::Progress;
use super::terms::{self, Terms};
use crate::lengths::Crowd;
use crate::library::{Handle, Library, SUCCESS};

/// Groups that a process has at most: each takes some megabytes and two descriptors.
const MOST_GROUPS: usize = 16;
/// The time to wait for the others when all are known to be on their way.
const PATIENCE: Duration = Duration::from_secs(10);

/// The groups that this process has.
static GROUPS: AtomicUsize = AtomicUsize::new(0);

/// Sets up the group of a communicator, in a call in which all its ranks are. `None` at all of them, or at none.
#[cold]
pub(super) fn set_up(library: &'static Library, comm: Handle) -> Option<Served> {
    let place = Place::take();
    let terms = terms::agree(library, comm, place.is_none() || !library.has_world())?;
    let (rank, ranks) = rank_and_size(library, comm)?;
    let mut member = join(library, comm, &terms, rank, ranks)?;
    let (mut progress, place) = (Progress::new(library, comm), place);
    member.call_while_waiting(move |waited| {
        let _place = &place;
        progress.turn(waited)
    });
    let crowd = match ranks {
        _ if terms.cpus.len() < ranks => Crowd::Crowded,
        2 if contest::matters(library) && contest::library_wins(library, comm, &mut member)? => Crowd::PairApart,
        2 => Crowd::Pair,
        _ => Crowd::Wide,
    };
    Some(Served { member, crowd, records: Vec::new(), packed: Vec::new() })
}

fn join(library: &Library, comm: Handle, terms: &Terms, rank: usize, ranks: usize) -> Option<Member> {
    let founded = (rank == 0).then(|| founder::found(ranks, &terms.cpus)).flatten();
    let mut offer: OfferBytes =
        founded.as_ref().and_then(|founded| founded.offer()).unwrap_or([0; size_of::<OfferBytes>()]);
    library.broadcast_bytes(&mut offer, 0, comm).ok()?;
    let opened = founder::open(&offer);
    let opened = agreed(library, comm, opened)?;
    let member = agreed(library, comm, enter(opened, rank, ranks));
    drop(founded);
    member
}

fn enter(opened: OwnedFd, rank: usize, ranks: usize) -> Option<Member> {
    Invitation::of_fd(opened).ok()?.rank(rank).members(ranks).timeout(PATIENCE).join().ok()
}

/// The result of this rank, if every rank has one.
fn agreed<T>(library: &Library, comm: Handle, result: Option<T>) -> Option<T> {
    let mut has_failed = [u8::from(result.is_none())];
    library.or_bytes(&mut has_failed, comm).ok()?;
    result.filter(|_| has_failed == [0])
}

fn rank_and_size(library: &Library, comm: Handle) -> Option<(usize, usize)> {
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    // SAFETY: the library's own function, and a place for the answer.
    let told = unsafe { (library.functions.comm_rank)(comm, &mut rank) };
    // SAFETY: the same.
    let counted = unsafe { (library.functions.comm_size)(comm, &mut size) };
    (told == SUCCESS && counted == SUCCESS).then_some((rank as usize, size as usize))
}

/// One of the groups that a process may have; given back when dropped.
struct Place;

impl Place {
    fn take() -> Option<Self> {
        // ORDERING: Relaxed, a count that orders nothing
        if GROUPS.fetch_add(1, Ordering::Relaxed) < MOST_GROUPS {
            return Some(Self);
        }
        // ORDERING: Relaxed, a count that orders nothing
        GROUPS.fetch_sub(1, Ordering::Relaxed);
        None
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // ORDERING: Relaxed, a count that orders nothing
        GROUPS.fetch_sub(1, Ordering::Relaxed);
    }
}
