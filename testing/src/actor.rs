//! Other processes of a test: the test program itself, started once more with a role in its environment.
//!
//! Take it where a test needs a process that it can kill or stop, or that attaches to a region by itself. A test program has
//! one function that plays the roles; it is a test like the others and returns at once where [`Role::of_this_process`] is
//! `None`.
//!
//! ```no_run
//! use corecast_testing::actor::{Actor, Role, say, wait_for_dismissal};
//!
//! #[test]
//! fn play() {
//!     let Some(role) = Role::of_this_process() else { return };
//!     say(&format!("I am a {}", role.name));
//!     wait_for_dismissal();
//! }
//!
//! #[test]
//! fn a_process_says_who_it_is() {
//!     let mut actor = Actor::start("play", "sender", "");
//!     assert_eq!(actor.hear(), "I am a sender");
//!     actor.dismiss();
//! }
//! ```

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

const ROLE: &str = "CORECAST_TEST_ROLE";
const PLACE: &str = "CORECAST_TEST_PLACE";
/// The mark that an actor writes before its words.
const SAYS: &str = "actor: ";

/// A process with a role. It is killed when this is dropped.
#[derive(Debug)]
pub struct Actor {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// The last words that [`hear`](Self::hear) returned.
    pub said: String,
}

impl Actor {
    /// Starts this program with a role. `play` is the full name of the test function that plays roles, and `place` is what
    /// the role has to know, such as a path.
    ///
    /// # Panics
    /// If the program cannot be started.
    #[must_use]
    #[track_caller]
    pub fn start(play: &str, role: &str, place: &str) -> Self {
        Self::spawn(play, role, place, Stdio::piped())
    }

    /// The same with this descriptor as the standard input of the role, which cannot wait for its dismissal then.
    ///
    /// # Panics
    /// If the program cannot be started.
    #[must_use]
    #[track_caller]
    pub fn reading(play: &str, role: &str, place: &str, stdin: OwnedFd) -> Self {
        Self::spawn(play, role, place, Stdio::from(stdin))
    }

    #[track_caller]
    fn spawn(play: &str, role: &str, place: &str, stdin: Stdio) -> Self {
        let mut child = Command::new(env::current_exe().expect("a program has a path"))
            .args(["--exact", play, "--nocapture"])
            .env(ROLE, role)
            .env(PLACE, place)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines, said: String::new() }
    }

    /// The same for a role that takes over a descriptor: see [`Role::descriptor`].
    ///
    /// # Panics
    /// If the program cannot be started.
    #[must_use]
    #[track_caller]
    pub fn inheriting(play: &str, role: &str, descriptor: &OwnedFd) -> Self {
        fcntl_setfd(descriptor, FdFlags::empty()).expect("an open descriptor");
        Self::start(play, role, &descriptor.as_raw_fd().to_string())
    }

    /// Waits for the next words of the actor.
    ///
    /// # Panics
    /// If the actor ends without them.
    #[track_caller]
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.lines.read_line(&mut line).expect("a pipe"), 0, "the actor ended without a word");
            // The test harness may have left its own text on the same line.
            if let Some((_, said)) = line.trim_end().split_once(SAYS) {
                said.clone_into(&mut self.said);
                return said.to_owned();
            }
        }
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends it a signal, and returns without waiting for the effect.
    ///
    /// # Panics
    /// If the system refuses.
    #[track_caller]
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it is our child and was not waited for");
    }

    /// Stops it, and returns when it is stopped.
    ///
    /// # Panics
    /// If it ends instead.
    #[track_caller]
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED).expect("our child").expect("it has stopped");
        assert!(status.stopped());
    }

    /// Kills it, and returns when it is dead.
    pub fn kill(self) {
        drop(self);
    }

    /// Lets it go on from where it waits for its dismissal.
    ///
    /// # Panics
    /// If it has ended, or reads something else.
    #[track_caller]
    pub fn nod(&mut self) {
        let written = self.child.stdin.as_mut().expect("piped").write_all(b".");
        written.expect("it waits for that");
    }

    /// Lets it end by itself, and returns when it has.
    ///
    /// # Panics
    /// If it fails.
    #[track_caller]
    pub fn dismiss(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("our child").success());
    }

    /// The letter of its state, from /proc.
    ///
    /// # Panics
    /// If it was waited for, or there is no /proc.
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> char {
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

/// The role of a process that an [`Actor`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// The place that [`Actor::start`] was given.
    pub place: String,
}

impl Role {
    /// The role of this process; `None` in the test program itself.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        Some(Self { name: env::var(ROLE).ok()?, place: env::var(PLACE).ok()? })
    }

    /// The descriptor that [`Actor::inheriting`] left open for this process. To be called once.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    #[track_caller]
    pub fn descriptor(&self) -> OwnedFd {
        let number = self.place.parse().expect("the number of a descriptor");
        // SAFETY: the test left this descriptor open for this process, and nobody else here knows of it.
        unsafe { OwnedFd::from_raw_fd(number) }
    }
}

/// Tells the test something: see [`Actor::hear`].
///
/// # Panics
/// If the test is gone.
pub fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{SAYS}{words}").and_then(|()| out.flush()).expect("a pipe");
}

/// Waits until the test lets this process go on or end: see [`Actor::nod`] and [`Actor::dismiss`].
pub fn wait_for_dismissal() {
    let _ = std::io::stdin().read(&mut [0]);
}
