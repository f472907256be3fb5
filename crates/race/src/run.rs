//! A list of groups raced one after the other, as one report.

use std::collections::BTreeMap;

use corecast::base::{CpuId, CpuSet};
use corecast::machine::Machine;

use crate::contender::{Contender, Setting, Workshop, as_planned};
use crate::error::BenchError;
use crate::harness::{Budget, LARGEST_ACCEPTED, largest_clock_offset_ns, median};
use crate::op::Op;
use crate::options::Options;
use crate::progress::{Part, Progress};
use crate::race::Race;
use crate::report::{Group, Report, Timing};

/// One group of the report: an operation, and the contenders raced at it.
pub struct Heat {
    /// The operation.
    pub op: Op,
    /// The events of one operation, where it is a burst.
    pub burst: Option<usize>,
    /// The number of bytes that the operation carries.
    pub bytes: usize,
    /// The number of participants.
    pub participants: usize,
    /// The contenders, the reference first.
    pub contenders: Vec<Box<dyn Contender>>,
}

impl Heat {
    /// Those of `contenders` that the options ask for, at an operation that carries `bytes`.
    #[must_use]
    pub fn of(
        options: &Options,
        op: Op,
        bytes: usize,
        participants: usize,
        contenders: Vec<Box<dyn Contender>>,
    ) -> Self {
        Self { op, burst: None, bytes, participants, contenders: options.raced(contenders) }
    }
}

/// Races the contenders of each heat, dealt over `cpus`.
///
/// # Errors
/// A [`BenchError`] if the run is cancelled, or threads cannot be bound to CPUs. A contender that fails is a row of the report
/// that says so.
pub fn run(
    machine: &Machine,
    options: &Options,
    cpus: &CpuSet,
    heats: Vec<Heat>,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    let seed = options.seed_or_draw();
    // Kept open, so that drivers are built once and not for each group; a contender that needs one says why there is none.
    let _workshop = Workshop::open();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut warnings = Vec::new();
    let offset_ns = if wants_windows(machine, options, cpus, &heats) { clock_offset_ns(cpus)? } else { None };
    let budget = Budget::starting_now(options.total());
    let total = heats.iter().map(|heat| heat.contenders.len()).sum::<usize>().max(1);
    let mut done = 0;
    let mut groups = Vec::with_capacity(heats.len());
    for Heat { op, burst, bytes, participants, contenders } in heats {
        let setting = setting(machine, options, cpus, op, participants).carrying(bytes).placed(&options.place);
        let setting = setting.racing(&contenders);
        let timing = timing(&setting, offset_ns, options.leaf_echo);
        if timing == Timing::Separated && !setting.oversubscribed {
            warn_of(offset_ns, participants, &mut warnings);
        }
        let weight = contenders.len();
        let (from, to) = (done as f64 / total as f64, (done + weight) as f64 / total as f64);
        let mut part = Part { whole: &mut *progress, from, to };
        let race = Race { timing, setting: &setting, pace: options.pace(), cancel: &options.cancel, rng: &mut rng };
        let group = race.run(contenders, budget.share(weight, total - done), &mut part)?;
        groups.push(Group { burst, ..group });
        done += weight;
    }
    progress.step(1.0, "done");
    Ok(report(machine, options, seed, warnings, groups))
}

/// The setting of one group, with the root and the tree that corecast would choose.
pub fn setting<'a>(machine: &'a Machine, options: &Options, cpus: &CpuSet, op: Op, participants: usize) -> Setting<'a> {
    let cpus = if options.spread { over_nodes(machine, cpus, participants) } else { cpus.clone() };
    as_planned(Setting::new(machine, op, &cpus, participants, options.wait))
}

/// This number of the CPUs, one of each NUMA node in turn; all, if there are not more.
fn over_nodes(machine: &Machine, cpus: &CpuSet, participants: usize) -> CpuSet {
    let mut nodes: BTreeMap<u32, Vec<CpuId>> = BTreeMap::new();
    for (cpu, node) in machine.cpus.iter().zip(machine.numa_nodes()).filter(|(cpu, _)| cpus.contains(cpu.id)) {
        nodes.entry(node).or_default().push(cpu.id);
    }
    let most = nodes.values().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..most).flat_map(|turn| nodes.values().filter_map(move |node| node.get(turn).copied()));
    in_turn.take(participants).collect()
}

fn timing(setting: &Setting<'_>, offset_ns: Option<f64>, leaf_echo: bool) -> Timing {
    if leaf_echo && setting.op.can_echo() {
        return Timing::LeafEcho;
    }
    let windows = !setting.oversubscribed && clocks_agree(offset_ns, setting.seats.len());
    match (setting.op.is_rooted(), windows) {
        (false, _) => Timing::Batches,
        (true, true) => Timing::Windows,
        (true, false) => Timing::Separated,
    }
}

fn wants_windows(machine: &Machine, options: &Options, cpus: &CpuSet, heats: &[Heat]) -> bool {
    let fits = |heat: &Heat| !Setting::new(machine, heat.op, cpus, heat.participants, options.wait).oversubscribed;
    heats.iter().any(|heat| heat.op.is_rooted() && fits(heat))
}

/// The largest difference between two CPUs' clocks; infinite where it could not be found.
fn clock_offset_ns(cpus: &CpuSet) -> Result<Option<f64>, BenchError> {
    Ok(Some(largest_clock_offset_ns(cpus)?.unwrap_or(f64::INFINITY)))
}

/// True if this difference is a small part of an operation among that many. A message passes ⌈log₂ n⌉ CPUs one after another,
/// so the operation is that many times as long as one between two.
fn clocks_agree(offset_ns: Option<f64>, participants: usize) -> bool {
    let steps = participants.max(2).next_power_of_two().ilog2();
    offset_ns.is_some_and(|offset| offset <= LARGEST_ACCEPTED.as_nanos() as f64 * f64::from(steps))
}

fn warn_of(offset_ns: Option<f64>, participants: usize, warnings: &mut Vec<String>) {
    let why = match offset_ns.filter(|offset| offset.is_finite()) {
        Some(offset) => format!("the clocks of two CPUs differ by {offset:.0} ns"),
        None => "the clocks of two CPUs could not be compared".to_owned(),
    };
    let what = format!("rooted operations of {participants} are timed with a barrier after each, which is included");
    let warning = format!("{why}: {what}");
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
}

fn report(machine: &Machine, options: &Options, seed: u64, mut warnings: Vec<String>, groups: Vec<Group>) -> Report {
    let probes: Vec<f64> = groups.iter().flat_map(|group| group.raw_line_probes_ns.iter().copied()).collect();
    let placement_changes = groups.iter().map(|group| group.placement_changes).sum();
    if placement_changes > 0 {
        warnings.push(format!(
            "a bare line transfer changed its cost {placement_changes} times: the virtual CPUs were moved, so groups may be of \
             different costs; within a group, rounds of another cost than most are left out"
        ));
    }
    if groups.iter().any(|group| group.timing == Timing::Separated) && warnings.is_empty() {
        warnings.push("rooted operations of shared CPUs are timed with a barrier after each, which is included".into());
    }
    Report {
        machine: machine.name.clone(),
        commit: options.commit.clone(),
        seed,
        quick: options.quick,
        wait: options.wait.name().to_owned(),
        place: options.place.name(),
        raw_line_ns: median(&probes),
        placement_changes,
        warnings,
        groups,
        gates: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::{Cpu, Topology};

    use super::*;

    #[test]
    fn clocks_may_differ_more_among_more_participants() {
        let agree = |offset| [2, 4, 16, 17].map(|participants| clocks_agree(Some(offset), participants));
        assert_eq!(agree(50.0), [true; 4]);
        assert_eq!(agree(66.0), [false, true, true, true]);
        assert_eq!(agree(230.0), [false, false, false, true]);
        assert!(!clocks_agree(None, 2) && !clocks_agree(Some(f64::INFINITY), 1024));
    }

    #[test]
    fn members_are_dealt_over_nodes_in_turn() {
        let cpu = |id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) };
        let topology = Topology { cpus: (0..12).map(cpu).collect(), ..Topology::default() };
        let machine = Machine::from_topology(&topology);
        let cpus: CpuSet = "0-6,8".parse().expect("a list");
        let dealt = |participants| over_nodes(&machine, &cpus, participants).to_string();
        assert_eq!([2, 4, 6, 20].map(dealt), ["0,4", "0-1,4,8", "0-2,4-5,8", "0-6,8"]);
    }
}
