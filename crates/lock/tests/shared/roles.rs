//! Other processes: this program, started with a role in the environment.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, ChildStdout, Command, Stdio};

use corecast_base::region::{ForkPolicy, SharedRegion};
use corecast_lock::shared::{SharedLock, SharedLockError};
use rustix::process::{Pid, Signal, kill_process};

use super::{Counter, LOCK};

const ROLE: &str = "CORECAST_TEST_ROLE";
const WHERE: &str = "CORECAST_TEST_WHERE";
/// The line an actor writes when it has something to say.
const SAYS: &str = "actor: ";

/// A process with a role, killed at the end.
pub(crate) struct Actor {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Actor {
    /// Starts a process that attaches to the region, and returns at once.
    pub(crate) fn start(role: &str, region: &SharedRegion) -> Self {
        let fd = region.share().expect("/proc is there");
        rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::empty()).expect("an open descriptor");
        let mut child = Command::new(std::env::current_exe().expect("a program has a path"))
            .args(["--exact", "actor::play", "--nocapture"])
            .env(ROLE, role)
            .env(WHERE, fd.as_raw_fd().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, lines }
    }

    /// The next thing it says.
    #[track_caller]
    pub(crate) fn says(&mut self) -> String {
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
        kill_process(Pid::from_child(&self.child), signal).expect("it is our child and was not waited for");
    }

    /// Kills it, and returns when it is gone.
    pub(crate) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().expect("our child");
    }

    /// Lets it go on.
    pub(crate) fn nod(&mut self) {
        let written = self.child.stdin.as_mut().expect("piped").write_all(b".");
        written.expect("it waits for that");
    }

    /// Lets it end by itself, and returns when it has.
    pub(crate) fn dismiss(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("our child").success());
    }

    /// Waits until its threads sleep, but for those that always do.
    pub(crate) fn await_sleep(&self) {
        let tasks = format!("/proc/{}/task", self.child.id());
        super::eventually("the actor sleeps in a futex", || {
            let tasks = std::fs::read_dir(&tasks).expect("it lives").filter_map(Result::ok);
            let texts = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
            let states: Vec<_> =
                texts.filter_map(|text| text.rsplit_once(") ").map(|(_, rest)| rest.starts_with('S'))).collect();
            states.iter().all(|&sleeps| sleeps)
        });
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
    writeln!(out, "{SAYS}{what}").and_then(|()| out.flush()).expect("a pipe");
}

/// Waits until the test nods, or lets this process end.
fn await_nod() {
    let _ = std::io::stdin().read(&mut [0]);
}

/// Not a test: what this program does when it is an actor.
#[test]
fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let place = std::env::var(WHERE).expect("every role has a place");
    // SAFETY: the test left this descriptor open for us, and nobody else knows of it.
    let fd = unsafe { OwnedFd::from_raw_fd(place.parse().expect("a number")) };
    let region = SharedRegion::from_fd(fd).expect("a good region");
    let lock = SharedLock::open(&region, LOCK).expect("a good lock");
    match role.as_str() {
        "count" => count(&region, &lock),
        "hold" => hold(&lock),
        "wait" => wait(&lock),
        "leave" => leave(&lock),
        "fork" => fork(&lock),
        "fork with the memory" => {
            region.set_fork_policy(ForkPolicy::Inherit).expect("a policy of this system");
            fork(&lock);
        }
        other => panic!("no such role: {other}"),
    }
}

/// Adds when the test nods.
fn count(region: &SharedRegion, lock: &SharedLock) {
    let counter = Counter::of(region);
    say("ready");
    await_nod();
    (0..super::ROUNDS).for_each(|_| counter.add(lock));
    say("done");
}

/// Holds the lock until it is killed, or the test nods.
fn hold(lock: &SharedLock) {
    let guard = lock.lock().expect("it is free");
    say("held");
    await_nod();
    drop(guard);
    say("freed");
    await_nod();
}

/// Waits for the lock, and tells how it got it.
fn wait(lock: &SharedLock) {
    say("waiting");
    let (how, guard) = match lock.lock() {
        Ok(guard) => ("taken", guard),
        Err(SharedLockError::OwnerDied(guard)) => ("the owner died", guard),
        Err(other) => panic!("{other}"),
    };
    say(how);
    drop(guard);
    await_nod();
}

/// Leaves the region while it holds the lock.
fn leave(lock: &SharedLock) {
    std::mem::forget(lock.lock().expect("it is free"));
    say("held");
    await_nod();
}

/// A forked child neither takes the lock nor frees what its parent holds.
fn fork(lock: &SharedLock) {
    let guard = lock.lock().expect("it is free");
    // SAFETY: the child looks at the lock and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = [lock.lock(), lock.try_lock(), lock.lock_timeout(std::time::Duration::ZERO)];
        let are_refused = refused.iter().all(|result| matches!(result, Err(SharedLockError::Forked(_))));
        // SAFETY: the parent's guard is none of the child's, which is refused before anything is freed.
        let are_refused = are_refused && unsafe { lock.force_unlock() }.is_err();
        drop(guard);
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(if are_refused { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: our child, and a place for its status.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    say(if waited == child && status == 0 { "refused" } else { "the child did something else" });
    await_nod();
    drop(guard);
}
