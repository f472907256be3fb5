//! Other processes: this program, started with a role in the environment.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use corecast_base::region::SharedRegion;
use corecast_channel::mcast::{self, Policy};

use crate::readers::message;

const ROLE: &str = "CORECAST_TEST_ROLE";
const REGION: &str = "CORECAST_TEST_REGION";
/// What an actor writes before its words.
const SAYS: &str = "actor: ";

/// A process with a role, killed at the end.
pub(crate) struct Actor {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Actor {
    /// Starts a process that attaches to the region.
    pub(crate) fn start(role: &str, region: &SharedRegion) -> Self {
        let fd = region.share().expect("/proc is there");
        // SAFETY: an open descriptor, and no memory is involved.
        assert_eq!(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) }, 0, "children inherit it");
        let mut child = Command::new(std::env::current_exe().expect("a program has a path"))
            .args(["--exact", "actor::play", "--nocapture"])
            .env(ROLE, role)
            .env(REGION, fd.as_raw_fd().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines }
    }

    /// The next thing it says.
    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.lines.read_line(&mut line).expect("a pipe"), 0, "the actor ended without a word");
            // The test harness may have left its own text on the same line.
            if let Some((_, said)) = line.trim_end().split_once(SAYS) {
                return said.to_owned();
            }
        }
    }

    pub(crate) fn signal(&self, signal: i32) {
        // SAFETY: no memory is involved; it is our child and was not waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Kills it and returns when it is dead.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("our child");
        self.child.wait().expect("our child");
    }

    /// Returns when it has ended by itself.
    pub(crate) fn end(mut self) {
        assert!(self.child.wait().expect("our child").success());
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{SAYS}{words}").and_then(|()| out.flush()).expect("a pipe");
}

/// The role of this process, if it has one. As a test among others it has none.
#[test]
fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let fd: i32 = std::env::var(REGION).expect("with the role").parse().expect("a number");
    // SAFETY: inherited for this, and nobody else here knows of it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let region = SharedRegion::from_fd(fd).expect("the region of the test");
    match role.as_str() {
        "send 1000" => {
            let mut tx = mcast::sender(&region, "c").expect("a place");
            (0..1000).for_each(|number| tx.send(&message(1, number, len(number))).expect("sent"));
        }
        "send for ever" => {
            let who = region.me().index as u8;
            let mut tx = mcast::sender(&region, "c").expect("a place");
            say("sending");
            for number in 0.. {
                tx.send(&message(who, number, len(number))).expect("sent");
            }
        }
        "loan" => {
            let mut tx = mcast::sender(&region, "c").expect("a place");
            tx.send(&message(1, 0, 300)).expect("sent");
            let mut loan = tx.reserve(300).expect("it fits");
            loan.bytes().copy_from(&message(1, 1, 300));
            say("holding");
            stay();
        }
        "pin" | "deadline" => {
            let policy = if role == "pin" { Policy::Reliable } else { Policy::Deadline(Duration::from_millis(20)) };
            let rx = mcast::receiver(&region, "c", policy).expect("a place");
            say("there");
            let message = rx.recv().expect("sent");
            say("received");
            stay();
            drop(message);
        }
        other => panic!("no role {other}"),
    }
}

/// Does nothing until it is killed.
fn stay() {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        std::thread::park_timeout(Duration::from_secs(1));
    }
}

/// Messages of all kinds, in slots and in blocks.
pub(crate) fn len(number: u32) -> usize {
    [20, 300, 48, 5][number as usize % 4]
}
