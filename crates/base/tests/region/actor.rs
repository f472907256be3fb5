//! Other processes: this program, started with a role in the environment.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, ChildStdout, Command, Stdio};

use corecast_base::region::{CreateError, RegionDir, SharedRegion};
use corecast_base::rendezvous::{self, SocketDir};
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::plan;

const ROLE: &str = "CORECAST_TEST_ROLE";
const WHERE: &str = "CORECAST_TEST_WHERE";
/// What an actor writes when it is on the stage.
const READY: &str = "actor: ";

/// A process with a role, killed at the end.
pub(crate) struct Actor {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// What it said when it was ready.
    pub(crate) said: String,
}

impl Actor {
    /// Starts a process and waits until it is ready. Where its region is depends on the role.
    pub(crate) fn start(role: &str, place: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("a program has a path"))
            .args(["--exact", "actor::play", "--nocapture"])
            .env(ROLE, role)
            .env(WHERE, place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        let mut actor = Self { child, lines, said: String::new() };
        actor.said = actor.next_line();
        actor
    }

    /// Starts a process that attaches to a memfd.
    pub(crate) fn attached(role: &str, region: &SharedRegion) -> Self {
        let fd = region.share().expect("/proc is there");
        rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::empty()).expect("an open descriptor");
        Self::start(role, &fd.as_raw_fd().to_string())
    }

    /// The next thing it says.
    pub(crate) fn next_line(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.lines.read_line(&mut line).expect("a pipe"), 0, "the actor ended without a word");
            // The test harness may have left its own text on the same line.
            if let Some((_, said)) = line.trim_end().split_once(READY) {
                return said.to_owned();
            }
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is our child and was not waited for");
    }

    /// Stops it, and returns when it is stopped.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED).expect("our child").expect("it has stopped");
        assert!(status.stopped());
    }

    /// Lets it end by itself, and returns when it has.
    pub(crate) fn dismiss(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("our child").success());
    }

    /// The letter of its state, from /proc.
    pub(crate) fn state(&self) -> char {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("not waited for");
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).expect("a state")
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(what: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{READY}{what}").and_then(|()| out.flush()).expect("a pipe");
}

/// Waits until the test lets this process end.
fn wait_for_dismissal() {
    let _ = std::io::stdin().read(&mut [0]);
}

/// Not a test: what this program does when it is an actor.
#[test]
fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let place = std::env::var(WHERE).expect("every role has a place");
    match role.as_str() {
        "attach" => attach(&place),
        "attach without proc" => attach_without_proc(&place),
        "attach and fork" => attach_and_fork(&place),
        "create" => create(&place),
        "open" => open(&place),
        "create without space" => create_without_space(),
        "host" => host(&place),
        "connect" => connect(&SocketDir::at(place)),
        "connect as another user" => connect_as_another(&place),
        other => panic!("no such role: {other}"),
    }
}

fn inherited(place: &str) -> SharedRegion {
    // SAFETY: the test left this descriptor open for us, and nobody else knows of it.
    let fd = unsafe { OwnedFd::from_raw_fd(place.parse().expect("a number")) };
    SharedRegion::from_fd(fd).expect("a good region")
}

fn introduce(region: &SharedRegion) {
    say(&format!("{:#x}", region.me().to_word()));
}

fn until_dismissed(region: SharedRegion) {
    introduce(&region);
    wait_for_dismissal();
    drop(region);
}

fn attach(place: &str) {
    until_dismissed(inherited(place));
}

/// Where files cannot be opened anew, a descriptor that others may share proves nothing.
fn attach_without_proc(place: &str) {
    // SAFETY: this thread gets mounts of its own, nothing else changes.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } == -1 {
        return say("may not hide /proc");
    }
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", private).expect("our own mounts");
    unmount("/proc", UnmountFlags::DETACH).expect("our own mounts");
    let region = inherited(place);
    introduce(&region);
    let others = region.participants().expect("not forked").into_iter().filter(|who| who.id != region.me());
    let seen: Vec<_> = others.map(|who| who.liveness).collect();
    say(&format!("evidence: {}, sees {seen:?}", region.has_evidence()));
    wait_for_dismissal();
}

/// Leaves a forked child behind that lives until the test dismisses it.
fn attach_and_fork(place: &str) {
    let region = inherited(place);
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

/// As a user who has nothing in common with root but its group.
fn connect_as_another(place: &str) {
    // SAFETY: this process has no other thread that reads ids of users.
    assert_eq!(unsafe { libc::setgroups(0, std::ptr::null()) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setresuid(12_345, 12_345, 12_345) }, 0);
    connect(&SocketDir::at(place).open_to_group().owned_by(0));
}
