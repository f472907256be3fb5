//! The description of a group of processes, a text in its memory: JSON with the machine's model and the plans.
//!
//! Another program may have written it, so it is read as untrusted: the model and the plans by the strict readers of their
//! crates, each plan against the costs of that model. Plans name members by rank, as several may share a CPU. The founder
//! reads its own text back and uses that, so that no rounding makes it differ from the others.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use corecast_base::CpuId;
use corecast_base::wait::{UnknownWait, Wait};
use corecast_machine::{Machine, model_file};
use corecast_plan::service::{PlanRequest, read_plan};
use corecast_plan::{Operation, Plan, PlanJson, Problem, UnknownEffort};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::MAX_MEMBERS;
use crate::barrier::{Barrier, Setup};
use crate::choice::{AllreduceForms, Choice, DirectSizes, PlanInputs, Races, Settings, Trees};
use crate::group::RaceStore;
use crate::member::GroupPlan;
use crate::race::RacesJson;

const SCHEMA: &str = "corecast-group/4";

/// The fields of the text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    schema: String,
    /// The CPU of each member, by rank.
    cpus: Vec<u32>,
    pinned: bool,
    crowded: bool,
    wait: String,
    /// The settings that also hold for parts of the group.
    asked: Asked,
    /// The settings of the race, if members are to race.
    race: Option<Contest>,
    /// The result of an earlier group, by which this one is planned.
    known: Option<RacesJson>,
    barrier: String,
    why: String,
    broadcast: Box<RawValue>,
    reduce: Box<RawValue>,
    meeting: Box<RawValue>,
    machine: Box<RawValue>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    barrier: Option<String>,
    shape: Option<String>,
    effort: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contest {
    /// The folder of results.
    folder: Option<String>,
    /// The trees that race.
    trees: String,
}

/// The parsed contents of a text.
#[derive(Debug)]
pub(super) struct GroupDescriptor {
    pub(super) planned: GroupPlan,
    /// The place where members that are to race keep their results.
    pub(super) records: Option<RaceStore>,
}

/// The reason why a text is refused, in words.
type Malformed = String;

/// The text of a group planned for the machine of this model, which is the text of a model file.
pub(super) fn render(descriptor: &GroupDescriptor, model: String) -> String {
    let GroupDescriptor { planned: GroupPlan { inputs, choice }, records } = descriptor;
    let ranked = inputs.problem.by_rank();
    let json = |plan: &Plan| {
        let json = PlanJson::of(&plan.clone().over(&ranked)).expect("ranks are distinct");
        serde_json::value::to_raw_value(&json).expect("a plan has only what JSON can say")
    };
    let text = Text {
        schema: SCHEMA.to_owned(),
        cpus: inputs.problem.cpus().iter().map(|cpu| cpu.get()).collect(),
        pinned: inputs.is_pinned,
        crowded: inputs.is_crowded,
        wait: inputs.settings.wait.name().to_owned(),
        asked: Asked::of(&inputs.settings),
        race: records.as_ref().map(Contest::of),
        known: choice.races.as_ref().map(RacesJson::of),
        barrier: choice.barrier.name().to_owned(),
        why: choice.why.clone(),
        broadcast: json(&choice.broadcast),
        reduce: json(&choice.reduce),
        meeting: json(&choice.meeting),
        machine: RawValue::from_string(model).expect("the text of a model file is JSON"),
    };
    serde_json::to_string(&text).expect("strings, numbers and JSON")
}

/// Parses a text.
pub(super) fn parse(text: &[u8]) -> Result<GroupDescriptor, Malformed> {
    let text: Text = serde_json::from_slice(text).map_err(in_words)?;
    if text.schema != SCHEMA {
        return Err(format!("its schema is {:?}, expected {SCHEMA}", text.schema));
    }
    if !(1..=MAX_MEMBERS).contains(&text.cpus.len()) {
        return Err(format!("it has {} members", text.cpus.len()));
    }
    let machine = model_file::parse(text.machine.get()).map_err(in_words)?;
    let cpus: Vec<CpuId> = text.cpus.iter().copied().map(CpuId::new).collect();
    let problem = Problem::of_members(&machine, &cpus).map_err(in_words)?;
    let choice = choice(&text, &problem)?;
    let settings = text.asked.settings(text.wait.parse().map_err(in_words::<UnknownWait>)?)?;
    let inputs = PlanInputs::of_all(problem, settings, wake_cost(&machine), text.pinned, text.crowded);
    let planned = GroupPlan { inputs: std::sync::Arc::new(inputs), choice: std::sync::Arc::new(choice) };
    let records = text.race.map(|contest| contest.records(machine, &cpus)).transpose()?;
    Ok(GroupDescriptor { planned, records })
}

fn in_words<E: fmt::Display>(error: E) -> Malformed {
    error.to_string()
}

impl Contest {
    fn of(records: &RaceStore) -> Self {
        // A name that is not valid text is left out.
        let folder = records.folder.as_ref().and_then(|folder| folder.to_str()).map(str::to_owned);
        Self { folder, trees: format!("{:016x}", records.trees) }
    }

    fn records(self, machine: Machine, cpus: &[CpuId]) -> Result<RaceStore, Malformed> {
        let cpus = machine.cpus.into_iter().filter(|cpu| cpus.contains(&cpu.id)).collect();
        let trees = u64::from_str_radix(&self.trees, 16).map_err(in_words)?;
        Ok(RaceStore { folder: self.folder.map(PathBuf::from), cpus, are_processes: true, trees })
    }
}

impl Asked {
    fn of(settings: &Settings) -> Self {
        let shape = match &settings.trees {
            Trees::Shape(name) => Some(name.clone()),
            // A tree given to the builder spans all members.
            Trees::Cheapest | Trees::Given(_) => None,
        };
        let barrier = settings.barrier.map(|barrier| barrier.name().to_owned());
        Self { barrier, shape, effort: settings.effort.name().to_owned() }
    }

    fn settings(&self, wait: Wait) -> Result<Settings, Malformed> {
        let barrier = self.barrier.as_deref().map(|name| name.parse::<Barrier>().map_err(in_words)).transpose()?;
        let trees = self.shape.clone().map_or(Trees::Cheapest, Trees::Shape);
        Ok(Settings { wait, trees, barrier, effort: self.effort.parse().map_err(in_words::<UnknownEffort>)? })
    }
}

fn choice(text: &Text, problem: &Problem) -> Result<Choice, Malformed> {
    let ranked = problem.by_rank();
    let plan = |json: &RawValue, operation| {
        let plan = read_plan(json.get(), &PlanRequest::new(operation), &ranked);
        plan.map(|plan| plan.over(problem)).map_err(in_words)
    };
    let meeting = plan(&text.meeting, Operation::Barrier)?;
    let barrier = text.barrier.parse::<Barrier>().map_err(in_words)?;
    let predicted = barrier.predicted(&Setup::of(problem, &meeting));
    let known = text.known.as_ref().map(|known| known.races().ok_or("the result of an earlier race is impossible"));
    let (broadcast, reduce) = (plan(&text.broadcast, Operation::Broadcast)?, plan(&text.reduce, Operation::Reduce)?);
    let races: Option<Races> = known.transpose()?;
    let AllreduceForms { predicted: allreduce_predicted, clusters, direct } =
        AllreduceForms::of(problem, [&reduce, &broadcast], text.crowded, text.asked.shape.is_some());
    Ok(Choice {
        allreduce_predicted,
        clusters,
        direct: races.iter().fold(direct, DirectSizes::raced),
        broadcast,
        reduce,
        is_crowded: text.crowded,
        barrier,
        predicted,
        races,
        meeting,
        why: text.why.clone(),
    })
}

/// The cost of a sleep and wake-up on a machine, where it was measured.
fn wake_cost(machine: &Machine) -> Option<Duration> {
    machine.extended.wake_ns.map(|ns| Duration::from_nanos(ns as u64))
}
