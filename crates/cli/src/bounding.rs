//! How far a plan can be from the best one: chooses the lower bound to compute, and puts the result into words.

use std::time::{Duration, Instant};

use corecast::plan::{Effort, Operation, Plan, Problem, Scheme, Tightness};

use crate::table;

/// The tight bound is computed unasked up to these numbers of members, with these numbers of rounds: a second or two.
const UNASKED: [(usize, u32); 2] = [(20, 300), (32, 200)];
/// Rounds of the tight bound if the user asks for it.
const ASKED_ROUNDS: u32 = 1500;
/// Up to this many members the tight bound is tried unasked for a limited time. Beyond, a second brings nothing: the gap of
/// a broadcast on epyc-7742-2x64-256 is 103 % after 0.3 s and after 1 s.
const MOST_WITHIN_TIME: usize = 128;
const UNASKED_TIME: Duration = Duration::from_secs(1);
/// A bound further below the plan says little about either, and is not told unless it was asked for.
const FAR: f64 = 0.15;

/// The plan with a lower bound: the tight one where it was asked for or takes little, and otherwise none unless one within
/// 15 % is found in a second. It ends early with what it has once `stop` is true.
pub(crate) fn bounded(problem: &Problem, plan: Plan, is_asked: bool, stop: &(dyn Fn() -> bool + Sync)) -> Plan {
    if plan.is_proven {
        return plan;
    }
    if is_asked {
        return plan.with_bound(problem, Tightness::Quick, stop).with_bound(
            problem,
            Tightness::Rounds(ASKED_ROUNDS),
            stop,
        );
    }
    let plan = plan.with_bound(problem, Tightness::Quick, stop);
    if is_near(&plan) || plan.effort == Some(Effort::Quick) || problem.len() > MOST_WITHIN_TIME {
        return without_far_bound(plan);
    }
    let Some((_, rounds)) = UNASKED.iter().find(|(members, _)| problem.len() <= *members) else {
        let begun = Instant::now();
        let is_over = || stop() || begun.elapsed() >= UNASKED_TIME;
        return without_far_bound(plan.with_bound(problem, Tightness::Rounds(ASKED_ROUNDS), &is_over));
    };
    let plan = plan.with_bound(problem, Tightness::Rounds(*rounds), stop);
    // Of trees among few members the bound is near the optimum, however far above a shape asked for is.
    if plan.scheme == Scheme::Trees { plan } else { without_far_bound(plan) }
}

fn is_near(plan: &Plan) -> bool {
    plan.gap().is_some_and(|gap| gap <= FAR)
}

fn without_far_bound(plan: Plan) -> Plan {
    if is_near(&plan) { plan } else { Plan { bound: None, ..plan } }
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
        _ => "no lower bound within 15 % is known; `corecast plan --bound` takes minutes for one".to_owned(),
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
    fn a_bound_that_is_far_below_is_told_only_if_it_was_asked_for() {
        let cpus = (0..160).map(|id| Cpu { numa: Some(id / 80), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let chain = (0..160).map(|member| if member < 159 { vec![member + 1] } else { Vec::new() }).collect();
        let tree = Tree::new(0, chain).expect("a tree");
        let plan = Plan::of_tree(&problem, Operation::Broadcast, "given", tree);
        let unasked = bounded(&problem, plan.clone(), false, &|| true);
        assert_eq!((unasked.bound, unasked.gap()), (None, None), "each member waits for 159 others");
        let asked = bounded(&problem, plan.clone(), true, &|| true);
        assert!(asked.gap().is_some_and(|gap| gap > 1.0), "{:?}", asked.gap());
        let near = Plan { bound: Some(plan.predicted / 1.1), ..plan };
        assert_eq!(without_far_bound(near.clone()), near);
    }

    #[test]
    fn nothing_unknown_is_claimed() {
        let cpus = [4, 5].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let tree = Tree::new(1, vec![vec![], vec![0]]).expect("a tree");
        let plan = Plan::of_tree(&problem, Operation::Broadcast, "given", tree);
        assert!(certainty(&plan).starts_with("no lower bound within 15 % is known"));
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
