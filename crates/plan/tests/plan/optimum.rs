//! The optimum and the bounds below it, from outside: against every tree there is, and on captured machines.

use corecast_base::CpuSet;
use corecast_plan::{Effort, Operation, Plan, Problem, Request, Tightness, Tree};
use proptest::prelude::*;

use crate::machines::{made_up, named, xeon};

const SINGLE: [Operation; 2] = [Operation::Broadcast, Operation::Reduce];

/// The least cost of all trees from `root`, in every order of children: all ways to let one who is in the tree take in
/// one who is not.
fn least(problem: &Problem, operation: Operation, root: usize) -> f64 {
    let mut children = vec![Vec::new(); problem.len()];
    least_with(problem, operation, root, &mut vec![root], &mut children)
}

fn least_with(
    problem: &Problem,
    operation: Operation,
    root: usize,
    inside: &mut Vec<usize>,
    children: &mut Vec<Vec<usize>>,
) -> f64 {
    if inside.len() == problem.len() {
        return operation.cost(problem, &Tree::new(root, children.clone()).expect("each is taken in once"));
    }
    let mut least = f64::INFINITY;
    for child in (0..problem.len()).filter(|child| !inside.contains(child)).collect::<Vec<_>>() {
        for parent in inside.clone() {
            children[parent].push(child);
            inside.push(child);
            least = least.min(least_with(problem, operation, root, inside, children));
            inside.pop();
            children[parent].pop();
        }
    }
    least
}

fn bounded(problem: &Problem, plan: Plan, rounds: u32) -> f64 {
    let plan = plan.with_bound(problem, Tightness::Rounds(rounds), &|| false);
    plan.bound.expect("a bound was computed")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn exact_is_the_least_of_all_trees_and_bounds_are_below(
        members in 1..=5_u32,
        send in prop::collection::vec(prop_oneof![(0..4_u32).prop_map(f64::from), 1.0..100.0_f64], 25),
        receive in prop::collection::vec(prop_oneof![(0..4_u32).prop_map(f64::from), 1.0..100.0_f64], 25),
    ) {
        let ids: Vec<u32> = (0..members).collect();
        let at = |i: u32, j: u32| (i * 5 + j) as usize;
        let machine = made_up(&ids, 2, |i, j| send[at(i, j)], |i, j| receive[at(i, j)]);
        let problem = Problem::of_machine(&machine).expect("CPUs");
        for operation in SINGLE {
            let mut least_of_all = f64::INFINITY;
            for root in 0..problem.len() {
                let least = least(&problem, operation, root);
                least_of_all = least_of_all.min(least);
                let request = Request::new(operation).root(Some(root));
                let exact = request.clone().planner("exact").plan(&problem).expect("few members").predicted;
                prop_assert!((exact - least).abs() <= 1e-6 * least, "{operation} from {root}: {exact}, {least}");
                let star = request.planner("earliest-completion").plan(&problem).expect("a greedy tree");
                let bound = bounded(&problem, star, 20);
                prop_assert!(bound <= least * (1.0 + 1e-9), "{operation} from {root}: bound {bound}, {least}");
            }
            let exact = Request::new(operation).planner("exact").plan(&problem).expect("few members").predicted;
            prop_assert!((exact - least_of_all).abs() <= 1e-6 * least_of_all, "{operation}: {exact}, {least_of_all}");
        }
    }
}

#[test]
fn bounds_of_captured_machines_are_within_five_percent_of_the_optimum() {
    for name in ["paper-xeon-ivb-2x10-20", "epyc-7742-2x32-128", "intel-i7-6700k-8"] {
        let machine = named(name);
        let spread = machine.cpus.iter().step_by(machine.cpus.len().div_ceil(10)).map(|cpu| cpu.id);
        let problem = Problem::new(&machine, &spread.collect::<CpuSet>()).expect("its own CPUs");
        for operation in SINGLE {
            let request = Request::new(operation).root(Some(0));
            let optimum = request.clone().planner("exact").plan(&problem).expect("ten members").predicted;
            let bound = bounded(&problem, request.effort(Effort::Quick).plan(&problem).expect("a plan"), 150);
            assert!(bound <= optimum * (1.0 + 1e-9), "{name}, {operation}: {bound} above {optimum}");
            assert!(bound >= 0.95 * optimum, "{name}, {operation}: {bound} far below {optimum}");
        }
    }
}

#[test]
fn a_free_root_is_bounded_by_the_best_one() {
    let problem = Problem::new(&xeon(), &"0-4,10-14".parse().expect("a list")).expect("its own CPUs");
    let plan = Request::new(Operation::Broadcast).effort(Effort::Quick).plan(&problem).expect("a plan");
    let optimum = Request::new(Operation::Broadcast).planner("exact").plan(&problem).expect("ten members").predicted;
    let bound = bounded(&problem, plan, 200);
    assert!(bound <= optimum * (1.0 + 1e-9) && bound >= 0.95 * optimum, "{bound}, {optimum}");
}
