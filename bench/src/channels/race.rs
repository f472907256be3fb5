//! One group of the report: all contenders at one length and number of receivers, in turns.
//!
//! First each contender is made, verified and paced. Then come rounds: in each, a probe of the bare line and, in an order
//! drawn anew from the seed, a block of every contender's stream and one of its single messages.

use std::time::{Duration, Instant};

use corecast::base::{CpuId, CpuSet};

use super::contender::Carrier;
use super::entrant::Entrant;
use super::options::ChannelOptions;
use super::report::{ChannelGroup, ChannelRow};
use super::wire::Wire;
use crate::turns::{Situation, TurnOrder};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::{Crew, Pace};
use corecast_race::progress::Progress;
use corecast_race::race::LineProbe;

/// Rounds of a group even if the time is over.
const FEWEST_ROUNDS: usize = 5;
/// Once this multiple of the time has gone, a single round is enough: on a busy machine more rounds do not help.
const FAR_OVER: u32 = 4;
/// More samples than this say nothing new.
const MOST_ROUNDS: usize = 100_000;

/// A group about to be raced.
pub(super) struct Race<'a> {
    pub(super) wanted: &'a ChannelOptions,
    pub(super) wire: Wire,
    /// The CPU of the sender, then those of the receivers; `None` where the system chooses.
    pub(super) seats: Vec<Option<CpuId>>,
    /// The bare line is probed between the first two of these.
    pub(super) cpus: &'a CpuSet,
    pub(super) pace: Pace,
    /// How long each contender is timed.
    pub(super) per_contender: Duration,
    /// Whether single messages are timed as well.
    pub(super) has_latency: bool,
}

fn wants_round(rounds: usize, elapsed: Duration, total: Duration) -> bool {
    let fewest = if elapsed > FAR_OVER * total { 1 } else { FEWEST_ROUNDS };
    rounds < fewest || (rounds < MOST_ROUNDS && elapsed < total)
}

impl Race<'_> {
    /// Runs it. The first of corecast's own contenders that was timed is the reference.
    pub(super) fn run(
        self,
        carriers: &[&'static dyn Carrier],
        order: &mut TurnOrder<'_>,
        progress: &mut dyn Progress,
    ) -> Result<(ChannelGroup, Vec<f64>), BenchError> {
        let user = &order.options.cancel;
        let entrants = carriers.iter().map(|&carrier| Entrant::new(carrier, self.wire, self.wanted, user)).collect();
        let mut running = Running {
            crew: Crew::seated(self.seats.clone(), self.wire.oversubscribed, self.pace.limit)?,
            probe: LineProbe::start(self.cpus)?,
            entrants,
            total: self.per_contender * carriers.len() as u32,
            start: None,
            progress,
            race: &self,
        };
        let raced = order.race(carriers.len(), &mut running)?;
        let Running { entrants, probe, .. } = running;
        let rows = entrants.iter().zip(&raced).map(|(entrant, raced)| entrant.row(raced.skip.as_ref())).collect();
        let probes = probe.as_ref().map(|probe| probe.probes_ns().to_vec()).unwrap_or_default();
        Ok((self.group(rows, probe.as_ref()), probes))
    }

    fn title(&self) -> String {
        let Wire { bytes, receivers, .. } = self.wire;
        format!("{} of {bytes} bytes to {receivers}", self.wanted.traffic.name())
    }

    fn group(&self, mut rows: Vec<ChannelRow>, probe: Option<&LineProbe>) -> ChannelGroup {
        let reference = rows.iter().find(|row| row.ours && row.summary.is_some());
        let reference = reference.and_then(|row| Some((row.contender, row.summary?.median_ns)));
        for row in &mut rows {
            row.ratio = row.summary.zip(reference).map(|(summary, (_, base))| summary.median_ns / base);
        }
        ChannelGroup {
            bytes: self.wire.bytes,
            receivers: self.wire.receivers,
            cpus: self.seats.iter().flatten().map(|cpu| cpu.get()).collect(),
            oversubscribed: self.wire.oversubscribed,
            depth: self.wire.depth,
            raw_line_ns: probe.and_then(LineProbe::median_ns),
            placement_changes: probe.map_or(0, LineProbe::placement_changes),
            reference: reference.map(|(name, _)| name),
            rows,
        }
    }
}

/// A group that is being raced.
struct Running<'a> {
    race: &'a Race<'a>,
    entrants: Vec<Entrant>,
    crew: Crew,
    probe: Option<LineProbe>,
    progress: &'a mut dyn Progress,
    /// When the first round began.
    start: Option<Instant>,
    /// How long all rounds take together.
    total: Duration,
}

impl Situation for Running<'_> {
    type Block = ();

    fn prepare(&mut self, at: usize) -> Result<(), Failure> {
        let entrant = &mut self.entrants[at];
        self.progress.step(0.0, &format!("{}: check {}", self.race.title(), entrant.name()));
        entrant.open(self.race.wanted, &self.race.seats)
    }

    fn check(&mut self, at: usize) -> Result<(), Failure> {
        self.entrants[at].check(&mut self.crew, &self.race.pace)
    }

    fn wants_round(&mut self, rounds: usize) -> bool {
        let elapsed = self.start.get_or_insert_with(Instant::now).elapsed();
        if !wants_round(rounds, elapsed, self.total) {
            return false;
        }
        let done = (elapsed.as_secs_f64() / self.total.as_secs_f64().max(1e-3)).min(1.0);
        self.progress.step(done, &self.race.title());
        self.probe.iter_mut().for_each(LineProbe::probe);
        true
    }

    /// A block of a stream, and one of single messages.
    fn block(&mut self, at: usize) -> Result<(), Failure> {
        let entrant = &mut self.entrants[at];
        entrant.block(&mut self.crew)?;
        if self.race.has_latency { entrant.paced_block(&mut self.crew, &self.race.pace) } else { Ok(()) }
    }
}
