//! A run: threads as coroutines of one thread of the host, in the order of virtual time.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

use crate::costs::Ticks;
use crate::error::{Stopped, Waiting};
use crate::events::Happening;
use crate::machine::Machine;
use crate::report::Report;
use crate::run_state::{RunState, ThreadState, Wait};
use crate::thread::{self, Thread};

/// Bytes of a thread's stack. Of these, only pages that the thread touches take memory.
const STACK: usize = 256 << 10;

/// Threads on the CPUs of a machine.
pub struct Run {
    state: Rc<RefCell<RunState>>,
    threads: Vec<Option<Coroutine<(), (), ()>>>,
}

impl Run {
    /// A run without threads.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        Self { state: Rc::new(RefCell::new(RunState::new(machine))), threads: Vec::new() }
    }

    /// Puts a thread on a CPU, where it begins at this time. `body` gets the thread's own handle. Threads are numbered from 0 in
    /// the order in which they are put; those that are put on one CPU share it.
    ///
    /// # Errors
    /// That of the system, if there is no memory for a stack.
    ///
    /// # Panics
    /// If there is no such CPU.
    #[track_caller]
    pub fn spawn(&mut self, cpu: usize, begin: Ticks, body: impl FnOnce(&Thread) + 'static) -> io::Result<()> {
        self.check_cpu(cpu);
        let thread = Thread::new(Rc::clone(&self.state), self.threads.len());
        let work = move |yielder: &_, ()| thread.live(yielder, body);
        self.threads.push(Some(Coroutine::with_stack(DefaultStack::new(STACK)?, work)));
        self.state.borrow_mut().add_thread(cpu, begin, false);
        Ok(())
    }

    /// Loads a CPU from this time on as a thread of another program does that only computes, and never ends. It is numbered as
    /// threads are, takes its share of the CPU, and moves no lines.
    ///
    /// # Panics
    /// If there is no such CPU.
    #[track_caller]
    pub fn foreign(&mut self, cpu: usize, begin: Ticks) {
        self.check_cpu(cpu);
        self.threads.push(None);
        self.state.borrow_mut().add_thread(cpu, begin, true);
    }

    #[track_caller]
    fn check_cpu(&self, cpu: usize) {
        let cpus = self.state.borrow().cpus.len();
        assert!(cpu < cpus, "a thread is put on CPU {cpu} of {cpus}");
    }

    /// Runs all threads to their ends.
    ///
    /// # Errors
    /// [`Stopped`] if they had not ended after `limit` ticks, if all wait for each other, or if one panics.
    pub fn finish(mut self, limit: Ticks) -> Result<Report, Stopped> {
        loop {
            let next = self.state.borrow_mut().events.next();
            let Some((now, happening)) = next else { break };
            if now > limit && !self.state.borrow().is_void(happening) {
                return Err(Stopped::Limit { limit });
            }
            let next = self.happen(happening, now);
            next.map_or(Ok(()), |thread| self.resume(thread))?;
        }
        self.report()
    }

    /// The thread that goes on.
    fn happen(&mut self, happening: Happening, now: Ticks) -> Option<usize> {
        let mut state = self.state.borrow_mut();
        match happening {
            Happening::Turn { thread, turn } => state.take_turn(thread, turn, now).then_some(thread),
            Happening::Drain { cpu } => {
                state.drain(cpu, now);
                None
            }
            Happening::Free { line } => state.free(line, now),
            Happening::Slice { cpu, number } => {
                state.end_slice(cpu, number, now);
                None
            }
        }
    }

    fn resume(&mut self, number: usize) -> Result<(), Stopped> {
        let thread = self.threads[number].as_mut().expect("only threads have turns");
        match panic::catch_unwind(AssertUnwindSafe(|| thread.resume(()))) {
            Ok(CoroutineResult::Yield(())) => Ok(()),
            Ok(CoroutineResult::Return(())) => {
                self.threads[number] = None;
                self.state.borrow_mut().end(number);
                Ok(())
            }
            Err(panic) => {
                thread::leave();
                self.threads[number] = None;
                let cpu = self.state.borrow().threads[number].cpu;
                Err(Stopped::Panicked { cpu, message: words(&*panic) })
            }
        }
    }

    fn report(&self) -> Result<Report, Stopped> {
        let state = self.state.borrow();
        let is_left = |own: &&ThreadState| own.wait != Wait::Ended && !own.is_foreign;
        let waiting = state.threads.iter().filter(is_left);
        let waiting: Vec<Waiting> =
            waiting.map(|own| Waiting { cpu: own.cpu, lines: own.poll.lines().to_vec() }).collect();
        if !waiting.is_empty() {
            return Err(Stopped::Deadlock { waiting });
        }
        let mut ends = vec![0; state.cpus.len()];
        for own in state.threads.iter().filter(|own| !own.is_foreign) {
            ends[own.cpu] = own.clock.max(ends[own.cpu]);
        }
        let end = ends.iter().copied().max().unwrap_or(0);
        Ok(Report { end, ends, counts: state.counts.clone(), switches: state.switches })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Threads that have not ended unwind now, and may access memory in their destructors.
        self.state.borrow_mut().is_over = true;
        self.threads.clear();
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("state", &self.state).finish_non_exhaustive()
    }
}

/// The words of a panic.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it told no reason".to_owned())
}
