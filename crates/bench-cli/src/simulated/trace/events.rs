//! The events of a trace, in nanoseconds from the begin of its window.

use corecast_sim::machine::{
    Access, Answerer, Holding, LineState, Machine, Reason, TracedPhase, TracedRequest, TracedWait,
};
use corecast_sim::{Reach, reach};
use serde::Serialize;

/// A request for a line.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Request {
    /// The line, by the order of first accesses.
    pub(crate) line: usize,
    /// The first byte that is accessed, from the begin of the line; `None` where only the line was asked for.
    pub(crate) byte: Option<usize>,
    pub(crate) cpu: usize,
    /// The thread that waited; `None` for a store.
    pub(crate) thread: Option<usize>,
    /// `load`, `store` or `exchange`.
    pub(crate) access: &'static str,
    pub(crate) asked_ns: f64,
    /// The time at which the access took effect.
    pub(crate) served_ns: f64,
    pub(crate) comes_ns: f64,
    /// `holder`, `home` or `memory`; `None` where its CPU had the line by then.
    pub(crate) answerer: Option<&'static str>,
    /// The CPU that answers; of a home its first one.
    pub(crate) from_cpu: Option<usize>,
    pub(crate) distance: Option<usize>,
    pub(crate) reach: Reach,
    pub(crate) before: Held,
    pub(crate) after: Held,
}

/// The CPUs that hold a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Held {
    /// `invalid`, `exclusive`, `modified`, `owned` or `shared`.
    pub(crate) state: &'static str,
    /// The CPU that has it modified, owned or exclusive.
    pub(crate) owner: Option<usize>,
    /// The CPUs that have a copy.
    pub(crate) copies: usize,
}

/// A wait of a thread for anything but a line.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Wait {
    pub(crate) thread: usize,
    pub(crate) cpu: usize,
    /// `polls`, `sleeps`, `stores`, `cpu` or `stopped`.
    pub(crate) reason: &'static str,
    /// The lines that it polls, or the one that it accessed last.
    pub(crate) lines: Vec<usize>,
    pub(crate) begin_ns: f64,
    pub(crate) end_ns: f64,
}

/// A phase of a thread.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Phase {
    pub(crate) thread: usize,
    pub(crate) cpu: usize,
    /// The name that the program gave it.
    pub(crate) phase: &'static str,
    pub(crate) begin_ns: f64,
    pub(crate) end_ns: f64,
}

/// Times of a machine in nanoseconds from `begin`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock<'a> {
    pub(super) machine: &'a Machine,
    pub(super) begin: u64,
}

impl Clock<'_> {
    /// To a picosecond, negative for events that had begun before the window.
    pub(super) fn ns(&self, ticks: u64) -> f64 {
        let ns = self.machine.ns(ticks.abs_diff(self.begin));
        let rounded = (ns * 1000.0).round() / 1000.0;
        if ticks < self.begin { -rounded } else { rounded }
    }

    pub(super) fn request(&self, traced: &TracedRequest) -> Request {
        let TracedRequest { line, byte, cpu, thread, asked, served, comes, source, .. } = *traced;
        let [asked_ns, served_ns, comes_ns] = [asked, served, comes].map(|ticks| self.ns(ticks));
        Request {
            line,
            byte,
            cpu,
            thread,
            access: access(traced.access),
            asked_ns,
            served_ns,
            comes_ns,
            answerer: source.map(|source| answerer(source.answerer)),
            from_cpu: source.map(|source| source.cpu),
            distance: source.map(|source| source.distance),
            reach: reach(self.machine, traced),
            before: held(traced.before),
            after: held(traced.after),
        }
    }

    pub(super) fn wait(&self, traced: &TracedWait) -> Wait {
        let TracedWait { waiting, time } = traced;
        let [begin_ns, end_ns] = [time.start, time.end].map(|ticks| self.ns(ticks));
        let (thread, cpu, lines) = (waiting.thread, waiting.cpu, waiting.lines.clone());
        Wait { thread, cpu, reason: reason(waiting.reason), lines, begin_ns, end_ns }
    }

    pub(super) fn phase(&self, traced: &TracedPhase) -> Phase {
        let TracedPhase { thread, cpu, name, begin, end } = *traced;
        Phase { thread, cpu, phase: name, begin_ns: self.ns(begin), end_ns: self.ns(end) }
    }
}

fn access(access: Access) -> &'static str {
    match access {
        Access::Load => "load",
        Access::Store => "store",
        Access::ReadModifyWrite => "exchange",
    }
}

fn answerer(answerer: Answerer) -> &'static str {
    match answerer {
        Answerer::Holder => "holder",
        Answerer::Home => "home",
        Answerer::Memory => "memory",
    }
}

fn held(Holding { state, owner, copies }: Holding) -> Held {
    let state = match state {
        LineState::Invalid => "invalid",
        LineState::Exclusive => "exclusive",
        LineState::Modified => "modified",
        LineState::Owned => "owned",
        LineState::Shared => "shared",
    };
    Held { state, owner, copies }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Polls => "polls",
        Reason::Sleeps => "sleeps",
        Reason::Stores => "stores",
        Reason::Cpu => "cpu",
        Reason::Stopped => "stopped",
        _ => "waits",
    }
}
