//! The processes of a store: started, watched, started again, stopped.
//!
//! A process that ends is started again at once, later if it ended soon after its start, and not any more if it does so again and
//! again. All is done by one thread, which sleeps until a process ends or the user wants to stop; it is told of the end by a
//! descriptor of the process, so a number is never that of another process.

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
/// The delay before a process that ended soon is started again; it doubles each time.
const DELAY: Duration = Duration::from_millis(50);
/// After this many ends in a row, each soon after the start, the process is given up.
const MOST_ENDS: u32 = 8;
/// How long processes may take to stop before they are killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts the process of a slot; it is told whether no other process runs.
pub(super) type Start<'a> = dyn Fn(usize, bool) -> Result<Child, Failure> + 'a;

/// One process for each slot.
#[derive(Debug, Default)]
pub(super) struct Processes {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    running: Option<Running>,
    started: Instant,
    /// Ends in a row, each soon after the start.
    ends: u32,
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
}

impl Running {
    fn new(child: Child) -> io::Result<Self> {
        let end = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok(Self { child, end })
    }
}

impl Processes {
    /// Adds the process of the next slot.
    pub(super) fn add(&mut self, child: Child) -> Result<(), Failure> {
        let running = Some(Running::new(child).map_err(not_watched)?);
        self.slots.push(Slot { running, started: Instant::now(), ends: 0 });
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
            let due = self.start_due(start, tell)?;
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
    fn start_due(&mut self, start: &Start<'_>, tell: &mut dyn FnMut(&Event)) -> Result<Option<Instant>, Failure> {
        let mut next: Option<Instant> = None;
        let mut is_alone = self.slots.iter().all(|slot| slot.running.is_none());
        for (number, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.running.is_none()) {
            let due = slot.started + slot.delay();
            if due > Instant::now() {
                next = Some(next.map_or(due, |next| next.min(due)));
                continue;
            }
            let running = Running::new(start(number, is_alone)?).map_err(not_watched)?;
            is_alone = false;
            tell(&Event::Started { slot: number, pid: running.child.id() });
            slot.running = Some(running);
            slot.started = Instant::now();
        }
        Ok(next)
    }

    /// Takes note of the processes that have ended.
    fn reap(&mut self, tell: &mut dyn FnMut(&Event)) -> Result<(), Failure> {
        for (number, slot) in self.slots.iter_mut().enumerate() {
            let Some(running) = &mut slot.running else { continue };
            let Some(status) = running.child.try_wait().map_err(not_watched)? else { continue };
            tell(&Event::Ended { slot: number, pid: running.child.id(), status });
            slot.running = None;
            slot.ends = if slot.started.elapsed() >= WELL { 1 } else { slot.ends + 1 };
            if slot.ends > MOST_ENDS {
                let words =
                    format!("replica {number} ended {MOST_ENDS} times soon after its start, the last {}", told(status));
                return Err(Failure::environment(words));
            }
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
    fn delay(&self) -> Duration {
        match self.ends {
            0 | 1 => Duration::ZERO,
            ends => DELAY * 2u32.pow(ends - 2),
        }
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
