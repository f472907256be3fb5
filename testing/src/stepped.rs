//! A forked child that is run one machine instruction at a time, under `ptrace`.
//!
//! Take it where a process must be interrupted anywhere in a call: the child gets ready, [stops itself](stop_here), makes the
//! call, and stops itself again. The thread that starts it steps it, and kills it where it wants.

use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, waitpid};

/// The exit status of a child that may not be traced.
const UNTRACEABLE: i32 = 77;
/// Instead of a number of steps: all.
pub const WHOLE: u64 = u64::MAX;

/// A child that this thread traces, stopped. It is killed at the end.
#[derive(Debug)]
pub struct Child {
    pid: Pid,
    has_ended: Cell<bool>,
}

/// Stops the child that calls it, before and after what it is stepped through.
pub fn stop_here() {
    // The parent needs a stop that costs few instructions besides the call in question.
    let _ = kill_process(getpid(), Signal::STOP);
}

impl Child {
    /// Starts a child and returns when it stops itself; `None` if processes may not be traced here.
    ///
    /// # Panics
    /// If there is no process to be had, or it ends before it stops itself.
    #[must_use]
    pub fn start(play: impl FnOnce()) -> Option<Self> {
        // SAFETY: the child runs on with this thread alone. The call takes locks of its own attachment only, those of the
        // allocator and of open files being free after a fork, and ends without unwinding into the test.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            perform(play);
        }
        let pid = Pid::from_raw(pid).expect("there is memory for a small process");
        let child = Self { pid, has_ended: Cell::new(false) };
        match child.wait() {
            status if status.stopping_signal() == Some(Signal::STOP.as_raw()) => Some(child),
            status if status.exit_status() == Some(UNTRACEABLE) => None,
            status => panic!("the child did not come to its call: {status:?}"),
        }
    }

    /// Lets it run until it stops itself again.
    ///
    /// # Panics
    /// If it ends instead.
    pub fn run(&self) {
        self.request(libc::PTRACE_CONT, 0);
        self.expect_stop();
    }

    /// Runs one instruction; false if that was the last one before it stops itself again.
    ///
    /// # Panics
    /// If it ends instead.
    #[must_use]
    pub fn step(&self) -> bool {
        self.request(libc::PTRACE_SINGLESTEP, 0);
        let status = self.wait();
        match status.stopping_signal() {
            Some(signal) if signal == Signal::TRAP.as_raw() => true,
            Some(signal) if signal == Signal::STOP.as_raw() => false,
            _ => panic!("the child fell out of its call: {status:?}"),
        }
    }

    /// Runs this many instructions, or all with [`WHOLE`]; false if it has stopped itself again by then.
    ///
    /// # Panics
    /// If it ends instead.
    pub fn take_steps(&self, steps: u64) -> bool {
        if steps == WHOLE {
            self.run();
            return false;
        }
        (0..steps).all(|_| self.step())
    }

    /// Traces it no more, and leaves it stopped as any process can be.
    ///
    /// # Panics
    /// If it ends instead.
    pub fn leave_stopped(&self) {
        self.request(libc::PTRACE_DETACH, Signal::STOP.as_raw());
        self.expect_stop();
    }

    /// Lets it go on that was left stopped, until it stops itself.
    ///
    /// # Panics
    /// If it ends instead.
    pub fn resume(&self) {
        kill_process(self.pid, Signal::CONT).expect("our child, not waited for");
        self.expect_stop();
    }

    fn expect_stop(&self) {
        let status = self.wait();
        assert_eq!(status.stopping_signal(), Some(Signal::STOP.as_raw()), "{status:?}");
    }

    fn wait(&self) -> WaitStatus {
        let seen = waitpid(Some(self.pid), WaitOptions::UNTRACED).expect("our child");
        let status = seen.expect("its state has changed").1;
        self.has_ended.set(!status.stopped());
        status
    }

    fn request(&self, request: libc::c_uint, signal: i32) {
        let nowhere = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: a request about a stopped child of this thread, which reads and writes no memory of ours.
        let done = unsafe { libc::ptrace(request, self.pid.as_raw_pid(), nowhere, signal as libc::c_long) };
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Dead when this returns, and what it held is free.
        while !self.has_ended.get() {
            let _ = kill_process(self.pid, Signal::KILL);
            self.wait();
        }
    }
}

/// The life of a child.
fn perform(play: impl FnOnce()) -> ! {
    // SAFETY: asks to be traced by the parent; no memory is involved.
    let status = if unsafe { libc::ptrace(libc::PTRACE_TRACEME) } == -1 {
        UNTRACEABLE
    } else if let Err(panic) = catch_unwind(AssertUnwindSafe(play)) {
        let why = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let _ = writeln!(std::io::stderr(), "the child panicked: {}", why.unwrap_or("without a word"));
        1
    } else {
        0
    };
    // SAFETY: ends the child, running nothing of this program.
    unsafe { libc::_exit(status) }
}
