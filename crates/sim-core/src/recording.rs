//! The events that a run records, where a trace was asked for.

use std::ops::Range;

use crate::costs::Ticks;
use crate::lines::{LINE_BYTES, Request};
use crate::run_state::{RunState, Wait};
use crate::thread::Thread;
use crate::trace::{Granted, Holding, Recorder, TracedPhase, TracedRequest};

impl Thread {
    /// Records the events of this window of virtual time, up to this number of them: the trace is in the report. Those that are
    /// over by now are not in it. A second call takes the place of the first.
    pub fn trace(&self, window: Range<Ticks>, most: usize) {
        self.state.borrow_mut().recorder = Some(Box::new(Recorder::new(window, most)));
    }

    /// Its time, for a thread that does not act by it: no look at the clock, and the begin of a phase.
    #[must_use]
    pub fn clock(&self) -> Ticks {
        self.state.borrow().threads[self.number].clock
    }

    /// Records a phase of the program that ends now, if a trace was asked for.
    pub fn trace_phase(&self, name: &'static str, begin: Ticks) {
        let mut state = self.state.borrow_mut();
        let RunState { threads, recorder, .. } = &mut *state;
        let Some(recorder) = recorder else { return };
        let own = &threads[self.number];
        recorder.phase(TracedPhase { thread: self.number, cpu: own.cpu, name, begin, end: own.clock });
    }
}

impl RunState {
    /// Records that a thread has waited, if a trace was asked for.
    pub(crate) fn trace_wait(&mut self, thread: usize, wait: Wait, time: Range<Ticks>) {
        if self.recorder.is_some() && wait != Wait::No {
            self.record_wait(thread, wait, time);
        }
    }

    #[cold]
    fn record_wait(&mut self, thread: usize, wait: Wait, time: Range<Ticks>) {
        let Self { threads, recorder, .. } = self;
        let own = &threads[thread];
        if let (Some(recorder), false) = (recorder, own.is_foreign) {
            recorder.wait(own.waiting(thread, wait), time);
        }
    }

    /// The CPUs that hold a line now, if a trace was asked for.
    pub(crate) fn traced_holding(&self, number: usize) -> Option<Holding> {
        self.recorder.as_ref().map(|_| self.holding(number))
    }

    #[cold]
    fn holding(&self, number: usize) -> Holding {
        let line = self.lines.line(number);
        let owner = line.has_owner().then_some(line.owner);
        Holding { state: line.state, owner, copies: self.lines.holders(number).count() }
    }

    /// Records a request that was served.
    #[cold]
    pub(crate) fn record_request(&mut self, line: usize, request: Request, granted: Granted) {
        let Granted { served, time, source, before } = granted;
        let Request { cpu, thread, access, address, asked, .. } = request;
        let after = self.holding(line);
        let thread = (thread != usize::MAX).then_some(thread);
        let byte = address.map(|address| address % LINE_BYTES);
        let comes = served + time;
        if let Some(recorder) = &mut self.recorder {
            let traced = TracedRequest { line, byte, cpu, thread, access, asked, served, comes, source, before, after };
            recorder.request(traced);
        }
    }
}
