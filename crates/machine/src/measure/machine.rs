//! The whole measurement, part by part.

use std::thread;
use std::time::Duration;

use corecast_base::{CpuId, CpuSet};

use super::campaign::Campaign;
use super::crew::{Crew, Task};
use super::curves::Curves;
use super::error::MeasureError;
use super::findings::{Alone, Between};
use super::gauge::Gauge;
use super::halt::Halt;
use super::options::{Effort, Options};
use super::progress::{Progress, Step};
use super::visit::Batches;
use super::{clock_check, disturbance, single_costs, tournament};
use crate::machine::Machine;
use crate::probe::Probe;
use crate::topology::Topology;

/// Longer than any scheduler makes a runnable thread wait.
const PATIENCE: Duration = Duration::from_secs(20);

/// Measures what messages of `probe` cost between the CPUs of this machine, whose topology is given.
///
/// Starts one thread per CPU; they end with the measurement. A machine with one CPU is returned with assumed costs and
/// a warning. Doubts about what was measured are in [`Extended::warnings`](crate::Extended::warnings).
///
/// ```no_run
/// use corecast_machine::source::{DiscoveryRequest, discover};
/// use corecast_machine::LineProbe;
/// use corecast_machine::measure::{Options, Silent, measure};
/// let topology = discover(&DiscoveryRequest::default())?;
/// let machine = measure(&topology, &LineProbe, &Options { quick: true, ..Options::default() }, &mut Silent)?;
/// assert_eq!(machine.provenance.kind, "measured");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If there is no CPU, a CPU asked for is not in the topology or cannot be pinned, a thread cannot be started or
/// panics, a message does not arrive, or the user cancels. All threads have ended then.
pub fn measure<P: Probe>(
    topology: &Topology,
    probe: &P,
    options: &Options<'_>,
    progress: &mut dyn Progress,
) -> Result<Machine, MeasureError> {
    let chosen = chosen(topology, options.cpus.as_ref())?;
    let cpus: Vec<CpuId> = chosen.cpus.iter().map(|cpu| cpu.id).collect();
    let halt = Halt::new(PATIENCE);
    // Outlives the threads, whose tasks borrow it; filled in by the first of them.
    let batches = std::sync::OnceLock::new();
    thread::scope(|scope| {
        let crew = Crew::muster(scope, &cpus, &halt, options.cancelled)?;
        say(progress, "clock, PAUSE, yield and wake-up");
        let take: Task<'_, Gauge> = Box::new(|| Ok(Gauge::take()));
        let gauge = crew.run(vec![(0, take)])?[0];
        let alone = Alone { topology: &chosen, gauge, singles: single_costs::measure(&crew, gauge)? };
        if cpus.len() == 1 {
            return Ok(alone.into_machine());
        }
        let batches = batches.get_or_init(|| Batches::new(gauge, options.seed));
        let rounds = tournament::rounds(cpus.len()).len();
        let effort = Effort::of(options, rounds);
        let campaign = Campaign::new(&crew, probe, batches, &chosen.cpus, effort, options.seed);
        between(&crew, probe, campaign, &alone, progress)?.into_machine(&alone)
    })
}

/// All parts that need two CPUs.
fn between<'env, P: Probe>(
    crew: &Crew<'env>,
    probe: &'env P,
    mut campaign: Campaign<'_, 'env, P>,
    alone: &Alone<'_>,
    progress: &mut dyn Progress,
) -> Result<Between, MeasureError> {
    say(progress, "whether clocks agree");
    let cpus: Vec<CpuId> = alone.topology.cpus.iter().map(|cpu| cpu.id).collect();
    let mut warnings = clock_check::check(crew, &cpus, alone.gauge)?;
    say(progress, "whether pairs disturb each other");
    let concurrency = disturbance::find(&campaign, &alone.topology.cpus, alone.topology.quota)?;
    campaign.run(concurrency.at_once, progress)?;
    warnings.append(&mut campaign.warnings);
    say(progress, "costs by the number of participants");
    let mut curves = Curves::take(crew, probe, campaign.batches, &campaign.pairs)?;
    if !campaign.is_as_before()? {
        curves = Curves::take(crew, probe, campaign.batches, &campaign.pairs)?;
        if !campaign.is_as_before()? {
            warnings.push(
                "the machine changed before fan_out, fan_in, readers and fetch_add were taken: they do not fit the pairs"
                    .to_owned(),
            );
        }
    }
    let (probe, batches) = (probe.name().to_owned(), campaign.batches.clone());
    let notes = concurrency.note.into_iter().collect();
    Ok(Between { probe, batches, pairs: campaign.pairs, curves, notes, warnings })
}

fn say(progress: &mut dyn Progress, label: &str) {
    progress.step(&Step { label, done: 0, total: 0, left: None });
}

/// The topology of the CPUs asked for.
fn chosen(topology: &Topology, cpus: Option<&CpuSet>) -> Result<Topology, MeasureError> {
    let usable: CpuSet = topology.cpus.iter().map(|cpu| cpu.id).collect();
    let wanted = cpus.unwrap_or(&usable);
    if let Some(&cpu) = wanted.difference(&usable).as_slice().first() {
        return Err(MeasureError::NotUsable { cpu, usable });
    }
    if wanted.is_empty() {
        return Err(MeasureError::NoCpus);
    }
    let cpus = topology.cpus.iter().filter(|cpu| wanted.contains(cpu.id)).cloned().collect();
    Ok(Topology { cpus, ..topology.clone() })
}
