//! A whole race of channels: every length and number of receivers, one group after the other.

use std::time::Duration;

use corecast::base::{CpuId, CpuSet};
use corecast::machine::Machine;

use super::contender::Carrier;
use super::gates;
use super::options::{ChannelOptions, Seating};
use super::published;
use super::race::Race;
use super::report::{ChannelGroup, ChannelReport};
use super::traffic::Traffic;
use super::wire::Wire;
use crate::stats::median;
use crate::turns::TurnOrder;
use corecast_race::error::BenchError;
use corecast_race::harness::{Pace, is_crowded, largest_clock_offset_ns};
use corecast_race::options::Options;
use corecast_race::place::Place;
use corecast_race::progress::{Part, Progress};

/// The longest time of a block before its contender is given up. Long, because on a busy machine a poller may wait for a slice
/// of time at every lap of its ring.
const LIMIT: Duration = Duration::from_secs(10);

/// Single messages are timed across CPUs only if their clocks do not differ by more. The difference is reported: it
/// is the error of every such time.
const LARGEST_OFFSET: Duration = Duration::from_micros(1);

/// Races the contenders at every length and number of receivers asked for. Of `options`, operations, participants and
/// budget are not looked at.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, name no contender, the run is cancelled, or threads cannot be
/// started. A contender's failure is no error but the reason in its row.
pub fn race(
    machine: &Machine,
    options: &Options,
    wanted: &ChannelOptions,
    progress: &mut dyn Progress,
) -> Result<ChannelReport, BenchError> {
    let cpus = options.usable_cpus(machine)?;
    let carriers = wanted.carriers()?;
    let (lengths, crowds) = (wanted.lengths(options.quick)?, wanted.crowds(cpus.len())?);
    let (seed, clock_offset_ns) = (options.seed_or_draw(), largest_clock_offset_ns(&cpus)?);
    let order = TurnOrder::new(options, seed);
    let (wake_ns, clocks_agree) = (machine.extended.wake_ns.map(|ns| ns as u64), is_small(clock_offset_ns));
    let mut campaign = Campaign { wanted, cpus: &cpus, clocks_agree, wake_ns, order, probes_ns: Vec::new() };
    let heats: Vec<_> = crowds.iter().flat_map(|&crowd| lengths.iter().map(move |&bytes| (bytes, crowd))).collect();
    let mut groups = Vec::new();
    for (i, &(bytes, receivers)) in heats.iter().enumerate() {
        groups.push(campaign.heat(bytes, receivers, &carriers, &mut Part::of(progress, i, heats.len()))?);
    }
    progress.step(1.0, "done");
    Ok(ChannelReport {
        machine: machine.name.clone(),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        commit: options.commit.clone(),
        seed,
        quick: options.quick,
        traffic: wanted.traffic,
        place: wanted.place.name(),
        seating: if wanted.unpinned { Seating::Unpinned } else { Seating::Pinned },
        wait: options.wait.name(),
        seconds_per_row: wanted.per_row(options).as_secs_f64(),
        clock_offset_ns,
        raw_line_ns: median(&campaign.probes_ns),
        placement_changes: groups.iter().map(|group| group.placement_changes).sum(),
        warnings: warnings(clock_offset_ns, &groups),
        published: published::beside(wanted.traffic, &groups),
        gates: gates::judge(wanted.traffic, &groups, cpus.len()),
        groups,
    })
}

/// The settings that all groups share.
struct Campaign<'a> {
    wanted: &'a ChannelOptions,
    cpus: &'a CpuSet,
    /// Whether times taken on two CPUs may be subtracted.
    clocks_agree: bool,
    /// The cost of a wake-up, if the machine's model tells.
    wake_ns: Option<u64>,
    order: TurnOrder<'a>,
    /// The probes of all groups so far.
    probes_ns: Vec<f64>,
}

impl Campaign<'_> {
    fn heat(
        &mut self,
        bytes: usize,
        receivers: usize,
        carriers: &[&'static dyn Carrier],
        progress: &mut dyn Progress,
    ) -> Result<ChannelGroup, BenchError> {
        let options = self.order.options;
        let participants = self.wanted.traffic.participants(receivers);
        let oversubscribed = is_crowded(participants, self.cpus.len());
        let wire = Wire::new(bytes, receivers, oversubscribed, options.wait);
        let among_processes = self.wanted.place != Place::Threads;
        let seats: Vec<CpuId> = self.cpus.as_slice().iter().copied().cycle().take(participants).collect();
        let race = Race {
            wanted: self.wanted,
            wire: Wire { among_processes, wake_ns: self.wake_ns, ..wire },
            seats: seats.into_iter().map(|cpu| (!self.wanted.unpinned).then_some(cpu)).collect(),
            cpus: self.cpus,
            pace: Pace { limit: LIMIT, ..options.pace() },
            per_contender: self.wanted.per_row(options),
            has_latency: self.clocks_agree && !oversubscribed && self.wanted.traffic == Traffic::Stream,
        };
        let (group, probes_ns) = race.run(carriers, &mut self.order, progress)?;
        self.probes_ns.extend(probes_ns);
        Ok(group)
    }
}

/// Whether times taken on two CPUs may be subtracted.
fn is_small(offset_ns: Option<f64>) -> bool {
    offset_ns.is_some_and(|offset_ns| offset_ns <= LARGEST_OFFSET.as_nanos() as f64)
}

fn warnings(clock_offset_ns: Option<f64>, groups: &[ChannelGroup]) -> Vec<String> {
    let mut warnings = Vec::new();
    if !is_small(clock_offset_ns) {
        warnings.push("the CPUs' clocks do not agree, so single messages were not timed".to_owned());
    }
    if groups.iter().any(|group| group.placement_changes > 0) {
        warnings.push("the cost of a line transfer changed during the run; medians mix before and after".to_owned());
    }
    if groups.iter().any(|group| group.oversubscribed) {
        warnings
            .push("participants shared CPUs where it says oversubscribed; hold no paper against such rows".to_owned());
    }
    warnings
}
