//! A plan for Graphviz: sender and receiver of each message, the order, the purpose, and when each CPU is reached.
//!
//! `corecast plan .. --dot - | dot -Tsvg` draws it.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use corecast::plan::{Direction, Plan, Problem, Schedule, Transfer};

/// A directed graph: CPUs in boxes of their NUMA nodes, and an arrow for each message.
pub(crate) fn draw(problem: &Problem, plan: &Plan) -> String {
    let mut text = String::new();
    graph(&mut text, problem, plan).expect("writing to a string does not fail");
    text
}

fn graph(text: &mut String, problem: &Problem, plan: &Plan) -> fmt::Result {
    let phases = Schedule::of_plan(problem, plan);
    let title = format!("{} by {}, predicted {:.1} {}", plan.operation, plan.planner, plan.predicted, plan.unit);
    writeln!(text, "digraph plan {{")?;
    writeln!(text, "  label=\"{title}\"; node [shape=box, style=rounded]; edge [fontsize=10];")?;
    for (node, members) in by_node(problem) {
        writeln!(text, "  subgraph cluster_{node} {{\n    label=\"NUMA node {node}\";")?;
        for member in members {
            let times: String = phases.iter().map(|phase| format!("\\n{}", arrival(phase, member))).collect();
            let bold = if member == plan.tree.root() { ", penwidth=2" } else { "" };
            writeln!(text, "    {member} [label=\"{}{times}\"{bold}];", problem.name(member))?;
        }
        writeln!(text, "  }}")?;
    }
    phases.iter().try_for_each(|phase| arrows(text, problem, phase))?;
    writeln!(text, "}}")
}

/// The members of each node, both ascending.
fn by_node(problem: &Problem) -> BTreeMap<u32, Vec<usize>> {
    let mut nodes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for member in 0..problem.len() {
        nodes.entry(problem.numa(member)).or_default().push(member);
    }
    nodes
}

fn arrival(phase: &Schedule, member: usize) -> String {
    let sign = match phase.direction {
        Some(Direction::Down) => "↓",
        Some(Direction::Up) => "↑",
        None => "↔",
    };
    format!("{sign} {:.1}", phase.arrivals[member])
}

/// An arrow for each message with its place among those of its sender, and what it costs both ends. Reductions are
/// dashed; they do not decide who stands above whom.
fn arrows(text: &mut String, problem: &Problem, phase: &Schedule) -> fmt::Result {
    let style = match phase.direction {
        Some(Direction::Down) => "",
        Some(Direction::Up) => ", style=dashed, constraint=false",
        None => ", style=dotted",
    };
    for sender in 0..problem.len() {
        for (place, Transfer { from, to, .. }) in phase.sent_by(sender).enumerate() {
            let cost = problem.message(*from, *to);
            writeln!(text, "  {from} -> {to} [label=\"{}: {cost:.1}\"{style}];", place + 1)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::machine::{Cpu, Topology};
    use corecast::plan::{Operation, Request};
    use corecast::{CpuId, Machine};

    fn drawn(operation: Operation, planner: &str) -> String {
        let cpus = (0..6).map(|id| Cpu { numa: Some(id / 3), ..Cpu::flat(CpuId::new(10 + id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let plan = Request::new(operation).planner(planner).plan(&problem).expect("a plan");
        draw(&problem, &plan)
    }

    #[test]
    fn every_cpu_is_there_once_and_every_message_is_an_arrow() {
        for (operation, planner, arrows) in [
            (Operation::Broadcast, "sequential", 5),
            (Operation::Reduce, "binary", 5),
            (Operation::Barrier, "cluster", 10),
            (Operation::Barrier, "dissemination", 18),
        ] {
            let text = drawn(operation, planner);
            let count = |what: &str| text.matches(what).count();
            assert_eq!((count("label=\"CPU "), count(" -> ")), (6, arrows), "{text}");
            assert_eq!((count("{"), count("}"), count("subgraph cluster_")), (3, 3, 2), "{text}");
        }
    }

    #[test]
    fn arrows_tell_order_and_cost() {
        let text = drawn(Operation::Broadcast, "sequential");
        let arrows: Vec<&str> = text.lines().filter(|line| line.contains("->")).collect();
        assert!(arrows[0].starts_with("  0 -> 1 [label=\"1: ") && arrows[4].contains("label=\"5: "), "{arrows:?}");
        assert!(text.contains("label=\"CPU 10\\n↓ 0.0\", penwidth=2"), "{text}");
    }
}
