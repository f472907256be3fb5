//! The section on the planned trees: each in space, over time, and as a table.

use corecast::plan::{Direction, Problem, Schedule};
use maud::{Markup, PreEscaped, html};

use super::cluster::{distinct, node_class};
use super::input::PlannedTree;
use super::number::cost;
use super::timeline::Timeline;
use super::tree_picture::TreePicture;
use super::tree_table;

/// Up to this many members the table of a tree that is drawn is open.
const LARGEST_OPEN: usize = 8;

pub(super) fn section(trees: &[PlannedTree]) -> Markup {
    html! {
        section id="trees" {
            h2 { "The planned trees" }
            @if trees.is_empty() {
                p { "Nothing was planned." }
            } @else {
                p {
                    "Who talks to whom, in which order, and when, as the costs above predict it. Live times differ: "
                    "the model knows pairs of CPUs only, no caches under pressure and no interruptions."
                }
            }
            @for planned in trees { (of_tree(planned)) }
        }
    }
}

fn of_tree(planned: &PlannedTree) -> Markup {
    let (problem, plan) = (&planned.problem, &planned.plan);
    let phases = Schedule::of(plan.operation, problem, &plan.tree);
    let picture = TreePicture::of(problem, &plan.tree, &phases);
    let is_drawn = picture.is_some();
    html! {
        h3 { (plan.operation) ": " (plan.planner) ", predicted " (cost(plan.predicted, plan.unit)) }
        p class="note" { (facts(planned)) }
        @if let Some(picture) = picture {
            figure class="wide" {
                (PreEscaped(picture.draw(plan.operation)))
                figcaption { (caption(&phases, plan.unit)) }
            }
            (legend(problem, &phases))
        } @else {
            p class="note" { "Too large to be drawn: the table below has it." }
        }
        figure class="wide" {
            (PreEscaped(Timeline::of(problem, &phases).draw(plan.operation)))
            ul class="legend" {
                li { span class="swatch sending" {} "sending" }
                li { span class="swatch receiving" {} "receiving" }
                li { span class="stroke" {} "idle" }
            }
        }
        (listed(planned, &phases, is_drawn))
    }
}

/// The table, open if it is short or all there is.
fn listed(planned: &PlannedTree, phases: &[Schedule], is_drawn: bool) -> Markup {
    let (problem, tree) = (&planned.problem, &planned.plan.tree);
    let table = tree_table::table(problem, tree, phases, is_drawn);
    let leaves = if is_drawn { "" } else { " (CPUs that send to nobody are named by their parents only)" };
    html! {
        @if tree.len() <= LARGEST_OPEN || !is_drawn {
            details open="" { summary { "The tree as a table" (leaves) } (table) }
        } @else {
            details { summary { "The tree as a table" (leaves) } (table) }
        }
    }
}

fn facts(planned: &PlannedTree) -> String {
    let plan = &planned.plan;
    let chosen = plan.why.as_str();
    let root = if plan.is_root_given { "as asked for" } else { "chosen by the shape" };
    format!(
        "{} members, root {} ({root}), depth {}, at most {} children of one member; {chosen}.",
        plan.tree.len(),
        planned.problem.name(plan.tree.root()),
        plan.tree.depth(),
        plan.tree.fan_out()
    )
}

fn caption(phases: &[Schedule], unit: impl std::fmt::Display) -> String {
    let times = match phases {
        [phase] if phase.direction == Direction::Up => {
            "The number below it: when it has its whole subtree. Numbers at edges: the order in which the parent \
             receives."
        }
        [_] => "The number below it: when it has the message. Numbers at edges: the order in which the parent sends.",
        _ => {
            "The numbers below it: when it has its whole subtree (↑) and when it is told so (↓). Numbers at edges: the \
             order in which the parent sends."
        }
    };
    format!("In each box, in bold, the CPU; the root has a bold border. {times} Predicted {unit}.")
}

fn legend(problem: &Problem, phases: &[Schedule]) -> Markup {
    let is_told_last = phases.last().is_some_and(|phase| phase.direction == Direction::Down);
    let nodes = distinct((0..problem.len()).map(|member| problem.numa(member)));
    html! {
        ul class="legend" {
            @for &node in &nodes {
                li { span class={ "swatch " (node_class(&nodes, node)) } {} "NUMA node " (node) }
            }
            @if nodes.len() > 1 { li { span class="stroke remote" {} "between nodes" } }
            @if is_told_last { li { span class="stroke critical" {} "the way to whoever is reached last" } }
        }
    }
}
