//! Signals that would end this program, passed on to the processes that it has started, once.
//!
//! A key on the terminal (Ctrl-C) reaches every process in its foreground, those started here too, and the kernel tells that
//! in what comes with the signal. A signal of another process does not say whether it went to this program alone or to its
//! whole group, as from a shell's `kill -INT -- -PGID`, so it is always passed on, and the members of such a group get it
//! twice. A program that takes the second interrupt for impatience must not get two for one key, nor must this one: `timeout`
//! signals the program that it has started and then its group. So the signals are held back in all threads, one of them
//! reads them from a descriptor, and the same signal within [`REPEATED`] is the same wish.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::libc::SI_KERNEL;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use rustix::process::{Signal as Sent, getpid, kill_process};

use crate::failure::Failure;
use crate::file_limit;
use crate::interrupt::INTERRUPTED;
use crate::members::List;
use crate::output::Output;

/// Within this time of the first one the same signal says nothing new. Nobody presses a key twice as fast.
const REPEATED: Duration = Duration::from_millis(100);

/// SIGINT, SIGTERM and SIGHUP, held back in this thread and those that it starts.
#[derive(Debug)]
pub(crate) struct Signals {
    held: SigSet,
    passage: Arc<Passage>,
}

/// Whether signals are let through, and whether one has come through.
#[derive(Debug, Default)]
struct Passage(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_open: bool,
    has_come: bool,
}

impl Signals {
    /// Holds them back. To be called before any thread is started: one that does not hold them back would be given them.
    pub(crate) fn held() -> Result<Self, Failure> {
        let held: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().collect();
        held.thread_block().map_err(not_held)?;
        // A signal that a shell lets its background jobs ignore would never come here, nor to the processes started here: a
        // process that catches a signal starts others with what the system does by itself.
        let passage = Arc::<Passage>::default();
        let seen = Arc::clone(&passage);
        ctrlc::set_handler(move || seen.come()).map_err(not_caught)?;
        Ok(Self { held, passage })
    }

    /// Does this while they are let through, as what is started shall not hold them back. It is to stop when what it is
    /// given says that one has come; then all that came of it is dropped.
    pub(crate) fn let_through<R>(&self, body: impl FnOnce(&dyn Fn() -> bool) -> R) -> Result<R, Failure> {
        self.passage.state().is_open = true;
        self.held.thread_unblock().map_err(not_held)?;
        file_limit::let_through()?;
        let result = body(&|| self.passage.state().has_come);
        file_limit::hold()?;
        self.held.thread_block().map_err(not_held)?;
        let mut state = self.passage.state();
        state.is_open = false;
        if state.has_come { Err(Failure::Interrupted) } else { Ok(result) }
    }

    /// Interrupts these processes at the first signal that did not reach them as well, in a thread of its own; ends this
    /// program at the second signal.
    pub(crate) fn forward(self, members: Arc<List>, output: Output) -> Result<(), Failure> {
        let signals = SignalFd::with_flags(&self.held, SfdFlags::SFD_CLOEXEC).map_err(not_caught)?;
        let forward = move || {
            let mut first = None;
            while let Ok(Some(signal)) = signals.read_signal() {
                let this = (signal.ssi_signo, Instant::now());
                match first {
                    Some(first) if is_repeated(first, this) => continue,
                    Some(_) => process::exit(INTERRUPTED),
                    None => first = Some(this),
                }
                if !is_of_terminal(&signal) {
                    members.interrupt();
                }
                output.remark("interrupted: waiting for the members to end; once more does not wait");
            }
        };
        let started = thread::Builder::new().spawn(forward);
        started
            .map(drop)
            .map_err(|error| Failure::environment(format!("cannot start the thread that waits for signals: {error}")))
    }
}

impl Passage {
    /// Takes note of a signal that was let through.
    fn come(&self) {
        let mut state = self.state();
        if state.is_open {
            state.has_come = true;
        } else {
            // Too late for what was being done: once more, for the thread that reads the signals that are held back.
            let _ = kill_process(getpid(), Sent::INT);
        }
    }

    /// Each of its two fields is true by itself, whatever a panic leaves undone.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_held(error: nix::Error) -> Failure {
    Failure::environment(format!("cannot hold signals back while members are started: {error}"))
}

fn not_caught(error: impl std::fmt::Display) -> Failure {
    Failure::environment(format!("cannot catch signals, to pass them on to members: {error}"))
}

/// True if the kernel sent it to all processes in the terminal's foreground.
fn is_of_terminal(signal: &siginfo) -> bool {
    signal.ssi_code == SI_KERNEL
}

/// True if the second of two signals, each a number and when it came, is the first one's wish once more.
fn is_repeated(first: (u32, Instant), second: (u32, Instant)) -> bool {
    first.0 == second.0 && second.1.saturating_duration_since(first.1) < REPEATED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_signal_at_once_is_one_wish() {
        let (interrupt, end) = (Signal::SIGINT as u32, Signal::SIGTERM as u32);
        let now = Instant::now();
        assert!(is_repeated((interrupt, now), (interrupt, now + REPEATED / 2)));
        assert!(!is_repeated((interrupt, now), (interrupt, now + REPEATED)), "impatience");
        assert!(!is_repeated((interrupt, now), (end, now)), "somebody else wants something else");
    }

    #[test]
    fn a_signal_that_comes_while_the_passage_is_open_is_noted() {
        let passage = Passage::default();
        passage.state().is_open = true;
        assert!(!passage.state().has_come);
        passage.come();
        assert!(passage.state().has_come);
    }
}
