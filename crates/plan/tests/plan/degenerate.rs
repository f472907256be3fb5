//! Problems at the edge: one member, two, all costs equal or zero, costs that differ a lot, very many CPUs.

use corecast_machine::Machine;
use corecast_plan::{Operation, Problem, SHAPES, Tree};

use crate::machines::made_up;

fn each_tree(machine: &Machine, check: impl Fn(&str, &Problem, &Tree)) {
    let problem = Problem::of_machine(machine).expect("CPUs");
    for shape in SHAPES {
        check(shape.name(), &problem, &shape.build(&problem, None));
    }
}

#[test]
fn one_member_is_a_tree_that_costs_nothing() {
    each_tree(&made_up(&[7], 4, |_, _| 1.0, |_, _| 1.0), |shape, problem, tree| {
        assert_eq!((tree.len(), tree.root(), tree.depth()), (1, 0, 0), "{shape}");
        for operation in Operation::ALL {
            assert_eq!(operation.cost(problem, tree), 0.0, "{shape}");
        }
    });
}

#[test]
fn two_members_cost_one_message_each_way() {
    let machine = made_up(&[3, 900], 1, |i, _| f64::from(i), |_, j| f64::from(j));
    each_tree(&machine, |shape, problem, tree| {
        let (root, other) = (tree.root(), 1 - tree.root());
        assert_eq!(tree.children(root), [other], "{shape}");
        assert_eq!(Operation::Broadcast.cost(problem, tree), problem.message(root, other), "{shape}");
        assert_eq!(Operation::Reduce.cost(problem, tree), problem.message(other, root), "{shape}");
        let both = problem.message(root, other) + problem.message(other, root);
        assert_eq!(Operation::Barrier.cost(problem, tree), both, "{shape}");
    });
}

#[test]
fn equal_and_zero_costs_make_trees_and_ties_go_to_the_lowest() {
    let ids: Vec<u32> = (0..40).collect();
    for cost in [0.0, 25.0] {
        each_tree(&made_up(&ids, 8, |_, _| cost, |_, _| cost), |shape, problem, tree| {
            assert_eq!((tree.len(), tree.root()), (40, 0), "{shape}");
            let nothing = Operation::TwoPhaseCommit.cost(problem, tree) == 0.0;
            assert_eq!(nothing, cost == 0.0, "{shape}");
        });
    }
}

#[test]
fn very_unequal_directions_make_trees() {
    let ids: Vec<u32> = (0..24).collect();
    let downhill = |i: u32, j: u32| if i < j { 1.0 } else { 100.0 };
    each_tree(&made_up(&ids, 6, downhill, |i, j| downhill(j, i)), |shape, problem, tree| {
        assert!(Operation::Barrier.cost(problem, tree) >= 101.0, "{shape}");
    });
}

#[test]
fn an_all_but_absent_pair_is_avoided_where_the_shape_can_choose() {
    let ids: Vec<u32> = (0..8).collect();
    let absent = |i: u32, j: u32| if (i, j) == (0, 5) { 1e12 } else { 10.0 };
    each_tree(&made_up(&ids, 8, absent, absent), |shape, problem, tree| {
        if ["mst", "mst2", "adaptive+shuffle", "adaptive+shuffle+sort"].contains(&shape) {
            assert!(Operation::Broadcast.cost(problem, tree) < 1e6, "{shape}");
        }
    });
}

#[test]
fn a_thousand_cpus_are_planned_by_every_shape() {
    let ids: Vec<u32> = (0..1024).collect();
    // Four sizes of node inside each other, with a little of everything else so that few costs tie.
    let distance = |i: u32, j: u32| f64::from(32 - (i ^ j).leading_zeros());
    let send = |i: u32, j: u32| 5.0 + 3.0 * distance(i, j) + f64::from((7 * i + 13 * j) % 17) / 10.0;
    let receive = |i: u32, j: u32| 20.0 + 20.0 * distance(i, j) + f64::from((11 * i + 5 * j) % 23);
    each_tree(&made_up(&ids, 64, send, receive), |shape, problem, tree| {
        let cost = Operation::Broadcast.cost(problem, tree);
        assert!(tree.len() == 1024 && cost.is_finite() && cost > 0.0, "{shape}");
    });
}
