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
use corecast_race::error::BenchError;
use corecast_race::harness::{Crew, LineProbe, Pace};
use corecast_race::options::Options;
use corecast_race::progress::Progress;

/// Rounds of a group even if the time is over.
const FEWEST_ROUNDS: usize = 5;
/// Once this multiple of the time has gone, a single round is enough: on a busy machine more rounds do not help.
const FAR_OVER: u32 = 4;
/// More samples than this say nothing new.
const MOST_ROUNDS: usize = 100_000;

/// A group about to be raced.
pub(super) struct Race<'a> {
    pub(super) options: &'a Options,
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
    pub(super) rng: &'a mut fastrand::Rng,
}

fn wants_round(rounds: usize, elapsed: Duration, total: Duration) -> bool {
    let fewest = if elapsed > FAR_OVER * total { 1 } else { FEWEST_ROUNDS };
    rounds < fewest || (rounds < MOST_ROUNDS && elapsed < total)
}

impl Race<'_> {
    /// Runs it. The first of corecast's own contenders that was timed is the reference.
    pub(super) fn run(
        mut self,
        carriers: &[&'static dyn Carrier],
        progress: &mut dyn Progress,
    ) -> Result<(ChannelGroup, Vec<f64>), BenchError> {
        let mut crew = Crew::seated(self.seats.clone(), self.wire.oversubscribed, self.pace.limit)?;
        let mut probe = LineProbe::start(self.cpus)?;
        let mut entrants = Vec::with_capacity(carriers.len());
        for carrier in carriers {
            self.options.go_on()?;
            progress.step(0.0, &format!("{}: check {}", self.title(), carrier.name()));
            let mut entrant = Entrant::build(*carrier, self.wire, self.wanted, &self.seats, &self.options.cancel);
            entrant.prepare(&mut crew, &self.pace);
            entrants.push(entrant);
        }
        let (start, total) = (Instant::now(), self.per_contender * carriers.len() as u32);
        let mut rounds = 0;
        while wants_round(rounds, start.elapsed(), total) {
            let done = (start.elapsed().as_secs_f64() / total.as_secs_f64().max(1e-3)).min(1.0);
            progress.step(done, &self.title());
            self.round(&mut crew, probe.as_mut(), &mut entrants)?;
            rounds += 1;
        }
        self.options.go_on()?;
        let probes = probe.as_ref().map(|probe| probe.probes_ns().to_vec()).unwrap_or_default();
        Ok((self.group(&entrants, probe.as_ref()), probes))
    }

    fn title(&self) -> String {
        let Wire { bytes, receivers, .. } = self.wire;
        format!("{} of {bytes} bytes to {receivers}", self.wanted.traffic.name())
    }

    fn round(
        &mut self,
        crew: &mut Crew,
        probe: Option<&mut LineProbe>,
        entrants: &mut [Entrant],
    ) -> Result<(), BenchError> {
        if let Some(probe) = probe {
            probe.probe();
        }
        let mut order: Vec<usize> = (0..entrants.len()).collect();
        self.rng.shuffle(&mut order);
        for i in order {
            self.options.go_on()?;
            entrants[i].block(crew);
            if self.has_latency {
                entrants[i].paced_block(crew, &self.pace);
            }
        }
        Ok(())
    }

    fn group(&self, entrants: &[Entrant], probe: Option<&LineProbe>) -> ChannelGroup {
        let mut rows: Vec<ChannelRow> = entrants.iter().map(Entrant::row).collect();
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
