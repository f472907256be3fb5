//! Other processes: this program, started with a role in the environment.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use corecast::base::region::{RegionDir, SharedRegion};
use corecast::base::rendezvous::{self, HostedRegion};
use corecast::channel::RecvError;
use corecast::channel::mcast::{self, Policy};
use corecast::channel::ump;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::{NAME, check, dir, message};

const ROLE: &str = "CORECAST_TEST_ROLE";
const FOLDER: &str = "CORECAST_TEST_FOLDER";
/// The prefix of an actor's words.
const SAYS: &str = "actor: ";

/// A process with a role, killed at the end.
pub(super) struct Actor {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Actor {
    /// Starts a process that meets the others in this folder, and waits until it has its end.
    pub(super) fn start(role: &str, folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("a program has a path"))
            .args(["--exact", "processes::actor::play", "--nocapture"])
            .env(ROLE, role)
            .env(FOLDER, folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        let mut actor = Self { child, lines };
        assert_eq!(actor.hear(), "ready");
        actor
    }

    /// The next thing it says.
    pub(super) fn hear(&mut self) -> String {
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

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("our child, not waited for");
    }

    /// Kills it and returns when it is dead.
    pub(super) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().expect("our child");
    }

    /// Stops it, and returns when it is stopped.
    pub(super) fn stop(&self) {
        self.signal(Signal::STOP);
        let pid = Some(Pid::from_child(&self.child));
        let (_, status) = waitpid(pid, WaitOptions::UNTRACED).expect("our child").expect("it has stopped");
        assert!(status.stopped());
    }

    /// Lets it go on.
    pub(super) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Returns when it has ended by itself.
    pub(super) fn end(mut self) {
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
    let mut out = std::io::stdout();
    writeln!(out, "{SAYS}{words}").and_then(|()| out.flush()).expect("a pipe");
}

/// Not a test: what this program does when it is an actor.
#[test]
fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let folder = std::env::var(FOLDER).expect("every role has a place");
    let folder = Path::new(&folder);
    match role.as_str() {
        "send ump" => send_ump(&meet(folder)),
        "send mcast" => send_mcast(&meet(folder)),
        "receive ump" => receive_ump(&meet(folder)),
        "receive reliable" => receive_mcast(&meet(folder), Policy::Reliable),
        "receive by a deadline" => receive_mcast(&meet(folder), Policy::Deadline(Duration::from_millis(1))),
        "sit in a named region" => sit(folder),
        other => panic!("no such role: {other}"),
    }
}

fn meet(folder: &Path) -> HostedRegion {
    rendezvous::connect(&dir(folder), NAME).expect("a host")
}

/// Sends for ever.
fn send_ump(meeting: &HostedRegion) {
    let mut tx = ump::bytes::sender(meeting.region(), "ump").expect("the last one is dead");
    say("ready");
    for number in 0.. {
        tx.send(&message(number)).expect("a receiver");
    }
}

/// Sends for ever.
fn send_mcast(meeting: &HostedRegion) {
    let mut tx = mcast::bytes::sender(meeting.region(), "mcast").expect("the last one is dead");
    say("ready");
    for number in 0.. {
        tx.send(&message(number)).expect("nothing is wrong");
    }
}

/// Receives for ever.
fn receive_ump(meeting: &HostedRegion) {
    let mut rx = ump::bytes::receiver(meeting.region(), "ump").expect("the first one");
    say("ready");
    for number in 0.. {
        assert_eq!(check(&rx.recv().expect("a sender").to_vec()), number);
    }
}

/// Receives until the channel is closed, and says how many messages that were and how many it missed.
fn receive_mcast(meeting: &HostedRegion, policy: Policy) {
    let rx = mcast::bytes::receiver(meeting.region(), "mcast", policy).expect("a place");
    say("ready");
    let (mut received, mut missed, mut next) = (0_u64, 0, None);
    loop {
        match rx.recv() {
            Ok(message) => {
                let number = check(&message.to_vec());
                assert_eq!(number, next.unwrap_or(number), "nothing is left out unless it is said");
                (received, next) = (received + 1, Some(number + 1));
            }
            Err(RecvError::Lagged { missed: some }) => {
                missed += some;
                next = next.map(|next| next + some);
            }
            Err(RecvError::Closed) => return say(&format!("{received} {missed}")),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Does nothing, in a region with a name.
fn sit(folder: &Path) {
    let _region = SharedRegion::open(&RegionDir::at(folder.join("regions")), NAME).expect("a region");
    say("ready");
    loop {
        std::thread::park();
    }
}
