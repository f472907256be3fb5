//! Other processes: this program, started as a member of a group with the memory as its standard input.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use corecast_collective::processes::{Founding, Invitation, JoinError};
use corecast_collective::{Error, Member};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::{PATIENCE, mismatch, parts, races, rounds, shrink, work};

const ROLE: &str = "CORECAST_TEST_ROLE";
/// The text after the name of the rounds that are its role.
const FOR_EVER: &str = " for ever";
const FOR_SOME_TIME: &str = " for some time";
/// The text before the name of the call that is its role.
const CALL: &str = "call ";
const RANK: &str = "CORECAST_TEST_RANK";
/// The mark before an actor's words.
const SAYS: &str = "actor: ";

/// A member that is a process, killed at the end.
pub(crate) struct Actor {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Actor {
    pub(crate) fn start(role: &str, founding: &Founding, rank: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("a program has a path"))
            .args(["--exact", "actor::play", "--nocapture"])
            .env(ROLE, role)
            .env(RANK, rank.to_string())
            .stdin(Stdio::from(founding.share().expect("/proc is there")))
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines }
    }

    /// A process for each member.
    pub(crate) fn start_all(role: &str, founding: &Founding) -> Vec<Self> {
        (0..founding.members()).map(|rank| Self::start(role, founding, rank)).collect()
    }

    /// The actor's next message.
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

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("our child, not waited for");
    }

    /// Kills it, and returns without waiting for its end.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Stops it, and returns when it is stopped.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        let pid = Some(Pid::from_child(&self.child));
        let (_, status) = waitpid(pid, WaitOptions::UNTRACED).expect("our child").expect("it has stopped");
        assert!(status.stopped());
    }

    /// Returns when it has ended well by itself.
    #[track_caller]
    pub(crate) fn expect_end(mut self) {
        assert!(self.child.wait().expect("our child").success());
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn say(words: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{SAYS}{words}").and_then(|()| out.flush()).expect("a pipe");
}

/// Not a test: the program's work when it is an actor.
#[test]
fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    end_in_time();
    let rank = std::env::var(RANK).expect("a rank").parse().expect("a number");
    let fd = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
    let invitation = Invitation::of_fd(fd).expect("a good region").rank(rank);
    match role.as_str() {
        "work" => work::all_operations(&mut invitation.join().expect("a free place")).expect("nobody is lost"),
        "work in any place" => {
            let fd = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
            let any = Invitation::of_fd(fd).expect("a good region").members(work::ANYBODY);
            drop(invitation);
            work::all_operations(&mut any.join().expect("a free place")).expect("nobody is lost");
        }
        "work for ever" => tell_end(&mut invitation.join().expect("a free place"), work::one_round),
        "survive" => shrink::survive(invitation.join().expect("a free place")),
        "tell races" => races::work_and_tell(&mut invitation.join().expect("a free place")),
        "race at work" => races::race_at_work(&mut invitation.join().expect("a free place")),
        "race for ever" => tell_end(&mut invitation.join().expect("a free place"), |me, _| me.race().map(drop)),
        "split" => parts::split(&mut invitation.join().expect("a free place")).expect("nobody is lost"),
        "split until full" => say(&parts::split_until_full(&mut invitation.join().expect("a free place"))),
        "split and work for ever" => parts::split_and_work_for_ever(&mut invitation.join().expect("a free place")),
        "meet for ever" => tell_end(&mut invitation.join().expect("a free place"), |me, _| me.barrier()),
        "leave after 5" => {
            let mut me = invitation.join().expect("a free place");
            (0..5).for_each(|_| me.barrier().expect("nobody has left yet"));
        }
        "panic after 5" => {
            let mut me = invitation.join().expect("a free place");
            (0..5).for_each(|_| me.barrier().expect("nobody is lost yet"));
            std::panic::set_hook(Box::new(|_| ()));
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
                let _moved = me;
                panic!("planted");
            }));
            assert!(panicked.is_err());
        }
        "meet with limits for ever" => {
            let mut me = invitation.join().expect("a free place");
            // An actor that is stopped itself only reports how it ends.
            let mut has_told = me.rank() == 1;
            tell_end(&mut me, |me, _| meet_with_limits(me, &mut has_told));
        }
        "commit and count" => {
            let mut committed = 0;
            let mut me = invitation.join().expect("a free place");
            let error = rounds::counted_commit(&mut me, PATIENCE, &mut committed, &mut count_rounds());
            say(&format!("{}, {committed} committed", error.expect_err("one is lost")));
        }
        role if role.starts_with(CALL) => {
            let mut me = invitation.join().expect("a free place");
            mismatch::call_and_tell(&mut me, role.trim_start_matches(CALL));
        }
        role if role.ends_with(FOR_SOME_TIME) => {
            let mut left = 100;
            let after = &mut || {
                left -= 1;
                left > 0
            };
            let mut me = invitation.join().expect("a free place");
            rounds::of(role.trim_end_matches(FOR_SOME_TIME))(&mut me, after).expect("nobody is lost");
            me.barrier().expect("nobody is lost");
        }
        role if role.ends_with(FOR_EVER) => {
            let mut me = invitation.join().expect("a free place");
            let rounds = rounds::of(role.trim_end_matches(FOR_EVER));
            let error = rounds(&mut me, &mut count_rounds()).expect_err("one is lost");
            assert_eq!(me.barrier(), Err(error), "it stays so");
            say(&error.to_string());
        }
        "join" => tell_whether(invitation.timeout(Duration::from_millis(300)).join()),
        "join in a minute" => {
            say("comes");
            tell_whether(invitation.timeout(PATIENCE).join());
        }
        "wait for others" => drop(invitation.timeout(PATIENCE).join()),
        other => panic!("no such role: {other}"),
    }
}

/// Ends this process if something hangs, so that a test fails rather than lasts.
fn end_in_time() {
    std::thread::spawn(|| {
        std::thread::sleep(PATIENCE);
        say("hung");
        std::process::exit(9);
    });
}

/// Works with the others until one is lost; reports once that it has begun, and at the end the error it got.
fn tell_end(me: &mut Member, mut round: impl FnMut(&mut Member, u64) -> Result<(), Error>) {
    let mut rounds = 0;
    let error = loop {
        rounds += 1;
        if let Err(error) = round(me, rounds) {
            break error;
        }
        if rounds == 3 {
            say("begun");
        }
    };
    assert_eq!(me.barrier(), Err(error), "it stays so");
    say(&error.to_string());
}

fn tell_whether(joined: Result<Member, JoinError>) {
    match joined {
        Ok(_) => say("joined"),
        Err(error) => say(&error.to_string()),
    }
}

/// Reports after some rounds that it has begun, and never ends them.
fn count_rounds() -> impl FnMut() -> bool {
    let mut rounds = 0;
    move || {
        rounds += 1;
        if rounds == 3 {
            say("begun");
        }
        true
    }
}

/// A barrier with limits; reports once which members were missing, if there was one.
fn meet_with_limits(me: &mut Member, has_told: &mut bool) -> Result<(), Error> {
    let mut meeting = me.start().barrier()?;
    loop {
        match meeting.finish_timeout(Duration::from_millis(50)) {
            Err(Error::Timeout { missing }) if missing.members() == 1 && !*has_told => {
                *has_told = true;
                say(&missing.to_string());
            }
            Err(Error::Timeout { .. }) => {}
            other => return other,
        }
    }
}
