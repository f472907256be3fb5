//! `corecast bench setup`: how long it takes to put a group of threads together.
//!
//! From the machine model to members that can be joined, without a thread: with plans searched for, and with plans kept from
//! before. Nothing runs on the CPUs, so any model will do, of however many.

use std::path::PathBuf;
use std::time::Instant;

use corecast::Group;
use corecast::base::{Clock, CpuSet};
use corecast::machine::Machine;
use serde::Serialize;

use crate::rules::at_most;
use crate::stats::{Samples, median};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::gate::{Demand, Gate};
use corecast_race::options::Options;
use corecast_race::progress::Progress;

const COMMAND: &str = "corecast bench setup";
const SEARCHED: Demand = at_most(50.0, "set-up of 256 members, plans searched for, ms", COMMAND);
const KEPT: Demand = at_most(5.0, "set-up of 256 members, plans kept, ms", COMMAND);
/// The members of the gates.
const MANY: usize = 256;

/// The outcome of `corecast bench setup`.
#[derive(Clone, Debug, Serialize)]
pub struct SetupReport {
    /// The machine's name.
    pub machine: String,
    /// The commit this was built from, if it was in a repository.
    pub commit: Option<String>,
    /// One entry for each number of members.
    pub rows: Vec<SetupRow>,
    /// The demands, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// Groups of one size.
#[derive(Clone, Debug, Serialize)]
pub struct SetupRow {
    /// The number of members.
    pub members: usize,
    /// With plans searched for, in milliseconds: the median.
    pub searched_ms: f64,
    /// With plans kept from before, where groups of this size keep theirs: the median.
    pub kept_ms: f64,
    /// The 99th percentile of the same.
    pub kept_p99_ms: f64,
}

/// Puts groups together on the first CPUs of `machine`: of `options.participants` members, or of 2, 4, 8, .. and of as many
/// as it has CPUs.
///
/// # Errors
/// [`BenchError::Participants`] if the machine has too few CPUs, [`BenchError::Cancelled`], or [`BenchError::Failed`] if a
/// group cannot be put together.
pub fn setup(machine: &Machine, options: &Options, progress: &mut dyn Progress) -> Result<SetupReport, BenchError> {
    let cpus = machine.cpu_set();
    let sizes = sizes(&options.participants, cpus.len())?;
    let (searches, builds) = if options.quick { (1, 11) } else { (5, 101) };
    // Once for each process, and no part of a group.
    let _ = Clock::get();
    let mut rows = Vec::with_capacity(sizes.len());
    for (i, &members) in sizes.iter().enumerate() {
        let doing = format!("{members} members");
        // A group takes longer by the square of its members, about.
        let squares = |sizes: &[usize]| sizes.iter().map(|&members| (members * members) as f64).sum::<f64>();
        progress.step(squares(&sizes[..i]) / squares(&sizes), &doing);
        let cpus: CpuSet = cpus.as_slice()[..members].iter().copied().collect();
        let folder = tempfile::tempdir().map_err(Failure::while_doing("make a temporary folder"))?;
        let kept = Some(folder.path().to_owned());
        let searched = times_ms(searches, options, || build(machine, &cpus, None))?;
        build(machine, &cpus, kept.clone())?;
        let kept = times_ms(builds, options, || build(machine, &cpus, kept.clone()))?;
        let kept_p99_ms = Samples::of(kept.iter().copied()).quantile(0.99).expect("one at least");
        let middle = |times: &[f64]| median(times).expect("one at least");
        rows.push(SetupRow { members, searched_ms: middle(&searched), kept_ms: middle(&kept), kept_p99_ms });
    }
    progress.step(1.0, "done");
    let of_many = |time: fn(&SetupRow) -> f64| {
        let row = rows.iter().find(|row| row.members == MANY);
        row.map(time).ok_or_else(|| format!("a machine model of {MANY} CPUs, --machine"))
    };
    let gates = vec![SEARCHED.judge(of_many(|row| row.searched_ms)), KEPT.judge(of_many(|row| row.kept_ms))];
    Ok(SetupReport { machine: machine.name.clone(), commit: options.commit.clone(), rows, gates })
}

fn sizes(wanted: &[usize], cpus: usize) -> Result<Vec<usize>, BenchError> {
    if let Some(&participants) = wanted.iter().find(|&&members| members < 2 || members > cpus) {
        return Err(BenchError::Participants { participants, most: cpus });
    }
    let powers = std::iter::successors(Some(2), |members| Some(2 * members)).take_while(|&members| members < cpus);
    Ok(if wanted.is_empty() { powers.chain([cpus]).collect() } else { wanted.to_vec() })
}

fn build(machine: &Machine, cpus: &CpuSet, folder: Option<PathBuf>) -> Result<Group, BenchError> {
    // As if each had its CPU, on whatever machine this runs.
    let builder = Group::builder(machine).cpus(cpus.clone()).pin(true).plan_folder(folder).race_folder(None);
    builder.build().map_err(|error| BenchError::Failed(Failure::refused(error)))
}

fn times_ms(
    count: usize,
    options: &Options,
    mut build: impl FnMut() -> Result<Group, BenchError>,
) -> Result<Vec<f64>, BenchError> {
    let time_ms = |_| {
        options.go_on()?;
        let began = Instant::now();
        let group = build()?;
        let took = began.elapsed();
        drop(group);
        Ok(took.as_secs_f64() * 1e3)
    };
    (0..count).map(time_ms).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::base::CpuId;
    use corecast::machine::{Cpu, Topology};
    use corecast_race::gate::Verdict;

    fn machine(cpus: u32) -> Machine {
        let cpus = (0..cpus).map(|id| Cpu { numa: Some(id / 8), ..Cpu::flat(CpuId::new(id)) }).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    #[test]
    fn groups_larger_than_this_machine_are_put_together() {
        let options = Options { quick: true, ..Options::default() };
        let report = setup(&machine(20), &options, &mut ()).expect("rows");
        assert_eq!(report.rows.iter().map(|row| row.members).collect::<Vec<_>>(), [2, 4, 8, 16, 20]);
        assert!(report.rows.iter().all(|row| row.searched_ms > 0.0 && row.kept_ms > 0.0), "{report:?}");
        assert!(report.gates.iter().all(|gate| gate.verdict == Verdict::NotJudged), "{report:?}");
    }

    #[test]
    fn more_members_than_cpus_are_refused() {
        for members in [1, 21] {
            let options = Options { participants: vec![members], ..Options::default() };
            let error = setup(&machine(20), &options, &mut ()).expect_err("too few CPUs").to_string();
            assert!(error.contains(&members.to_string()) && error.contains("20"), "{error}");
        }
    }
}
