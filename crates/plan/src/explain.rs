//! Explains a plan in words: its maker, the reason, and when each member is reached.

use std::fmt::{self, Write};

use crate::operation::Direction;
use crate::plan::{Plan, Scheme};
use crate::problem::Problem;
use crate::schedule::Schedule;

/// A text of several lines: the maker of the plan, the reason, and the schedule by member.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_plan::{Operation, Problem, Request, explain};
/// let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
/// let problem = Problem::of_machine(&Machine::from_topology(&Topology { cpus, ..Topology::default() }))?;
/// let text = explain(&problem, &Request::new(Operation::Broadcast).planner("binary").plan(&problem)?);
/// assert!(text.contains("binary: asked for\nroot CPU 0, predicted 180.0 ns, depth 1, at most 2 children"));
/// # Ok::<(), corecast_plan::PlanError>(())
/// ```
///
/// # Panics
///
/// If the plan is not one for this problem.
#[must_use]
#[track_caller]
pub fn explain(problem: &Problem, plan: &Plan) -> String {
    let mut text = String::new();
    describe(&mut text, problem, plan).expect("writing to a string does not fail");
    text
}

fn describe(text: &mut String, problem: &Problem, plan: &Plan) -> fmt::Result {
    let (unit, predicted) = (problem.unit(), plan.predicted);
    writeln!(text, "{} among {} members of {}", plan.operation, plan.cpus.len(), plan.machine)?;
    writeln!(text, "{}: {}", plan.planner, plan.why)?;
    match plan.scheme {
        Scheme::Dissemination(_) | Scheme::Counter => writeln!(text, "predicted {predicted:.1} {unit}")?,
        _ => {
            let (root, depth, fan_out) = (problem.name(plan.tree.root()), plan.tree.depth(), plan.tree.fan_out());
            writeln!(text, "root {root}, predicted {predicted:.1} {unit}, depth {depth}, at most {fan_out} children")?;
        }
    }
    Schedule::of_plan(problem, plan).iter().try_for_each(|phase| timeline(text, problem, plan, phase))
}

/// One line per member, earliest first.
fn timeline(text: &mut String, problem: &Problem, plan: &Plan, phase: &Schedule) -> fmt::Result {
    let (what, to) = match phase.direction {
        Some(Direction::Down) => ("broadcast from the root: each member has it at", "then sends to"),
        Some(Direction::Up) => ("reduction to the root: each member has its subtree at", "after receiving from"),
        None => ("exchange: each member has heard all at", "after signals from"),
    };
    writeln!(text, "\n{what} ({:.1} to {:.1} {})", phase.start, phase.end, problem.unit())?;
    let mut members: Vec<usize> = (0..plan.tree.len()).collect();
    members.sort_by(|&a, &b| phase.arrivals[a].total_cmp(&phase.arrivals[b]));
    for member in members {
        write!(text, "{:>12.1}  {}", phase.arrivals[member], problem.name(member))?;
        let others: Vec<usize> = match phase.direction {
            Some(Direction::Down) => phase.sent_by(member).map(|transfer| transfer.to).collect(),
            Some(Direction::Up) | None => phase.received_by(member).map(|transfer| transfer.from).collect(),
        };
        let others: Vec<String> = others.into_iter().map(|other| problem.name(other)).collect();
        if !others.is_empty() {
            write!(text, ", {to} {}", others.join(", "))?;
        }
        writeln!(text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::request::Request;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};

    #[test]
    fn says_who_and_why_and_when_everyone_is_reached() {
        let cpus = (0..12).map(|id| Cpu { numa: Some(id / 6), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let bad = explain(&problem, &Request::new(Operation::Barrier).planner("bad").plan(&problem).expect("a plan"));
        assert!(bad.contains("\nbad: asked for\nroot CPU"), "{bad}");
        for phase in
            ["reduction to the root", "then sends to CPU", "broadcast from the root", "after receiving from CPU"]
        {
            assert!(bad.contains(phase), "{bad}");
        }
        assert_eq!(bad.lines().filter(|line| line.contains("  CPU 11")).count(), 2, "{bad}");

        let exchange = Request::new(Operation::Barrier).planner("dissemination").plan(&problem).expect("a plan");
        let exchange = explain(&problem, &exchange);
        assert!(!exchange.contains("root CPU"), "{exchange}");
        assert_eq!(exchange.matches("after signals from").count(), 12, "{exchange}");
    }
}
