//! The promises of every shape on every machine, and the properties of costs and schedules of any tree.

use std::collections::BTreeMap;

use corecast_base::{CpuId, CpuSet};
use corecast_machine::Machine;
use corecast_plan::{Direction, Operation, Problem, Request, SHAPES, Schedule, Shape, Transfer, Tree, shape};
use proptest::prelude::*;

use crate::machines::made_up;

/// The most CPUs of a random machine.
const MOST: usize = 20;

/// Costs by CPU id of a random machine: `send[i * MOST + j]`, `receive` alike.
#[derive(Clone, Debug)]
struct Costs {
    send: Vec<f64>,
    receive: Vec<f64>,
    per_node: u32,
}

impl Costs {
    fn machine(&self, ids: &[u32]) -> Machine {
        self.relabelled(ids, |id| id)
    }

    /// The machine whose CPU `id` behaves as `original(id)`; nodes are by the original id too.
    fn relabelled(&self, ids: &[u32], original: impl Fn(u32) -> u32) -> Machine {
        let place = |i: u32, j: u32| original(i) as usize * MOST + original(j) as usize;
        let mut machine = made_up(ids, 1, |i, j| self.send[place(i, j)], |i, j| self.receive[place(i, j)]);
        for cpu in &mut machine.cpus {
            cpu.numa = Some(original(cpu.id.get()) / self.per_node);
        }
        machine
    }
}

/// Whole numbers from a small range, so that many tie, zero among them.
fn tying_costs() -> impl Strategy<Value = Costs> {
    let matrix = || proptest::collection::vec((0..6u32).prop_map(f64::from), MOST * MOST);
    (matrix(), matrix(), 1..10u32).prop_map(|(send, receive, per_node)| Costs { send, receive, per_node })
}

/// Numbers of which no two sums are equal, in practice.
fn distinct_costs() -> impl Strategy<Value = Costs> {
    let matrix = || proptest::collection::vec(1.0..1000.0f64, MOST * MOST);
    (matrix(), matrix(), 1..10u32).prop_map(|(send, receive, per_node)| Costs { send, receive, per_node })
}

fn any_costs() -> impl Strategy<Value = Costs> {
    prop_oneof![tying_costs(), distinct_costs()]
}

/// Some ids below [`MOST`], at least one, in any order.
fn any_ids() -> impl Strategy<Value = Vec<u32>> {
    proptest::sample::subsequence((0..MOST as u32).collect::<Vec<_>>(), 1..=MOST).prop_shuffle()
}

/// Root and children by CPU id.
fn by_cpu(problem: &Problem, tree: &Tree) -> (CpuId, BTreeMap<CpuId, Vec<CpuId>>) {
    let children = |member| tree.children(member).iter().map(|&child| problem.cpu(child)).collect();
    let all = (0..tree.len()).map(|member| (problem.cpu(member), children(member))).collect();
    (problem.cpu(tree.root()), all)
}

/// Broadcast by recursion from the root, as the model is written down.
fn broadcast_below(problem: &Problem, tree: &Tree, member: usize, now: f64) -> f64 {
    let mut sent = now;
    let mut last = now;
    for &child in tree.children(member) {
        sent += problem.send(member, child);
        last = f64::max(last, broadcast_below(problem, tree, child, sent + problem.receive(member, child)));
    }
    last
}

/// Reduction by playing it through: the earliest message that is waiting is received next.
fn reduction_below(problem: &Problem, tree: &Tree, member: usize) -> f64 {
    let sent = |&child: &usize| (reduction_below(problem, tree, child) + problem.send(child, member), child);
    let mut waiting: Vec<(f64, usize)> = tree.children(member).iter().map(sent).collect();
    let mut now: f64 = 0.0;
    while let Some(next) = (0..waiting.len()).min_by(|&a, &b| waiting[a].0.total_cmp(&waiting[b].0)) {
        let (sent, child) = waiting.swap_remove(next);
        now = now.max(sent) + problem.receive(child, member);
    }
    now
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Each member once a child, but the root; every parent chain ends in the root.
fn spans(tree: &Tree) -> bool {
    let mut times_child = vec![0; tree.len()];
    for member in 0..tree.len() {
        tree.children(member).iter().for_each(|&child| times_child[child] += 1);
    }
    let reaches_root = |member| {
        let ancestors = std::iter::successors(Some(member), |&member| tree.parent(member)).take(tree.len());
        ancestors.last() == Some(tree.root()) || member == tree.root()
    };
    (0..tree.len()).all(|member| times_child[member] == usize::from(member != tree.root()) && reaches_root(member))
}

proptest! {
    #[test]
    fn every_shape_spans_the_set_from_its_root(costs in any_costs(), ids in any_ids(), pick: prop::sample::Index) {
        let problem = Problem::of_machine(&costs.machine(&ids)).expect("CPUs");
        let root = pick.index(problem.len());
        for shape in SHAPES {
            let free = shape.build(&problem, None);
            prop_assert!(free.len() == problem.len() && spans(&free), "{}", shape.name());
            let rooted = shape.build(&problem, Some(root));
            prop_assert!(rooted.len() == problem.len() && spans(&rooted), "{} from {}", shape.name(), root);
            prop_assert_eq!(rooted.root(), root, "{}", shape.name());
            let again = shape.build(&problem, Some(free.root()));
            prop_assert_eq!(again, free, "asking {} for its own root changes it", shape.name());
        }
    }

    #[test]
    fn a_subset_is_planned_as_a_machine_of_its_own(costs in any_costs(), ids in any_ids(), few: prop::sample::Index) {
        let machine = costs.machine(&ids);
        let subset: CpuSet = ids[..=few.index(ids.len())].iter().map(|&id| CpuId::new(id)).collect();
        let alone = machine.restricted_to(&subset);
        for shape in SHAPES {
            let plan = |machine: &Machine| {
                let problem = Problem::new(machine, &subset).expect("CPUs of the machine");
                Request::new(Operation::Barrier).planner(shape.name()).plan(&problem).expect("a plan")
            };
            prop_assert_eq!(plan(&machine), plan(&alone));
        }
    }

    #[test]
    fn the_order_of_cpus_in_the_model_changes_nothing(costs in any_costs(), ids in any_ids()) {
        let mut ascending = ids.clone();
        ascending.sort_unstable();
        let shuffled = Problem::of_machine(&costs.machine(&ids)).expect("CPUs");
        let ascending = Problem::of_machine(&costs.machine(&ascending)).expect("CPUs");
        for shape in SHAPES {
            let (a, b) = (shape.build(&shuffled, None), shape.build(&ascending, None));
            prop_assert_eq!(by_cpu(&shuffled, &a), by_cpu(&ascending, &b), "{}", shape.name());
        }
    }

    #[test]
    fn permuting_the_ids_permutes_the_plan(
        costs in distinct_costs(),
        to in Just((0..MOST as u32).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let ids: Vec<u32> = (0..MOST as u32).collect();
        let mut from = [0; MOST];
        to.iter().enumerate().for_each(|(original, &id)| from[id as usize] = original as u32);
        let original = Problem::of_machine(&costs.machine(&ids)).expect("CPUs");
        let permuted = costs.relabelled(&ids, |id| from[id as usize]);
        let permuted = Problem::of_machine(&permuted).expect("CPUs");
        let renamed = |cpu: CpuId| CpuId::new(to[cpu.get() as usize]);
        for shape in SHAPES.iter().filter(|shape| is_blind_to_ids(**shape)) {
            // Prim's root is the lowest id by definition, so both are given the same one.
            let (root, children) = by_cpu(&original, &shape.build(&original, Some(3)));
            let expected = children
                .into_iter()
                .map(|(parent, children)| (renamed(parent), children.into_iter().map(renamed).collect()))
                .collect();
            let built = shape.build(&permuted, Some(to[3] as usize));
            prop_assert_eq!(by_cpu(&permuted, &built), (renamed(root), expected), "{}", shape.name());
        }
    }

    #[test]
    fn costs_equal_an_independent_evaluation(costs in any_costs(), ids in any_ids()) {
        let problem = Problem::of_machine(&costs.machine(&ids)).expect("CPUs");
        for shape in SHAPES {
            let tree = shape.build(&problem, None);
            let down = broadcast_below(&problem, &tree, tree.root(), 0.0);
            let up = reduction_below(&problem, &tree, tree.root());
            for (operation, expected) in [
                (Operation::Broadcast, down),
                (Operation::Reduce, up),
                (Operation::Barrier, up + down),
                (Operation::TwoPhaseCommit, down + up + down),
            ] {
                let cost = operation.cost(&problem, &tree);
                prop_assert!(close(cost, expected), "{operation} over {}: {cost} {expected}", shape.name());
            }
        }
    }

    #[test]
    fn schedules_are_possible_and_end_with_the_cost(costs in any_costs(), ids in any_ids()) {
        let problem = Problem::of_machine(&costs.machine(&ids)).expect("CPUs");
        for shape in SHAPES {
            let tree = shape.build(&problem, None);
            for operation in Operation::ALL {
                let phases = Schedule::of(operation, &problem, &tree);
                let end = phases.last().expect("an operation has a phase").end;
                prop_assert!(close(end, operation.cost(&problem, &tree)), "{operation} over {}", shape.name());
                for phase in &phases {
                    is_possible(&problem, &tree, phase)?;
                }
            }
        }
    }

    #[test]
    fn improvements_never_make_a_broadcast_worse(costs in any_costs(), ids in any_ids()) {
        let problem = Problem::of_machine(&costs.machine(&ids)).expect("CPUs");
        let cost = |name| {
            let tree = shape::find(name).expect("a shape").build(&problem, None);
            Operation::Broadcast.cost(&problem, &tree)
        };
        for improved in ["adaptive+sort", "adaptive+shuffle", "adaptive+shuffle+sort"] {
            prop_assert!(cost(improved) <= cost("adaptive"), "{improved}");
        }
    }

    #[test]
    fn adaptive_enters_each_node_once(costs in any_costs(), ids in any_ids()) {
        let problem = Problem::of_machine(&costs.machine(&ids)).expect("CPUs");
        let tree = shape::find("adaptive").expect("a shape").build(&problem, None);
        let mut nodes: Vec<u32> = (0..problem.len()).map(|member| problem.numa(member)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let is_foreign = |parent, child| problem.numa(parent) != problem.numa(child);
        let is_entry = |&child: &usize| tree.parent(child).is_some_and(|parent| is_foreign(parent, child));
        prop_assert_eq!((0..tree.len()).filter(is_entry).count(), nodes.len() - 1);
    }
}

/// True for shapes that look at costs and nodes only, not at ids.
fn is_blind_to_ids(shape: &dyn Shape) -> bool {
    ["mst", "mst2", "bad"].contains(&shape.name()) || shape.name().starts_with("adaptive")
}

/// Every edge is used once in the right direction, nobody does two things at once, nothing is received before it is
/// sent or sent before it is there.
fn is_possible(problem: &Problem, tree: &Tree, phase: &Schedule) -> Result<(), TestCaseError> {
    let mut edges: Vec<(usize, usize)> = phase.transfers.iter().map(|transfer| (transfer.from, transfer.to)).collect();
    edges.sort_unstable();
    let mut expected: Vec<(usize, usize)> = (0..tree.len())
        .filter_map(|child| tree.parent(child).map(|parent| (parent, child)))
        .map(|(parent, child)| if phase.direction == Some(Direction::Down) { (parent, child) } else { (child, parent) })
        .collect();
    expected.sort_unstable();
    prop_assert_eq!(edges, expected);
    for member in 0..tree.len() {
        let sends: Vec<&Transfer> = phase.sent_by(member).collect();
        let receives: Vec<&Transfer> = phase.received_by(member).collect();
        prop_assert!(sends.windows(2).all(|pair| pair[0].send_end <= pair[1].send_start));
        prop_assert!(receives.windows(2).all(|pair| pair[0].receive_end <= pair[1].receive_start));
        let got = receives.last().map_or(phase.start, |transfer| transfer.receive_end);
        prop_assert!(close(got, phase.arrivals[member]) && phase.arrivals[member] <= phase.end);
        prop_assert!(sends.iter().all(|transfer| transfer.send_start >= got));
    }
    for transfer in &phase.transfers {
        prop_assert!(transfer.receive_start >= transfer.send_end);
        prop_assert!(close(transfer.send_end - transfer.send_start, problem.send(transfer.from, transfer.to)));
        let received = transfer.receive_end - transfer.receive_start;
        prop_assert!(close(received, problem.receive(transfer.from, transfer.to)));
    }
    Ok(())
}
