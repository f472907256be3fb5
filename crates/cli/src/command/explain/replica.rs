//! `corecast explain replica`: who leads, who accepts, how the others learn of decisions, and the figures that say so.

use corecast::machine::Unit;
use corecast::plan::Problem;
use corecast::replica::placement::{Load, PlacementPlan};
use corecast::{CpuId, CpuSet, Machine};
use serde::Serialize;

use super::check_usable;
use super::learning_race::{self, LearningRace};
use super::spread_race::{self, SpreadRace};
use crate::failure::Failure;
use crate::machine_args::Model;
use crate::output::Output;
use crate::{levels, printable, table, tree_text};

/// The most members of a group.
const MOST: usize = 1023;

pub(super) fn run(model: &Model, members: Option<usize>, is_raced: bool, output: &Output) -> Result<(), Failure> {
    let cpus = spread(&model.machine, members)?;
    let problem = Problem::of_members(&model.machine, &cpus)?;
    let explained = Explained::of(&problem);
    let races = is_raced.then(|| Races::run(model, &cpus, &explained.separate)).transpose()?;
    if output.is_json() {
        return output.json(&ReplicaJson::of(model, &problem, &explained, races));
    }
    let heading = printable::line(&format!("{}: {}", model.machine.name, model.origin)).into_owned();
    let mut text = format!("{heading}\n{}\n{}", levels::text(&problem), explained.text(&problem));
    if let Some(Races { learning, over_messages }) = races {
        text += &format!("\n{learning}\n{over_messages}\n");
    }
    output.text(&text)
}

/// Members spread evenly over the machine's CPUs, as replicas are: several on one only where there are more members.
fn spread(machine: &Machine, members: Option<usize>) -> Result<Vec<CpuId>, Failure> {
    let all = machine.cpu_set();
    let all = all.as_slice();
    let members = members.unwrap_or(all.len().min(MOST));
    if !(1..=MOST).contains(&members) {
        return Err(Failure::input(format!("a group of replicas has 1 to {MOST} members, not {members}")));
    }
    Ok((0..members).map(|rank| all[rank * all.len() / members]).collect())
}

/// The results of races on the members' CPUs.
struct Races {
    learning: LearningRace,
    over_messages: SpreadRace,
}

impl Races {
    fn run(model: &Model, cpus: &[CpuId], plan: &PlacementPlan) -> Result<Self, Failure> {
        let set: CpuSet = cpus.iter().copied().collect();
        check_usable(model, &set)?;
        Ok(Self { learning: learning_race::run(cpus, plan)?, over_messages: spread_race::run(cpus, plan)? })
    }
}

/// The plans, and how nodes would learn that are left to choose.
struct Explained {
    separate: PlacementPlan,
    fused: PlacementPlan,
    is_crowded: bool,
}

impl Explained {
    fn of(problem: &Problem) -> Self {
        let distinct: CpuSet = problem.cpus().iter().copied().collect();
        Self {
            separate: PlacementPlan::separate(problem),
            fused: PlacementPlan::fused(problem),
            is_crowded: distinct.as_slice().len() < problem.len(),
        }
    }

    /// How nodes with `Learning::Planned` learn, and why.
    fn choice(&self) -> (&'static str, String) {
        if self.is_crowded {
            return ("direct", "members share CPUs, where costs between pairs say little".to_owned());
        }
        let plan = &self.separate;
        let rival = if plan.is_line_measured { "a line of the acceptor that all read" } else { "telling each member" };
        let without = if plan.is_line_measured { plan.shared_line } else { plan.direct };
        let gain = plan.planned.throughput_over(&without);
        let why = format!("the tree has {gain:.2} times the throughput of {rival}; 1.25 are asked, as predictions err");
        (if plan.is_tree_worth_it() { "tree" } else { "direct" }, why)
    }

    fn text(&self, problem: &Problem) -> String {
        let plan = &self.separate;
        let (leader, acceptor) = (problem.name(plan.roles.leader), problem.name(plan.roles.acceptor));
        let (form, why) = self.choice();
        let members = table::many(problem.len(), "member");
        let roles = if plan.roles.is_fused() {
            format!("{members}: {leader} leads and accepts")
        } else {
            format!("{members}: {leader} leads, {acceptor} accepts")
        };
        let tree = tree_text::draw(problem.cpus(), &plan.tree);
        format!(
            "{roles}\nthe learn tree: {plan}\n{tree}\npredicted for one command, {}:\n{}\n{}\nnodes that are bound to these CPUs and \
             know the machine learn {}: {why}\n",
            unit(problem.unit()),
            self.figures(problem),
            self.remark(),
            if form == "tree" { "over the tree" } else { "directly" },
        )
    }

    fn figures(&self, problem: &Problem) -> String {
        let mut rows =
            table::table(&["how others learn", ">busiest", "of CPU", ">response", ">throughput / told one by one"]);
        for (name, load) in self.loads() {
            rows.add_row([
                name.to_owned(),
                table::cost(load.busiest),
                problem.cpu(load.member).to_string(),
                table::cost(load.response),
                format!("{:.2}", load.throughput_over(&self.separate.direct)),
            ]);
        }
        table::text(&rows)
    }

    fn loads(&self) -> [(&'static str, Load); 5] {
        let Self { separate, fused, .. } = self;
        [
            ("told one by one", separate.direct),
            ("over the tree", separate.planned),
            ("from one line", separate.shared_line),
            ("told one by one, fused", fused.direct),
            ("over a tree, fused", fused.planned),
        ]
    }

    fn remark(&self) -> &'static str {
        if self.separate.is_line_measured {
            "the line goes around as the model's readers did"
        } else {
            "from one line is the least it can take: the model has not measured how a line goes around its readers"
        }
    }
}

fn unit(unit: Unit) -> String {
    unit.to_string()
}

/// The fields of `explain replica --json`, described in `docs/json/explain.md`.
#[derive(Debug, Serialize)]
struct ReplicaJson<'a> {
    machine: &'a str,
    origin: &'a str,
    unit: String,
    members: Vec<u32>,
    levels: Vec<Vec<usize>>,
    separate: PlanJson,
    fused: PlanJson,
    learning: &'static str,
    why: String,
    race: Option<LearningRace>,
    race_over_messages: Option<SpreadRace>,
}

/// A plan; members are ranks.
#[derive(Debug, Serialize)]
struct PlanJson {
    leader: usize,
    acceptor: usize,
    parents: Vec<Option<usize>>,
    why: String,
    tree: LoadJson,
    direct: LoadJson,
    direct_leader: usize,
    direct_acceptor: usize,
    shared_line: LoadJson,
    shared_line_measured: bool,
}

#[derive(Debug, Serialize)]
struct LoadJson {
    busiest: f64,
    member: usize,
    response: f64,
    over_direct: f64,
}

impl<'a> ReplicaJson<'a> {
    fn of(model: &'a Model, problem: &Problem, explained: &Explained, races: Option<Races>) -> Self {
        let (learning, why) = explained.choice();
        let (race, race_over_messages) = races.map(|races| (races.learning, races.over_messages)).unzip();
        Self {
            machine: &model.machine.name,
            origin: &model.origin,
            unit: unit(problem.unit()),
            members: problem.cpus().iter().map(|cpu| cpu.get()).collect(),
            levels: levels::sizes(problem),
            separate: PlanJson::of(&explained.separate),
            fused: PlanJson::of(&explained.fused),
            learning,
            why,
            race,
            race_over_messages,
        }
    }
}

impl PlanJson {
    fn of(plan: &PlacementPlan) -> Self {
        let load = |load: Load| {
            let over_direct = load.throughput_over(&plan.direct);
            LoadJson { busiest: load.busiest, member: load.member, response: load.response, over_direct }
        };
        Self {
            leader: plan.roles.leader,
            acceptor: plan.roles.acceptor,
            parents: (0..plan.tree.len()).map(|member| plan.tree.parent(member)).collect(),
            why: plan.to_string(),
            tree: load(plan.planned),
            direct: load(plan.direct),
            direct_leader: plan.direct_roles.leader,
            direct_acceptor: plan.direct_roles.acceptor,
            shared_line: load(plan.shared_line),
            shared_line_measured: plan.is_line_measured,
        }
    }
}
