//! A run: threads as coroutines of one thread of the host, in the order of virtual time.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};

use crate::costs::Ticks;
use crate::error::{Stopped, Waiting};
use crate::events::Event;
use crate::machine::Machine;
use crate::random::Random;
use crate::report::Report;
use crate::run_state::{RunState, Wait};
use crate::stops::{LastStores, Preemption, Stop};
use crate::thread::{self, Thread};
use crate::trace::{Trace, TracedLine};
use crate::values::Values;

/// Bytes of a thread's stack. Of these, only pages that the thread touches take memory.
const STACK: usize = 256 << 10;

/// The most threads of a run: their stacks are twice as many mappings of memory, of which Linux gives a process 65,530.
pub const MAX_THREADS: usize = 16_384;

/// Threads on the CPUs of a machine.
pub struct Run {
    state: Rc<RefCell<RunState>>,
    /// The variables of which each run has its own.
    values: Rc<Values>,
    threads: Vec<Option<Coroutine<(), (), ()>>>,
    /// Of each thread, the addresses of its stack.
    stacks: Vec<Range<usize>>,
    /// The stops, which threads are told when they begin.
    preemptions: Vec<Preemption>,
    kills: Vec<(usize, u64, LastStores)>,
}

impl Run {
    /// A run without threads.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        Self {
            state: Rc::new(RefCell::new(RunState::new(machine))),
            values: Rc::default(),
            threads: Vec::new(),
            stacks: Vec::new(),
            preemptions: Vec::new(),
            kills: Vec::new(),
        }
    }

    /// Puts a thread on a CPU, where it begins at this time. `body` gets the thread's own handle. Threads are numbered from 0 in
    /// the order in which they are put; those that are put on one CPU share it.
    ///
    /// # Errors
    /// That of the system, if there is no memory for a stack; of the kind [`OutOfMemory`](io::ErrorKind::OutOfMemory) if the run
    /// has [`MAX_THREADS`].
    ///
    /// # Panics
    /// If there is no such CPU.
    #[track_caller]
    pub fn spawn(&mut self, cpu: usize, begin: Ticks, body: impl FnOnce(&Thread) + 'static) -> io::Result<()> {
        self.check_cpu(cpu);
        if self.threads.len() >= MAX_THREADS {
            let words = format!("a simulated run has at most {MAX_THREADS} threads");
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, words));
        }
        let thread = Thread::new(Rc::clone(&self.state), Rc::clone(&self.values), self.threads.len());
        let work = move |yielder: &_, ()| thread.live(yielder, body);
        let stack = DefaultStack::new(STACK)?;
        self.stacks.push(stack.limit().get()..stack.base().get());
        self.threads.push(Some(Coroutine::with_stack(stack, work)));
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
        self.stacks.push(0..0);
        self.state.borrow_mut().add_thread(cpu, begin, true);
    }

    /// Lets the threads of these CPUs move among them, those that were put there and those that will be: a thread that is woken
    /// goes to an idle one if its own is busy, and one that is idle takes a thread that waits for another. Foreign load stays.
    ///
    /// # Panics
    /// If there is no such CPU, or if one is named twice or was named before.
    #[track_caller]
    pub fn let_move(&mut self, cpus: &[usize]) {
        cpus.iter().for_each(|&cpu| self.check_cpu(cpu));
        let mut state = self.state.borrow_mut();
        let is_named = |(place, &cpu): (usize, &usize)| state.cpus[cpu].set.is_some() || cpus[..place].contains(&cpu);
        assert!(!cpus.iter().enumerate().any(is_named), "threads move among a CPU and the others of one set");
        state.let_move(cpus);
    }

    /// The CPUs on which threads were put, ascending.
    #[must_use]
    pub fn cpus_in_use(&self) -> Vec<usize> {
        let state = self.state.borrow();
        (0..state.cpus.len()).filter(|&cpu| state.cpus[cpu].threads > 0).collect()
    }

    /// Takes threads off their CPUs, in addition to what was asked for before.
    ///
    /// # Panics
    /// If stops at random are asked for a second time.
    #[track_caller]
    pub fn preempt(&mut self, preemption: Preemption) {
        let is_random = |preemption: &Preemption| matches!(preemption, Preemption::Randomly { .. });
        let is_second = is_random(&preemption) && self.preemptions.iter().any(is_random);
        assert!(!is_second, "a run has one kind of stops at random");
        self.preemptions.push(preemption);
    }

    /// Lets sleeps that are to last for this time at least end only by a wake-up: a wake-up that is lost is a deadlock then, and
    /// no mere delay.
    pub fn lasting_sleeps(&mut self, longest: Ticks) {
        self.state.borrow_mut().lasting = longest;
    }

    /// Kills a thread at an access, as the signal does that cannot be caught: nothing of it runs any more, no destructor, and not
    /// what it wanted to be called at its end. What it owned on the heap is never freed.
    ///
    /// # Safety
    /// - Once the run is over, nothing accesses what the thread had on its stack, which is freed then.
    pub unsafe fn kill_at(&mut self, thread: usize, access: u64, stores: LastStores) {
        self.kills.push((thread, access, stores));
    }

    /// Tells the threads their stops.
    ///
    /// # Panics
    /// If one is of a thread that is none.
    fn plan_stops(&self) {
        let mut state = self.state.borrow_mut();
        let threads = &mut state.threads;
        for &preemption in &self.preemptions {
            match preemption {
                Preemption::At { thread, access, time } => threads[thread].stops.plan(access, Stop::Pause(time)),
                Preemption::Randomly { seed, one_in, longest } => {
                    let numbered = threads.iter_mut().enumerate();
                    numbered.for_each(|(number, own)| own.stops.at_random(Random::new(seed, number), one_in, longest));
                }
            }
        }
        for &(thread, access, stores) in &self.kills {
            threads[thread].stops.plan(access, Stop::Kill(stores));
        }
        threads.iter_mut().for_each(|own| own.watched = own.stops.first());
    }

    /// The seed of the stops.
    fn seed(&self) -> Option<u64> {
        self.preemptions.iter().find_map(|preemption| match preemption {
            Preemption::Randomly { seed, .. } => Some(*seed),
            Preemption::At { .. } => None,
        })
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
    ///
    /// # Panics
    /// If a stop is asked for of a thread that is none.
    pub fn finish(mut self, limit: Ticks) -> Result<Report, Stopped> {
        self.plan_stops();
        self.state.borrow_mut().events.limit = limit;
        loop {
            let next = self.state.borrow_mut().events.next();
            let Some((now, event)) = next else { break };
            if now > limit && !self.state.borrow().is_void(event) {
                return Err(Stopped::Limit { limit, waiting: self.waiting(), seed: self.seed() });
            }
            let next = self.happen(event, now);
            next.map_or(Ok(()), |thread| self.resume(thread)).map_err(|stopped| *stopped)?;
        }
        self.report()
    }

    /// The thread that goes on.
    fn happen(&mut self, event: Event, now: Ticks) -> Option<usize> {
        let mut state = self.state.borrow_mut();
        match event {
            Event::Turn { thread, turn } => state.take_turn(thread, turn, now).then_some(thread),
            Event::Drain { cpu } => {
                state.drain(cpu, now);
                None
            }
            Event::Free { line } => state.free(line, now),
            Event::Slice { cpu, number } => {
                state.end_slice(cpu, number, now);
                None
            }
        }
    }

    fn resume(&mut self, number: usize) -> Result<(), Box<Stopped>> {
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
                Err(Box::new(Stopped::Panicked { thread: number, cpu, message: words(&*panic), seed: self.seed() }))
            }
        }
    }

    /// The threads that have not come to their ends.
    fn waiting(&self) -> Vec<Waiting> {
        let state = self.state.borrow();
        let numbered = state.threads.iter().enumerate();
        let left = numbered.filter(|(_, own)| own.wait != Wait::Ended && !own.is_foreign);
        left.map(|(number, own)| own.waiting(number, own.wait)).collect()
    }

    fn report(&self) -> Result<Report, Stopped> {
        let trace = self.trace();
        let state = self.state.borrow();
        if state.alive > 0 {
            return Err(Stopped::Deadlock { waiting: self.waiting(), seed: self.seed() });
        }
        let numbered = || state.threads.iter().enumerate();
        let killed = numbered().filter(|(_, own)| own.wait == Wait::Killed).map(|(number, _)| number).collect();
        let begun = state.threads.iter().map(|own| own.accesses).collect();
        let mut ends = vec![0; state.cpus.len()];
        for own in state.threads.iter().filter(|own| !own.is_foreign) {
            ends[own.cpu] = own.clock.max(ends[own.cpu]);
        }
        let end = ends.iter().copied().max().unwrap_or(0);
        let RunState { switches, moves, stops, stopped, .. } = *state;
        Ok(Report { end, ends, counts: state.counts.clone(), switches, moves, stops, stopped, begun, killed, trace })
    }

    /// The trace, if a thread asked for one.
    fn trace(&self) -> Option<Trace> {
        let recorder = self.state.borrow_mut().recorder.take()?;
        let state = self.state.borrow();
        Some(recorder.finish(|number| {
            let address = state.lines.address(number).expect("lines that were touched have addresses");
            let stack = self.stacks.iter().position(|stack| stack.contains(&address));
            TracedLine { number, address, stack }
        }))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Threads that have not ended unwind now, and may access memory in their destructors: they find what was stored before.
        let mut state = self.state.borrow_mut();
        state.is_over = true;
        state.cpus.iter_mut().for_each(|on| on.buffer.finish_until(Ticks::MAX));
        drop(state);
        let is_killed = |number: usize| self.state.borrow().threads[number].wait == Wait::Killed;
        let killed: Vec<_> = (0..self.threads.len()).filter(|&number| is_killed(number)).collect();
        let killed: Vec<_> = killed.into_iter().filter_map(|number| self.threads[number].take()).collect();
        // The others may look at what killed threads have on their stacks.
        self.threads.clear();
        for mut thread in killed {
            // SAFETY: what the thread has on its stack is not accessed any more, as the caller of `kill_at` promised.
            unsafe { thread.force_reset() };
            // SAFETY: that was the thread's handle, which had a share of the state and is never dropped.
            unsafe { Rc::decrement_strong_count(Rc::as_ptr(&self.state)) };
        }
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
