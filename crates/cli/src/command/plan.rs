//! `corecast plan`: the tree for one operation, and what it should cost.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast::CpuId;
use corecast::Machine;
use corecast::base::MAX_CPU_ID;
use corecast::plan::{AUTO, Operation, Plan, PlanJson, Problem, Request, SHAPES, tree_file};

use crate::failure::Failure;
use crate::machine_args::MachineArgs;
use crate::output::Output;
use crate::tree_text;

/// Options of `plan`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// What the tree is for.
    #[arg(long, value_parser = operation_parser())]
    op: Operation,
    #[command(flatten)]
    tree: TreeArgs,
    /// Also write the tree to this file, which --tree reads.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Which tree.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TreeArgs {
    /// The shape of the tree; auto is the one with the least predicted cost.
    #[arg(long, value_name = "NAME", default_value = AUTO, value_parser = shape_parser())]
    pub(crate) shape: String,
    /// Start from this CPU [default: as the shape chooses].
    #[arg(long, value_name = "CPU", value_parser = root_parser())]
    pub(crate) root: Option<CpuId>,
    /// Take the tree from this file instead of making one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["shape", "root"])]
    tree: Option<PathBuf>,
}

/// Accepts the names of all operations.
pub(crate) fn operation_parser() -> impl TypedValueParser<Value = Operation> {
    PossibleValuesParser::new(Operation::ALL.map(Operation::name)).try_map(|name| name.parse::<Operation>())
}

fn shape_parser() -> PossibleValuesParser {
    PossibleValuesParser::new([AUTO].into_iter().chain(SHAPES.iter().map(|shape| shape.name())))
}

fn root_parser() -> impl TypedValueParser<Value = CpuId> {
    clap::value_parser!(u32).range(..=i64::from(MAX_CPU_ID)).map(CpuId::new)
}

impl TreeArgs {
    /// The plan for an operation on this machine.
    pub(crate) fn plan(&self, machine: &Machine, op: Operation) -> Result<Plan, Failure> {
        let problem = Problem::of_machine(machine)?;
        let Some(path) = &self.tree else {
            return Ok(Request::new(op).planner(&self.shape).plan_from(&problem, self.root)?);
        };
        let tree = tree_file::read(path, &problem)?;
        Ok(Plan::of_tree(&problem, op, "given", tree))
    }
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let model = arguments.machine.model(output)?;
    let plan = arguments.tree.plan(&model.machine, arguments.op)?;
    if let Some(path) = &arguments.out {
        tree_file::write(&plan, path)?;
    }
    if output.is_json() {
        return output.json(&PlanJson::of(&plan).map_err(Failure::input)?);
    }
    output.text(&format!("{}\n{}", headline(&plan), tree_text::draw(&plan)))
}

fn headline(plan: &Plan) -> String {
    let Plan { operation, machine, planner, predicted, unit, .. } = plan;
    let (members, root, depth) = (plan.cpus.len(), plan.root(), plan.tree.depth());
    format!(
        "{operation} among {members} CPUs of {machine}\n\
         {planner} from CPU {root}, predicted {predicted:.1} {unit}, depth {depth}; children in send order:\n"
    )
}
