//! Shared memory that holds channels: made by a plan, found by a name, attached to by threads and processes.

use std::ffi::{c_char, c_int};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, IntoRawFd};

use corecast::base::region::{ForkPolicy, Honest, Liveness as Known, ParticipantId, RegionDir, SharedRegion};
use corecast::base::rendezvous::{self, HostedRegion, SocketDir};

use crate::argument::{give, required, text};
use crate::error::{Failure, call, finish};
use crate::region_plan::RegionPlan;
use crate::status::Status;

/// One mapping of shared memory and this participant's place in it. Any number of threads may use it at a time. It may be
/// closed before the ends of its channels, which keep the memory and the place.
///
/// **A promise.** Messages are given as pointers into this memory. Whoever makes or opens a region promises that every
/// process which attaches to it lets only this library write there. A process that writes there otherwise can change
/// messages while they are read; it cannot make the library itself go astray.
///
/// **Fork.** A child finds CORECAST_FORKED in every call with what it inherited, and attaches anew. Closing what it
/// inherited is allowed and disturbs nobody. Messages and rooms that were open at the fork are not there in the child,
/// which neither touches nor commits them.
#[derive(Debug)]
pub struct Region {
    pub(crate) shared: SharedRegion,
    /// Keeps its name known, if it was found or is to be found by one.
    _meeting: Option<HostedRegion>,
}

impl Region {
    /// The promise that the header asks for.
    pub(crate) fn honest(&self) -> Honest<'_> {
        // SAFETY: whoever made or opened the region from C has promised it.
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

/// Whether a participant is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum Liveness {
    /// It is there, though it may be stopped or hang.
    Alive = 0,
    /// It said goodbye.
    Left = 1,
    /// It ended without saying goodbye. The kernel told so: nobody is dead for being slow.
    Dead = 2,
}

/// A participant of a region.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Participant {
    /// The number of its place.
    pub index: u32,
    /// Which of those who had that place, from 1.
    pub generation: u32,
    /// Its process, as it says, in its own namespace.
    pub pid: u32,
    /// Whether it is there.
    pub liveness: Liveness,
}

/// A region for the threads of this process. CORECAST_SYSTEM if there is no memory for all of it.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_create_heap(
    plan: Option<&RegionPlan>,
    region: Option<&mut MaybeUninit<*mut Region>>,
) -> Status {
    call(|| {
        let (plan, region) = (required(plan, "plan")?, required(region, "region")?);
        give(region, Region::from(SharedRegion::heap(&plan.0)?));
        Ok(())
    })
}

/// A region without a name, for processes that get its descriptor: see corecast_region_share_fd, and for processes that
/// know a name corecast_region_host.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_create_memfd(
    plan: Option<&RegionPlan>,
    region: Option<&mut MaybeUninit<*mut Region>>,
) -> Status {
    call(|| {
        let (plan, region) = (required(plan, "plan")?, required(region, "region")?);
        give(region, Region::from(SharedRegion::memfd(&plan.0)?));
        Ok(())
    })
}

/// A region with a name in a directory: NULL for this user's own, which is $CORECAST_REGION_DIR, else
/// /dev/shm/corecast-UID. Names are 1 to 200 bytes of A-Z, a-z, 0-9, '.', '_' and '-', no leading dot. The last
/// participant takes the name away. CORECAST_EXISTS if somebody uses a region of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_region_create_named(
    directory: *const c_char,
    name: *const c_char,
    plan: Option<&RegionPlan>,
    region: Option<&mut MaybeUninit<*mut Region>>,
) -> Status {
    call(|| {
        // SAFETY: C passes a text, or NULL.
        let directory = unsafe { region_dir(directory) }?;
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        let (plan, region) = (required(plan, "plan")?, required(region, "region")?);
        give(region, Region::from(SharedRegion::named(&directory, name, &plan.0)?));
        Ok(())
    })
}

/// Attaches to the region that was made with this name in this directory. CORECAST_NOT_FOUND if there is none,
/// CORECAST_TAKEN if it takes nobody more, CORECAST_CLOSED if its last participant has left, CORECAST_MISMATCH if it is not
/// to be trusted: of another owner, version or boot, too open to others, or damaged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_region_open_named(
    directory: *const c_char,
    name: *const c_char,
    region: Option<&mut MaybeUninit<*mut Region>>,
) -> Status {
    call(|| {
        // SAFETY: C passes a text, or NULL.
        let directory = unsafe { region_dir(directory) }?;
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        let region = required(region, "region")?;
        give(region, Region::from(SharedRegion::open(&directory, name)?));
        Ok(())
    })
}

/// A region without a name in a file system, which other processes of this user find by a name as long as any process that
/// knows it so is there and has not closed it: corecast_region_connect. The name is that of a socket in a directory; NULL
/// for this user's own, which is $XDG_RUNTIME_DIR/corecast, else /run/user/UID/corecast, else corecast-UID in $TMPDIR or
/// /tmp. It is of the same bytes as that of corecast_region_create_named, but shorter: the path of the socket,
/// DIRECTORY/NAME.sock, has at most 103. A thread of the library answers. CORECAST_EXISTS if a living process hosts this
/// name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_region_host(
    directory: *const c_char,
    name: *const c_char,
    plan: Option<&RegionPlan>,
    region: Option<&mut MaybeUninit<*mut Region>>,
) -> Status {
    call(|| {
        // SAFETY: C passes a text, or NULL.
        let directory = unsafe { socket_dir(directory) }?;
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        let (plan, region) = (required(plan, "plan")?, required(region, "region")?);
        let hosted = rendezvous::host(&directory, name, SharedRegion::memfd(&plan.0)?)?;
        give(region, Region::from(hosted));
        Ok(())
    })
}

/// Attaches to the region that is hosted under this name. If its host ends, this or another process goes on hosting it.
/// CORECAST_NOT_FOUND if nobody hosts the name, CORECAST_TIMEOUT if the host does not answer within seconds; otherwise fails
/// as corecast_region_open_named does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_region_connect(
    directory: *const c_char,
    name: *const c_char,
    region: Option<&mut MaybeUninit<*mut Region>>,
) -> Status {
    call(|| {
        // SAFETY: C passes a text, or NULL.
        let directory = unsafe { socket_dir(directory) }?;
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        let region = required(region, "region")?;
        give(region, Region::from(rendezvous::connect(&directory, name)?));
        Ok(())
    })
}

/// A new descriptor of the region, to be sent to one other process (by SCM_RIGHTS, or inherited over exec after clearing
/// FD_CLOEXEC), which gives it to corecast_region_open_fd. Close it here once it is sent. CORECAST_SYSTEM for a region on
/// the heap.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_share_fd(region: Option<&Region>, fd: Option<&mut MaybeUninit<c_int>>) -> Status {
    call(|| {
        let (region, fd) = (required(region, "region")?, required(fd, "fd")?);
        region.shared.check_fork()?;
        fd.write(region.shared.share()?.into_raw_fd());
        Ok(())
    })
}

/// Attaches to the region behind a descriptor, which stays the caller's and may be closed afterwards. Fails as
/// corecast_region_open_named does.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_open_fd(fd: c_int, region: Option<&mut MaybeUninit<*mut Region>>) -> Status {
    call(|| {
        let region = required(region, "region")?;
        if fd < 0 {
            return Err(Failure::argument("fd", "is no descriptor"));
        }
        // SAFETY: not -1; the caller keeps it open during this call.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()?;
        give(region, Region::from(SharedRegion::from_fd(fd)?));
        Ok(())
    })
}

/// Closes a region; NULL is none. The place in it is given up when the ends of its channels are closed too.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_close(region: Option<Box<Region>>) {
    finish(|| drop(region));
}

/// Who has a place in the region, the dead among them until somebody takes note. Writes at most `capacity` participants
/// (which may be NULL if that is 0), and to `count` how many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_region_participants(
    region: Option<&Region>,
    participants: *mut Participant,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let (region, count) = (required(region, "region")?, required(count, "count")?);
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
        count.write(found.len());
        Ok(())
    })
}

/// Whether a participant is there, by what corecast_region_participants told of it: also after somebody took note of its
/// death, and when another one has its place.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_liveness(
    region: Option<&Region>,
    index: u32,
    generation: u32,
    liveness: Option<&mut MaybeUninit<Liveness>>,
) -> Status {
    call(|| {
        let (region, liveness) = (required(region, "region")?, required(liveness, "liveness")?);
        region.shared.check_fork()?;
        liveness.write(region.shared.liveness(ParticipantId { index, generation }).into());
        Ok(())
    })
}

/// Lets children forked from now on use the region. Parent and child are one participant then, and must agree who uses
/// what; it lives until both have ended.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_region_inherit_on_fork(region: Option<&Region>) -> Status {
    call(|| {
        let region = required(region, "region")?;
        region.shared.check_fork()?;
        Ok(region.shared.set_fork_policy(ForkPolicy::Inherit)?)
    })
}

/// Takes away the named regions of a directory (NULL for this user's own) of which no participant lives, and tells how
/// many those were. `count` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_region_gc(
    directory: *const c_char,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        // SAFETY: C passes texts.
        let directory = unsafe { region_dir(directory) }?;
        let removed = corecast::base::region::gc(&directory)?.len();
        if let Some(count) = count {
            count.write(removed);
        }
        Ok(())
    })
}

/// Takes away the sockets of a directory (NULL for this user's own) whose hosts have died and that nobody took over, and
/// tells how many those were. `count` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_region_gc_hosted(
    directory: *const c_char,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        // SAFETY: C passes a text, or NULL.
        let directory = unsafe { socket_dir(directory) }?;
        let removed = rendezvous::gc(&directory)?.len();
        if let Some(count) = count {
            count.write(removed);
        }
        Ok(())
    })
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

/// # Safety
/// - `directory` is NULL or ends with a zero byte.
unsafe fn region_dir(directory: *const c_char) -> Result<RegionDir, Failure> {
    if directory.is_null() {
        return Ok(RegionDir::of_user());
    }
    // SAFETY: the caller's promise.
    Ok(RegionDir::at(unsafe { text(directory, "directory") }?))
}

/// # Safety
/// - `directory` is NULL or ends with a zero byte.
unsafe fn socket_dir(directory: *const c_char) -> Result<SocketDir, Failure> {
    if directory.is_null() {
        return Ok(SocketDir::of_user());
    }
    // SAFETY: the caller's promise.
    Ok(SocketDir::at(unsafe { text(directory, "directory") }?))
}
