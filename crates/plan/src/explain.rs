//! A plan in words: which shape was taken and why, and when each member is reached.

use std::fmt::{self, Write};

use crate::plan::Plan;
use crate::planner::{Candidate, candidates};
use crate::problem::Problem;
use crate::schedule::{Direction, Schedule};
use crate::tree::Tree;

/// A text for people, of several lines: the choice, a table of all shapes, and the schedule by member.
///
/// The table shows each shape with the root that was asked for, or else with the one that it would choose itself.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_plan::{Operation, Problem, Request, explain};
/// let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
/// let problem = Problem::of_machine(&Machine::from_topology(&Topology { cpus, ..Topology::default() }))?;
/// let text = explain(&problem, &Request::new(Operation::Broadcast).plan(&problem)?);
/// assert!(text.contains("no shape is cheaper"));
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
    let root = plan.is_root_given.then_some(plan.tree.root());
    let candidates = candidates(problem, plan.operation, root);
    writeln!(text, "{} among {} members of {}", plan.operation, plan.cpus.len(), plan.machine)?;
    writeln!(text, "{}: {}", plan.planner, reason(plan, &candidates))?;
    writeln!(text, "{}", facts(problem, &plan.tree, plan.predicted))?;
    writeln!(text)?;
    table(text, problem, plan, &candidates)?;
    Schedule::of(plan.operation, problem, &plan.tree).iter().try_for_each(|phase| timeline(text, problem, plan, phase))
}

fn reason(plan: &Plan, candidates: &[Candidate]) -> String {
    let cheapest = candidates.iter().min_by(|a, b| a.predicted.total_cmp(&b.predicted)).expect("there are shapes");
    let compared = if plan.predicted <= cheapest.predicted {
        let more = 100.0 * (cheapest.predicted / plan.predicted.max(f64::MIN_POSITIVE) - 1.0);
        format!("no shape is cheaper, {} comes next and costs {more:.1} % more", cheapest.shape)
    } else {
        let more = 100.0 * (plan.predicted / cheapest.predicted - 1.0);
        format!("{} is the cheapest shape, this costs {more:.1} % more", cheapest.shape)
    };
    format!("{}; {compared}", plan.why)
}

fn facts(problem: &Problem, tree: &Tree, predicted: f64) -> String {
    let (root, unit, depth, fan_out) = (problem.name(tree.root()), problem.unit(), tree.depth(), tree.fan_out());
    format!("root {root}, predicted {predicted:.1} {unit}, depth {depth}, at most {fan_out} children")
}

fn table(text: &mut String, problem: &Problem, plan: &Plan, candidates: &[Candidate]) -> fmt::Result {
    let title = format!("predicted {}", problem.unit());
    writeln!(text, "  {:<22} {title:>16} {:>6} {:>6} {:>8}  root", "shape", "ratio", "depth", "children")?;
    for Candidate { shape, tree, predicted } in candidates {
        let mark = if *shape == plan.planner { '*' } else { ' ' };
        let ratio = if plan.predicted > 0.0 { predicted / plan.predicted } else { 1.0 };
        let (depth, fan_out, root) = (tree.depth(), tree.fan_out(), problem.name(tree.root()));
        writeln!(text, "{mark} {shape:<22} {predicted:>16.1} {ratio:>6.2} {depth:>6} {fan_out:>8}  {root}")?;
    }
    Ok(())
}

/// One line per member, earliest first.
fn timeline(text: &mut String, problem: &Problem, plan: &Plan, phase: &Schedule) -> fmt::Result {
    let (what, to) = match phase.direction {
        Direction::Down => ("broadcast from the root: each member has it at", "then sends to"),
        Direction::Up => ("reduction to the root: each member has its subtree at", "after receiving from"),
    };
    writeln!(text, "\n{what} ({:.1} to {:.1} {})", phase.start, phase.end, problem.unit())?;
    let mut members: Vec<usize> = (0..plan.tree.len()).collect();
    members.sort_by(|&a, &b| phase.arrivals[a].total_cmp(&phase.arrivals[b]));
    for member in members {
        write!(text, "{:>12.1}  {}", phase.arrivals[member], problem.name(member))?;
        let others: Vec<usize> = match phase.direction {
            Direction::Down => phase.sent_by(member).map(|transfer| transfer.to).collect(),
            Direction::Up => phase.received_by(member).map(|transfer| transfer.from).collect(),
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
    fn says_which_shape_and_why_and_when_everyone_is_reached() {
        let cpus = (0..12).map(|id| Cpu { numa: Some(id / 6), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let bad = explain(&problem, &Request::new(Operation::Barrier).planner("bad").plan(&problem).expect("a plan"));
        assert!(bad.contains("bad: asked for; ") && bad.contains(" % more"), "{bad}");
        assert!(bad.contains("\n* bad "), "{bad}");
        assert_eq!(bad.matches(" to the root").count() + bad.matches(" from the root").count(), 2, "{bad}");
        for phase in ["then sends to CPU", "after receiving from CPU"] {
            assert!(bad.contains(phase), "{bad}");
        }
        assert_eq!(bad.lines().filter(|line| line.contains("  CPU 11")).count(), 2, "{bad}");

        let rooted = explain(&problem, &Request::new(Operation::Reduce).root(Some(3)).plan(&problem).expect("a plan"));
        assert!(rooted.contains("no shape is cheaper"), "{rooted}");
        assert_eq!(rooted.lines().filter(|line| line.ends_with("  CPU 3")).count(), 11, "every root in the table");
    }
}
