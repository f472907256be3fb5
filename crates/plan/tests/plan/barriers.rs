//! Barriers of every scheme: their predicted costs against an evaluation of its own, and what is chosen.

use corecast_machine::Machine;
use corecast_plan::{Effort, Operation, Plan, PlanError, Problem, Request, Scheme, Terms, Tree, simulate};
use proptest::prelude::*;

use crate::machines::{captured, made_up};

const SCHEMES: [&str; 5] = ["trees", "leaders", "dissemination", "release-line", "counter"];

/// When `member` has heard from all below it, and when all below have heard from it, by recursion; `apart` are in no
/// group but their own.
struct Evaluation<'a> {
    problem: &'a Problem,
    apart: &'a [usize],
}

impl Evaluation<'_> {
    fn children(&self, tree: &Tree, member: usize) -> Vec<usize> {
        tree.children(member).iter().copied().filter(|child| !self.apart.contains(child)).collect()
    }

    fn gathered(&self, tree: &Tree, member: usize) -> f64 {
        let sent = |child: usize| (self.gathered(tree, child) + self.problem.send(child, member), child);
        let mut messages: Vec<(f64, usize)> = self.children(tree, member).into_iter().map(sent).collect();
        messages.sort_by(|a, b| a.0.total_cmp(&b.0));
        messages.iter().fold(0.0, |now, &(sent, child)| f64::max(now, sent) + self.problem.receive(child, member))
    }

    fn told(&self, tree: &Tree, member: usize, now: f64) -> f64 {
        let mut sent = now;
        let mut last = now;
        for child in self.children(tree, member) {
            sent += self.problem.send(member, child);
            last = f64::max(last, self.told(tree, child, sent + self.problem.receive(member, child)));
        }
        last
    }

    /// When the member at `place` is through with the rounds below `distance`, each half as far as the next.
    fn exchanged(&self, order: &[usize], ready: &[f64], place: usize, distance: usize) -> f64 {
        if distance == 1 {
            return ready[place];
        }
        let (n, step) = (order.len(), distance / 2);
        let sent = |from: usize| {
            let to = (from + step) % n;
            self.exchanged(order, ready, from, step) + self.problem.send(order[from], order[to])
        };
        let from = (place + n - step) % n;
        sent(place).max(sent(from)) + self.problem.receive(order[from], order[place])
    }

    fn exchange(&self, order: &[usize], ready: &[f64]) -> Vec<f64> {
        let last = order.len().next_power_of_two();
        (0..order.len()).map(|place| self.exchanged(order, ready, place, last)).collect()
    }
}

/// The cost of a barrier by this plan, evaluated without the simulator.
fn evaluate(problem: &Problem, plan: &Plan) -> f64 {
    let shared = |curve: &[(u32, f64)]| curve.last().expect("a cost").1;
    match &plan.scheme {
        Scheme::Trees => {
            let all = Evaluation { problem, apart: &[] };
            all.told(&plan.tree, plan.tree.root(), all.gathered(plan.up(), plan.up().root()))
        }
        Scheme::Leaders(leaders) => {
            let groups = Evaluation { problem, apart: leaders };
            let ready: Vec<f64> = leaders.iter().map(|&leader| groups.gathered(plan.up(), leader)).collect();
            let exchanged = groups.exchange(leaders, &ready);
            let ends = leaders.iter().zip(exchanged).map(|(&leader, at)| groups.told(&plan.tree, leader, at));
            ends.fold(0.0, f64::max)
        }
        Scheme::Dissemination(order) => {
            let ends = Evaluation { problem, apart: &[] }.exchange(order, &vec![0.0; order.len()]);
            ends.into_iter().fold(0.0, f64::max)
        }
        Scheme::ReleaseLine => {
            let all = Evaluation { problem, apart: &[] };
            all.gathered(plan.up(), plan.up().root()) + shared(&problem.terms().readers)
        }
        Scheme::Counter => shared(&problem.terms().fetch_add) + shared(&problem.terms().readers),
        other => panic!("{other:?} is not evaluated"),
    }
}

/// Nodes of `per_node` CPUs: near ones cost a tenth, give or take.
fn clustered(cpus: u32, per_node: u32, noise: &[u32]) -> Machine {
    let ids: Vec<u32> = (0..cpus).collect();
    let cost = |i: u32, j: u32, part: f64| {
        let far = if i / per_node == j / per_node { 10.0 } else { 100.0 };
        part * (far + f64::from(noise[((i * 31 + j * 17) as usize) % noise.len()]))
    };
    made_up(&ids, per_node, |i, j| cost(i, j, 0.3), |i, j| cost(i, j, 1.0))
}

fn with_shared_lines(problem: Problem) -> Problem {
    let (members, cost) = (problem.len() as u32, problem.message(0, 1));
    let terms =
        Terms { readers: vec![(members - 1, cost)], fetch_add: vec![(members, 2.0 * cost)], ..Terms::default() };
    problem.with_terms(terms)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_scheme_costs_what_it_says(
        cpus in 2..24u32, per_node in 1..9u32, noise in prop::collection::vec(0..30u32, 50), seed in 0..3u64, given in any::<bool>(),
    ) {
        let plain = Problem::of_machine(&clustered(cpus, per_node, &noise)).expect("CPUs");
        let problem = if given { with_shared_lines(plain) } else { plain };
        let request = || Request::new(Operation::Barrier).effort(Effort::Quick).seed(seed);
        let cheapest = request().plan(&problem).expect("a plan");
        for scheme in SCHEMES {
            match request().planner(scheme).plan(&problem) {
                Ok(plan) => {
                    prop_assert_eq!(plan.scheme.name(), scheme);
                    let cost = evaluate(&problem, &plan);
                    prop_assert!((plan.predicted - cost).abs() <= 1e-9 * cost, "{}: {} is not {}", scheme, plan.predicted, cost);
                    prop_assert!(cheapest.predicted <= plan.predicted, "{scheme} is cheaper than {}", cheapest.why);
                    prop_assert_eq!(plan.up().root(), plan.tree.root());
                    prop_assert_eq!(&request().planner(scheme).plan(&problem).expect("the same"), &plan);
                }
                Err(error) => {
                    let needs_more = scheme == "leaders" || (!given && ["release-line", "counter"].contains(&scheme));
                    let is_refusal = matches!(error, PlanError::NotApplicable { .. });
                    prop_assert!(needs_more && is_refusal, "{}: {}", scheme, error);
                }
            }
        }
    }
}

#[test]
fn far_clusters_are_led_and_shared_lines_taken_where_they_pay() {
    let machine = clustered(20, 10, &[0]);
    let problem = Problem::of_machine(&machine).expect("CPUs");
    let plan = Request::new(Operation::Barrier).planner("leaders").plan(&problem).expect("two clusters");
    let Scheme::Leaders(leaders) = &plan.scheme else { panic!("asked for leaders") };
    assert_eq!((leaders.len(), leaders[0] / 10 + leaders[1] / 10), (2, 1), "one in each cluster");
    let trees = Request::new(Operation::Barrier).planner("trees").plan(&problem).expect("trees");
    assert!(plan.predicted < trees.predicted, "one far message each way, at once, instead of one after the other");

    let cheap = Terms { readers: vec![(19, 1.0)], fetch_add: vec![(20, 1.0)], ..Terms::default() };
    let plan = Request::new(Operation::Barrier).plan(&problem.with_terms(cheap)).expect("a plan");
    assert_eq!((plan.scheme, plan.predicted, plan.is_proven), (Scheme::Counter, 2.0, true));
    for scheme in SCHEMES {
        assert!(plan.why.contains(scheme), "{} tells all costs", plan.why);
    }
}

#[test]
fn roots_limits_and_other_operations_mean_trees() {
    let problem = Problem::of_machine(&clustered(16, 8, &[0, 3])).expect("CPUs");
    let rooted = Request::new(Operation::Barrier).root(Some(5)).plan(&problem).expect("a plan");
    assert_eq!((rooted.scheme.clone(), rooted.up().root(), rooted.tree.root()), (Scheme::Trees, 5, 5));
    for operation in [Operation::Allreduce, Operation::TwoPhaseCommit] {
        let plan = Request::new(operation).effort(Effort::Quick).plan(&problem).expect("a plan");
        assert_eq!(plan.scheme, Scheme::Trees);
        assert_eq!(plan.predicted, operation.cost_of_two(&problem, plan.up(), &plan.tree));
    }
    let broadcast = Request::new(Operation::Broadcast).planner("dissemination").plan(&problem);
    assert!(matches!(broadcast, Err(PlanError::NotApplicable { .. })));
    let of_twelve = Problem::of_machine(&clustered(12, 4, &[0, 3, 8])).expect("CPUs");
    let proven = Request::new(Operation::Allreduce).plan(&of_twelve).expect("a plan");
    assert!(proven.is_proven && proven.gap() == Some(0.0));
}

#[test]
fn captured_machines_get_barriers_below_one_tree_and_plain_dissemination() {
    for (path, machine) in captured() {
        let problem = Problem::of_machine(&machine).expect("CPUs");
        if problem.len() > 40 {
            continue;
        }
        let plan = Request::new(Operation::Barrier).effort(Effort::Quick).plan(&problem).expect("a plan");
        let one = Request::new(Operation::Barrier).planner("adaptive+shuffle+sort").plan(&problem).expect("a tree");
        let by_rank: Vec<usize> = (0..problem.len()).collect();
        assert!(plan.predicted <= simulate::dissemination(&problem, &by_rank), "{path}");
        assert!(plan.predicted < one.predicted, "{path}");
    }
}
