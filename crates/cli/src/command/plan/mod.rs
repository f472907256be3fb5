//! `corecast plan`: the trees for one operation, what they should cost, and how far that is from the best.
//!
//! With `--cluster` it plans for the nodes of a cluster. `acknowledged` plans rings instead, `pictures` writes the plan as DOT
//! and SVG, `text` says it in words.

mod acknowledged;
mod pictures;
mod text;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast::Machine;
use corecast::collective::Barrier;
use corecast::plan::diamond::DiamondJson;
use corecast::plan::tree_file::{self, Trees};
use corecast::plan::{Effort, Operation, PlanJson, Problem};
use serde::Serialize;

use acknowledged::RingArgs;

use crate::bounding::bounded;
use crate::cluster::{self, ClusterArgs, PlanArgs, Question};
use crate::comparison::{Comparison, Entry};
use crate::cost_args::CostArgs;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::levels;
use crate::machine_args::MachineArgs;
use crate::output::Output;
use crate::planner_args::{PlannerArgs, Timed};
use crate::service_plan;

/// The bytes of an operation of a cluster, if nothing is said.
const DEFAULT_BYTES: usize = 8;

/// The name of a plan whose trees come from a file.
const GIVEN: &str = "given";

/// Options of `plan`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// The operation to plan for.
    #[arg(long, visible_alias = "operation", value_parser = planned_parser())]
    op: Planned,
    #[command(flatten)]
    ring: acknowledged::RingArgs,
    #[command(flatten)]
    planner: PlannerArgs,
    #[command(flatten)]
    costs: CostArgs,
    /// Ask the plan service at this socket, which `corecast serve` opens, and plan in this process if it has no answer.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["tree", "robust"])]
    service: Option<PathBuf>,
    /// Take the trees from this file instead of making them.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["planner", "root", "effort", "seed", "max_children", "max_depth", "robust"])]
    tree: Option<PathBuf>,
    /// Take more time for the lower bound, also beyond 32 CPUs, where it may take minutes.
    #[arg(long)]
    bound: bool,
    /// Also let every other planner and shape plan, and compare them.
    #[arg(long)]
    compare: bool,
    /// Also write the plan to this file, which --tree reads.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pictures: pictures::PictureArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
    #[command(flatten)]
    of_cluster: PlanArgs,
}

/// The operation to plan for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planned {
    /// Trees, or what else serves a barrier.
    Trees(Operation),
    /// The ring of an acknowledged broadcast.
    Acknowledged,
}

const ACKNOWLEDGED: &str = "acknowledged";

/// Accepts the names of all that is planned.
fn planned_parser() -> impl TypedValueParser<Value = Planned> {
    let names = Operation::ALL.map(Operation::name).into_iter().chain([ACKNOWLEDGED]);
    PossibleValuesParser::new(names).try_map(|name| match &*name {
        ACKNOWLEDGED => Ok(Planned::Acknowledged),
        name => name.parse().map(Planned::Trees),
    })
}

/// What `plan --json` prints.
#[derive(Debug, Serialize)]
struct Planning {
    #[serde(flatten)]
    plan: PlanJson,
    #[serde(flatten)]
    meeting: Option<Meeting>,
}

/// How the members of a barrier meet.
#[derive(Debug, Serialize)]
struct Meeting {
    /// The barrier that runs the plan.
    family: &'static str,
    levels: Vec<Vec<usize>>,
}

impl Planning {
    fn of(timed: &Timed, problem: &Problem) -> Result<Self, Failure> {
        let is_barrier = timed.plan.operation == Operation::Barrier;
        let family = Barrier::of_scheme(&timed.plan.scheme).name();
        let meeting = is_barrier.then(|| Meeting { family, levels: levels::sizes(problem) });
        Ok(Self { plan: timed.json()?, meeting })
    }
}

/// What `plan --compare --json` prints.
#[derive(Debug, Serialize)]
struct Compared {
    plan: Planning,
    compared: Vec<Entry>,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    match arguments.op {
        Planned::Trees(operation) if arguments.cluster.is_given() => plan_cluster(arguments, operation, output),
        Planned::Trees(operation) => plan_trees(arguments, operation, output),
        Planned::Acknowledged => plan_ring(arguments, output),
    }
}

fn plan_cluster(arguments: &Arguments, operation: Operation, output: &Output) -> Result<(), Failure> {
    arguments.check_cluster_alone()?;
    let question = Question {
        arguments: &arguments.cluster,
        operation,
        bytes: arguments.of_cluster.bytes.unwrap_or(DEFAULT_BYTES) as u64,
        effort: arguments.planner.effort,
        is_explained: arguments.of_cluster.explain,
    };
    cluster::run(&question, output)
}

fn plan_ring(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    arguments.check_ring_alone()?;
    let (ring, json) = match arguments.ring.n {
        Some(nodes) => {
            let ring = arguments.ring.ring(nodes)?;
            (ring, DiamondJson::new(&ring, None))
        }
        None => {
            let problem = arguments.costs.problem(&arguments.machine.model(output)?.machine)?;
            let root = arguments.planner.root_member(&problem)?.unwrap_or(0);
            let ring = arguments.ring.ring(problem.len())?;
            (ring, DiamondJson::new(&ring, Some((&problem, root))))
        }
    };
    if output.is_json() { output.json(&json) } else { output.text(&acknowledged::describe(&ring, &json)) }
}

fn plan_trees(arguments: &Arguments, operation: Operation, output: &Output) -> Result<(), Failure> {
    if arguments.ring != RingArgs::default() {
        return Err(Failure::input("--arity, --n and --companion go with --op acknowledged"));
    }
    arguments.pictures.check(output)?;
    // A service ends its search when this process goes, however that ends.
    let is_long = arguments.planner.is_long() && arguments.service.is_none();
    let interrupt = (is_long || arguments.bound || arguments.compare).then(Interrupt::watch_for_best).transpose()?;
    let model = arguments.machine.model(output)?;
    let problem = arguments.costs.problem(&model.machine)?;
    arguments.planner.check(&problem)?;
    let stop = || interrupt.as_ref().is_some_and(Interrupt::is_raised);
    let served = arguments.served(operation, &model.machine, &problem, output);
    let timed = arguments.plan(operation, served, &problem, &stop, output)?;
    let chosen = if arguments.tree.is_some() { GIVEN } else { &arguments.planner.planner };
    let compared =
        arguments.compare.then(|| Comparison::beside((chosen, &timed), &arguments.planner, operation, &problem, &stop));
    tell_of_limits(&arguments.planner, &timed, stop(), output);
    if let Some(path) = &arguments.out {
        tree_file::write(&timed.plan, path)?;
    }
    if arguments.pictures.write(&problem, &timed.plan, output)? {
        return Ok(());
    }
    if output.is_json() {
        return print_json(&timed, &problem, compared.as_ref(), output);
    }
    let table = compared.map(|compared| format!("\n{}", compared.text())).unwrap_or_default();
    output.text(&format!("{}{table}", text::describe(&timed)))
}

impl Arguments {
    /// Refuses what a plan for a cluster has no use for.
    fn check_cluster_alone(&self) -> Result<(), Failure> {
        let others = [self.service.is_some(), self.tree.is_some(), self.bound, self.compare, self.out.is_some()];
        let is_ring = self.ring != RingArgs::default();
        if others.contains(&true) || is_ring || self.pictures.is_any() || self.planner.asks_for_more_than_effort() {
            return Err(Failure::input(
                "--cluster plans for nodes, which takes --nodes, --bytes, --root-node, --node, --punctual, --explain, --html and --effort alone",
            ));
        }
        Ok(())
    }

    /// Refuses what a ring has no use for.
    fn check_ring_alone(&self) -> Result<(), Failure> {
        let others = [self.service.is_some(), self.tree.is_some(), self.bound, self.compare, self.out.is_some()];
        let is_cluster = self.cluster.is_given();
        if others.contains(&true) || is_cluster || self.pictures.is_any() || self.planner.asks_for_more_than_a_root() {
            return Err(Failure::input(
                "--op acknowledged plans a ring, which takes --arity, --n, --companion, --root and options for the machine alone",
            ));
        }
        Ok(())
    }

    /// The plan of the service asked for; `None` if there is none.
    fn served(&self, operation: Operation, machine: &Machine, problem: &Problem, output: &Output) -> Option<Timed> {
        let request = self.planner.request(operation);
        self.service.as_ref().and_then(|path| service_plan::served(path, machine, request, problem, output))
    }

    fn plan(
        &self,
        operation: Operation,
        served: Option<Timed>,
        problem: &Problem,
        stop: &(dyn Fn() -> bool + Sync),
        output: &Output,
    ) -> Result<Timed, Failure> {
        let timed = match (&self.tree, served) {
            (_, Some(served)) => served,
            (Some(path), None) => {
                let trees = tree_file::read(path, problem)?;
                tell_of_scheme(&trees, output);
                Timed { plan: trees.plan(problem, operation, GIVEN), time_ms: 0.0 }
            }
            (None, None) => self.planner.plan(operation, problem, stop)?,
        };
        Ok(Timed { plan: bounded(problem, timed.plan, self.bound, stop), ..timed })
    }
}

/// Says that a file's plan is not the one that is made of its trees.
fn tell_of_scheme(trees: &Trees, output: &Output) {
    if let Some(scheme) = &trees.other_scheme {
        output.remark(&format!(
            "the file has a plan of scheme '{scheme}', of which only the trees are used: the cost is that of scheme trees"
        ));
    }
}

/// Says what the user may not expect of the plan.
fn tell_of_limits(asked: &PlannerArgs, timed: &Timed, is_stopped: bool, output: &Output) {
    let plan = &timed.plan;
    if is_stopped {
        output.remark("the search was stopped early; this is the best plan that it had found");
    } else if asked.effort == Effort::Exact && plan.effort.is_some() && !plan.is_proven {
        output.remark(&format!("effort exact could not prove this plan for {} CPUs: {}", plan.cpus.len(), plan.why));
    }
}

fn print_json(timed: &Timed, problem: &Problem, compared: Option<&Comparison>, output: &Output) -> Result<(), Failure> {
    let plan = Planning::of(timed, problem)?;
    match compared {
        None => output.json(&plan),
        Some(compared) => output.json(&Compared { plan, compared: compared.entries() }),
    }
}
