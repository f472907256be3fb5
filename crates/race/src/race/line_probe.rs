//! The yardstick beside every round: what handing one bare cache line to the neighbour costs right now.

use std::sync::Arc;
use std::time::Duration;

use corecast::base::{Clock, CpuSet};
use corecast::machine::pin::PinError;

use crate::contender::RawLine;
use crate::harness::{Abort, Body, Crew, Placement, Task, median, steady_rounds, ticks_of};
use crate::op::Op;

/// Round trips of one batch, some 50 us.
const ROUND_TRIPS: u64 = 256;
/// Batches of one probe; the fastest counts, because an interrupt only ever adds.
const BATCHES: usize = 4;
const LIMIT: Duration = Duration::from_secs(1);

/// Two pinned threads that pass a line to and fro when asked.
pub struct LineProbe {
    crew: Crew,
    abort: Arc<Abort>,
    /// `None` after a failure: then there are no more probes.
    bodies: Option<Vec<Box<dyn Body>>>,
    placement: Placement,
    probes_ns: Vec<f64>,
}

impl LineProbe {
    /// A probe between the first two of `cpus`; `None` if there are not two.
    ///
    /// # Errors
    /// If a thread could not be bound to its CPU.
    pub fn start(cpus: &CpuSet) -> Result<Option<Self>, PinError> {
        let [first, second, ..] = *cpus.as_slice() else { return Ok(None) };
        let crew = Crew::start(&[first, second], false, LIMIT)?;
        let abort: Arc<Abort> = Arc::default();
        let bodies = Some(RawLine::bodies(crew.patience(), &abort));
        Ok(Some(Self { crew, abort, bodies, placement: Placement::default(), probes_ns: Vec::new() }))
    }

    /// Takes a probe.
    pub fn probe(&mut self) {
        let batches = (0..BATCHES).filter_map(|_| self.batch());
        if let Some(fastest) = batches.min_by(f64::total_cmp) {
            self.placement.observe(fastest);
            self.probes_ns.push(fastest);
        }
    }

    fn batch(&mut self) -> Option<f64> {
        let block = self.crew.run(self.bodies.take()?, Task::Batch { iterations: ROUND_TRIPS }, &self.abort).ok()?;
        self.bodies = Some(block.bodies);
        let ticks = ticks_of(Op::OneWay, &block.timings);
        Some(Clock::get().ns(ticks) / (ROUND_TRIPS as f64 * Op::OneWay.per_iteration()))
    }

    /// Every probe so far, in nanoseconds for one transfer.
    pub fn probes_ns(&self) -> &[f64] {
        &self.probes_ns
    }

    /// The median of all probes.
    pub fn median_ns(&self) -> Option<f64> {
        median(&self.probes_ns)
    }

    /// Which of the rounds count, where a probe was taken before and after each: those in which the line cost what it mostly did.
    pub fn steady_rounds(&self) -> Vec<bool> {
        steady_rounds(&self.probes_ns)
    }

    /// How often the virtual CPUs seem to have been moved.
    pub fn placement_changes(&self) -> u32 {
        self.placement.changes()
    }
}
