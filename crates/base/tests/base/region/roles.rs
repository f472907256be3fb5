//! The roles of other processes: this program, started with a role in its environment.

use corecast_base::region::{CreateError, RegionDir, SharedRegion};
use corecast_base::rendezvous::{self, SocketDir};
use corecast_testing::actor::{Actor, Role, say, wait_for_dismissal};
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};

use super::{plan, sealed};

/// The test that plays the roles.
const PLAY: &str = "region::roles::play";

/// Starts a process and waits until it is ready. `place` is where its region is.
pub(crate) fn start(role: &str, place: &str) -> Actor {
    let mut actor = Actor::start(PLAY, role, place);
    actor.hear();
    actor
}

/// Starts a process that attaches to a memfd.
pub(crate) fn attached(role: &str, region: &SharedRegion) -> Actor {
    let mut actor = Actor::inheriting(PLAY, role, &region.share().expect("/proc is there"));
    actor.hear();
    actor
}

/// Not a test: the work of this program when it is an actor.
#[test]
fn play() {
    let Some(role) = Role::of_this_process() else { return };
    let place = role.place.as_str();
    match role.name.as_str() {
        "attach" => attach(&role),
        "attach without proc" => attach_without_proc(&role),
        "attach and fork" => attach_and_fork(&role),
        "create" => create(place),
        "open" => open(place),
        "create without space" => create_without_space(),
        "host" => host(place),
        "connect" => connect(&SocketDir::at(place)),
        "connect as another user" => connect_as_another(place),
        "write sealed memory" => sealed::write_and_say_where(),
        "open sealed memory without proc" => sealed::open_without_proc(),
        other => panic!("no such role: {other}"),
    }
}

fn inherited(role: &Role) -> SharedRegion {
    SharedRegion::from_fd(role.descriptor()).expect("a good region")
}

fn introduce(region: &SharedRegion) {
    say(&format!("{:#x}", region.me().to_word()));
}

fn until_dismissed(region: SharedRegion) {
    introduce(&region);
    wait_for_dismissal();
    drop(region);
}

fn attach(role: &Role) {
    until_dismissed(inherited(role));
}

/// Takes /proc away from this thread; false if it may not.
pub(super) fn hide_proc() -> bool {
    // SAFETY: this thread gets mounts of its own, nothing else changes.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } == -1 {
        return false;
    }
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", private).expect("our own mounts");
    unmount("/proc", UnmountFlags::DETACH).expect("our own mounts");
    true
}

/// Where files cannot be opened anew, a descriptor that others may share proves nothing.
fn attach_without_proc(role: &Role) {
    if !hide_proc() {
        return say("may not hide /proc");
    }
    let region = inherited(role);
    introduce(&region);
    let others = region.participants().expect("not forked").into_iter().filter(|who| who.id != region.me());
    let seen: Vec<_> = others.map(|who| who.liveness).collect();
    say(&format!("evidence: {}, sees {seen:?}", region.has_evidence()));
    wait_for_dismissal();
}

/// Leaves a forked child behind that lives until the test dismisses it.
fn attach_and_fork(role: &Role) {
    let region = inherited(role);
    // SAFETY: the child does nothing but wait.
    if unsafe { libc::fork() } == 0 {
        wait_for_dismissal();
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(0) };
    }
    until_dismissed(region);
}

fn create(place: &str) {
    until_dismissed(SharedRegion::named(&RegionDir::at(place), "play", &plan()).expect("a free name"));
}

fn open(place: &str) {
    until_dismissed(SharedRegion::open(&RegionDir::at(place), "play").expect("a good region"));
}

fn create_without_space() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    limit.current = Some(4096);
    rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).expect("lowering is allowed");
    match SharedRegion::memfd(&plan()) {
        Err(error @ CreateError::NoSpace { .. }) => say(&error.to_string()),
        other => say(&format!("{other:?}")),
    }
    wait_for_dismissal();
}

fn host(place: &str) {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    let meeting = rendezvous::host(&SocketDir::at(place), "play", region).expect("a free name");
    introduce(meeting.region());
    wait_for_dismissal();
}

fn connect(dir: &SocketDir) {
    let meeting = rendezvous::connect(dir, "play").expect("a host");
    introduce(meeting.region());
    wait_for_dismissal();
}

/// Connects as a user that shares only its group with root.
fn connect_as_another(place: &str) {
    // SAFETY: this process has no other thread that reads ids of users.
    assert_eq!(unsafe { libc::setgroups(0, std::ptr::null()) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setresuid(12_345, 12_345, 12_345) }, 0);
    connect(&SocketDir::at(place).open_to_group().owned_by(0));
}
