//! How far a plan can be from the best one: chooses the lower bound to compute, and puts the result into words.

use corecast::plan::{Effort, Operation, Plan, Problem, Scheme, Tightness};

use crate::table;

/// The tight bound is computed unasked up to these numbers of members, with these numbers of rounds: a second or two.
const UNASKED: [(usize, u32); 2] = [(20, 300), (32, 200)];
/// Rounds of the tight bound if the user asks for it.
const ASKED_ROUNDS: u32 = 1500;

/// The plan with a lower bound: a quick one, and the tight one where it was asked for or takes little. It ends early with
/// what it has once `stop` is true.
pub(crate) fn bounded(problem: &Problem, plan: Plan, is_asked: bool, stop: &(dyn Fn() -> bool + Sync)) -> Plan {
    if plan.is_proven {
        return plan;
    }
    let plan = plan.with_bound(problem, Tightness::Quick, stop);
    let unasked = UNASKED.iter().find(|(members, _)| problem.len() <= *members).map(|&(_, rounds)| rounds);
    let unasked = unasked.filter(|_| plan.effort != Some(Effort::Quick));
    let rounds = if is_asked { Some(ASKED_ROUNDS) } else { unasked };
    match rounds {
        Some(rounds) => plan.with_bound(problem, Tightness::Rounds(rounds), stop),
        None => plan,
    }
}

/// The program's knowledge of plans that cost less, as the end of a sentence.
pub(crate) fn certainty(plan: &Plan) -> String {
    let from = if plan.is_root_given { format!(" from CPU {}", plan.root()) } else { String::new() };
    match (plan.is_proven, plan.bound, plan.gap()) {
        (true, ..) => format!("proven: no plan of this kind{from} costs less"),
        (false, Some(bound), Some(gap)) if gap.is_finite() => {
            let (bound, unit, gap) = (table::cost(bound), plan.unit, percent(gap));
            // Its bound holds for two trees, but members of a barrier may meet otherwise.
            let is_of_trees = plan.operation == Operation::Barrier && plan.scheme == Scheme::Trees;
            let others = if is_of_trees { format!("no two trees{from} cost") } else { format!("no plan{from} costs") };
            format!("{others} less than {bound} {unit}, so this one is at most {gap} % above")
        }
        (false, Some(_), _) => "no useful lower bound is known".to_owned(),
        _ => "no lower bound was computed".to_owned(),
    }
}

/// How much dearer a cost is than another one: 0.01 is one percent.
pub(crate) fn above(cost: f64, least: f64) -> f64 {
    if cost <= least { 0.0 } else { cost / least - 1.0 }
}

/// A share as percent, without the sign: no more digits than tell something.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.995 { format!("{percent:.2}") } else { format!("{percent:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::machine::{Cpu, Topology};
    use corecast::plan::Tree;
    use corecast::{CpuId, Machine};

    #[test]
    fn nothing_unknown_is_claimed() {
        let cpus = [4, 5].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let tree = Tree::new(1, vec![vec![], vec![0]]).expect("a tree");
        let plan = Plan::of_tree(&problem, Operation::Broadcast, "given", tree);
        assert_eq!(certainty(&plan), "no lower bound was computed");
        let bounded = Plan { bound: Some(plan.predicted / 1.25), is_root_given: true, ..plan.clone() };
        assert_eq!(
            certainty(&bounded),
            "no plan from CPU 5 costs less than 120 ns, so this one is at most 25.0 % above"
        );
        let barrier = Plan { operation: Operation::Barrier, ..bounded.clone() };
        assert!(certainty(&barrier).starts_with("no two trees from CPU 5 cost less than 120 ns, so"));
        let barrier = Plan { scheme: Scheme::Counter, ..barrier };
        assert!(certainty(&barrier).starts_with("no plan from CPU 5 costs less than 120 ns, so"));
        assert_eq!(certainty(&Plan { bound: Some(0.0), ..bounded }), "no useful lower bound is known");
        assert_eq!(certainty(&Plan { is_proven: true, ..plan }), "proven: no plan of this kind costs less");
        assert_eq!((above(3.0, 2.0), above(1.0, 0.0), above(0.0, 0.0)), (0.5, f64::INFINITY, 0.0));
        assert_eq!([0.0, 0.01234, 0.5].map(percent), ["0.00", "1.23", "50.0"]);
    }
}
