//! A race as a check of the model: each of corecast's contenders beside the cost that the model predicts for it.
//!
//! Only comparable rows are compared: costs in nanoseconds, threads, operations that carry what the model is about, members
//! with a CPU each, times without a barrier of the harness in them, and contenders that the model knows.

use corecast::machine::{RaceCheck, Unit, measure};
use corecast::plan::{Operation, Problem, Request, SHAPES, planners};
use corecast::{Barrier, CpuId, Group, Machine};
use corecast_race::{self as bench, Place, Report, Timing};

/// The prefix of the contenders that take the tree of one shape.
const OF_SHAPE: &str = "corecast/tree/";

/// The checks that a race among CPUs of this machine allows.
pub(crate) fn checks(machine: &Machine, report: &Report) -> Vec<RaceCheck> {
    if machine.unit != Unit::Ns || report.place != Place::Threads.name() {
        return Vec::new();
    }
    let comparable = |group: &&bench::Group| {
        !group.oversubscribed && matches!(group.timing, Timing::Batches | Timing::Windows) && group.is_usual()
    };
    report.groups.iter().filter(comparable).flat_map(|group| of_group(machine, group)).collect()
}

fn of_group(machine: &Machine, group: &bench::Group) -> Vec<RaceCheck> {
    let Ok(operation) = group.op.name().parse::<Operation>() else { return Vec::new() };
    let cpus: Vec<CpuId> = group.cpus.iter().copied().map(CpuId::new).collect();
    let Ok(problem) = Problem::of_members(machine, &cpus) else { return Vec::new() };
    let raced = Raced { machine, problem, operation, root: group.root };
    let timed = group.rows.iter().filter(|row| row.ours).filter_map(|row| Some((row, row.summary?)));
    let check = timed.filter_map(|(row, summary)| {
        Some(RaceCheck {
            operation: operation.name().to_owned(),
            algorithm: row.contender.clone(),
            members: cpus.iter().copied().collect(),
            predicted: raced.predicted(&row.contender)?,
            measured: summary.median_ns,
            date: measure::date::now(),
        })
    });
    check.collect()
}

/// The race of one group of contenders.
struct Raced<'a> {
    machine: &'a Machine,
    problem: Problem,
    operation: Operation,
    root: Option<usize>,
}

impl Raced<'_> {
    /// The model's prediction for a contender of this name, if it knows it.
    fn predicted(&self, contender: &str) -> Option<f64> {
        if let Some(shape) = contender.strip_prefix(OF_SHAPE) {
            let shape = SHAPES.iter().find(|known| known.name() == shape)?;
            return Some(self.operation.cost(&self.problem, &shape.build(&self.problem, self.root)));
        }
        let family = contender.strip_prefix("corecast/").map(|name| name.parse::<Barrier>().ok());
        match (self.operation, family) {
            (Operation::Barrier, Some(family)) => self.barrier(family?),
            (Operation::Barrier, None) => Some(self.group()?.choice().predicted),
            (Operation::Broadcast, None) => Some(self.group()?.choice().broadcast.predicted),
            (Operation::Reduce, None) => Some(self.group()?.choice().reduce.predicted),
            _ => None,
        }
    }

    /// The group as it chooses for itself, by plans made anew, as those of the race were.
    fn group(&self) -> Option<Group> {
        let cpus = self.problem.cpus().iter().copied().collect();
        Group::builder(self.machine).cpus(cpus).plan_folder(None).race_folder(None).build().ok()
    }

    /// A family of barriers is planned by the scheme of its name.
    fn barrier(&self, family: Barrier) -> Option<f64> {
        let scheme = if family == Barrier::Tree { "trees" } else { family.name() };
        let (scheme, _) = planners().into_iter().find(|(name, _)| *name == scheme)?;
        let plan = Request::new(self.operation).planner(scheme).plan(&self.problem).ok()?;
        Some(plan.predicted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn comparable_rows_are_compared() {
        let mut machine = example::machine(2);
        let report = example::race(&[(2, 2), (8, 2)]);
        let found = checks(&machine, &report);
        let of = |operation: &str| -> Vec<&str> {
            found.iter().filter(|check| check.operation == operation).map(|check| check.algorithm.as_str()).collect()
        };
        let tree = "corecast/tree/adaptive+shuffle+sort";
        assert_eq!(of("barrier"), ["corecast", tree, "corecast/tree/bad", "corecast/dissemination"]);
        assert_eq!(
            of("broadcast"),
            ["corecast", tree, "corecast/tree/bad"],
            "8 members share CPUs, rivals are not ours"
        );
        assert!(found.iter().all(|check| check.predicted > 0.0 && check.measured > 0.0));
        found.into_iter().for_each(|check| machine.record_race(check).expect("a race of this machine"));
        machine.unit = Unit::Cycles;
        assert_eq!(checks(&machine, &report), [], "nobody knows how long a cycle is");
    }
}
