//! Shared memory that holds channels: made by a plan, found by a name, attached to by threads and processes.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, IntoRawFd};

use corecast::base::region::{self, ForkPolicy, Honest, Liveness as Known, ParticipantId, RegionDir, SharedRegion};
use corecast::base::rendezvous::{self, HostedRegion, SocketDir};

use crate::error::Failure;
use crate::region_plan::RegionPlan;

/// One mapping of shared memory and this participant's place in it. Any number of threads may use it at a time. It may be
/// closed before the ends of its channels, which keep the memory and the place.
///
/// **A promise.** Messages are pointers into this memory. The caller that makes or opens a region promises that in every
/// process which attaches to it only this library writes there. A process that writes there otherwise can change messages
/// while they are read; it cannot make the library itself go astray.
///
/// **Fork.** A child gets CORECAST_FORKED from every call with an inherited object, and attaches anew. It may close the
/// inherited objects, which disturbs nobody. Messages and rooms that were open at the fork are not in the child's memory,
/// and it neither touches nor commits them.
#[derive(Debug)]
pub struct Region {
    pub(crate) shared: SharedRegion,
    /// Keeps the name alive, if the region has been hosted or found by one.
    _meeting: Option<HostedRegion>,
}

impl Region {
    /// The promise that the header demands.
    pub(crate) fn honest(&self) -> Honest<'_> {
        // SAFETY: the C caller that made or opened the region has promised it.
        unsafe { self.shared.assume_honest() }
    }
}

impl From<SharedRegion> for Region {
    fn from(shared: SharedRegion) -> Self {
        Self { shared, _meeting: None }
    }
}

impl From<HostedRegion> for Region {
    fn from(meeting: HostedRegion) -> Self {
        Self { shared: meeting.region().clone(), _meeting: Some(meeting) }
    }
}

/// Whether a participant is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Liveness {
    /// It is there, though it may be stopped or hang.
    Alive = 0,
    /// It said goodbye.
    Left = 1,
    /// It ended without saying goodbye. The kernel told so: a slow process does not count as dead.
    Dead = 2,
}

/// A participant of a region.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Participant {
    /// The number of its place.
    pub index: u32,
    /// Counts the participants that have had that place, from 1.
    pub generation: u32,
    /// The number of its process, in its own namespace, as it reports it.
    pub pid: u32,
    /// Whether it is there.
    pub liveness: Liveness,
}

impl From<Known> for Liveness {
    fn from(known: Known) -> Self {
        match known {
            Known::Alive => Self::Alive,
            Known::Left => Self::Left,
            Known::Dead => Self::Dead,
        }
    }
}

fn region_dir(directory: Option<&str>) -> RegionDir {
    directory.map_or_else(RegionDir::of_user, RegionDir::at)
}

pub(crate) fn socket_dir(directory: Option<&str>) -> SocketDir {
    directory.map_or_else(SocketDir::of_user, SocketDir::at)
}

c_functions! {
    /// A region for the threads of this process. CORECAST_SYSTEM if there is no memory for all of it.
    safe fn corecast_region_create_heap(plan: &RegionPlan) -> (region: new Region) {
        Region::from(SharedRegion::heap(&plan.0)?)
    }

    /// A region without a name, for processes that get its descriptor: see corecast_region_share_fd, and for processes that
    /// know a name corecast_region_host.
    safe fn corecast_region_create_memfd(plan: &RegionPlan) -> (region: new Region) {
        Region::from(SharedRegion::memfd(&plan.0)?)
    }

    /// A region with a name in a directory: NULL for this user's own, which is $CORECAST_REGION_DIR, else
    /// /dev/shm/corecast-UID. Names are 1 to 200 bytes of A-Z, a-z, 0-9, '.', '_' and '-', no leading dot. The last
    /// participant takes the name away. CORECAST_EXISTS if a living process uses a region of this name.
    unsafe fn corecast_region_create_named(directory: text?, name: text, plan: &RegionPlan) -> (region: new Region) {
        Region::from(SharedRegion::named(&region_dir(directory), name, &plan.0)?)
    }

    /// Attaches to the region that was made with this name in this directory. CORECAST_NOT_FOUND if there is none,
    /// CORECAST_TAKEN if all its places are taken, CORECAST_CLOSED if its last participant has left, CORECAST_MISMATCH if
    /// it is not to be trusted: of another owner, version or boot, too open to others, or damaged.
    unsafe fn corecast_region_open_named(directory: text?, name: text) -> (region: new Region) {
        Region::from(SharedRegion::open(&region_dir(directory), name)?)
    }

    /// A region without a name in a file system, which other processes of this user find by a name with
    /// corecast_region_connect, as long as one process that has hosted or found it by that name is there and has not closed
    /// it. The name is that of a socket in a directory; NULL for this user's own, which is $XDG_RUNTIME_DIR/corecast, else
    /// /run/user/UID/corecast, else corecast-UID in $TMPDIR or /tmp. It is of the same bytes as that of
    /// corecast_region_create_named, but shorter: the path of the socket, DIRECTORY/NAME.sock, has at most 103. A thread of
    /// the library answers. CORECAST_EXISTS if a living process hosts this name.
    unsafe fn corecast_region_host(directory: text?, name: text, plan: &RegionPlan) -> (region: new Region) {
        Region::from(rendezvous::host(&socket_dir(directory), name, SharedRegion::memfd(&plan.0)?)?)
    }

    /// Attaches to the region that is hosted under this name. If its host ends, this or another process goes on hosting it.
    /// CORECAST_NOT_FOUND if no process hosts the name, CORECAST_TIMEOUT if the host does not answer within seconds;
    /// otherwise fails as corecast_region_open_named does.
    unsafe fn corecast_region_connect(directory: text?, name: text) -> (region: new Region) {
        Region::from(rendezvous::connect(&socket_dir(directory), name)?)
    }

    /// A new descriptor of the region, to be sent to one other process (by SCM_RIGHTS, or inherited over exec after clearing
    /// FD_CLOEXEC), which gives it to corecast_region_open_fd. Close it here once it is sent. CORECAST_SYSTEM for a region on
    /// the heap.
    safe fn corecast_region_share_fd(region: &Region) -> (fd: c_int) {
        region.shared.check_fork()?;
        region.shared.share()?.into_raw_fd()
    }

    /// Attaches to the region behind a descriptor, which stays the caller's and may be closed afterwards. Fails as
    /// corecast_region_open_named does.
    safe fn corecast_region_open_fd(fd: c_int) -> (region: new Region) {
        if fd < 0 {
            return Err(Failure::argument("fd", "is no descriptor"));
        }
        // SAFETY: not -1; the caller keeps it open during this call.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()?;
        Region::from(SharedRegion::from_fd(fd)?)
    }

    /// Closes a region; NULL is none. The place in it is given up when the ends of its channels are closed too.
    closing fn corecast_region_close(region: Region);

    /// The participants that have a place in the region; a dead one is listed until a participant takes note of its death.
    /// Writes at most `capacity` of them to `participants`, which may be NULL if `capacity` is 0, and their number to
    /// `count`.
    unsafe fn corecast_region_participants(
        region: &Region,
        participants: *mut Participant,
        capacity: usize
    ) -> (count: usize) {
        if participants.is_null() && capacity > 0 {
            return Err(Failure::argument("participants", "is NULL"));
        }
        let found = region.shared.participants()?;
        for (i, who) in found.iter().take(capacity).enumerate() {
            let (index, generation, liveness) = (who.id.index, who.id.generation, who.liveness.into());
            // SAFETY: inside the array, which the caller says has `capacity` elements.
            let place = unsafe { participants.add(i) };
            // SAFETY: writable by the caller's promise.
            unsafe { place.write(Participant { index, generation, pid: who.pid, liveness }) };
        }
        found.len()
    }

    /// Whether the participant with this index and generation, from corecast_region_participants, is there. Works too after
    /// another participant took note of its death, and when another one has its place.
    safe fn corecast_region_liveness(region: &Region, index: u32, generation: u32) -> (liveness: Liveness) {
        region.shared.check_fork()?;
        region.shared.liveness(ParticipantId { index, generation }).into()
    }

    /// Lets children forked from now on use the region. Parent and child are one participant then, and must agree which of
    /// them uses which channel; the participant lives until both have ended.
    safe fn corecast_region_inherit_on_fork(region: &Region) {
        region.shared.check_fork()?;
        region.shared.set_fork_policy(ForkPolicy::Inherit)?
    }

    /// Takes away the named regions of a directory (NULL for this user's own) of which no participant lives, and writes
    /// their number to `count`, which may be NULL.
    unsafe fn corecast_region_gc(directory: text?, count: Option<&mut MaybeUninit<usize>>) {
        let removed = region::gc(&region_dir(directory))?.len();
        if let Some(count) = count {
            count.write(removed);
        }
    }

    /// Takes away the sockets of a directory (NULL for this user's own) whose hosts have died and that no process took
    /// over, and writes their number to `count`, which may be NULL.
    unsafe fn corecast_region_gc_hosted(directory: text?, count: Option<&mut MaybeUninit<usize>>) {
        let removed = rendezvous::gc(&socket_dir(directory))?.len();
        if let Some(count) = count {
            count.write(removed);
        }
    }
}
