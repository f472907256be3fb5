//! Programs that end with this one, however it ends.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Lets the program end, by SIGTERM, when the thread that starts it does: a killed benchmark leaves no servers behind. So the
/// thread has to live for as long as the program is used.
pub(crate) fn end_with_parent(command: &mut Command) -> &mut Command {
    let parent = getpid();
    let bind = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // It may have ended before.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(io::ErrorKind::NotFound)) }
    };
    // SAFETY: between fork and exec the closure makes two system calls, and takes neither memory nor locks.
    unsafe { command.pre_exec(bind) }
}

#[cfg(test)]
mod tests {
    use corecast_testing::actor::{Actor, Role, say, wait_for_dismissal};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::*;

    /// Not a test: a process that has started another one, and is killed.
    #[test]
    fn play() {
        if Role::of_this_process().is_none() {
            return;
        }
        let mut command = Command::new("sleep");
        command.arg("1000");
        let mut child = end_with_parent(&mut command).spawn().expect("every system has it");
        say(&child.id().to_string());
        wait_for_dismissal();
        let _ = child.wait();
    }

    #[test]
    fn a_program_ends_with_a_killed_parent() {
        let mut actor = Actor::start("bound::tests::play", "parent", "");
        let child = Pid::from_raw(actor.hear().parse().expect("a number")).expect("a process");
        let end = pidfd_open(child, PidfdFlags::empty()).expect("it runs");
        actor.kill();
        let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
        let ended = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&patience)).expect("it is watched");
        assert_eq!(ended, 1, "the program goes on");
    }
}
