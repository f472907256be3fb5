//! `corecast explain`: what a group of this machine would use, what it was chosen from, and why.

use corecast::collective::Choice;
use corecast::machine::clusters::levels;
use corecast::plan::{self, Effort, Operation, PlanError, Problem};
use corecast::{Group, Machine};
use serde::Serialize;

use crate::bounding::{bounded, certainty};
use crate::comparison::{Comparison, Entry};
use crate::failure::Failure;
use crate::machine_args::MachineArgs;
use crate::output::Output;
use crate::planner_args::{PlannerArgs, Timed};

use super::plan::operation_parser;

/// Options of `explain`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The operation to explain [default: broadcast, reduce and barrier].
    #[arg(value_parser = operation_parser())]
    operation: Option<Operation>,
    /// The same as an option.
    #[arg(long, value_parser = operation_parser(), conflicts_with = "operation")]
    op: Option<Operation>,
    #[command(flatten)]
    machine: MachineArgs,
    /// The number of members; more than CPUs are dealt out evenly [default: one for each CPU].
    #[arg(long, value_name = "N")]
    members: Option<usize>,
}

/// What is explained where nothing else is asked for: what a group does.
const OF_A_GROUP: [Operation; 3] = [Operation::Broadcast, Operation::Reduce, Operation::Barrier];

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let model = arguments.machine.model(output)?;
    let group = group(&model.machine, arguments.members)?;
    let problem = Problem::of_members(&model.machine, group.cpus())?;
    let operations = arguments.op.or(arguments.operation).map_or(OF_A_GROUP.to_vec(), |op| vec![op]);
    let explained = operations.into_iter().map(|op| Explained::of(op, &problem));
    let explained: Vec<Explained> = explained.collect::<Result<_, _>>()?;
    if output.is_json() {
        return output.json(&Explanation::of(&model.machine, &model.origin, &problem, &explained, group.choice()));
    }
    let mut text = format!("{}: {}\n{}\n", model.machine.name, model.origin, levels_text(&problem));
    for explained in &explained {
        text += &explained.text(&problem);
    }
    output.text(&format!("{text}a group uses\n{}", group.choice()))
}

fn group(machine: &Machine, members: Option<usize>) -> Result<Group, Failure> {
    let builder = Group::builder(machine);
    Ok(members.map_or(builder.clone(), |members| builder.members(members)).build()?)
}

/// The plan for one operation, and what else there is.
struct Explained {
    timed: Timed,
    alternatives: Comparison,
}

impl Explained {
    fn of(operation: Operation, problem: &Problem) -> Result<Self, PlanError> {
        let arguments = PlannerArgs::of_effort(Effort::Normal);
        let timed = arguments.plan(operation, problem, &|| false)?;
        let timed = Timed { plan: bounded(problem, timed.plan, false, &|| false), ..timed };
        let quick = PlannerArgs::of_effort(Effort::Quick);
        let alternatives = Comparison::beside((&arguments.planner, &timed), &quick, operation, problem, &|| false);
        Ok(Self { timed, alternatives })
    }

    fn text(&self, problem: &Problem) -> String {
        let plan = &self.timed.plan;
        let (plan_text, alternatives) = (plan::explain(problem, plan), self.alternatives.text());
        format!("{plan_text}\n{}\n\nthe plan (*) and others at effort quick:\n{alternatives}\n", certainty(plan))
    }
}

/// The clusters of members by what messages cost, coarsest first: how many of which size.
fn levels_of(problem: &Problem) -> Vec<Vec<usize>> {
    let sizes = |level: &Vec<u32>| {
        let clusters = level.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sizes = vec![0; clusters];
        level.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    };
    levels(problem.len(), &|a, b| problem.message(a, b)).iter().rev().map(sizes).collect()
}

fn levels_text(problem: &Problem) -> String {
    let levels = levels_of(problem);
    if levels.is_empty() {
        return "costs show no clusters\n".to_owned();
    }
    let line = |sizes: &Vec<usize>| {
        let sizes_text = match (sizes.first(), sizes.last()) {
            (Some(most), Some(least)) if most == least => format!("{most}"),
            (Some(most), Some(least)) => format!("{least} to {most}"),
            _ => String::new(),
        };
        format!("costs show {} clusters of {sizes_text} members\n", sizes.len())
    };
    levels.iter().map(line).collect()
}

/// The fields of `explain --json`, described in `docs/json/explain.md`.
#[derive(Debug, Serialize)]
struct Explanation<'a> {
    machine: &'a str,
    origin: &'a str,
    unit: String,
    members: Vec<u32>,
    levels: Vec<Vec<usize>>,
    operations: Vec<OperationJson>,
    barrier: BarrierJson<'a>,
}

#[derive(Debug, Serialize)]
struct OperationJson {
    op: &'static str,
    planner: String,
    scheme: &'static str,
    why: String,
    root: u32,
    predicted: f64,
    bound: Option<f64>,
    gap: Option<f64>,
    proven: bool,
    candidates: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct BarrierJson<'a> {
    name: &'static str,
    about: &'static str,
    why: &'a str,
}

impl<'a> Explanation<'a> {
    fn of(
        machine: &'a Machine,
        origin: &'a str,
        problem: &Problem,
        explained: &[Explained],
        choice: &'a Choice,
    ) -> Self {
        Self {
            machine: &machine.name,
            origin,
            unit: machine.unit.to_string(),
            members: problem.cpus().iter().map(|cpu| cpu.get()).collect(),
            levels: levels_of(problem),
            operations: explained.iter().map(OperationJson::of).collect(),
            barrier: BarrierJson { name: choice.barrier.name(), about: choice.barrier.about(), why: &choice.why },
        }
    }
}

impl OperationJson {
    fn of(explained: &Explained) -> Self {
        let plan = &explained.timed.plan;
        Self {
            op: plan.operation.name(),
            planner: plan.planner.clone(),
            scheme: plan.scheme.name(),
            why: plan.why.clone(),
            root: plan.root().get(),
            predicted: plan.predicted,
            bound: plan.bound,
            gap: plan.gap(),
            proven: plan.is_proven,
            candidates: explained.alternatives.entries(),
        }
    }
}
