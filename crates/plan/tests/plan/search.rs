//! The promises of every plan: each effort, shape, planner and operation, on random, odd and real machines.

use std::collections::BTreeMap;

use corecast_base::CpuId;
use corecast_machine::Machine;
use corecast_plan::{
    AUTO, Effort, Limits, Operation, Plan, PlanError, Problem, Request, SHAPES, Schedule, Scheme, Tree, planners,
};
use proptest::prelude::*;

use crate::machines::{captured, made_up};

const EFFORTS: [Effort; 2] = [Effort::Quick, Effort::Normal];

/// Those of one tree: what is searched for.
const SINGLE: [Operation; 2] = [Operation::Broadcast, Operation::Reduce];

fn problem(machine: &Machine) -> Problem {
    Problem::of_machine(machine).expect("CPUs")
}

/// Costs at `i * 12 + j`: few whole numbers, so that many tie, or all different.
fn costs() -> impl Strategy<Value = Vec<f64>> {
    let tying = prop::collection::vec((0..6_u32).prop_map(f64::from), 12 * 12);
    let distinct = prop::collection::vec(1.0..1000.0_f64, 12 * 12);
    prop_oneof![tying, distinct]
}

fn machine_of(members: u32, send: &[f64], receive: &[f64]) -> Machine {
    let ids: Vec<u32> = (0..members).collect();
    let at = |i: u32, j: u32| (i * 12 + j) as usize;
    made_up(&ids, 4, |i, j| send[at(i, j)], |i, j| receive[at(i, j)])
}

/// When a message has reached all below a member that has it at `now`, as the model is written down.
fn broadcast_below(problem: &Problem, tree: &Tree, member: usize, now: f64) -> f64 {
    let mut free = now;
    let mut last = now;
    for &child in tree.children(member) {
        free += problem.send(member, child);
        last = f64::max(last, broadcast_below(problem, tree, child, free + problem.receive(member, child)));
    }
    last
}

/// The time at which a member has everything from below it: the child that is ready first is received first.
fn reduction_below(problem: &Problem, tree: &Tree, member: usize) -> f64 {
    let ready = |&child: &usize| (reduction_below(problem, tree, child) + problem.send(child, member), child);
    let mut messages: Vec<(f64, usize)> = tree.children(member).iter().map(ready).collect();
    messages.sort_by(|a, b| a.0.total_cmp(&b.0));
    messages.into_iter().fold(0.0, |now, (ready, child)| f64::max(now, ready) + problem.receive(child, member))
}

/// The cost of the plan by the rule written down here; for schemes other than trees by its schedule.
fn evaluated(problem: &Problem, plan: &Plan) -> f64 {
    let down = |tree: &Tree| broadcast_below(problem, tree, tree.root(), 0.0);
    let up = |tree: &Tree| reduction_below(problem, tree, tree.root());
    if plan.scheme != Scheme::Trees {
        return Schedule::of_plan(problem, plan).last().expect("a phase").end;
    }
    match plan.operation {
        Operation::Broadcast => down(&plan.tree),
        Operation::Reduce => up(&plan.tree),
        Operation::Barrier | Operation::Allreduce => up(plan.up()) + down(&plan.tree),
        Operation::TwoPhaseCommit => down(&plan.tree) + up(plan.up()) + down(&plan.tree),
    }
}

/// Its trees span the members from the root asked for, and it costs what it says, no less than its bound.
fn holds(problem: &Problem, plan: &Plan, root: Option<usize>) {
    let what = format!("{} for {}", plan.planner, plan.operation);
    for tree in [&plan.tree, plan.up()] {
        assert_eq!(tree.len(), problem.len(), "{what}");
        assert!(root.is_none_or(|root| tree.root() == root), "{what} has root {} instead of {root:?}", tree.root());
        let mut reached = tree.top_down().to_vec();
        reached.sort_unstable();
        assert!(reached.into_iter().eq(0..tree.len()), "{what}");
    }
    let cost = evaluated(problem, plan);
    assert!((plan.predicted - cost).abs() <= 1e-9 * cost, "{what}: predicted {}, costs {cost}", plan.predicted);
    assert!(plan.bound.is_none_or(|bound| bound <= plan.predicted * (1.0 + 1e-9)), "{what}: bound {:?}", plan.bound);
}

/// Every name that a request takes.
fn names() -> Vec<&'static str> {
    let shapes = SHAPES.iter().map(|shape| shape.name());
    [AUTO].into_iter().chain(planners().into_iter().map(|(name, _)| name)).chain(shapes).collect()
}

/// Every plan that some planner makes of the problem; a planner that cannot says so.
fn all_plans(problem: &Problem, root: Option<usize>, effort: Effort) -> Vec<Plan> {
    let mut plans = Vec::new();
    for operation in Operation::ALL {
        for name in names() {
            match Request::new(operation).planner(name).effort(effort).root(root).plan(problem) {
                Ok(plan) => plans.push(plan),
                Err(PlanError::NotApplicable { planner, .. }) => assert_eq!(planner, name),
                Err(error) => panic!("{name} for {operation}: {error}"),
            }
        }
    }
    plans
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn every_plan_holds(members in 1..12_u32, send in costs(), receive in costs(), root: Option<prop::sample::Index>) {
        let problem = problem(&machine_of(members, &send, &receive));
        let root = root.map(|root| root.index(problem.len()));
        let plans = all_plans(&problem, root, Effort::Quick);
        plans.iter().for_each(|plan| holds(&problem, plan, root));
        prop_assert!(plans.len() >= Operation::ALL.len() * (1 + SHAPES.len()), "auto and the shapes plan everything");
    }

    #[test]
    fn more_effort_is_never_worse_and_exact_is_the_least(
        members in 1..9_u32, send in costs(), receive in costs(), root: Option<prop::sample::Index>,
    ) {
        let problem = problem(&machine_of(members, &send, &receive));
        let root = root.map(|root| root.index(problem.len()));
        for operation in SINGLE {
            let request = Request::new(operation).root(root);
            let cost = |request: &Request<'_>| request.plan(&problem).expect("a plan").predicted;
            let exact = request.clone().effort(Effort::Exact).plan(&problem).expect("a plan");
            let [quick, normal] = EFFORTS.map(|effort| cost(&request.clone().effort(effort)));
            let greedy = cost(&request.clone().planner("earliest-completion"));
            prop_assert!(exact.is_proven);
            prop_assert!(exact.predicted <= normal * (1.0 + 1e-6), "{operation}: {} {normal}", exact.predicted);
            prop_assert!(normal <= quick && quick <= greedy, "{operation}: {normal} {quick} {greedy}");
            for plan in all_plans(&problem, root, Effort::Quick).iter().filter(|plan| plan.operation == operation) {
                prop_assert!(exact.predicted <= plan.predicted * (1.0 + 1e-6), "{} is below the least", plan.planner);
            }
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_plan(members in 1..12_u32, send in costs(), receive in costs(), seed: u64) {
        let problem = problem(&machine_of(members, &send, &receive));
        for operation in Operation::ALL {
            let request = Request::new(operation).effort(Effort::Quick).seed(seed);
            prop_assert_eq!(request.plan(&problem), request.plan(&problem));
        }
    }

    #[test]
    fn other_ids_for_the_cpus_change_no_cost(
        members in 2..9_u32,
        send in prop::collection::vec(1.0..1000.0_f64, 12 * 12),
        receive in prop::collection::vec(1.0..1000.0_f64, 12 * 12),
        seed: u64,
    ) {
        let machine = machine_of(members, &send, &receive);
        let mut ids: Vec<u32> = (0..members).map(|id| 3 * id + 1).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut ids);
        let mut renamed = machine.clone();
        renamed.cpus.iter_mut().zip(ids).for_each(|(cpu, id)| cpu.id = CpuId::new(id));
        // Greedy rules break ties by rank, so only the optimum is told to be blind to names.
        for operation in SINGLE {
            let cost = |machine| {
                Request::new(operation).effort(Effort::Exact).plan(&problem(machine)).expect("a plan").predicted
            };
            let (before, after) = (cost(&machine), cost(&renamed));
            prop_assert!((before - after).abs() <= 1e-6 * before, "{operation}: {before} and {after}");
        }
    }

    #[test]
    fn limits_are_kept_or_refused(
        members in 1..12_u32, send in costs(), receive in costs(),
        children in prop::option::of(1..4_usize), depth in prop::option::of(1..5_usize),
    ) {
        let problem = problem(&machine_of(members, &send, &receive));
        let limits = Limits { children, depth };
        for operation in Operation::ALL {
            match Request::new(operation).limits(limits).effort(Effort::Quick).plan(&problem) {
                Ok(plan) => {
                    prop_assert!(limits.allow(&plan.tree) && limits.allow(plan.up()), "{operation}");
                    holds(&problem, &plan, None);
                }
                Err(PlanError::Limits { .. }) => {
                    // A greedy rule may miss the few trees that there are within both limits.
                    prop_assert!(children.is_some() && depth.is_some(), "{operation} within {limits:?}");
                }
                Err(error) => prop_assert!(false, "{operation}: {error}"),
            }
        }
    }
}

#[test]
fn normal_effort_repeats_itself_from_every_root() {
    let send = |i: u32, j: u32| f64::from((7 * i + 13 * j) % 17 + 1);
    let receive = |i: u32, j: u32| f64::from((11 * i + 5 * j) % 23) + 40.0 * f64::from(u32::from(i / 6 != j / 6));
    let ids: Vec<u32> = (0..18).collect();
    let problem = problem(&made_up(&ids, 6, send, receive));
    for operation in Operation::ALL {
        for root in [None, Some(0), Some(17)] {
            let request = Request::new(operation).root(root).seed(5);
            let plan = request.plan(&problem).expect("a plan");
            holds(&problem, &plan, root);
            assert_eq!(request.plan(&problem).expect("a plan"), plan, "{operation} from {root:?}");
        }
    }
}

/// Kinds of costs between CPU i and CPU j that have broken planners.
fn odd_costs() -> BTreeMap<&'static str, fn(u32, u32) -> f64> {
    BTreeMap::from([
        ("equal", (|_, _| 25.0) as fn(u32, u32) -> f64),
        ("zero", |_, _| 0.0),
        ("100 times as dear uphill", |i, j| if i < j { 100.0 } else { 1.0 }),
        ("one absent pair", |i, j| if (i, j) == (1, 0) { 1e15 } else { 10.0 }),
        ("an absent member", |i, j| if i == 0 || j == 0 { 1e15 } else { 10.0 }),
        ("denormal", |i, j| 5e-324 * f64::from(1 + (i + j) % 3)),
        ("denormal beside huge", |i, j| if (i + j) % 2 == 0 { 5e-324 } else { 1e15 }),
    ])
}

#[test]
fn odd_costs_make_plans_that_hold() {
    for (name, cost) in odd_costs() {
        for members in [1, 2, 3, 7, 17] {
            let ids: Vec<u32> = (0..members).collect();
            let problem = problem(&made_up(&ids, 4, cost, cost));
            for effort in if members <= 7 { &EFFORTS[..] } else { &EFFORTS[..1] } {
                for operation in Operation::ALL {
                    let plan = Request::new(operation).effort(*effort).plan(&problem).expect(name);
                    holds(&problem, &plan, None);
                }
            }
        }
    }
}

#[test]
fn an_absent_pair_is_avoided_and_equal_costs_get_the_postal_tree() {
    let ids: Vec<u32> = (0..13).collect();
    for operation in SINGLE {
        let absent = odd_costs()["one absent pair"];
        let plan = Request::new(operation).plan(&problem(&made_up(&ids, 4, absent, absent))).expect("a plan");
        assert!(plan.predicted < 1e6, "{operation}: {}", plan.predicted);
        // Sends and receives of 1 reach 1, 1, 2, 3, 5, 8 and 13 members.
        let plan = Request::new(operation).plan(&problem(&made_up(&ids, 4, |_, _| 1.0, |_, _| 1.0))).expect("a plan");
        assert_eq!(plan.predicted, 6.0, "{operation}");
    }
}

#[test]
fn a_thousand_cpus_are_planned_with_little_effort() {
    let ids: Vec<u32> = (0..1024).collect();
    let distance = |i: u32, j: u32| f64::from(32 - (i ^ j).leading_zeros());
    let machine = made_up(&ids, 64, |i, j| 5.0 + 3.0 * distance(i, j), |i, j| 20.0 + 20.0 * distance(i, j));
    let problem = problem(&machine);
    let plan = Request::new(Operation::Broadcast).effort(Effort::Quick).root(Some(3)).plan(&problem).expect("a plan");
    holds(&problem, &plan, Some(3));
}

#[test]
fn no_seed_shape_is_cheaper_on_a_large_captured_machine() {
    for (path, machine) in captured() {
        let problem = problem(&machine);
        if problem.len() < 32 {
            continue;
        }
        for operation in Operation::ALL {
            let request = Request::new(operation).effort(Effort::Quick);
            let searched = request.plan(&problem).expect("a plan");
            for shape in SHAPES {
                let shaped = request.clone().planner(shape.name()).plan(&problem).expect("a plan");
                let (ours, theirs) = (searched.predicted, shaped.predicted);
                assert!(ours <= theirs, "{operation} on {path}: {ours}, {} {theirs}", shape.name());
            }
        }
    }
}
