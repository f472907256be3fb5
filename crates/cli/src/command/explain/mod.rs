//! `corecast explain`: the algorithms that a group on this machine would use, their alternatives, and the reasons.
//!
//! - replica: roles and learn tree of replicated state; learning_race: whether the tree is faster here; spread_race: the
//!   same over messages, beside a ring; racing_group: the replicas of both;
//! - transactions: servers of transactional memory, and its form.

mod learning_race;
mod racing_group;
mod replica;
mod spread_race;
mod transactions;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast::collective::{Choice, Race};
use corecast::machine::pin;
use corecast::plan::{self, Effort, Operation, Plan, PlanError, Problem};
use corecast::{CpuSet, Group, Machine};
use serde::Serialize;

use crate::bounding::{bounded, certainty};
use crate::bytes_arg;
use crate::cluster::{self, ClusterArgs, Question};
use crate::comparison::{Comparison, Entry};
use crate::failure::Failure;
use crate::form::Form;
use crate::levels;
use crate::machine_args::{MachineArgs, Model};
use crate::output::Output;
use crate::planner_args::{PlannerArgs, Timed, operation_parser};
use crate::printable;
use crate::race_json::RaceJson;

/// Options of `explain`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The operation to explain [default: broadcast, reduce and barrier], or `replica` for replicated state, or
    /// `tm` for transactional memory.
    #[arg(value_parser = subject_parser())]
    subject: Option<Subject>,
    /// An operation as an option.
    #[arg(long, value_parser = operation_parser(), conflicts_with = "subject")]
    op: Option<Operation>,
    #[command(flatten)]
    machine: MachineArgs,
    /// The number of members; more than CPUs are dealt out evenly [default: one for each CPU].
    #[arg(long, value_name = "N")]
    members: Option<usize>,
    /// The bytes that the operation carries, such as 8, 4Ki or 1Mi: says which form is taken for them.
    #[arg(long, value_name = "BYTES", value_parser = bytes_arg::parse, default_value = "8")]
    bytes: usize,
    /// Let barriers and trees race on the members' CPUs, as `Builder::race` does, and say what came of it; an earlier result is
    /// taken. For `replica`: let replicas race that learn directly and over the tree, and over messages one after another, along
    /// the tree and by mcast.
    #[arg(long)]
    race: bool,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// For `tm`: one participant in D is a server [default: 3, of two participants 2].
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u64).range(2..))]
    servers_every: Option<u64>,
}

/// The subject of an explanation.
#[derive(Clone, Copy, Debug)]
enum Subject {
    Operation(Operation),
    /// Roles and learn tree of replicated state.
    Replica,
    /// Servers and form of transactional memory.
    Transactions,
}

/// The names of those subjects that are no operations.
const REPLICA: &str = "replica";
const TM: &str = "tm";

fn subject_parser() -> impl TypedValueParser<Value = Subject> {
    let names = Operation::ALL.map(Operation::name).into_iter().chain([REPLICA, TM]);
    PossibleValuesParser::new(names).try_map(|name| match name.as_str() {
        REPLICA => Ok(Subject::Replica),
        TM => Ok(Subject::Transactions),
        name => name.parse().map(Subject::Operation),
    })
}

/// The operations that are explained where nothing else is asked for: those of a group.
const OF_A_GROUP: [Operation; 3] = [Operation::Broadcast, Operation::Reduce, Operation::Barrier];

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    arguments.check()?;
    if arguments.cluster.is_given() {
        return arguments.explain_cluster(output);
    }
    let model = arguments.machine.model(output)?;
    if let Some(Subject::Transactions) = arguments.subject {
        let every = arguments.servers_every.map(|every| every as usize);
        return transactions::run(&model, arguments.members, every, output);
    }
    if let Some(Subject::Replica) = arguments.subject {
        return replica::run(&model, arguments.members, arguments.race, output);
    }
    if arguments.race {
        let cpus = model.machine.cpu_set().iter().take(arguments.members.unwrap_or(usize::MAX)).collect();
        check_usable(&model, &cpus)?;
    }
    explain_group(&model, arguments, output)
}

/// The operations of a group.
fn explain_group(model: &Model, arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let group = group(&model.machine, arguments)?;
    let problem = Problem::of_members(&model.machine, group.cpus())?;
    let explained = arguments.operations().into_iter().map(|op| Explained::of(op, &problem));
    let explained: Vec<Explained> = explained.collect::<Result<_, _>>()?;
    let forms = explained.iter().filter_map(|one| Form::of(one.timed.plan.operation, arguments.bytes, group.choice()));
    let forms: Vec<Form> = forms.collect();
    if output.is_json() {
        return output.json(&Explanation::of(
            &model.machine,
            &model.origin,
            &problem,
            &explained,
            forms,
            group.choice(),
        ));
    }
    let heading = format!("{}: {}", model.machine.name, model.origin);
    let mut text = format!("{}\n{}\n", printable::line(&heading), levels::text(&problem));
    for explained in &explained {
        text += &explained.text(&problem);
    }
    text += &format!("a group uses\n{}\n", group.choice());
    for form in &forms {
        text += &format!("\n{}", form.text(problem.unit()));
    }
    output.text(text.trim_end())
}

impl Arguments {
    /// Options that are of another subject.
    fn check(&self) -> Result<(), Failure> {
        let is_tm = matches!(self.subject, Some(Subject::Transactions));
        match () {
            () if self.servers_every.is_some() && !is_tm => {
                Err(Failure::input("--servers-every is for transactional memory: expected `explain tm`"))
            }
            () if self.race && is_tm => {
                Err(Failure::input("--race is not for `explain tm`: `bench tm` races both forms"))
            }
            () => Ok(()),
        }
    }

    /// The operation asked for, or an allreduce, on a cluster.
    fn explain_cluster(&self, output: &Output) -> Result<(), Failure> {
        let operation = match self.subject {
            Some(Subject::Operation(operation)) => operation,
            None => self.op.unwrap_or(Operation::Allreduce),
            Some(Subject::Replica | Subject::Transactions) => {
                return Err(Failure::input(
                    "--cluster is for operations: expected broadcast, reduce, barrier or allreduce",
                ));
            }
        };
        if self.members.is_some() || self.race {
            return Err(Failure::input("--members and --race are for one machine, not for --cluster"));
        }
        let bytes = self.bytes as u64;
        let arguments = &self.cluster;
        cluster::run(&Question { arguments, operation, bytes, effort: Effort::Normal, is_explained: true }, output)
    }

    fn operations(&self) -> Vec<Operation> {
        match self.subject {
            Some(Subject::Operation(op)) => vec![op],
            Some(Subject::Replica | Subject::Transactions) | None => self.op.map_or(OF_A_GROUP.to_vec(), |op| vec![op]),
        }
    }
}

/// Members race on the CPUs that they are dealt to, so these have to be ours to run on.
fn check_usable(model: &Model, cpus: &CpuSet) -> Result<(), Failure> {
    let usable = pin::affinity().map_err(Failure::environment)?;
    let Some(&cpu) = cpus.difference(&usable).as_slice().first() else { return Ok(()) };
    let origin = &model.origin;
    let why = format!(
        "CPU {cpu} of {origin} cannot be used here: --race runs on the CPUs of the model, expected some of {usable}"
    );
    Err(Failure::input(why))
}

fn group(machine: &Machine, arguments: &Arguments) -> Result<Group, Failure> {
    let builder = Group::builder(machine).race(arguments.race);
    Ok(arguments.members.map_or(builder.clone(), |members| builder.members(members)).build()?)
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

/// The fields of `explain --json`, described in `docs/json/explain.md`.
#[derive(Debug, Serialize)]
struct Explanation<'a> {
    machine: &'a str,
    origin: &'a str,
    unit: String,
    members: Vec<u32>,
    levels: Vec<Vec<usize>>,
    operations: Vec<OperationJson>,
    forms: Vec<Form>,
    trees: [TreeJson<'a>; 2],
    barrier: BarrierJson<'a>,
}

/// The tree that a group uses for an operation.
#[derive(Debug, Serialize)]
struct TreeJson<'a> {
    op: &'static str,
    planner: &'a str,
    predicted: f64,
    race: Option<RaceJson>,
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
    predicted: f64,
    why: &'a str,
    race: Option<RaceJson>,
}

impl<'a> TreeJson<'a> {
    fn of(plan: &'a Plan, race: Option<&Race<String>>) -> Self {
        let Plan { operation, planner, predicted, .. } = plan;
        Self { op: operation.name(), planner, predicted: *predicted, race: race.map(RaceJson::of) }
    }
}

impl<'a> Explanation<'a> {
    fn of(
        machine: &'a Machine,
        origin: &'a str,
        problem: &Problem,
        explained: &[Explained],
        forms: Vec<Form>,
        choice: &'a Choice,
    ) -> Self {
        let races = choice.races.as_ref();
        let broadcast = races.and_then(|races| races.broadcast.as_ref());
        let reduce = races.and_then(|races| races.reduce.as_ref());
        Self {
            machine: &machine.name,
            origin,
            unit: machine.unit.to_string(),
            members: problem.cpus().iter().map(|cpu| cpu.get()).collect(),
            levels: levels::sizes(problem),
            operations: explained.iter().map(OperationJson::of).collect(),
            forms,
            trees: [TreeJson::of(&choice.broadcast, broadcast), TreeJson::of(&choice.reduce, reduce)],
            barrier: BarrierJson {
                name: choice.barrier.name(),
                about: choice.barrier.about(),
                predicted: choice.predicted,
                why: &choice.why,
                race: races.map(|races| RaceJson::of(&races.barrier)),
            },
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
