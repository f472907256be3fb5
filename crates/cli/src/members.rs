//! The processes that `corecast run` has started, by rank: to interrupt those that go on, and to hear how each one ends.
//!
//! A process that has ended keeps its number until somebody asks how. So it is taken off the list first, and asked then: a
//! signal never reaches another process that was given the number since.

use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// How a process ended, and as which rank.
pub(crate) type Ended = (usize, io::Result<ExitStatus>);

/// Processes by rank. When they are dropped, those that go on are killed: this program gives up, and nobody would wait for
/// them.
#[derive(Debug, Default)]
pub(crate) struct Members(Arc<List>);

/// The processes that have not ended, by rank.
#[derive(Debug, Default)]
pub(crate) struct List(Mutex<Vec<Option<Child>>>);

impl Members {
    /// Adds the process of the next rank.
    pub(crate) fn add(&mut self, process: Child) {
        self.0.lock().push(Some(process));
    }

    /// The same processes for a thread that interrupts them; they are not killed when that one is gone.
    pub(crate) fn list(&self) -> Arc<List> {
        Arc::clone(&self.0)
    }

    /// How they end, in the order in which they do, each awaited by a thread of its own.
    pub(crate) fn ends(&self) -> io::Result<mpsc::Receiver<Ended>> {
        let (tx, rx) = mpsc::channel();
        let pids: Vec<Option<Pid>> =
            self.0.lock().iter().map(|process| process.as_ref().map(Pid::from_child)).collect();
        for (rank, pid) in pids.into_iter().enumerate() {
            let (tx, list) = (tx.clone(), self.list());
            thread::Builder::new().spawn(move || {
                if let Some(status) = pid.and_then(|pid| list.await_end(rank, pid)) {
                    // Nobody listens only if this program ends anyway.
                    let _ = tx.send((rank, status));
                }
            })?;
        }
        Ok(rx)
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        let mut list = self.0.lock();
        for process in list.iter_mut().filter_map(Option::as_mut) {
            // It may have ended by itself.
            let _ = process.kill();
        }
        for mut process in list.iter_mut().filter_map(Option::take) {
            let _ = process.wait();
        }
    }
}

impl List {
    /// Sends SIGINT to the processes that have not ended.
    pub(crate) fn interrupt(&self) {
        for process in self.lock().iter().flatten() {
            // One that has just ended needs none.
            let _ = kill_process(Pid::from_child(process), Signal::INT);
        }
    }

    /// Waits for the end of a process; `None` if it was killed as this program gives up.
    fn await_end(&self, rank: usize, pid: Pid) -> Option<io::Result<ExitStatus>> {
        // Without asking how it ended. If the system refuses to tell, the call below says why.
        let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
        let process = self.lock()[rank].take();
        process.map(|mut process| process.wait())
    }

    /// The list is complete whenever a panic may leave it.
    fn lock(&self) -> MutexGuard<'_, Vec<Option<Child>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
