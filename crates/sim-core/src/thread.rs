//! The accesses of a simulated thread.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ptr;
use std::rc::Rc;

use corosensei::Yielder;

use crate::costs::{Access, Costs, Ticks};
use crate::poll::Sleep;
use crate::report::Counts;
use crate::run_state::{RunState, Wait};
use crate::stops::Stop;
use crate::store_buffer::{Pending, Stage};
use crate::values::Values;
use crate::word::Word;

thread_local! {
    /// The simulated thread that runs now; null while the run itself does.
    static CURRENT: Cell<*const Thread> = const { Cell::new(ptr::null()) };
}

/// A thread of a run. Its functions take virtual time, and let the other threads run up to that time.
///
/// Once the run has ended, threads that have not ended unwind: then accesses take effect at once.
pub struct Thread {
    pub(crate) state: Rc<RefCell<RunState>>,
    pub(crate) number: usize,
    /// Gives the processor back to the run; `None` before the thread runs.
    yielder: Cell<Option<*const Yielder<(), ()>>>,
    pub(crate) values: Values,
    pub(crate) of_run: Rc<Values>,
    at_end: RefCell<Vec<fn()>>,
}

impl Thread {
    pub(crate) fn new(state: Rc<RefCell<RunState>>, of_run: Rc<Values>, number: usize) -> Self {
        let (values, at_end) = (Values::default(), RefCell::default());
        Self { state, number, yielder: Cell::new(None), values, of_run, at_end }
    }

    /// Called by the coroutine itself: runs the thread from its begin to its end.
    pub(crate) fn live(&self, yielder: &Yielder<(), ()>, body: impl FnOnce(&Self)) {
        self.yielder.set(Some(yielder));
        CURRENT.set(self);
        body(self);
        while let Some(call) = self.next_at_end() {
            call();
        }
        self.values.end();
        // Its last work may have outlasted a slice.
        self.have_cpu();
        self.settle();
        leave();
    }

    fn next_at_end(&self) -> Option<fn()> {
        self.at_end.borrow_mut().pop()
    }

    /// Calls this function when the thread has come to its end, on the thread; the last one that was asked for first.
    pub fn at_end(&self, call: fn()) {
        self.at_end.borrow_mut().push(call);
    }

    /// Its number: threads are numbered from 0 in the order in which they were put on CPUs.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Its CPU; of a thread that may move the one that it was on last.
    #[must_use]
    pub fn cpu(&self) -> usize {
        self.state.borrow().threads[self.number].cpu
    }

    /// True if other threads were put on its CPU, too; of a thread that may move, if there are more of them than CPUs.
    #[must_use]
    pub fn shares_cpu(&self) -> bool {
        self.state.borrow().shares_cpu(self.number)
    }

    /// The times that it left its CPU: to sleep, or to another thread.
    #[must_use]
    pub fn switches(&self) -> u64 {
        self.state.borrow().threads[self.number].switches
    }

    /// The accesses that it has begun, which is the number of the next one.
    #[must_use]
    pub fn begun(&self) -> u64 {
        self.state.borrow().threads[self.number].accesses
    }

    /// The accesses of all threads of the run so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.state.borrow().counts.clone()
    }

    /// The time on its CPU.
    #[must_use]
    pub fn now(&self) -> Ticks {
        self.have_cpu();
        let mut state = self.state.borrow_mut();
        let own = &mut state.threads[self.number];
        own.poll.clock_read();
        own.order()
    }

    /// The time on its CPU in nanoseconds, rounded down.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        let now = self.now();
        self.state.borrow().machine.ns(now) as u64
    }

    /// The time of its next access in nanoseconds, rounded down, for a thread that does not act by it: no look at the clock.
    #[must_use]
    pub fn clock_ns(&self) -> u64 {
        let state = self.state.borrow();
        let own = &state.threads[self.number];
        state.machine.ns(own.under_way.settled(own.clock)) as u64
    }

    /// Says that the polling loop whose round ends with the next pause does something else at this time, in nanoseconds: it is
    /// slept through until then at most.
    pub fn poll_until_ns(&self, ns: u64) {
        let mut state = self.state.borrow_mut();
        let until = state.machine.ticks(ns);
        state.threads[self.number].poll.until(until);
    }

    /// Says that the address of the next access follows from values that it has read, as that of a place in an array does: the
    /// access begins when they have come. Those of pointers are known without it.
    pub fn address_follows(&self) {
        self.settle();
    }

    /// Reads a word.
    #[must_use]
    pub fn load(&self, word: Word) -> u64 {
        self.begin_access();
        let mut state = self.state.borrow_mut();
        state.counts.accesses += 1;
        let cpu = state.threads[self.number].cpu;
        match state.cpus[cpu].buffer.forwarded(word) {
            Ok(None) => drop(state),
            Ok(Some(value)) => {
                let Costs { hit, ahead, .. } = *state.machine.costs();
                let time = state.time_on_core(self.number, hit);
                let own = &mut state.threads[self.number];
                own.go_on(own.clock, own.clock + time, time, ahead);
                own.poll.broken();
                drop(state);
                // A loop that polls its own store must let it land.
                self.take_turn();
                return value;
            }
            Err(_) => {
                drop(state);
                self.wait_for_stores();
            }
        }
        self.reach(word, Access::Load);
        self.know(word)
    }

    /// Writes a word. The store takes effect later, after those before it and before those behind it.
    pub fn store(&self, word: Word, value: u64) {
        self.push(word.address(), Some((word, value)));
    }

    /// As if it wrote the line at `address`, which the program has written itself. That is for bytes that no other thread reads
    /// before it sees a later store.
    pub fn store_line(&self, address: usize) {
        self.push(address, None);
    }

    /// As if it read the line at `address`, which the program reads itself.
    pub fn load_line(&self, address: usize) {
        self.begin_access();
        self.state.borrow_mut().counts.accesses += 1;
        self.reach_line(address, Access::Load);
    }

    /// Reads a word and writes the value that `change` gives for the one before, in one step; waits for earlier stores. The value
    /// before.
    pub fn update(&self, word: Word, change: impl FnOnce(u64) -> Option<u64>) -> u64 {
        self.begin_access();
        self.ask_ahead(word);
        self.land_stores();
        self.state.borrow_mut().counts.accesses += 1;
        self.reach(word, Access::ReadModifyWrite);
        let before = self.know(word);
        if let Some(after) = change(before) {
            word.write(after);
        }
        before
    }

    /// Asks for the line of a read-modify-write behind stores whose lines have not come, as one more of them: it begins when all
    /// have.
    fn ask_ahead(&self, word: Word) {
        let mut state = self.state.borrow_mut();
        let Costs { ahead, store_buffer, .. } = *state.machine.costs();
        let own = &state.threads[self.number];
        let (cpu, made) = (own.cpu, own.under_way.begin(own.clock, word.address(), ahead));
        let buffer = &state.cpus[cpu].buffer;
        let is_waiting = !buffer.is_empty() || buffer.done > own.clock;
        if ahead == 0 || state.is_over || !is_waiting || buffer.len() >= store_buffer {
            return;
        }
        let line = state.line_of(word.address(), cpu);
        if !state.lines.is_writable(line, cpu) {
            state.push_store(self.number, Pending { value: None, line, made, ready: 0, stage: Stage::New });
        }
    }

    /// Waits until all accesses before it are complete, and all stores have taken effect.
    pub fn wait_for_stores(&self) {
        self.settle();
        self.land_stores();
    }

    /// Waits until all stores before it have taken effect.
    fn land_stores(&self) {
        let mut state = self.state.borrow_mut();
        if state.is_over {
            return;
        }
        let RunState { threads, cpus, .. } = &mut *state;
        let own = &mut threads[self.number];
        let buffer = &cpus[own.cpu].buffer;
        if buffer.is_empty() {
            let (begin, done) = (own.clock, buffer.done);
            if done > begin {
                own.clock = done;
                state.trace_wait(self.number, Wait::Stores, begin..done);
            }
            return;
        }
        own.poll.broken();
        own.wait = Wait::Stores;
        drop(state);
        self.suspend();
    }

    /// Waits for earlier stores and lets those of all other threads take effect: a system call that runs a fence on every CPU.
    pub fn fence_all(&self) {
        self.begin_access();
        self.wait_for_stores();
        let mut state = self.state.borrow_mut();
        let call = state.machine.costs().system.sleep;
        let own = &mut state.threads[self.number];
        own.clock += call;
        own.poll.broken();
        drop(state);
        self.take_turn();
        let mut state = self.state.borrow_mut();
        let now = state.threads[self.number].clock;
        state.cpus.iter_mut().for_each(|on| on.buffer.finish_until(now));
    }

    /// The hint of a polling loop, between two rounds of it.
    pub fn pause(&self) {
        let pause = self.state.borrow().machine.costs().pause;
        self.end_round(pause, false);
    }

    /// Gives the CPU to another thread that waits for it, if there is one. Ends a round of a polling loop.
    pub fn give_way(&self) {
        self.have_cpu();
        self.settle();
        let mut state = self.state.borrow_mut();
        let give_way = state.machine.costs().system.give_way;
        if state.is_over || !state.is_in_the_way(self.number) {
            drop(state);
            self.end_round(give_way, true);
            return;
        }
        let own = &mut state.threads[self.number];
        own.clock += give_way;
        let _ = own.poll.pause(own.clock);
        state.give_way(self.number);
        drop(state);
        self.suspend();
    }

    fn end_round(&self, pause: Ticks, gives_way: bool) {
        let mut state = self.state.borrow_mut();
        if state.is_over {
            return;
        }
        let own = &mut state.threads[self.number];
        own.settle();
        if !gives_way {
            own.quiet = own.clock..own.clock + pause;
        }
        own.clock += pause;
        own.under_way.pause();
        let now = own.clock;
        let Some(sleep) = own.poll.pause(now) else { return };
        if state.park(self.number, Sleep { gives_way, ..sleep }) {
            drop(state);
            self.suspend();
        }
    }

    /// Sleeps while the word is `seen`, until it is woken or `longest_ns` nanoseconds have passed; for ever if that is the
    /// greatest number. Waits for earlier stores.
    pub fn sleep_while(&self, word: Word, seen: u64, longest_ns: u64) {
        self.begin_access();
        self.wait_for_stores();
        self.reach(word, Access::Load);
        self.settle();
        let mut state = self.state.borrow_mut();
        let longest = if longest_ns == u64::MAX { Ticks::MAX } else { state.machine.ticks(longest_ns) };
        let sleep = state.machine.costs().system.sleep;
        let own = &mut state.threads[self.number];
        own.poll.broken();
        own.clock += sleep;
        if word.read() != seen || state.is_over {
            return;
        }
        state.sleep(self.number, word.address(), longest);
        drop(state);
        self.suspend();
    }

    /// Sleeps until this time, if it has not come yet: other threads have its CPU meanwhile. Waits for earlier stores.
    pub fn sleep_until(&self, time: Ticks) {
        self.begin_access();
        self.wait_for_stores();
        let mut state = self.state.borrow_mut();
        if time <= state.threads[self.number].clock || state.is_over {
            return;
        }
        let sleep = state.machine.costs().system.sleep;
        let own = &mut state.threads[self.number];
        own.poll.broken();
        own.clock += sleep;
        state.sleep_until(self.number, time);
        drop(state);
        self.suspend();
    }

    /// Wakes at most this number of the threads that sleep on a word. Waits for earlier stores.
    pub fn wake(&self, word: Word, at_most: u32) {
        self.begin_access();
        self.wait_for_stores();
        self.take_turn();
        let mut state = self.state.borrow_mut();
        if state.is_over {
            return;
        }
        state.threads[self.number].poll.broken();
        state.wake(self.number, word.address(), at_most);
    }

    /// Lets the stores of all threads to these bytes take effect, which are to be freed.
    pub fn frees(&self, address: usize, bytes: usize) {
        let mut state = self.state.borrow_mut();
        state.cpus.iter_mut().for_each(|on| on.buffer.finish_in(address..address + bytes));
    }

    fn push(&self, address: usize, value: Option<(Word, u64)>) {
        self.begin_access();
        self.make_room();
        let mut state = self.state.borrow_mut();
        state.counts.accesses += 1;
        if state.is_over {
            value.into_iter().for_each(|(word, value)| word.write(value));
            return;
        }
        let ahead = state.machine.costs().ahead;
        let own = &mut state.threads[self.number];
        own.poll.broken();
        let (cpu, ready) = (own.cpu, own.under_way.settled(own.clock));
        let made = own.under_way.begin(own.clock, address, ahead);
        let line = state.line_of(address, cpu);
        state.push_store(self.number, Pending { value, line, made, ready, stage: Stage::New });
    }

    /// Waits for room in the store buffer.
    fn make_room(&self) {
        let mut state = self.state.borrow_mut();
        let most = state.machine.costs().store_buffer;
        let cpu = state.threads[self.number].cpu;
        if state.is_over || state.cpus[cpu].buffer.len() < most {
            return;
        }
        state.threads[self.number].wait = Wait::Room;
        drop(state);
        self.suspend();
    }

    /// Called before each access: a stop may come here.
    fn begin_access(&self) {
        self.have_cpu();
        if self.state.borrow_mut().is_watched(self.number) {
            self.come_to_stop();
        }
    }

    #[cold]
    fn come_to_stop(&self) {
        self.settle();
        let stop = self.state.borrow_mut().stop(self.number);
        match stop {
            Some(Stop::Pause(time)) => {
                let waits = self.state.borrow_mut().take_off(self.number, time);
                if waits {
                    self.suspend();
                }
            }
            Some(Stop::Kill(stores)) => {
                // Stores that come before this time take effect in any case.
                self.take_turn();
                self.state.borrow_mut().kill(self.number, stores);
                loop {
                    self.suspend();
                }
            }
            None => {}
        }
    }

    /// Waits until it has its CPU at its time, if it shares the CPU.
    fn have_cpu(&self) {
        if self.state.borrow().threads[self.number].is_sharing {
            self.take_turn();
        }
    }

    /// Lets all happen that comes before this thread's time.
    pub(crate) fn take_turn(&self) {
        let mut state = self.state.borrow_mut();
        if state.is_over || state.events.are_later_than(state.threads[self.number].clock) {
            return;
        }
        state.announce_turn(self.number);
        drop(state);
        self.suspend();
    }

    pub(crate) fn suspend(&self) {
        let yielder = self.yielder.get().expect("only the thread itself calls");
        // SAFETY: the coroutine set it at its begin, and the yielder lives until its end; only its own code comes here, as a
        // thread is neither Send nor Sync and its closure alone has it.
        let yielder = unsafe { &*yielder };
        leave();
        yielder.suspend(());
        CURRENT.set(self);
    }
}

/// Called when no thread runs any more: one gives the processor back, or has ended.
pub(crate) fn leave() {
    CURRENT.set(ptr::null());
}

/// Calls `f` with the simulated thread that runs now; with `None` outside of a run, and in the destructors of a thread that did
/// not come to its end.
pub fn with_current<R>(f: impl FnOnce(Option<&Thread>) -> R) -> R {
    // SAFETY: it is set only while the thread's own code runs, which the thread outlives.
    f(unsafe { CURRENT.get().as_ref() })
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("number", &self.number).finish_non_exhaustive()
    }
}
