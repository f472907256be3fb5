//! Stopping a process so that it stands still: the signal alone is on its way for a while, in which the process goes on.

use std::thread;
use std::time::{Duration, Instant};

use corecast_race::failure::Failure;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// The longest time that a process may take to stand still.
const LIMIT: Duration = Duration::from_secs(5);

/// Stops a child of this process, and returns once none of its threads runs.
///
/// # Errors
/// A [`Failure`] if the process has ended, is no child, or goes on.
pub(super) fn stop(pid: Pid) -> Result<(), Failure> {
    kill_process(pid, Signal::STOP).map_err(Failure::refused)?;
    let until = Instant::now() + LIMIT;
    // The system tells it when the last thread has stopped. The end of the process is not asked for, and stays to be waited for.
    while waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG).map_err(Failure::refused)?.is_none()
    {
        if Instant::now() > until {
            return Err(Failure::Refused(format!("process {} goes on after SIGSTOP", pid.as_raw_nonzero())));
        }
        thread::yield_now();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    /// The letter of the state that the system tells.
    fn state(child: &Child) -> char {
        let told = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("a process");
        let (_, after_name) = told.rsplit_once(") ").expect("a name in parentheses");
        after_name.chars().next().expect("a state")
    }

    #[test]
    fn a_stopped_process_stands_still_at_once_and_again() {
        let mut command = Command::new("yes");
        let mut child = command.stdout(Stdio::null()).spawn().expect("the program yes");
        let pid = Pid::from_child(&child);
        for _ in 0..50 {
            stop(pid).expect("it runs");
            assert_eq!(state(&child), 'T');
            kill_process(pid, Signal::CONT).expect("it is stopped");
        }
        child.kill().expect("it runs");
        // Its end is not taken from those that wait for it.
        while state(&child) != 'Z' {
            thread::yield_now();
        }
        assert!(stop(pid).is_err(), "it has ended");
        assert!(child.wait().is_ok());
    }
}
