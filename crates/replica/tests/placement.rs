//! Plans of replicated state on the captured machines: roles, the learn tree, and what is predicted of it.

use corecast_base::{CpuId, CpuSet};
use corecast_machine::{CostMatrix, Cpu, Machine, Topology, model_file};
use corecast_plan::{Problem, SHAPES};
use corecast_replica::placement::{Costs, LearnTree, Load, PlacementPlan, Roles, Work};
use corecast_testing::machines;

/// The planned tree's throughput is at least this part of that of the best shape.
const OF_THE_BEST: f64 = 0.97;
/// The gain of the tree at this number of replicas, where the costs of single messages allow it.
const GAIN: f64 = 2.5;
const REPLICAS: usize = 28;

fn machine(path: &std::path::Path) -> Machine {
    model_file::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// This number of members, spread over the machine.
fn spread(machine: &Machine, members: usize) -> Problem {
    let all = machine.cpu_set();
    let cpus: CpuSet = (0..members).map(|rank| all.as_slice()[rank * all.as_slice().len() / members]).collect();
    Problem::new(machine, &cpus).expect("CPUs of the machine")
}

fn cases() -> impl Iterator<Item = (String, Problem)> {
    machines::models().into_iter().flat_map(|file| {
        let machine = machine(&file.path);
        let sizes: Vec<usize> = [2, 3, 8, REPLICAS, 48].into_iter().filter(|&n| n <= machine.cpus.len()).collect();
        sizes.into_iter().map(move |members| (format!("{members} of {}", file.name), spread(&machine, members)))
    })
}

/// No tree has a less busy member: each member but the acceptor hears from someone, and the acceptor tells someone.
fn bound(problem: &Problem, roles: Roles) -> f64 {
    let others = |member: usize| (0..problem.len()).filter(move |&other| other != member);
    let least = |costs: &mut dyn Iterator<Item = f64>| costs.fold(f64::INFINITY, f64::min);
    let asks = others(roles.leader).map(|one| problem.receive(one, roles.leader)).sum::<f64>() / problem.len() as f64;
    let hears = least(&mut others(roles.leader).map(|parent| problem.receive(parent, roles.leader)));
    let leader = asks + problem.send(roles.leader, roles.acceptor) + hears;
    let acceptor = problem.receive(roles.leader, roles.acceptor)
        + least(&mut others(roles.acceptor).map(|child| problem.nth_send(roles.acceptor, child, 0)));
    leader.max(acceptor)
}

#[test]
fn the_planned_tree_is_as_fast_as_the_best_shape_on_every_machine() {
    for (name, problem) in cases() {
        let plan = PlacementPlan::separate(&problem);
        assert!(plan.planned.busiest >= bound(&problem, plan.roles) * (1.0 - 1e-9), "{name}: {plan:?}");
        assert_beats_shapes(&name, &problem, Costs::from(&problem), &plan);
    }
}

/// The planned tree is at least nearly as fast as each shape with its roles, and as one level with those that suit it best.
fn assert_beats_shapes(name: &str, problem: &Problem, costs: Costs<'_>, plan: &PlacementPlan) {
    assert_eq!(plan.planned, Load::over(costs, plan.roles, &plan.tree), "{name}");
    let shapes = SHAPES.iter().map(|shape| {
        let tree = shape.build(problem, Some(plan.roles.acceptor));
        (shape.name(), Load::over(costs, plan.roles, &tree))
    });
    for (shape, load) in shapes.chain([("one level, wherever the acceptor is", plan.direct)]) {
        let ratio = plan.planned.throughput_over(&load);
        assert!(ratio >= OF_THE_BEST, "{name}: {ratio} of {shape}");
    }
}

/// Work of up to `most`, in the unit of the costs: any step may have most of it.
fn any_work(rng: &mut fastrand::Rng, most: f64) -> Work {
    // Small ones as often as large ones.
    let mut step = || most * rng.f64().powi(4);
    let work = Work { order: step(), accept: step(), learn: step(), serve: step(), follow: step(), ..Work::default() };
    Work { forward: step(), finish: step(), run_share: rng.f64(), ..work }
}

#[test]
fn with_any_work_the_planned_tree_is_as_fast_as_the_best_shape_on_every_machine() {
    let mut rng = fastrand::Rng::with_seed(8);
    for (name, problem) in cases() {
        let most = 20.0 * problem.message(0, 1);
        let costs = Costs::with_work(&problem, any_work(&mut rng, most));
        for plan in [PlacementPlan::separate(costs), PlacementPlan::fused(costs)] {
            assert_beats_shapes(&format!("seed 8, {name}, {costs:?}"), &problem, costs, &plan);
        }
    }
}

/// A machine whose costs between pairs have nothing to do with each other.
fn random_machine(rng: &mut fastrand::Rng, cpus: usize) -> Machine {
    let topology =
        Topology { cpus: (0..cpus as u32).map(|id| Cpu::flat(CpuId::new(id))).collect(), ..Topology::default() };
    let mut machine = Machine::from_topology(&topology);
    let mut costs = |most: f64| CostMatrix::from_fn(cpus, |i, j| if i == j { 0.0 } else { 1.0 + most * rng.f64() });
    machine.send = costs(200.0).expect("costs");
    machine.receive = costs(1000.0).expect("costs");
    machine
}

#[test]
fn with_any_work_the_planned_tree_is_as_fast_as_the_best_shape_on_random_machines() {
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let machine = random_machine(&mut rng, 2 + seed as usize % 30);
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let costs = Costs::with_work(&problem, any_work(&mut rng, 10_000.0));
        for plan in [PlacementPlan::separate(costs), PlacementPlan::fused(costs)] {
            assert_beats_shapes(&format!("seed {seed}, {costs:?}"), &problem, costs, &plan);
        }
    }
}

/// A plan that does not know of work may give a busy acceptor many children, or a leader a subtree: another tree is then faster.
#[test]
fn a_plan_that_knows_the_work_is_faster_where_it_matters() {
    let mut gains: Vec<f64> = Vec::new();
    for (name, problem) in cases().filter(|(_, problem)| problem.len() == REPLICAS) {
        let work = Work { accept: 2.0 * problem.message(0, 1), run_share: 1.0, ..Work::default() };
        let costs = Costs::with_work(&problem, work);
        let knows = PlacementPlan::separate(costs);
        let unaware = PlacementPlan::separate(&problem);
        let gain = knows.planned.throughput_over(&Load::over(costs, unaware.roles, &unaware.tree));
        // Some throughput is given for short responses: as much as any plan may.
        assert!(gain >= 1.0 / 1.25, "{name}: {gain}");
        gains.push(gain);
    }
    assert!(gains.iter().any(|&gain| gain > 1.05), "{gains:?}");
}

#[test]
fn a_tree_gains_two_and_a_half_where_the_costs_of_single_messages_allow_it() {
    let (mut allowed, mut on_paper) = (0, 0);
    for (name, problem) in cases().filter(|(_, problem)| problem.len() == REPLICAS) {
        let plan = PlacementPlan::separate(&problem);
        let most = plan.direct.busiest / bound(&problem, plan.roles);
        let gain = plan.planned.throughput_over(&plan.direct);
        if most >= GAIN {
            allowed += 1;
            on_paper += usize::from(name.ends_with("paper-barcelona-8x4-32"));
            assert!(gain >= GAIN, "{name}: {gain}, and at most {most}");
        }
    }
    assert!(allowed >= 10 && on_paper >= 1, "{allowed} machines, {on_paper} times that of the paper");
}

#[test]
fn roles_that_are_given_are_kept_and_the_fused_ones_are_one_member() {
    let machine = machine(&machines::model("paper-barcelona-8x4-32"));
    let problem = spread(&machine, 8);
    let fused = PlacementPlan::fused(&problem);
    assert!(fused.roles.is_fused() && fused.tree.root() == fused.roles.leader);
    let roles = Roles { leader: 5, acceptor: 2 };
    let plan = PlacementPlan::with_roles(&problem, roles);
    assert_eq!((plan.roles, plan.direct_roles, plan.tree.root()), (roles, roles, 2));
    assert!(plan.is_tree_worth_it(), "{plan}");
    let tree = LearnTree::of_plan(&plan).expect("eight slots");
    assert!((0..8).all(|slot| tree.parent(slot, 2).map(usize::from) == plan.tree.parent(usize::from(slot))));
}

#[test]
fn a_pair_learns_directly() {
    let machine = machine(&machines::model("intel-i5-4590-4"));
    let plan = PlacementPlan::separate(&spread(&machine, 2));
    assert_ne!(plan.roles.leader, plan.roles.acceptor);
    assert!(!plan.is_tree_worth_it() && plan.to_string().contains("itself"), "{plan}");
    let one = PlacementPlan::separate(&spread(&machine, 1));
    assert_eq!((one.roles, one.planned.busiest), (Roles { leader: 0, acceptor: 0 }, 0.0));
}
