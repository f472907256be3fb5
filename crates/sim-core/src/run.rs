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
use crate::run_state::{RunState, Wait};
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
        Self {
            state: Rc::new(RefCell::new(RunState::new(machine))),
            threads: (0..machine.cpus()).map(|_| None).collect(),
        }
    }

    /// Puts a thread on a CPU, where it begins at this time. `body` gets the thread's own handle.
    ///
    /// # Errors
    /// That of the system, if there is no memory for a stack.
    ///
    /// # Panics
    /// If there is no such CPU, or it has a thread.
    #[track_caller]
    pub fn spawn(&mut self, cpu: usize, begin: Ticks, body: impl FnOnce(&Thread) + 'static) -> io::Result<()> {
        let cpus = self.threads.len();
        assert!(cpu < cpus, "a thread is put on CPU {cpu} of {cpus}");
        assert!(self.threads[cpu].is_none(), "a second thread is put on CPU {cpu}");
        let thread = Thread::new(Rc::clone(&self.state), cpu);
        let work = move |yielder: &_, ()| thread.live(yielder, body);
        self.threads[cpu] = Some(Coroutine::with_stack(DefaultStack::new(STACK)?, work));
        let mut state = self.state.borrow_mut();
        state.cpus[cpu].clock = begin;
        state.cpus[cpu].wait = Wait::No;
        state.announce_turn(cpu);
        Ok(())
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
            next.map_or(Ok(()), |cpu| self.resume(cpu))?;
        }
        self.report()
    }

    /// The CPU whose thread goes on.
    fn happen(&mut self, happening: Happening, now: Ticks) -> Option<usize> {
        let mut state = self.state.borrow_mut();
        match happening {
            Happening::Turn { cpu, turn } => state.take_turn(cpu, turn, now).then_some(cpu),
            Happening::Drain { cpu } => {
                state.drain(cpu, now);
                None
            }
            Happening::Free { line } => state.free(line, now),
        }
    }

    fn resume(&mut self, cpu: usize) -> Result<(), Stopped> {
        let thread = self.threads[cpu].as_mut().expect("only threads have turns");
        match panic::catch_unwind(AssertUnwindSafe(|| thread.resume(()))) {
            Ok(CoroutineResult::Yield(())) => Ok(()),
            Ok(CoroutineResult::Return(())) => {
                self.threads[cpu] = None;
                self.state.borrow_mut().cpus[cpu].wait = Wait::Ended;
                Ok(())
            }
            Err(panic) => {
                thread::leave();
                self.threads[cpu] = None;
                Err(Stopped::Panicked { cpu, message: words(&*panic) })
            }
        }
    }

    fn report(&self) -> Result<Report, Stopped> {
        let state = self.state.borrow();
        let is_left = |&cpu: &usize| state.cpus[cpu].wait != Wait::Ended;
        let waiting = (0..self.threads.len()).filter(is_left);
        let waiting: Vec<Waiting> =
            waiting.map(|cpu| Waiting { cpu, lines: state.cpus[cpu].poll.lines().to_vec() }).collect();
        if !waiting.is_empty() {
            return Err(Stopped::Deadlock { waiting });
        }
        let ends: Vec<Ticks> = state.cpus.iter().map(|cpu| cpu.clock).collect();
        Ok(Report { end: ends.iter().copied().max().unwrap_or(0), ends, counts: state.counts.clone() })
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
