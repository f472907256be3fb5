//! A trace: the events of a window of virtual time, one by one.
//!
//! It has the requests for lines, the waits of threads, and the phases that the program names; hits are not in it, nor time that
//! threads compute for. An event is recorded when it is over and its window can be told, so events are in no order of their
//! begins. Recording changes no time of a run.

use std::ops::Range;

use crate::costs::{Access, LineState, Ticks};
use crate::error::Waiting;

/// The events of a window of virtual time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The window. Events are in it in part or as a whole.
    pub window: Range<Ticks>,
    /// The requests for lines.
    pub requests: Vec<TracedRequest>,
    /// The waits of threads, but those for lines, which `requests` has.
    pub waits: Vec<TracedWait>,
    /// The phases that the program has named.
    pub phases: Vec<TracedPhase>,
    /// The lines of these events, ascending.
    pub lines: Vec<TracedLine>,
    /// True if there were more events than asked for, of which the last ones are missing.
    pub is_cut: bool,
}

/// A request for a line, which was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedRequest {
    /// The line, by the order of first accesses.
    pub line: usize,
    /// The first byte that is accessed, from the begin of the line; `None` if only the line was asked for.
    pub byte: Option<usize>,
    /// The CPU that asked.
    pub cpu: usize,
    /// The thread that waited; `None` for a store, which leaves its thread before it asks.
    pub thread: Option<usize>,
    /// The access.
    pub access: Access,
    /// The time at which it was asked for.
    pub asked: Ticks,
    /// The time at which it was served, when the access took effect: before that, the line served others.
    pub served: Ticks,
    /// The time at which the line came.
    pub comes: Ticks,
    /// The answer; `None` if the CPU had the line when its request was served, by another access of its own.
    pub source: Option<Source>,
    /// The state of the line before that, and the CPU that owned it.
    pub before: Holding,
    /// The state of the line after it, and the CPU that owns it.
    pub after: Holding,
}

/// The CPUs that hold a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The state of the line.
    pub state: LineState,
    /// The CPU that has it modified, owned or exclusive; `None` in other states.
    pub owner: Option<usize>,
    /// The number of CPUs that have a copy.
    pub copies: usize,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The distance that its time follows from.
    pub distance: usize,
    /// The CPU at this distance: the owner, or a holder of a copy; of a home, its first one.
    pub cpu: usize,
    /// Whose answer it is.
    pub answerer: Answerer,
}

/// That which answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answerer {
    /// A CPU that has the line.
    Holder,
    /// The directory at the line's home, which has the same as the CPUs with copies.
    Home,
    /// Memory.
    Memory,
}

/// A wait of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedWait {
    /// The thread, its CPU, and the reason.
    pub waiting: Waiting,
    /// The time.
    pub time: Range<Ticks>,
}

/// A phase of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedPhase {
    /// The thread.
    pub thread: usize,
    /// Its CPU at the end of the phase.
    pub cpu: usize,
    /// The name that the program gave it.
    pub name: &'static str,
    /// Its begin.
    pub begin: Ticks,
    /// Its end.
    pub end: Ticks,
}

/// A line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedLine {
    /// Its number, by the order of first accesses.
    pub number: usize,
    /// The address of its first byte, which differs from one run to the next.
    pub address: usize,
    /// The thread on whose stack it lies.
    pub stack: Option<usize>,
}

/// How a request was served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Granted {
    pub(crate) served: Ticks,
    /// The time after which the line comes.
    pub(crate) time: Ticks,
    pub(crate) source: Option<Source>,
    pub(crate) before: Holding,
}

/// A trace that is being recorded.
#[derive(Debug)]
pub(crate) struct Recorder {
    trace: Trace,
    /// Events for which there is room.
    room: usize,
}

impl Recorder {
    pub(crate) fn new(window: Range<Ticks>, most: usize) -> Self {
        let (requests, waits, phases, lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { trace: Trace { window, requests, waits, phases, lines, is_cut: false }, room: most }
    }

    pub(crate) fn request(&mut self, request: TracedRequest) {
        if self.takes(request.asked, request.comes) {
            self.trace.requests.push(request);
        }
    }

    pub(crate) fn wait(&mut self, waiting: Waiting, time: Range<Ticks>) {
        if !time.is_empty() && self.takes(time.start, time.end) {
            self.trace.waits.push(TracedWait { waiting, time });
        }
    }

    pub(crate) fn phase(&mut self, phase: TracedPhase) {
        if self.takes(phase.begin, phase.end) {
            self.trace.phases.push(phase);
        }
    }

    /// True if an event of this time is in the window, and there is room for it.
    fn takes(&mut self, begin: Ticks, end: Ticks) -> bool {
        let is_within = begin < self.trace.window.end && end >= self.trace.window.start;
        if is_within && self.room == 0 {
            self.trace.is_cut = true;
            return false;
        }
        self.room -= usize::from(is_within);
        is_within
    }

    /// The trace, with its lines, of which `line` tells the address and the stack.
    pub(crate) fn finish(mut self, line: impl Fn(usize) -> TracedLine) -> Trace {
        let requested = self.trace.requests.iter().map(|request| request.line);
        let waited = self.trace.waits.iter().flat_map(|wait| wait.waiting.lines.iter().copied());
        let mut numbers: Vec<usize> = requested.chain(waited).collect();
        numbers.sort_unstable();
        numbers.dedup();
        self.trace.lines = numbers.into_iter().map(line).collect();
        self.trace
    }
}
