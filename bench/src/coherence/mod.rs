//! `corecast cc`: what single operations on a cache line cost, by the state that the line is in and by where it is.
//!
//! The cases of ccbench, which SSYNC's study was made with (David, Guerraoui, Trigonakis, SOSP 2013), and those cells of the
//! table of operations and states that it lacks. Every sample takes a fresh line; all samples count; what a line holds is
//! checked after every step.
//!
//! - `case`: the registry; `operation`, `state`: what is done to a line, and what was done before;
//! - `handed`, `contended`, `clusters`, `alone`: the four kinds of cases; `group`: their threads; `lines`: what is measured;
//!   `home`: on which NUMA node that lies;
//! - `system`, `overlap`, `siblings`, `parameters`: what a simulated machine takes of this one;
//! - `timer`, `distribution`: from ticks to numbers;
//! - `report`, `published`: what is told, and what others have told.

mod alone;
mod case;
mod clusters;
mod contended;
mod distribution;
mod group;
mod handed;
mod home;
#[cfg_attr(target_arch = "x86_64", path = "instruction_x86_64.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "instruction_none.rs")]
mod instruction;
mod lines;
mod operation;
mod overlap;
mod parameters;
mod published;
mod report;
mod siblings;
mod state;
mod system;
mod timer;

use corecast::base::{CpuId, CpuSet};
use corecast::machine::{Coherence, Machine, distance_classes};
use fastrand::Rng;

use crate::counts::doubled_up_to;
use crate::stats::median_of;
use alone::{Instruction, REPEATS};
use case::{Case, Kind, chosen};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use corecast_race::progress::Progress;
use distribution::Distribution;
use handed::Handed;
use home::homes;
use lines::Lines;
use parameters::Measured;

pub(crate) use group::{Group, Meeting};
pub(crate) use operation::timed;
pub(crate) use timer::{Correction, measure as measure_timer};

pub use case::{ListedCase, coherence_cases};
pub use distribution::Distribution as CoherenceTimes;
pub use home::Home as CoherenceHome;
pub use report::{CoherenceCell, CoherenceGroup, CoherenceReport, Placement};
pub use timer::TimerRow;

/// Samples of a case.
const THOROUGH: usize = 10_000;
const QUICK: usize = 1_000;

const _: () = assert!(THOROUGH <= lines::MOST_SAMPLES);

/// The options of the benchmark.
#[derive(Clone, Debug, Default)]
pub struct CoherenceOptions {
    /// CPUs, pace, seed, and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The cases by name or number; all by default.
    pub cases: Vec<String>,
}

/// The settings that all groups share.
struct Run<'a> {
    options: &'a Options,
    cases: Vec<Case>,
    samples: usize,
    seed: u64,
    corrections: Vec<(CpuId, Correction)>,
}

/// CPUs that run cases, and the one that touches their lines first.
struct Placed {
    group: CoherenceGroup,
    toucher: CpuId,
}

/// Measures the cases asked for: alone, by a pair for each distance and for each home of its lines, and by all CPUs at once.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, the timer is unsteady, a line does not hold what it should, or the
/// run is cancelled.
pub fn coherence(
    machine: &Machine,
    options: &CoherenceOptions,
    progress: &mut dyn Progress,
) -> Result<CoherenceReport, BenchError> {
    let CoherenceOptions { options, cases } = options;
    let cases = chosen(cases)?;
    let cpus = options.usable_cpus(machine)?;
    let (samples, seed) = (if options.quick { QUICK } else { THOROUGH }, options.seed_or_draw());
    let (mut timers, mut corrections) = (Vec::new(), Vec::new());
    for cpu in cpus.iter() {
        options.go_on()?;
        let (row, correction) = timer::measure(cpu)?;
        timers.push(row);
        corrections.push((cpu, correction));
    }
    let run = Run { options, cases, samples, seed, corrections };
    let mut placed = groups(&machine.restricted_to(&cpus), &cpus);
    let total = placed.len() as f64;
    for (number, placed) in placed.iter_mut().enumerate() {
        run.group(placed, &mut |done, words| progress.step((number as f64 + done) / total, words))?;
    }
    let mut groups: Vec<CoherenceGroup> = placed.into_iter().map(|placed| placed.group).collect();
    groups.retain(|group| !group.cells.is_empty());
    progress.step(1.0, "done");
    let (published, commit) = (published::beside(&groups), options.commit.clone());
    let (machine, quick) = (machine.name.clone(), options.quick);
    Ok(CoherenceReport { machine, commit, seed, quick, timers, groups, published })
}

/// The parameters of a simulated machine that can be measured on the CPUs at hand: what single accesses cost by state and
/// distance, loads under way together, CPUs that share a core, and calls of the system.
/// Parameters that cannot be measured here, or are not known of `machine`, are left out.
///
/// # Errors
/// As for [`coherence`]. The cases asked for are not looked at.
pub fn coherence_parameters(
    machine: &Machine,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Coherence, BenchError> {
    let cases = parameters::CASES.map(str::to_owned).to_vec();
    let report = coherence(machine, &CoherenceOptions { options: options.clone(), cases }, progress)?;
    let cpus: Vec<CpuId> = options.usable_cpus(machine)?.iter().collect();
    let named = |what: &'static str| {
        move |failure: Failure| match failure {
            Failure::Aborted => BenchError::Cancelled,
            other => BenchError::Failed(other.named(what)),
        }
    };
    let system = system::measure(&cpus, &options.cancel).map_err(named("calls of the system"))?;
    let group = |pair: [CpuId; 2]| Group { cpus: pair.to_vec(), cancel: options.cancel.clone() };
    let of_core = pairs(machine, &cpus).find(|&(_, is_of_core)| is_of_core);
    let apart = pairs(machine, &cpus).find(|&(_, is_of_core)| !is_of_core);
    let (mut ahead, mut slowdown) = (None, None);
    let look =
        look_ns(&cpus, options, if options.quick { QUICK } else { THOROUGH }).map_err(named("looks at the clock"))?;
    let gap = gaps(machine, &cpus, options, report.seed)?;
    if let Some((pair, _)) = apart {
        let (_, correction) = timer::measure(pair[1])?;
        ahead = overlap::loads_under_way(&group(pair), correction, report.seed).map_err(named("loads under way"))?;
    }
    if let Some((pair, _)) = of_core {
        slowdown = siblings::slowdown(&group(pair)).map_err(named("CPUs that share a core"))?;
    }
    Ok(Measured { machine, report: &report, system, look, gap, ahead, slowdown }.coherence())
}

/// The time of a look at the clock and a pause behind it, in nanoseconds.
fn look_ns(cpus: &[CpuId], options: &Options, samples: usize) -> Result<Option<f64>, Failure> {
    let group = Group { cpus: cpus[..1].to_vec(), cancel: options.cancel.clone() };
    let ticks = alone::look_ticks(&group, samples)?;
    Ok(median_of(ticks.into_iter().map(|ticks| corecast::base::Clock::get().ns(ticks) / REPEATS as f64)))
}

/// The time from one store to the next in nanoseconds, for a pair of these CPUs of each class of distance that has one.
fn gaps(machine: &Machine, cpus: &[CpuId], options: &Options, seed: u64) -> Result<Vec<(usize, f64)>, BenchError> {
    let mut found = Vec::new();
    for (class, pairs) in distance_classes(machine).into_iter().enumerate() {
        let pairs =
            pairs.pairs.into_iter().map(|(one, other)| [&machine.cpus[one], &machine.cpus[other]].map(|cpu| cpu.id));
        let Some(pair) = pairs.into_iter().find(|pair| pair.iter().all(|cpu| cpus.contains(cpu))) else { continue };
        options.go_on()?;
        let (_, correction) = timer::measure(pair[1])?;
        let group = Group { cpus: pair.to_vec(), cancel: options.cancel.clone() };
        let gap = overlap::time_between_stores(&group, correction, seed).map_err(|failure| match failure {
            Failure::Aborted => BenchError::Cancelled,
            other => BenchError::Failed(other.named("stores in a row")),
        })?;
        found.extend(gap.map(|gap| (class, gap)));
    }
    Ok(found)
}

/// The pairs of these CPUs from near to far, and whether they share a core.
fn pairs<'a>(machine: &'a Machine, cpus: &'a [CpuId]) -> impl Iterator<Item = ([CpuId; 2], bool)> + 'a {
    let all = distance_classes(machine).into_iter().flat_map(|class| class.pairs);
    let pairs = all.map(|(one, other)| [&machine.cpus[one], &machine.cpus[other]]);
    let usable = pairs.filter(|pair| pair.iter().all(|cpu| cpus.contains(&cpu.id)));
    usable.map(|[one, other]| ([one.id, other.id], one.core.is_some() && one.core == other.core))
}

fn placement(case: &Case) -> Placement {
    match case.kind {
        Kind::Handed(..) => Placement::Pair,
        Kind::Contended(_) => Placement::All,
        Kind::Clusters(_) => Placement::Clusters,
        Kind::Chain(_) | Kind::Own | Kind::Alone(_) => Placement::Alone,
    }
}

/// The groups that cases can run in, without cells: pairs from near to far, with the other CPUs behind them, once for each
/// home that their lines can have.
fn groups(machine: &Machine, cpus: &CpuSet) -> Vec<Placed> {
    let placed = |placement, distance, home, toucher, cpus: Vec<u32>| {
        let group = CoherenceGroup { placement, distance, home, clusters: None, cpus, cells: Vec::new() };
        Placed { group, toucher }
    };
    let all: Vec<u32> = cpus.iter().map(CpuId::get).collect();
    let first = CpuId::new(all[0]);
    let mut groups = vec![placed(Placement::Alone, None, None, first, all[..1].to_vec())];
    for class in distance_classes(machine) {
        let (first, second) = class.pairs[0];
        let pair = [first, second].map(|position| machine.cpus[position].id);
        for (home, toucher) in homes(machine, pair) {
            let others = all.iter().copied().filter(|&cpu| !pair.contains(&CpuId::new(cpu)));
            let cpus = pair.into_iter().map(CpuId::get).chain(others).collect();
            groups.push(placed(Placement::Pair, Some(class.name), home, toucher, cpus));
        }
    }
    if all.len() < 2 {
        groups.push(placed(Placement::Pair, None, None, first, all.clone()));
    }
    groups.push(placed(Placement::All, None, None, first, all));
    groups.extend(of_clusters(machine).into_iter().enumerate().map(|(before, cpus)| {
        let mut placed = placed(Placement::Clusters, None, None, first, cpus);
        placed.group.clusters = Some(before + 1);
        placed
    }));
    groups
}

/// The CPUs of the first cluster, of the first two, and so on. A cluster is a NUMA node, or what stands in for it.
fn of_clusters(machine: &Machine) -> Vec<Vec<u32>> {
    let nodes = machine.numa_nodes();
    let mut clusters: Vec<u32> = Vec::new();
    nodes.iter().for_each(|node| {
        if !clusters.contains(node) {
            clusters.push(*node)
        }
    });
    let within = |count: usize| {
        let cpus = machine.cpus.iter().zip(&nodes).filter(|(_, node)| clusters[..count].contains(node));
        cpus.map(|(cpu, _)| cpu.id.get()).collect()
    };
    (1..=clusters.len()).map(within).collect()
}

/// The numbers of sharers that a case runs with: 1, 2, 4 .. up to all CPUs.
fn sharers(case: &Case, cpus: usize) -> Vec<usize> {
    if case.cpus() < 3 {
        return vec![0];
    }
    doubled_up_to(cpus.saturating_sub(2).max(1))
}

impl Run<'_> {
    /// Measures the cases of one group; `step` is told which share of them is done, and what comes next.
    fn group(&self, placed: &mut Placed, step: &mut dyn FnMut(f64, &str)) -> Result<(), BenchError> {
        let Placed { group, toucher } = placed;
        let words = group.distance.unwrap_or(match group.placement {
            Placement::All => "all CPUs at once",
            Placement::Clusters => "all CPUs of clusters",
            _ => "alone",
        });
        let cases: Vec<Case> = self.cases.iter().copied().filter(|case| placement(case) == group.placement).collect();
        let lines = Lines::untouched(self.samples, &mut Rng::with_seed(self.seed));
        if group.placement == Placement::Pair && !cases.is_empty() {
            lines.touch_on(*toucher).map_err(BenchError::Failed)?;
        }
        for (done, case) in cases.iter().enumerate() {
            step(done as f64 / cases.len() as f64, &format!("{}, {words}", case.name()));
            for sharers in sharers(case, group.cpus.len()) {
                group.cells.push(self.cell(case, sharers, &group.cpus, &lines)?);
            }
        }
        Ok(())
    }

    fn cell(&self, case: &Case, sharers: usize, cpus: &[u32], lines: &Lines) -> Result<CoherenceCell, BenchError> {
        self.options.go_on()?;
        let skipped = skipped(case, cpus.len());
        let (samples, handed) = match &skipped {
            Some(_) => (Vec::new(), None),
            None => self.samples_ns(case, sharers, cpus, lines).map_err(|failure| failed(case, failure))?,
        };
        let (times, operation) = (Distribution::of(samples.into_iter()), case.operation().to_owned());
        let (case, number, lines) = (case.name(), case.number, case.lines());
        Ok(CoherenceCell { case, number, operation, lines, handed, sharers, times, skipped })
    }

    /// The samples, and the share of operations whose line came from another CPU where that is counted.
    fn samples_ns(
        &self,
        case: &Case,
        sharers: usize,
        cpus: &[u32],
        lines: &Lines,
    ) -> Result<(Vec<f64>, Option<f64>), Failure> {
        let cpus: Vec<CpuId> = cpus.iter().map(|&cpu| CpuId::new(cpu)).collect();
        let group = |len: usize| Group { cpus: cpus[..len].to_vec(), cancel: self.options.cancel.clone() };
        let ns = |rank: usize, ticks: Vec<u64>, is_fenced: bool| -> Vec<f64> {
            let correction = self.correction(cpus[rank]);
            ticks.into_iter().map(|ticks| correction.ns(ticks, is_fenced)).collect()
        };
        let part = |ns: Vec<f64>| ns.into_iter().map(|ns| ns / REPEATS as f64).collect();
        let samples = match case.kind {
            Kind::Handed(operation, state) => {
                let case = Handed::new(operation, state);
                let ticks = case.ticks(&group(2 + sharers), lines)?;
                ns(case.measured_rank(), ticks, operation.is_fenced())
            }
            Kind::Contended(operation) => {
                let ranks = contended::ticks(operation, &group(cpus.len()), self.samples)?.into_iter().enumerate();
                ranks.flat_map(|(rank, ticks)| ns(rank, ticks, operation.is_fenced())).collect()
            }
            Kind::Clusters(number) => {
                let found = clusters::increments(number, &group(cpus.len()), self.samples, self.seed)?;
                let ranks = found.ticks.into_iter().enumerate();
                let samples = part(ranks.flat_map(|(rank, ticks)| ns(rank, ticks, false)).collect());
                return Ok((samples, Some(found.handed)));
            }
            Kind::Own => part(ns(0, alone::increment_ticks(&group(1), self.samples)?, false)),
            Kind::Chain(bytes) => part(ns(0, alone::chain_ticks(bytes, &group(1), self.samples, self.seed)?, false)),
            Kind::Alone(Instruction::Empty) => {
                let ticks = alone::instruction_ticks(Instruction::Empty, &group(1), self.samples)?;
                ticks.into_iter().map(|ticks| corecast::base::Clock::get().ns(ticks)).collect()
            }
            Kind::Alone(what) => part(ns(0, alone::instruction_ticks(what, &group(1), self.samples)?, false)),
        };
        Ok((samples, None))
    }

    fn correction(&self, cpu: CpuId) -> Correction {
        let found = self.corrections.iter().find(|&&(of, _)| of == cpu);
        found.expect("the timer of every CPU was measured").1
    }
}

/// The reason why a case cannot run on this number of CPUs; `None` if it can.
fn skipped(case: &Case, cpus: usize) -> Option<String> {
    if cpus < case.cpus() {
        return Some(format!(
            "needs {} CPUs, and there {}",
            case.cpus(),
            if cpus == 1 { "is 1".to_owned() } else { format!("are {cpus}") }
        ));
    }
    match case.kind {
        Kind::Handed(operation, state) => operation.impossible().or(state.impossible()).map(str::to_owned),
        _ => None,
    }
}

fn failed(case: &Case, failure: Failure) -> BenchError {
    match failure {
        Failure::Aborted => BenchError::Cancelled,
        other => BenchError::Failed(other.named(&case.name())),
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::{Cpu, Topology};

    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::cancel::Cancel;

    fn machine(cores: &[u32]) -> Machine {
        let cpu = |(id, &core): (usize, &u32)| Cpu { core: Some(core), ..Cpu::flat(CpuId::new(id as u32)) };
        let cpus = cores.iter().enumerate().map(cpu).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    #[test]
    fn every_case_is_measured_or_says_what_it_needs() {
        let options = CoherenceOptions { options: Options { quick: true, ..Options::default() }, cases: Vec::new() };
        let report = coherence(&this_machine(), &options, &mut ()).expect("a report");
        let cells: Vec<&CoherenceCell> = report.groups.iter().flat_map(|group| &group.cells).collect();
        for case in coherence_cases() {
            let cell = cells.iter().find(|cell| cell.case == case.name).expect("all are there");
            assert_ne!(cell.times.is_some(), cell.skipped.is_some(), "{}", case.name);
        }
        let times = cells.iter().filter_map(|cell| cell.times.as_ref());
        for times in times {
            assert_eq!(times.histogram.iter().map(|&(_, count)| count).sum::<usize>(), times.samples);
            assert!(
                times.samples >= QUICK / clusters::FEWER
                    && times.min_ns <= times.p50_ns
                    && times.p99_ns <= times.max_ns
            );
        }
    }

    #[test]
    fn there_is_a_pair_for_each_distance() {
        let machine = machine(&[0, 1, 0, 1]);
        let groups = groups(&machine, &machine.cpu_set());
        let pairs: Vec<(Option<&str>, Vec<u32>)> = groups
            .into_iter()
            .map(|placed| placed.group)
            .filter(|group| group.placement == Placement::Pair)
            .map(|group| (group.distance, group.cpus))
            .collect();
        let near = (Some("same core (SMT siblings)"), vec![0, 2, 1, 3]);
        assert_eq!(pairs, [near, (Some("nothing known in common"), vec![0, 1, 2, 3])]);
    }

    #[test]
    fn clusters_join_one_after_the_other() {
        let cpu = |id: u32| Cpu { package: Some(id % 2), ..Cpu::flat(CpuId::new(id)) };
        let machine = Machine::from_topology(&Topology { cpus: (0..4).map(cpu).collect(), ..Topology::default() });
        assert_eq!(of_clusters(&machine), [vec![0, 2], vec![0, 1, 2, 3]]);
        let groups = groups(&machine, &machine.cpu_set()).into_iter().map(|placed| placed.group);
        let clusters: Vec<Option<usize>> =
            groups.filter(|group| group.placement == Placement::Clusters).map(|group| group.clusters).collect();
        assert_eq!(clusters, [Some(1), Some(2)]);
    }

    #[test]
    fn a_pair_has_a_group_for_each_home_of_its_lines() {
        let cpu = |id: u32| Cpu { numa: Some(id / 2), ..Cpu::flat(CpuId::new(id)) };
        let cpus = (0..6).map(cpu).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let pairs = groups(&machine, &machine.cpu_set()).into_iter().filter(|placed| placed.group.distance.is_some());
        let told: Vec<_> = pairs
            .map(|Placed { group, toucher }| {
                (group.cpus[..2].to_vec(), group.home.expect("three nodes"), toucher.get())
            })
            .collect();
        use CoherenceHome::{Elsewhere, First, Second};
        let near = [(vec![0, 1], First, 0), (vec![0, 1], Elsewhere, 2)];
        let far = [(vec![0, 2], First, 0), (vec![0, 2], Second, 2), (vec![0, 2], Elsewhere, 4)];
        assert_eq!(told, near.into_iter().chain(far).collect::<Vec<_>>());
    }

    #[test]
    fn sharers_double_until_all_take_part() {
        let triple = chosen(&["9".into()]).expect("known")[0];
        assert_eq!(sharers(&triple, 2), [1]);
        assert_eq!(sharers(&triple, 3), [1]);
        assert_eq!(sharers(&triple, 9), [1, 2, 4, 7]);
        assert_eq!(sharers(&triple, 10), [1, 2, 4, 8]);
        assert_eq!(skipped(&triple, 2).as_deref(), Some("needs 3 CPUs, and there are 2"));
        assert_eq!(skipped(&triple, 3).is_some(), !instruction::FLUSHES);
        let pair = chosen(&["7".into()]).expect("known")[0];
        assert_eq!(skipped(&pair, 1).as_deref(), Some("needs 2 CPUs, and there is 1"));
    }

    #[test]
    fn the_user_can_stop_it() {
        let cancel = Cancel::new();
        cancel.cancel();
        let options = Options { quick: true, cancel, ..Options::default() };
        let options = CoherenceOptions { options, cases: Vec::new() };
        let stopped = coherence(&this_machine(), &options, &mut ());
        assert!(matches!(stopped, Err(BenchError::Cancelled)), "{stopped:?}");
    }
}
