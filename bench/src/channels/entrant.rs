//! One contender in one group: built, checked, paced, timed block by block.

use std::sync::Arc;
use std::time::Duration;

use corecast::base::{Clock, CpuId};

use super::bodies::{Sink, Source};
use super::contender::{Carrier, Inlets, Seed};
use super::memory;
use super::node_process;
use super::options::ChannelOptions;
use super::program;
use super::proxy::{Proxy, Role};
use super::report::{ChannelRow, Latency};
use super::script::Script;
use super::traffic::Traffic;
use super::wire::Wire;
use crate::participants::Participants;
use crate::stats::{Samples, Summary, median};
use corecast_race::cancel::Cancel;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body, Crew, Pace, Stamps, Task, iterations_that_fill};
use corecast_race::place::Place;
use corecast_race::skip::Skip;

/// Bytes that are verified at most, so that long messages do not take the time of short ones a million times.
const CHECKED_BYTES: usize = 16 << 20;
/// A block laps its ring at least as often as this, so that filling and draining it are not what is timed.
const LAPS: u64 = 4;
/// From one paced message to the next at least: time for everybody to wait again, and short of what waiters spin for.
const SHORTEST_PACE: Duration = Duration::from_micros(10);
/// And at most.
const LONGEST_PACE: Duration = Duration::from_millis(5);
/// A pace leaves this many times what a message takes in a stream.
const SLACK: f64 = 4.0;
/// A block of paced messages lasts this many times what another block does.
const PACED_BLOCKS: u32 = 4;
/// With fewer samples a 99.9th percentile says nothing.
const FEWEST_FOR_P999: usize = 1000;

/// Why a contender that works has no samples.
fn nothing_arrived() -> Failure {
    Failure::refused("no message arrived")
}

/// A contender and what is known of it so far.
pub(super) struct Entrant {
    carrier: &'static dyn Carrier,
    wire: Wire,
    participants: Participants,
    iterations: u64,
    /// The fewest messages of a block.
    fewest: u64,
    samples_ns: Vec<f64>,
    sender_ns: Vec<f64>,
    cpu_ns: Vec<f64>,
    latencies_ns: Vec<f64>,
    /// Messages that should have arrived in timed blocks, over all receivers, and those that did not.
    expected: u64,
    missed: u64,
}

impl Entrant {
    pub(super) fn new(carrier: &'static dyn Carrier, wire: Wire, wanted: &ChannelOptions, user: &Cancel) -> Self {
        // A receiver that answers each request has no ring to lap.
        let fewest = if wanted.traffic == Traffic::Stream { LAPS * wire.depth as u64 } else { 1 };
        Self {
            carrier,
            wire,
            participants: Participants::heeding(user),
            iterations: fewest,
            fewest,
            samples_ns: Vec::new(),
            sender_ns: Vec::new(),
            cpu_ns: Vec::new(),
            latencies_ns: Vec::new(),
            expected: 0,
            missed: 0,
        }
    }

    /// Makes the channel.
    pub(super) fn open(&mut self, wanted: &ChannelOptions, cpus: &[Option<CpuId>]) -> Result<(), Failure> {
        let Self { carrier, wire, .. } = *self;
        memory::check(&wire)?;
        check_place(carrier, &wanted.place)?;
        let script = Script::of(wanted.traffic, wire.bytes, wire.receivers);
        self.participants.make(|abort| match script {
            None => bodies(carrier, &wire, &wanted.place, cpus, abort),
            Some(script) => nodes(&script, (carrier, &wire), &wanted.place, cpus, abort),
        })
    }

    pub(super) fn name(&self) -> &'static str {
        self.carrier.name()
    }

    /// Verifies the contender and finds out how many messages fill a block.
    pub(super) fn check(&mut self, crew: &mut Crew, pace: &Pace) -> Result<(), Failure> {
        let laps = 2 * self.wire.depth as u64 + 1;
        let rounds = pace.check_rounds.min((CHECKED_BYTES / self.wire.bytes) as u64).max(laps);
        let timings = self.participants.run(crew, Task::Check { rounds })?;
        let missed = timings.iter().map(|timing| timing.missed).max().unwrap_or(0);
        if self.carrier.traits().lossless && missed > 0 {
            return Err(Failure::Wrong(format!("{missed} of {rounds} messages did not arrive")));
        }
        if missed == rounds {
            return Err(nothing_arrived());
        }
        let iterations = iterations_that_fill(pace.block, |iterations| {
            let timings = self.participants.run(crew, Task::Batch { iterations })?;
            Ok(Clock::get().duration(span(&timings)))
        })?;
        self.iterations = iterations.max(self.fewest);
        Ok(())
    }

    /// Runs one block of a stream and keeps what it shows.
    pub(super) fn block(&mut self, crew: &mut Crew) -> Result<(), Failure> {
        let timings = self.participants.run(crew, Task::Batch { iterations: self.iterations })?;
        self.keep(&timings);
        Ok(())
    }

    /// Runs one block of single messages and keeps what it shows.
    pub(super) fn paced_block(&mut self, crew: &mut Crew, pace: &Pace) -> Result<(), Failure> {
        let message_ns = median(&self.samples_ns).filter(|_| self.carrier.times_single_messages());
        let Some(message_ns) = message_ns else { return Ok(()) };
        let every = Duration::from_nanos((SLACK * message_ns) as u64).clamp(SHORTEST_PACE, LONGEST_PACE);
        let count = (PACED_BLOCKS * pace.block).as_nanos() / every.as_nanos();
        let task = Task::Paced { count: count.clamp(4, 1000) as u64, every: Clock::get().ticks_in(every) };
        let timings = self.participants.run(crew, task)?;
        self.keep_latencies(&timings);
        Ok(())
    }

    fn keep(&mut self, timings: &[Stamps]) {
        let (clock, iterations) = (Clock::get(), self.iterations);
        let receivers = self.wire.receivers as u64;
        let missed: u64 = timings.iter().map(|timing| timing.missed).sum();
        self.expected += receivers * iterations;
        self.missed += missed;
        let arrived = (receivers * iterations - missed) as f64 / receivers as f64;
        if arrived > 0.0 {
            self.samples_ns.push(clock.ns(span(timings)) / arrived);
        }
        let sender = &timings[0];
        self.sender_ns.push(clock.ns(sender.end.saturating_sub(sender.start)) / iterations as f64);
        let cpu: Duration = timings.iter().map(|timing| timing.cpu).sum();
        self.cpu_ns.push(cpu.as_nanos() as f64 / iterations as f64);
    }

    fn keep_latencies(&mut self, timings: &[Stamps]) {
        let clock = Clock::get();
        let Some((sender, receivers)) = timings.split_first() else { return };
        for receiver in receivers {
            let pairs = sender.marks.iter().zip(&receiver.marks).filter(|&(_, &arrived)| arrived > 0);
            self.latencies_ns.extend(pairs.map(|(&sent, &arrived)| clock.ns(arrived.saturating_sub(sent))));
        }
    }

    /// The contender's line of the report, still without its ratio. `skip` is why it was skipped, if it was.
    pub(super) fn row(&self, skip: Option<&Skip>) -> ChannelRow {
        let summary = Summary::of(&self.samples_ns).filter(|_| skip.is_none());
        let skip = summary.is_none().then(|| skip.cloned().unwrap_or_else(|| Skip::broken(&nothing_arrived())));
        let traits = self.carrier.traits();
        let messages_per_s = summary.map(|summary| 1e9 / summary.median_ns);
        let timed = |samples: &[f64]| summary.and_then(|_| median(samples));
        ChannelRow {
            contender: self.name(),
            ours: traits.ours,
            fan: traits.fan,
            lossless: traits.lossless,
            summary,
            messages_per_s,
            deliveries_per_s: messages_per_s.map(|rate| rate * self.wire.receivers as f64),
            sender_ns: timed(&self.sender_ns),
            latency: summary.and_then(|_| latency(&self.latencies_ns)),
            cpu_s_per_million: timed(&self.cpu_ns).map(|ns| ns / 1e3),
            lost_share: summary.map(|_| self.missed as f64 / self.expected.max(1) as f64),
            ratio: None,
            failed: skip.as_ref().is_some_and(|skip| skip.failed),
            skipped: skip.map(|skip| skip.reason),
        }
    }
}

fn check_place(carrier: &dyn Carrier, place: &Place) -> Result<(), Failure> {
    let fits = *place == Place::Threads || carrier.traits().processes;
    if fits { Ok(()) } else { Err(Failure::refused("for threads only")) }
}

/// The nodes of a program.
fn nodes(
    script: &Script,
    (carrier, wire): (&'static dyn Carrier, &Wire),
    place: &Place,
    cpus: &[Option<CpuId>],
    abort: &Arc<Abort>,
) -> Result<Vec<Box<dyn Body>>, Failure> {
    if !carrier.traits().lossless {
        return Err(Failure::refused("a lost message would end the program"));
    }
    match place {
        Place::Threads => program::nodes(script, carrier, wire, abort).map_err(Failure::Refused),
        Place::Processes { program, arguments } => {
            node_process::nodes(script, (carrier, wire), (program, arguments), cpus, abort)
        }
    }
}

/// The participants of a stream.
fn bodies(
    carrier: &'static dyn Carrier,
    wire: &Wire,
    place: &Place,
    cpus: &[Option<CpuId>],
    abort: &Arc<Abort>,
) -> Result<Vec<Box<dyn Body>>, Failure> {
    let ends = carrier.open(wire, abort).map_err(Failure::refused)?;
    let mut bodies: Vec<Box<dyn Body>> = vec![Box::new(Source::new(ends.outlet))];
    match ends.inlets {
        Inlets::Here(inlets) => bodies.extend(inlets.into_iter().map(|inlet| Box::new(Sink::new(inlet)) as Box<_>)),
        Inlets::Anywhere(seeds) => {
            for (seed, &cpu) in seeds.into_iter().zip(&cpus[1..]) {
                bodies.push(receiver(carrier, (wire, seed), place, cpu, abort)?);
            }
        }
    }
    Ok(bodies)
}

fn receiver(
    carrier: &'static dyn Carrier,
    (wire, seed): (&Wire, Seed),
    place: &Place,
    cpu: Option<CpuId>,
    abort: &Arc<Abort>,
) -> Result<Box<dyn Body>, Failure> {
    Ok(match place {
        Place::Threads => {
            let inlet = carrier.attach(wire, seed, abort).map_err(Failure::refused)?;
            Box::new(Sink::new(inlet))
        }
        Place::Processes { program, arguments } => {
            let role = (Role::Receiver(seed.word), &seed.fds[..]);
            let mut proxy = Proxy::start((program, arguments), (carrier, wire), cpu, role, abort)?;
            proxy.await_ready()?;
            Box::new(proxy)
        }
    })
}

/// Ticks from the sender's first message to the last receiver's last.
fn span(timings: &[Stamps]) -> u64 {
    let end = timings.iter().map(|timing| timing.end).max().unwrap_or(0);
    end.saturating_sub(timings.first().map_or(0, |sender| sender.start))
}

fn latency(samples: &[f64]) -> Option<Latency> {
    let (count, samples) = (samples.len(), Samples::of(samples.iter().copied()));
    Some(Latency {
        p50_ns: samples.quantile(0.5)?,
        p99_ns: samples.quantile(0.99)?,
        p999_ns: samples.quantile(0.999).filter(|_| count >= FEWEST_FOR_P999),
        samples: count,
    })
}
