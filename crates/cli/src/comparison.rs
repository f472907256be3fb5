//! Every shape and every planner on the same problem, cheapest first.

use corecast::plan::{Operation, Plan, PlanError, Problem, SHAPES, Scheme, planners};
use serde::Serialize;

use crate::bounding::{above, percent};
use crate::planner_args::{EXACT, PlannerArgs, Timed, names};
use crate::{screen, skipped, table};

/// The plans of all planners for one problem.
#[derive(Debug)]
pub(crate) struct Comparison {
    chosen: String,
    bound: Bound,
    rows: Vec<Row>,
}

/// A cost that no plan goes below: a bound over trees says nothing about members that meet otherwise.
#[derive(Clone, Copy, Debug)]
struct Bound {
    cost: Option<f64>,
    is_of_trees: bool,
}

#[derive(Debug)]
struct Row {
    name: String,
    made: Result<Timed, PlanError>,
}

impl Comparison {
    /// Lets everybody plan that is not `chosen`, whose plan is already there.
    pub(crate) fn beside(
        chosen: (&str, &Timed),
        arguments: &PlannerArgs,
        operation: Operation,
        problem: &Problem,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let (name, timed) = chosen;
        let others = names()
            .filter(|&other| other != name)
            .map(|other| Row { name: other.to_owned(), made: made_by(other, arguments, operation, problem, stop) });
        let first = Row { name: name.to_owned(), made: Ok(timed.clone()) };
        let mut rows: Vec<Row> = [first].into_iter().chain(others).collect();
        rows.sort_by(|a, b| a.predicted().total_cmp(&b.predicted()));
        let bound = Bound { cost: timed.plan.bound, is_of_trees: timed.plan.scheme == Scheme::Trees };
        Self { chosen: name.to_owned(), bound, rows }
    }

    /// As a table for people; the chosen one is marked.
    pub(crate) fn text(&self) -> String {
        let unit = self.rows.iter().find_map(|row| row.made.as_ref().ok()).map(|timed| timed.plan.unit);
        let predicted = format!(">predicted {}", unit.map(|unit| unit.to_string()).unwrap_or_default());
        let headings = ["planner", &predicted, ">% above best", "?>bound", ">% gap", ">ms", ">root", ">depth"];
        let mut table = table::table(&headings);
        let entries = self.entries();
        for entry in entries.iter().filter(|entry| entry.why_not.is_none()) {
            let mark = if entry.is_chosen { '*' } else { ' ' };
            table.add_row([
                format!("{mark} {}", entry.planner),
                shown(entry.predicted, table::cost),
                shown(entry.above, percent),
                shown(entry.bound, table::cost),
                shown(entry.gap, percent),
                shown(entry.time_ms, |time| format!("{time:.2}")),
                entry.root.map_or_else(dash, |root| format!("CPU {root}")),
                entry.depth.map_or_else(dash, |depth| depth.to_string()),
            ]);
        }
        let skipped = entries.iter().filter_map(|entry| Some((entry.planner.as_str(), entry.why_not.as_deref()?)));
        table::text(&table) + &Self::about_exact(&entries) + &skipped::lines(skipped)
    }

    /// What `exact` proves, in the words of `list planners`, where another planner is cheaper.
    fn about_exact(entries: &[Entry]) -> String {
        let is_beaten = |entry: &Entry| entry.planner == EXACT && entry.above.is_some_and(|above| above > 0.0);
        let about = planners().into_iter().find(|(name, _)| *name == EXACT).map(|(_, about)| about);
        let about = about.filter(|_| entries.iter().any(is_beaten)).map(|about| format!("{EXACT}: {about}"));
        let lines = about.into_iter().flat_map(|about| table::wrapped(&about, screen::width() - 3));
        lines.map(|line| format!("   {line}\n")).collect()
    }

    /// As JSON, the fields documented in `docs/json/plan.md`.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let best = self.rows.first().map_or(0.0, Row::predicted);
        self.rows.iter().map(|row| row.entry(&self.chosen, best, self.bound)).collect()
    }
}

/// One planner or shape.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    planner: String,
    kind: &'static str,
    #[serde(skip)]
    is_chosen: bool,
    root: Option<u32>,
    predicted: Option<f64>,
    above: Option<f64>,
    bound: Option<f64>,
    gap: Option<f64>,
    proven: Option<bool>,
    depth: Option<usize>,
    fan_out: Option<usize>,
    time_ms: Option<f64>,
    why_not: Option<String>,
}

impl Row {
    /// The cost; a row without a plan comes last.
    fn predicted(&self) -> f64 {
        self.made.as_ref().map_or(f64::INFINITY, |timed| timed.plan.predicted)
    }

    fn entry(&self, chosen: &str, best: f64, bound: Bound) -> Entry {
        let is_shape = SHAPES.iter().any(|shape| shape.name() == self.name);
        let made = self.made.as_ref().ok();
        let plan = made.map(|timed| &timed.plan);
        let holds = |plan: &&Plan| !bound.is_of_trees || plan.scheme == Scheme::Trees;
        let bound = plan.filter(holds).and(bound.cost);
        let above = |least: f64| plan.map(|plan| above(plan.predicted, least));
        Entry {
            planner: self.name.clone(),
            kind: if is_shape { "shape" } else { "planner" },
            is_chosen: self.name == chosen,
            root: plan.map(|plan| plan.root().get()),
            predicted: plan.map(|plan| plan.predicted),
            above: above(best),
            bound,
            gap: bound.and_then(above).filter(|gap| gap.is_finite()),
            proven: plan.map(|plan| plan.is_proven),
            depth: plan.map(|plan| plan.tree.depth()),
            fan_out: plan.map(|plan| plan.tree.fan_out()),
            time_ms: made.map(|timed| timed.time_ms),
            why_not: self.made.as_ref().err().map(|error| match error {
                PlanError::NotApplicable { why, .. } => why.clone(),
                _ => error.to_string(),
            }),
        }
    }
}

/// The plan of somebody; the optimum only where the effort would look for it too, as beyond it takes long.
fn made_by(
    planner: &str,
    arguments: &PlannerArgs,
    operation: Operation,
    problem: &Problem,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Timed, PlanError> {
    let (members, reach) = (problem.len(), arguments.exact_reach());
    if planner == EXACT && members > reach {
        let why = format!("effort {} compares it to {reach} members, here are {members}", arguments.effort);
        return Err(PlanError::NotApplicable { planner: planner.to_owned(), why });
    }
    arguments.plan_by(planner, operation, problem, stop)
}

fn shown<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(dash, show)
}

fn dash() -> String {
    "-".to_owned()
}
