//! Traces of programs: each request for a line and each wait of a thread in some microseconds, with the phases of the program
//! and what is known of the lines.

use std::ops::Range;

use corecast_sim_core::{Answerer, Machine, Trace, TracedLine, TracedRequest};
use serde::Serialize;

use crate::error::SimError;

/// The most events of a trace.
pub const MOST_EVENTS: usize = 20_000;

/// A trace of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramTrace {
    /// The events.
    pub trace: Trace,
    /// Of each line of the trace, where it lies.
    pub places: Vec<Place>,
    /// The acquisitions, or episodes of a barrier, in the window: those that began in it.
    pub operations: u64,
}

/// Where a line lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In an object that the program names, at this number of bytes behind its begin.
    Object {
        /// The name.
        name: &'static str,
        /// The bytes.
        offset: usize,
    },
    /// On the stack of a thread.
    Stack {
        /// The thread.
        thread: usize,
    },
    /// Elsewhere: on the heap, or in a static.
    Elsewhere,
}

/// How near the CPU is that answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// The CPU itself had the line when its request was served.
    Own,
    /// Of the same package, and a line takes at most half as long again as from the nearest CPU: of the same die or cluster.
    Near,
    /// Of the same package, and farther.
    Package,
    /// Of another package.
    Beyond,
    /// Memory.
    Memory,
}

/// An object of a program, by its name and its addresses.
pub(crate) type Object = (&'static str, Range<usize>);

impl ProgramTrace {
    /// A trace of a program with these objects, each of whose operations has this number of phases with this name.
    ///
    /// # Errors
    /// [`SimError::Events`] if there were too many.
    pub(crate) fn of(trace: Trace, objects: &[Object], operation: (&str, usize)) -> Result<Self, SimError> {
        if trace.is_cut {
            return Err(SimError::Events { most: MOST_EVENTS });
        }
        let places = trace.lines.iter().map(|&line| place(line, objects)).collect();
        let begun =
            trace.phases.iter().filter(|phase| phase.name == operation.0 && trace.window.contains(&phase.begin));
        let operations = begun.count().div_ceil(operation.1) as u64;
        Ok(Self { places, operations, trace })
    }

    /// The requests that were served in the window and moved a line.
    pub fn moves(&self) -> impl Iterator<Item = &TracedRequest> {
        let window = &self.trace.window;
        self.trace.requests.iter().filter(|request| request.source.is_some() && window.contains(&request.served))
    }
}

/// How near the CPU is that answers a request.
#[must_use]
pub fn reach(machine: &Machine, request: &TracedRequest) -> Reach {
    let package = |cpu: usize| machine.location(cpu).package;
    let times = &machine.costs().load.modified;
    match request.source {
        None => Reach::Own,
        Some(source) if source.answerer == Answerer::Memory => Reach::Memory,
        Some(source) if package(source.cpu) != package(request.cpu) => Reach::Beyond,
        Some(source) if 2 * times[source.distance] <= 3 * times[0] => Reach::Near,
        Some(_) => Reach::Package,
    }
}

/// A line that has parts of two objects is that of the first.
fn place(line: TracedLine, objects: &[Object]) -> Place {
    let TracedLine { address, stack, .. } = line;
    let named = objects.iter().find(|(_, object)| object.contains(&address));
    match (named, stack) {
        (Some((name, object)), _) => Place::Object { name, offset: address - object.start },
        (None, Some(thread)) => Place::Stack { thread },
        (None, None) => Place::Elsewhere,
    }
}
