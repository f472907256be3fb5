//! Plans of replicated state on the captured machines: roles, the learn tree, and what is predicted of it.

use corecast_base::CpuSet;
use corecast_machine::{Machine, model_file};
use corecast_plan::{Problem, SHAPES};
use corecast_replica::placement::{LearnTree, Load, PlacementPlan, Roles};
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
        assert_eq!(plan.planned, Load::over(&problem, plan.roles, &plan.tree), "{name}");
        assert!(plan.planned.busiest >= bound(&problem, plan.roles) * (1.0 - 1e-9), "{name}: {plan:?}");
        for shape in SHAPES {
            let tree = shape.build(&problem, Some(plan.roles.acceptor));
            let ratio = plan.planned.throughput_over(&Load::over(&problem, plan.roles, &tree));
            assert!(ratio >= OF_THE_BEST, "{name}: {ratio} of {}", shape.name());
        }
        let ratio = plan.planned.throughput_over(&plan.direct);
        assert!(ratio >= OF_THE_BEST, "{name}: {ratio} of an acceptor that tells all, wherever it is");
    }
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
