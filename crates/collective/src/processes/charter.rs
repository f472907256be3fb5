//! What all members of a group of processes go by, as a text in their memory: JSON with the machine's model and the plans.
//!
//! A stranger may have written it, so it is read as a stranger's file: the model and the plans by the strict readers of
//! their crates, each plan against the costs of that model. Plans name members by rank, as several may share a CPU. Whoever
//! founds a group goes by what it reads back from its own text, so that no rounding makes it differ from the others.

use std::time::Duration;

use corecast_base::CpuId;
use corecast_base::wait::Wait;
use corecast_machine::{Machine, model_file};
use corecast_plan::service::{PlanRequest, read_plan};
use corecast_plan::{Operation, Plan, PlanJson, Problem};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::barrier::Barrier;
use crate::builder::Draft;
use crate::choose::Choice;
use crate::group::MAX_MEMBERS;
use crate::layout::setup;

const SCHEMA: &str = "corecast-group/1";

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
    barrier: String,
    why: String,
    broadcast: Box<RawValue>,
    reduce: Box<RawValue>,
    meeting: Box<RawValue>,
    machine: Box<RawValue>,
}

/// What the text says.
#[derive(Debug)]
pub(super) struct Charter {
    pub(super) problem: std::sync::Arc<Problem>,
    pub(super) choice: Choice,
    pub(super) wait: Wait,
    pub(super) wake_cost: Option<Duration>,
    pub(super) is_pinned: bool,
}

/// Why a text is no charter, in words.
type Doubt = String;

/// The text of a group drafted for the machine of this model, which is the text of a model file.
pub(super) fn render(draft: &Draft, wait: Wait, model: String) -> String {
    let Draft { problem, is_pinned, choice, .. } = draft;
    let ranked = problem.by_rank();
    let json = |plan: &Plan| {
        let json = PlanJson::of(&plan.clone().over(&ranked)).expect("ranks are distinct");
        serde_json::value::to_raw_value(&json).expect("a plan has only what JSON can say")
    };
    let text = Text {
        schema: SCHEMA.to_owned(),
        cpus: problem.cpus().iter().map(|cpu| cpu.get()).collect(),
        pinned: *is_pinned,
        crowded: choice.is_crowded,
        wait: wait.name().to_owned(),
        barrier: choice.barrier.name().to_owned(),
        why: choice.why.clone(),
        broadcast: json(&choice.broadcast),
        reduce: json(&choice.reduce),
        meeting: json(&choice.meeting),
        machine: RawValue::from_string(model).expect("the text of a model file is JSON"),
    };
    serde_json::to_string(&text).expect("strings, numbers and JSON")
}

impl Charter {
    /// What a text says.
    pub(super) fn parse(text: &[u8]) -> Result<Self, Doubt> {
        let text: Text = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if text.schema != SCHEMA {
            return Err(format!("its schema is {:?}, expected {SCHEMA}", text.schema));
        }
        if !(1..=MAX_MEMBERS).contains(&text.cpus.len()) {
            return Err(format!("it has {} members", text.cpus.len()));
        }
        let machine = model_file::parse(text.machine.get()).map_err(|error| error.to_string())?;
        let cpus: Vec<CpuId> = text.cpus.iter().copied().map(CpuId::new).collect();
        let problem = std::sync::Arc::new(Problem::of_members(&machine, &cpus).map_err(|error| error.to_string())?);
        let choice = choice(&text, &problem)?;
        let wait = text.wait.parse().map_err(|error: corecast_base::wait::UnknownWait| error.to_string())?;
        Ok(Self { problem, choice, wait, wake_cost: wake_cost(&machine), is_pinned: text.pinned })
    }
}

fn choice(text: &Text, problem: &Problem) -> Result<Choice, Doubt> {
    let ranked = problem.by_rank();
    let plan = |json: &RawValue, operation| {
        let plan = read_plan(json.get(), &PlanRequest::new(operation), &ranked);
        plan.map(|plan| plan.over(problem)).map_err(|error| error.to_string())
    };
    let meeting = plan(&text.meeting, Operation::Barrier)?;
    let barrier = text.barrier.parse::<Barrier>().map_err(|error| error.to_string())?;
    let predicted = barrier.predicted(&setup(problem, &meeting));
    Ok(Choice {
        broadcast: plan(&text.broadcast, Operation::Broadcast)?,
        reduce: plan(&text.reduce, Operation::Reduce)?,
        is_crowded: text.crowded,
        barrier,
        predicted,
        race: None,
        meeting,
        why: text.why.clone(),
    })
}

/// What a sleep and wake-up cost on a machine, where it was measured.
pub(crate) fn wake_cost(machine: &Machine) -> Option<Duration> {
    machine.extended.wake_ns.map(|ns| Duration::from_nanos(ns as u64))
}
