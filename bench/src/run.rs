//! A list of groups raced one after the other, as one report.

use corecast::base::CpuSet;
use corecast::machine::Machine;

use crate::contender::{Setting, Workshop, planned_root};
use crate::error::BenchError;
use crate::harness::{Budget, LARGEST_ACCEPTED, Race, largest_clock_offset_ns, median};
use crate::op::Op;
use crate::options::Options;
use crate::progress::{Part, Progress};
use crate::report::{Group, Report, Timing, commit};

/// Races each operation among that many participants dealt over `cpus`.
pub(crate) fn run(
    machine: &Machine,
    options: &Options,
    cpus: &CpuSet,
    heats: &[(Op, usize)],
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    let seed = options.seed_or_draw();
    // Kept open, so that drivers are built once and not for each group; who needs one says why there is none.
    let _workshop = Workshop::open();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut warnings = Vec::new();
    let windows = wants_windows(machine, options, cpus, heats) && clocks_agree(cpus, &mut warnings)?;
    let budget = Budget::starting_now(options.total());
    let weights: Vec<usize> = heats.iter().map(|&(op, _)| options.raced(op).len()).collect();
    let total = weights.iter().sum::<usize>().max(1);
    let mut done = 0;
    let mut groups = Vec::with_capacity(heats.len());
    for (&(op, participants), &weight) in heats.iter().zip(&weights) {
        let setting = setting(machine, options, cpus, op, participants);
        let (from, to) = (done as f64 / total as f64, (done + weight) as f64 / total as f64);
        let mut part = Part { whole: &mut *progress, from, to };
        let race = Race {
            timing: timing(&setting, windows),
            setting: &setting,
            pace: options.pace(),
            cancel: &options.cancel,
            rng: &mut rng,
        };
        groups.push(race.run(options.raced(op), budget.share(weight, total - done), &mut part)?);
        done += weight;
    }
    progress.step(1.0, "done");
    Ok(report(machine, options, seed, warnings, groups))
}

/// The setting of one group, with the root that corecast would choose.
pub(crate) fn setting<'a>(
    machine: &'a Machine,
    options: &Options,
    cpus: &CpuSet,
    op: Op,
    participants: usize,
) -> Setting<'a> {
    let setting = Setting::new(machine, op, cpus, participants, options.wait);
    let root = planned_root(&setting);
    setting.rooted_at(root)
}

fn timing(setting: &Setting<'_>, windows: bool) -> Timing {
    match (setting.op.is_rooted(), windows && !setting.oversubscribed) {
        (false, _) => Timing::Batches,
        (true, true) => Timing::Windows,
        (true, false) => Timing::Separated,
    }
}

fn wants_windows(machine: &Machine, options: &Options, cpus: &CpuSet, heats: &[(Op, usize)]) -> bool {
    let fits = |&(op, size): &(Op, usize)| !Setting::new(machine, op, cpus, size, options.wait).oversubscribed;
    heats.iter().any(|heat| heat.0.is_rooted() && fits(heat))
}

fn clocks_agree(cpus: &CpuSet, warnings: &mut Vec<String>) -> Result<bool, BenchError> {
    let accepted = LARGEST_ACCEPTED.as_nanos() as f64;
    let why = match largest_clock_offset_ns(cpus)? {
        Some(offset) if offset <= accepted => return Ok(true),
        Some(offset) => format!("the clocks of two CPUs differ by {offset:.0} ns"),
        None => "the clocks of two CPUs could not be compared".to_owned(),
    };
    warnings.push(format!("{why}: rooted operations are timed with a barrier after each, which is included"));
    Ok(false)
}

fn report(machine: &Machine, options: &Options, seed: u64, mut warnings: Vec<String>, groups: Vec<Group>) -> Report {
    let probes: Vec<f64> = groups.iter().flat_map(|group| group.raw_line_probes_ns.iter().copied()).collect();
    let placement_changes = groups.iter().map(|group| group.placement_changes).sum();
    if placement_changes > 0 {
        warnings.push(format!(
            "a bare line transfer changed its cost {placement_changes} times: the virtual CPUs were moved, and medians \
             of before and after are mixed"
        ));
    }
    if groups.iter().any(|group| group.timing == Timing::Separated) && warnings.is_empty() {
        warnings.push("rooted operations of shared CPUs are timed with a barrier after each, which is included".into());
    }
    Report {
        machine: machine.name.clone(),
        commit: commit(),
        seed,
        quick: options.quick,
        wait: options.wait.name().to_owned(),
        raw_line_ns: median(&probes),
        placement_changes,
        warnings,
        groups,
        gates: Vec::new(),
    }
}
