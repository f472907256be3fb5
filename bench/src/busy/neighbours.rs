//! Foreign load: processes of one busy thread each on the CPUs of the candidates, and how much CPU time they get.
//!
//! A neighbour ends with its parent, however the parent ends. The system kills the neighbour when the thread that started it
//! is gone. The neighbour also checks now and then whether the socket to its parent is closed, because the parent may have
//! been killed before the neighbour asked the system for that.

use std::hint::black_box;
use std::io::Stdin;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::setpriority_process;
use serde::{Deserialize, Serialize};

use super::member::Assignment;
use super::starter::Starter;
use corecast_race::child::{Answer, Child, say};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::cpu_time_of_process;

/// How long a neighbour that works in bursts does so, and how long it sleeps then.
const BURST: Duration = Duration::from_millis(1);
/// Turns of the loop between two looks at the clock: some microseconds.
const TURNS: u64 = 10_000;
/// Looks at the clock between two looks at the parent.
const LOOKS: u32 = 256;
/// How long the parent watches its neighbours before a candidate runs beside them: a hundred bursts.
const ALONE: Duration = Duration::from_millis(200);
/// The weakest of nice values.
const NICEST: i32 = 19;

/// A neighbour's priority with the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Neighbour {
    /// As any process.
    #[default]
    Normal,
    /// With the weakest nice value, 19.
    Nice,
    /// In the scheduling class of processes that run only on CPUs that nothing else wants.
    Idle,
}

impl Neighbour {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Normal, Self::Nice, Self::Idle];

    /// Its name in reports and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Nice => "nice",
            Self::Idle => "idle",
        }
    }

    /// Takes this standing for the calling process.
    fn take(self) -> Result<(), Failure> {
        match self {
            Self::Normal => Ok(()),
            Self::Nice => setpriority_process(None, NICEST).map_err(Failure::refused),
            Self::Idle => run_when_idle(),
        }
    }
}

/// Whether the parent is gone, or has closed its end: after the assignment it says nothing more.
fn is_closed(control: &Stdin) -> bool {
    let mut fds = [PollFd::new(control, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

fn run_when_idle() -> Result<(), Failure> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameters live until the call returns, which only reads them.
    let status = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameters) };
    if status == 0 { Ok(()) } else { Err(Failure::refused(std::io::Error::last_os_error())) }
}

/// The standing and the rhythm that the parent asks of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Load {
    pub(super) neighbour: Neighbour,
    /// Whether it works in bursts.
    pub(super) in_bursts: bool,
}

/// Neighbours at work, until they are dropped.
pub(super) struct Neighbours {
    processes: Vec<Child>,
    /// The CPUs' worth of time that they get together while nothing else runs; `None` if there are none.
    pub(super) alone: Option<f64>,
}

impl Neighbours {
    /// Starts this number of them on these CPUs, waits until all of them are at work, and watches them alone.
    pub(super) fn start(count: usize, load: Load, cpus: &[u32], starter: &Starter<'_>) -> Result<Self, BenchError> {
        let assignment = Assignment::Disturb { load, cpus: cpus.to_vec() };
        let start = |number| starter.start(format!("neighbour {number}"), &assignment);
        let mut processes = (0..count).map(start).collect::<Result<Vec<_>, _>>()?;
        for process in &mut processes {
            starter.await_ready(process)??;
        }
        let mut neighbours = Self { processes, alone: None };
        if count > 0 {
            let (before, begun) = (neighbours.cpu(), Instant::now());
            thread::sleep(ALONE);
            let theirs = neighbours.cpu().saturating_sub(before);
            neighbours.alone = Some(theirs.as_secs_f64() / begun.elapsed().as_secs_f64());
        }
        Ok(neighbours)
    }

    /// The CPU time that all of them have had.
    pub(super) fn cpu(&self) -> Duration {
        self.processes.iter().filter_map(|process| cpu_time_of_process(process.pid())).sum()
    }
}

/// The work of a neighbour. Returns when its parent is gone.
pub(super) fn disturb(load: Load, control: &Stdin) -> Result<(), Failure> {
    load.neighbour.take()?;
    say(control, &Answer::Ready)?;
    work(load.in_bursts, || is_closed(control));
    Ok(())
}

/// Keeps a CPU busy, or does so for a millisecond of every two, until `is_over`.
fn work(in_bursts: bool, is_over: impl Fn() -> bool) {
    let mut burst = Instant::now();
    while !is_over() {
        for _ in 0..LOOKS {
            for turn in 0..TURNS {
                black_box(turn);
            }
            if in_bursts && burst.elapsed() >= BURST {
                thread::sleep(BURST);
                burst = Instant::now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::harness::cpu_time_of_this_thread;

    #[test]
    fn bursts_are_half_of_the_time() {
        let (begun, before) = (Instant::now(), cpu_time_of_this_thread());
        work(true, || begun.elapsed() >= Duration::from_millis(300));
        let share = (cpu_time_of_this_thread() - before).as_secs_f64() / begun.elapsed().as_secs_f64();
        // It works for no more than a millisecond, and sleeps for no less than one, however busy the machine is.
        assert!(share < 0.55, "it has worked for {share:.2} of the time");
    }
}
