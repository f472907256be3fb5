//! A trace, as JSON has it.

use std::cmp::Reverse;

use corecast_cli::table::many;
use corecast_sim::machine::{Access, Answerer, Machine, TracedRequest};
use corecast_sim::{Disturbance, Place, ProgramTrace, Stops};
use serde::Serialize;

use super::events::{Clock, Phase, Request, Wait};
use crate::simulated::{Fill, Loaded};

/// A trace.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TraceOutcome {
    /// Always true.
    pub(crate) simulated: bool,
    /// The version of corecast.
    pub(crate) version: &'static str,
    /// The name of the machine.
    pub(crate) machine: String,
    /// Where its costs come from.
    pub(crate) costs: String,
    /// The CPUs of the machine.
    pub(crate) cpus: usize,
    #[serde(flatten)]
    pub(crate) options: TraceOptions,
    /// The operations that began in the window.
    pub(crate) operations: u64,
    /// Lines that came from other CPUs and from homes in the window, by distance, the nearest first.
    pub(crate) transfers: Vec<u64>,
    /// The same for each operation; `None` without any.
    pub(crate) transfers_per_operation: Option<Vec<f64>>,
    /// Lines that came from memory in the window.
    pub(crate) from_memory: u64,
    /// The lines of all events, by their numbers.
    pub(crate) lines: Vec<Line>,
    /// By the times at which they were served.
    pub(crate) requests: Vec<Request>,
    /// By their begins.
    pub(crate) waits: Vec<Wait>,
    /// By their begins.
    pub(crate) phases: Vec<Phase>,
    /// Of each CPU that threads are on, the node; for pictures.
    #[serde(skip)]
    pub(crate) nodes: Vec<u16>,
}

/// The options of a trace.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TraceOptions {
    /// `locks` or `barriers`.
    pub(crate) program: &'static str,
    /// The lock or barrier.
    pub(crate) contender: String,
    /// The threads or members, on the first CPUs by turns.
    pub(crate) threads: usize,
    pub(crate) fill: Fill,
    pub(crate) seed: u64,
    pub(crate) disturbance: Disturbance,
    /// The time before the window, in microseconds.
    pub(crate) after_us: u64,
    /// The window, in microseconds.
    pub(crate) us: u64,
    /// The time that a holder computes for; none of barriers.
    pub(crate) inside_ns: Option<u64>,
    /// The time that threads compute for between two operations.
    pub(crate) outside_ns: Option<u64>,
}

/// A line.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    /// Its number, by the order of first accesses.
    pub(crate) line: usize,
    /// `lock`, `guarded`, `stack` or `elsewhere`.
    pub(crate) place: &'static str,
    /// The bytes from the begin of the lock or of what it guards.
    pub(crate) offset: Option<usize>,
    /// The thread on whose stack it lies.
    pub(crate) stack_of: Option<usize>,
    /// Times that it came from other CPUs and from homes in the window, by distance.
    pub(crate) transfers: Vec<u64>,
    /// Times that it came from memory.
    pub(crate) from_memory: u64,
    /// Requests that were served in the window and moved it, by the access.
    pub(crate) loads: u64,
    pub(crate) stores: u64,
    pub(crate) exchanges: u64,
}

impl TraceOutcome {
    /// The outcome of a program that was traced with these options.
    pub(crate) fn of(loaded: &Loaded, options: TraceOptions, traced: &ProgramTrace) -> Self {
        let machine = loaded.machine();
        let ProgramTrace { trace, places, operations } = traced;
        let clock = Clock { machine, begin: trace.window.start };
        let mut requests: Vec<Request> = trace.requests.iter().map(|request| clock.request(request)).collect();
        requests.sort_by(|one, other| one.served_ns.total_cmp(&other.served_ns));
        let mut waits: Vec<Wait> = trace.waits.iter().map(|wait| clock.wait(wait)).collect();
        waits.sort_by(|one, other| one.begin_ns.total_cmp(&other.begin_ns));
        let mut phases: Vec<Phase> = trace.phases.iter().map(|phase| clock.phase(phase)).collect();
        phases.sort_by(|one, other| one.begin_ns.total_cmp(&other.begin_ns));
        let moves: Vec<&TracedRequest> = traced.moves().collect();
        let Moved { transfers, from_memory } = Moved::of(machine, &moves);
        let each = |&number: &u64| number as f64 / *operations as f64;
        let used = options.disturbance.cpus(options.threads);
        let placed = trace.lines.iter().zip(places);
        Self {
            simulated: true,
            version: env!("CARGO_PKG_VERSION"),
            machine: machine.name().to_owned(),
            costs: loaded.origin.clone(),
            cpus: machine.cpus(),
            operations: *operations,
            transfers_per_operation: (*operations > 0).then(|| transfers.iter().map(each).collect()),
            transfers,
            from_memory,
            lines: placed.map(|(line, place)| of_line(machine, &moves, line.number, *place)).collect(),
            requests,
            waits,
            phases,
            nodes: (0..used).map(|cpu| machine.location(cpu).node).collect(),
            options,
        }
    }

    /// The window, in nanoseconds.
    pub(super) fn window_ns(&self) -> f64 {
        self.options.us as f64 * 1000.0
    }

    /// The lines that moved in the window, that which did so most often first.
    pub(super) fn moved_lines(&self) -> Vec<&Line> {
        let mut moved: Vec<&Line> = self.lines.iter().filter(|line| line.moves() > 0).collect();
        moved.sort_by_key(|line| Reverse(line.moves()));
        moved
    }

    /// An operation, in words.
    pub(crate) fn operation(&self) -> &'static str {
        if self.options.program == "locks" { "acquisition" } else { "barrier" }
    }

    /// The operations in the window, in words.
    pub(crate) fn operations_words(&self) -> String {
        format!("{} began in the window", many(self.operations as usize, self.operation()))
    }

    /// The program and the machine, in a line that says that all is simulated.
    pub(crate) fn headline(&self) -> String {
        let Self { machine, cpus, options, .. } = self;
        let used = options.disturbance.cpus(options.threads);
        let spread = if options.fill == Fill::Spread { ", taken by turns over packages and nodes" } else { "" };
        format!("SIMULATED: {} on {used} of {cpus} CPUs of {machine}{spread}", options.contender)
    }

    /// The window and all that it depends on, in a line.
    pub(crate) fn circumstances(&self) -> String {
        let TraceOptions { threads, seed, disturbance, after_us, us, inside_ns, outside_ns, .. } = &self.options;
        let shared = if disturbance.threads_per_cpu > 1 { format!("{threads} threads, ") } else { String::new() };
        let stopped =
            |Stops { one_in, longest_us }| format!("stopped at one access in {one_in} for up to {longest_us} us, ");
        let stopped = disturbance.stops.map(stopped).unwrap_or_default();
        let work =
            inside_ns.zip(*outside_ns).map(|(inside, outside)| format!("{inside} ns inside and {outside} outside, "));
        let work = work.unwrap_or_default();
        format!("{us} us after {after_us}, {shared}{stopped}{work}seed {seed}, corecast {}", self.version)
    }

    /// The number of a thread's CPU, and that of the thread where CPUs are shared.
    pub(crate) fn thread_name(&self, thread: usize) -> String {
        let used = self.nodes.len();
        match used < self.options.threads {
            true => format!("CPU {}, thread {thread}", thread % used),
            false => format!("CPU {thread}"),
        }
    }

    /// The place of a line, in words.
    pub(crate) fn place(&self, number: usize) -> String {
        let Some(line) = self.lines.iter().find(|line| line.line == number) else { return String::new() };
        match (line.offset, line.stack_of) {
            (Some(offset), _) => format!("{}+{offset}", line.place),
            (_, Some(thread)) => format!("stack of {}", self.thread_name(thread)),
            _ => line.place.to_owned(),
        }
    }
}

impl Line {
    /// Times that it moved in the window.
    pub(super) fn moves(&self) -> u64 {
        self.loads + self.stores + self.exchanges
    }
}

/// Lines that moved.
struct Moved {
    transfers: Vec<u64>,
    from_memory: u64,
}

impl Moved {
    fn of(machine: &Machine, moves: &[&TracedRequest]) -> Self {
        let mut moved = Self { transfers: vec![0; machine.costs().memory.len()], from_memory: 0 };
        for source in moves.iter().filter_map(|request| request.source) {
            match source.answerer {
                Answerer::Memory => moved.from_memory += 1,
                Answerer::Holder | Answerer::Home => moved.transfers[source.distance] += 1,
            }
        }
        moved
    }
}

fn of_line(machine: &Machine, moves: &[&TracedRequest], number: usize, place: Place) -> Line {
    let own: Vec<&TracedRequest> = moves.iter().copied().filter(|request| request.line == number).collect();
    let Moved { transfers, from_memory } = Moved::of(machine, &own);
    let count = |access: Access| own.iter().filter(|request| request.access == access).count() as u64;
    let (place, offset, stack_of) = match place {
        Place::Object { name, offset } => (name, Some(offset), None),
        Place::Stack { thread } => ("stack", None, Some(thread)),
        Place::Elsewhere => ("elsewhere", None, None),
    };
    let [loads, stores, exchanges] = [Access::Load, Access::Store, Access::ReadModifyWrite].map(count);
    Line { line: number, place, offset, stack_of, transfers, from_memory, loads, stores, exchanges }
}
