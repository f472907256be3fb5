//! `corecast explain`: what a group of this machine would use, what it was chosen from, and why.

use corecast::collective::Choice;
use corecast::plan::{self, Operation, Plan, Problem, Request};
use corecast::{Group, Machine};
use serde::Serialize;

use crate::failure::Failure;
use crate::machine_args::MachineArgs;
use crate::output::Output;

use super::plan::operation_parser;

/// Options of `explain`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The operation to explain [default: broadcast, reduce and barrier].
    #[arg(value_parser = operation_parser())]
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
    let operations = arguments.op.map_or(OF_A_GROUP.to_vec(), |op| vec![op]);
    let plans: Vec<Plan> =
        operations.into_iter().map(|op| Request::new(op).plan(&problem)).collect::<Result<_, _>>()?;
    if output.is_json() {
        return output.json(&Explanation::of(&model.machine, &model.origin, &problem, &plans, group.choice()));
    }
    let mut text = format!("{}: {}\n\n", model.machine.name, model.origin);
    for plan in &plans {
        text += &plan::explain(&problem, plan);
        text += "\n";
    }
    output.text(&format!("{text}a group uses\n{}", group.choice()))
}

fn group(machine: &Machine, members: Option<usize>) -> Result<Group, Failure> {
    let builder = Group::builder(machine);
    Ok(members.map_or(builder.clone(), |members| builder.members(members)).build()?)
}

/// The fields of `explain --json`, described in `docs/json/explain.md`.
#[derive(Debug, Serialize)]
struct Explanation<'a> {
    machine: &'a str,
    origin: &'a str,
    unit: String,
    members: Vec<u32>,
    operations: Vec<OperationJson>,
    barrier: BarrierJson<'a>,
}

#[derive(Debug, Serialize)]
struct OperationJson {
    op: &'static str,
    shape: String,
    root: u32,
    predicted: f64,
    candidates: Vec<CandidateJson>,
}

#[derive(Debug, Serialize)]
struct CandidateJson {
    shape: &'static str,
    root: u32,
    predicted: f64,
    depth: usize,
    fan_out: usize,
}

#[derive(Debug, Serialize)]
struct BarrierJson<'a> {
    name: &'static str,
    about: &'static str,
    why: &'a str,
}

impl<'a> Explanation<'a> {
    fn of(machine: &'a Machine, origin: &'a str, problem: &Problem, plans: &[Plan], choice: &'a Choice) -> Self {
        Self {
            machine: &machine.name,
            origin,
            unit: machine.unit.to_string(),
            members: problem.cpus().iter().map(|cpu| cpu.get()).collect(),
            operations: plans.iter().map(|plan| OperationJson::of(problem, plan)).collect(),
            barrier: BarrierJson { name: choice.barrier.name(), about: choice.barrier.about(), why: &choice.why },
        }
    }
}

impl OperationJson {
    fn of(problem: &Problem, plan: &Plan) -> Self {
        let candidates = plan::candidates(problem, plan.operation, None).into_iter();
        let candidates = candidates.map(|candidate| CandidateJson {
            shape: candidate.shape,
            root: problem.cpu(candidate.tree.root()).get(),
            predicted: candidate.predicted,
            depth: candidate.tree.depth(),
            fan_out: candidate.tree.fan_out(),
        });
        Self {
            op: plan.operation.name(),
            shape: plan.planner.clone(),
            root: plan.root().get(),
            predicted: plan.predicted,
            candidates: candidates.collect(),
        }
    }
}
