//! Signals that would end this program, passed on to the processes that it has started, once.
//!
//! A key on the terminal (Ctrl-C) reaches every process in its foreground, those started here too, while a signal from
//! another process reaches this program only. The kernel tells the two apart in what comes with a signal, and a program that
//! takes the second interrupt for impatience must not get two for one key. So the signals are held back in all threads, and
//! one of them reads them from a descriptor.

use std::process;
use std::thread;

use nix::libc::SI_KERNEL;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use rustix::process::{Pid, Signal as Sent, kill_process};

use crate::failure::Failure;
use crate::interrupt::{self, INTERRUPTED};
use crate::output::Output;

/// SIGINT, SIGTERM and SIGHUP, held back in this thread and those that it starts.
#[derive(Debug)]
pub(crate) struct Signals(SigSet);

impl Signals {
    /// Holds them back. To be called before any thread is started: one that does not hold them back would be given them.
    pub(crate) fn held() -> Result<Self, Failure> {
        let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
        signals.thread_block().map_err(Failure::environment)?;
        // What a shell lets its background jobs ignore would never come, nor to those started here: who catches a signal
        // starts others with what the system does by itself.
        interrupt::on_first(|| process::exit(INTERRUPTED))?;
        Ok(Self(signals))
    }

    /// Does this while they are let through, as what is started shall not hold them back. One that comes, or has come, ends
    /// this program.
    pub(crate) fn let_through<R>(&self, body: impl FnOnce() -> R) -> Result<R, Failure> {
        self.0.thread_unblock().map_err(Failure::environment)?;
        let result = body();
        self.0.thread_block().map_err(Failure::environment)?;
        Ok(result)
    }

    /// Interrupts these processes at the first signal that did not reach them as well, in a thread of its own; ends this
    /// program at the second signal.
    pub(crate) fn forward(self, pids: Vec<Pid>, output: Output) -> Result<(), Failure> {
        let signals = SignalFd::with_flags(&self.0, SfdFlags::SFD_CLOEXEC).map_err(Failure::environment)?;
        thread::spawn(move || {
            let mut has_come = false;
            while let Ok(Some(signal)) = signals.read_signal() {
                if has_come {
                    process::exit(INTERRUPTED);
                }
                has_come = true;
                if !is_of_terminal(&signal) {
                    // One of them may have ended.
                    pids.iter().for_each(|&pid| _ = kill_process(pid, Sent::INT));
                }
                output.remark("interrupted: waiting for the members to end; once more does not wait");
            }
        });
        Ok(())
    }
}

/// True if the kernel sent it to all processes in the terminal's foreground.
fn is_of_terminal(signal: &siginfo) -> bool {
    signal.ssi_code == SI_KERNEL
}
