//! The processes of a store: started, watched, started again, stopped.
//!
//! A process that ends is started again at once, later if it ended soon after its start, and not any more if it does so again and
//! again; the others go on. A start that the system refuses is tried again, as long as it takes. All is done by one thread, which
//! sleeps until a process ends or the user wants to stop; it is told of the end by a descriptor of the process, so a number is
//! never that of another process.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::failure::Failure;

/// A process that has run this long was well.
const WELL: Duration = Duration::from_secs(10);
/// The delay before a process that ended soon, or could not be started, is started again; it doubles each time.
const DELAY: Duration = Duration::from_millis(50);
/// A process that ends soon after its start is started again this many times in a row; then it is given up.
const MOST_ENDS: u32 = 8;
/// How long processes may take to stop before they are killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts the process of a slot; it is told whether no other process runs.
pub(super) type Start<'a> = dyn Fn(usize, bool) -> Result<Child, Failure> + 'a;

/// One process for each slot.
#[derive(Debug)]
pub(super) struct Processes {
    slots: Vec<Slot>,
    /// The shortest delay before a process is started again that ended soon.
    delay: Duration,
}

#[derive(Debug)]
struct Slot {
    running: Option<Running>,
    /// When its process was started last, or could not be.
    started: Instant,
    /// Ends in a row, each soon after the start.
    ends: u32,
    /// Starts in a row that failed.
    refusals: u32,
}

#[derive(Debug)]
struct Running {
    child: Child,
    /// Readable once the process has ended.
    end: OwnedFd,
}

/// Something that happened to a slot.
#[derive(Debug)]
pub(super) enum Event {
    /// Its process ended.
    Ended { slot: usize, pid: u32, status: ExitStatus },
    /// Another process was started in its place.
    Started { slot: usize, pid: u32 },
    /// No process could be started; that is tried again.
    NotStarted { slot: usize, words: String },
    /// Its processes ended again and again: none is started any more.
    GivenUp { slot: usize },
    /// A process was started while no other one of the store was left.
    BegunAnew,
}

impl Running {
    fn new(mut child: Child) -> Result<Self, Failure> {
        match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(end) => Ok(Self { child, end }),
            Err(error) => {
                // Of one that has ended already there is nothing to kill.
                let _ = child.kill();
                let _ = child.wait();
                Err(not_watched(error.into()))
            }
        }
    }
}

impl Processes {
    pub(super) fn new() -> Self {
        Self::with_delay(DELAY)
    }

    fn with_delay(delay: Duration) -> Self {
        Self { slots: Vec::new(), delay }
    }

    /// Adds the process of the next slot.
    pub(super) fn add(&mut self, child: Child) -> Result<(), Failure> {
        let running = Some(Running::new(child)?);
        self.slots.push(Slot { running, started: Instant::now(), ends: 0, refusals: 0 });
        Ok(())
    }

    /// The process numbers, by slot.
    pub(super) fn pids(&self) -> Vec<u32> {
        self.slots.iter().flat_map(|slot| &slot.running).map(|running| running.child.id()).collect()
    }

    /// Keeps all of them running until `stop` is readable or closed, and tells what happens.
    pub(super) fn supervise(
        &mut self,
        stop: &impl AsFd,
        start: &Start<'_>,
        tell: &mut dyn FnMut(&Event),
    ) -> Result<(), Failure> {
        loop {
            let due = self.start_due(start, tell);
            let mut fds = vec![PollFd::new(stop, PollFlags::IN)];
            fds.extend(self.slots.iter().flat_map(|slot| &slot.running).map(|r| PollFd::new(&r.end, PollFlags::IN)));
            let longest = due.map(|due| timespec(due.saturating_duration_since(Instant::now())));
            match poll(&mut fds, longest.as_ref()) {
                Ok(_) if !fds[0].revents().is_empty() => return Ok(()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(not_watched(error.into())),
            }
            self.reap(tell)?;
        }
    }

    /// Starts the processes whose time has come, and returns when the next one's comes.
    fn start_due(&mut self, start: &Start<'_>, tell: &mut dyn FnMut(&Event)) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let mut is_alone = self.slots.iter().all(|slot| slot.running.is_none());
        for (number, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.awaits_start()) {
            if slot.due(self.delay) <= Instant::now() {
                slot.start(number, is_alone, start, tell);
            }
            match slot.running {
                Some(_) => is_alone = false,
                None => next = Some(next.map_or(slot.due(self.delay), |next| next.min(slot.due(self.delay)))),
            }
        }
        next
    }

    /// Takes note of the processes that have ended. Fails if all of the store have ended too often.
    fn reap(&mut self, tell: &mut dyn FnMut(&Event)) -> Result<(), Failure> {
        for number in 0..self.slots.len() {
            let slot = &mut self.slots[number];
            let Some(running) = &mut slot.running else { continue };
            let Some(status) = running.child.try_wait().map_err(not_watched)? else { continue };
            tell(&Event::Ended { slot: number, pid: running.child.id(), status });
            slot.running = None;
            slot.ends = if slot.started.elapsed() >= WELL { 1 } else { slot.ends + 1 };
            if slot.awaits_start() {
                continue;
            }
            if !self.slots.iter().any(|slot| slot.running.is_some() || slot.awaits_start()) {
                let ends = self.slots[number].ends;
                let words = format!("replica {number} ended {ends} times in a row, the last {}", told(status));
                return Err(Failure::environment(words));
            }
            tell(&Event::GivenUp { slot: number });
        }
        Ok(())
    }

    /// Asks all to end, and kills those that do not.
    fn stop(&mut self) {
        let running = || self.slots.iter().flat_map(|slot| &slot.running);
        for running in running() {
            // One that has just ended needs none; it keeps its number until it is waited for.
            let _ = kill_process(Pid::from_child(&running.child), Signal::TERM);
        }
        let until = Instant::now() + PATIENCE;
        for running in running() {
            let left = timespec(until.saturating_duration_since(Instant::now()));
            let _ = poll(&mut [PollFd::new(&running.end, PollFlags::IN)], Some(&left));
        }
        for running in self.slots.iter_mut().flat_map(|slot| &mut slot.running) {
            // Of one that has ended already there is nothing to kill.
            let _ = running.child.kill();
            let _ = running.child.wait();
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Slot {
    /// True if it has no process, and is to have one again.
    fn awaits_start(&self) -> bool {
        self.running.is_none() && self.ends <= MOST_ENDS
    }

    /// When its next process is to be started.
    fn due(&self, delay: Duration) -> Instant {
        let doublings = self.ends.saturating_sub(1).max(self.refusals).min(MOST_ENDS - 1);
        let delay = doublings.checked_sub(1).map_or(Duration::ZERO, |doublings| delay * 2u32.pow(doublings));
        self.started + delay
    }

    fn start(&mut self, number: usize, is_alone: bool, start: &Start<'_>, tell: &mut dyn FnMut(&Event)) {
        match start(number, is_alone).and_then(Running::new) {
            Ok(running) => {
                if is_alone {
                    tell(&Event::BegunAnew);
                }
                tell(&Event::Started { slot: number, pid: running.child.id() });
                self.running = Some(running);
                self.refusals = 0;
            }
            Err(failure) => {
                self.refusals += 1;
                tell(&Event::NotStarted { slot: number, words: failure.to_string() });
            }
        }
        self.started = Instant::now();
    }
}

/// How a process ended, for people.
pub(super) fn told(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("with exit code {code}"),
        (None, Some(signal)) => format!("by signal {signal}"),
        (None, None) => format!("with {status}"),
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}

fn not_watched(error: io::Error) -> Failure {
    Failure::environment(format!("cannot watch the processes of the store: {error}"))
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    use super::*;

    fn started(program: &str, argument: &str) -> Result<Child, Failure> {
        Ok(Command::new(program).arg(argument).spawn().expect("it is there"))
    }

    /// The supervision of a process that lives, and of one that the system refuses twice and that then ends at once.
    #[test]
    fn a_slot_whose_starts_fail_costs_the_others_nothing() {
        let mut processes = Processes::with_delay(Duration::from_millis(1));
        processes.add(started("sleep", "1000").expect("a process")).expect("it is watched");
        processes.add(started("false", "").expect("a process")).expect("it is watched");
        let well = processes.pids()[0];
        let (stop, stopper) = UnixStream::pair().expect("sockets");
        let (stopper, refused, told) = (RefCell::new(Some(stopper)), Cell::new(0), RefCell::new(Vec::new()));
        let start = |_: usize, is_alone: bool| {
            assert!(!is_alone);
            refused.set(refused.get() + 1);
            if refused.get() <= 2 { Err(Failure::environment("no process")) } else { started("false", "") }
        };
        let tell = &mut |event: &Event| {
            told.borrow_mut().push(match event {
                Event::Ended { slot: 1, .. } => "ended",
                Event::Started { slot: 1, .. } => "started",
                Event::NotStarted { slot: 1, .. } => "not started",
                Event::GivenUp { slot: 1 } => {
                    drop(stopper.take());
                    "given up"
                }
                other => panic!("{other:?}"),
            });
        };
        processes.supervise(&stop, &start, tell).expect("the other one lives");
        let again = ["started", "ended"].repeat(MOST_ENDS as usize);
        let expected = [&["ended", "not started", "not started"], &again[..], &["given up"]].concat();
        assert_eq!(*told.borrow(), expected);
        assert_eq!(processes.pids(), [well]);
        assert_eq!(processes.slots[0].running.as_mut().expect("it was added").child.try_wait().expect("watched"), None);
    }

    #[test]
    fn a_store_whose_processes_all_end_at_once_is_given_up() {
        let mut processes = Processes::with_delay(Duration::from_millis(1));
        processes.add(started("false", "").expect("a process")).expect("it is watched");
        let (stop, _stopper) = UnixStream::pair().expect("sockets");
        let (mut begun, mut ended) = (0, 0);
        let start = |_: usize, is_alone: bool| {
            assert!(is_alone);
            started("false", "")
        };
        let tell = &mut |event: &Event| match event {
            Event::BegunAnew => begun += 1,
            Event::Ended { .. } => ended += 1,
            Event::Started { .. } => {}
            other => panic!("{other:?}"),
        };
        let error = processes.supervise(&stop, &start, tell).expect_err("none is left");
        assert!(error.to_string().contains("ended 9 times in a row"), "{error}");
        assert_eq!((begun, ended), (MOST_ENDS, MOST_ENDS + 1));
    }
}
