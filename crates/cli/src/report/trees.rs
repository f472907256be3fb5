//! The section on the plans: how good each is, its trees in space and as tables, and over time beside Smelt's tree.

use corecast::plan::{Direction, Plan, Problem, Schedule, Scheme, Tree};
use maud::{Markup, PreEscaped, html};

use crate::bounding::{above, certainty, percent};

use super::cluster::{distinct, node_class};
use super::input::{PlannedTree, SMELT};
use super::number::{cost, significant};
use super::timeline::Timeline;
use super::tree_picture::TreePicture;
use super::tree_table;

/// Up to this many members the table of a tree that is drawn is open.
const LARGEST_OPEN: usize = 8;

pub(super) fn section(trees: &[PlannedTree]) -> Markup {
    html! {
        section id="trees" {
            h2 { "The plans" }
            @if trees.is_empty() {
                p { "Nothing was planned." }
            } @else {
                p {
                    "Which member sends to which, in which order, and when, as the costs below predict it. Live times differ: "
                    "the model knows pairs of CPUs only, no caches under pressure and no interruptions."
                }
            }
            @for planned in trees { (of_plan(planned)) }
        }
    }
}

fn of_plan(planned: &PlannedTree) -> Markup {
    let (problem, plan) = (&planned.problem, &planned.timed.plan);
    let phases = Schedule::of_plan(problem, plan);
    html! {
        h3 { (plan.operation) ": " (plan.planner) ", predicted " (cost(plan.predicted, plan.unit)) }
        p { (quality(planned)) }
        p class="note" { (facts(planned)) }
        @if let Some(words) = exchange(plan) { p class="note" { (words) } }
        @for (tree, phases) in trees_of(plan, &phases) { (of_tree(problem, plan, tree, &phases)) }
        (over_time(planned, &phases))
    }
}

/// How far the plan is from the best and from Smelt's, in words.
fn quality(planned: &PlannedTree) -> String {
    let (plan, smelt) = (&planned.timed.plan, &planned.smelt);
    let than_smelt = if smelt.predicted > plan.predicted {
        format!("{}\u{a0}% more", percent(above(smelt.predicted, plan.predicted)))
    } else if smelt.predicted < plan.predicted {
        format!("{}\u{a0}% less", percent(1.0 - smelt.predicted / plan.predicted))
    } else {
        "as much".to_owned()
    };
    let mut certainty = certainty(plan);
    certainty[..1].make_ascii_uppercase();
    format!("{certainty}. Smelt's tree, {SMELT}, is predicted {}: {than_smelt}.", cost(smelt.predicted, smelt.unit))
}

fn facts(planned: &PlannedTree) -> String {
    let plan = &planned.timed.plan;
    let (root, depth, fan_out) = (planned.problem.name(plan.tree.root()), plan.tree.depth(), plan.tree.fan_out());
    let chosen = if plan.is_root_given { "as asked for" } else { "chosen" };
    let tree = match plan.scheme {
        Scheme::Dissemination(_) | Scheme::Counter => String::new(),
        _ => format!(", root {root} ({chosen}), depth {depth}, at most {fan_out} children of one member"),
    };
    let (members, time) = (plan.tree.len(), significant(planned.timed.time_ms));
    format!("{members} members{tree}; planned in {time}\u{a0}ms; {}.", plan.why)
}

/// The part of a plan that its trees do not show.
fn exchange(plan: &Plan) -> Option<String> {
    let list = |members: &[usize]| members.iter().map(|&member| plan.cpus[member].to_string()).collect::<Vec<_>>();
    match &plan.scheme {
        Scheme::Dissemination(order) => Some(format!(
            "There is no tree: in each round every CPU signals the one 1, 2, 4, ... places further in this order: {}.",
            list(order).join(", ")
        )),
        Scheme::Leaders(leaders) => Some(format!(
            "Groups reduce to their leaders, the leaders exchange by dissemination in the order {}, and each tells its \
             group. Edges without a number stand for that exchange.",
            list(leaders).join(", ")
        )),
        Scheme::ReleaseLine => Some("The root tells all others by one line that everybody reads.".to_owned()),
        Scheme::Counter => Some("Everybody increments one word; the last to come releases all others.".to_owned()),
        _ => None,
    }
}

/// The trees that messages use, each with the phases over it.
fn trees_of<'a>(plan: &'a Plan, phases: &[Schedule]) -> Vec<(&'a Tree, Vec<Schedule>)> {
    let over = |is_over: &dyn Fn(Option<Direction>) -> bool| {
        phases.iter().filter(|phase| is_over(phase.direction)).cloned().collect::<Vec<Schedule>>()
    };
    let up = || (plan.up(), over(&|direction| direction == Some(Direction::Up)));
    let down = || (&plan.tree, over(&|direction| direction == Some(Direction::Down)));
    match &plan.scheme {
        Scheme::Dissemination(_) | Scheme::Counter => vec![],
        Scheme::ReleaseLine => vec![up()],
        _ if *plan.up() == plan.tree => vec![(&plan.tree, over(&|direction| direction.is_some()))],
        _ => vec![up(), down()],
    }
}

fn of_tree(problem: &Problem, plan: &Plan, tree: &Tree, phases: &[Schedule]) -> Markup {
    let picture = TreePicture::of(problem, tree, phases);
    let is_drawn = picture.is_some();
    let title = match phases {
        [phase] if plan.up.is_some() && phase.direction == Some(Direction::Up) => "The tree up",
        [_] if plan.up.is_some() => "The tree down",
        _ => "The tree",
    };
    html! {
        @if let Some(picture) = picture {
            figure class="wide" {
                (PreEscaped(picture.draw(plan.operation)))
                figcaption { (title) ". " (caption(phases, plan.unit)) }
            }
            (legend(problem, phases))
        } @else {
            p class="note" { (title) " is too large to be drawn: the table below has it." }
        }
        (listed(problem, tree, phases, title, is_drawn))
    }
}

/// The table, open if it is short.
fn listed(problem: &Problem, tree: &Tree, phases: &[Schedule], title: &str, is_drawn: bool) -> Markup {
    let table = tree_table::table(problem, tree, phases, is_drawn);
    let leaves = if is_drawn { "" } else { " (CPUs that send to nobody are named by their parents only)" };
    html! {
        details open=[(tree.len() <= LARGEST_OPEN).then_some("")] { summary { (title) " as a table" (leaves) } (table) }
    }
}

/// The plan over time, and below it Smelt's tree on the same axis.
fn over_time(planned: &PlannedTree, phases: &[Schedule]) -> Markup {
    let PlannedTree { problem, timed, smelt } = planned;
    let plan = &timed.plan;
    let of_smelt = Schedule::of_plan(problem, smelt);
    let end = plan.predicted.max(smelt.predicted);
    let drawn = |phases, title: &str| PreEscaped(Timeline::of(problem, phases, end).draw(title));
    let operation = plan.operation;
    html! {
        figure class="wide" {
            (drawn(phases, &format!("The planned {operation} over time")))
            figcaption { "This plan over time: " (cost(plan.predicted, plan.unit)) "." }
            ul class="legend" {
                li { span class="swatch sending" {} "sending" }
                li { span class="swatch receiving" {} "receiving" }
                li { span class="stroke" {} "idle" }
            }
        }
        @if smelt.tree.len() > 1 && of_smelt != phases {
            figure class="wide" {
                (drawn(&of_smelt, &format!("Smelt's {operation} over time")))
                figcaption {
                    "Smelt's tree, " (SMELT) ", over time on the same axis: " (cost(smelt.predicted, smelt.unit)) "."
                }
            }
        }
    }
}

fn caption(phases: &[Schedule], unit: impl std::fmt::Display) -> String {
    let times = match phases {
        [phase] if phase.direction == Some(Direction::Up) => {
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
    let is_told_last = phases.last().is_some_and(|phase| phase.direction == Some(Direction::Down));
    let nodes = distinct((0..problem.len()).map(|member| problem.numa(member)));
    html! {
        ul class="legend" {
            @for &node in &nodes {
                li { span class={ "swatch " (node_class(&nodes, node)) } {} "NUMA node " (node) }
            }
            @if nodes.len() > 1 { li { span class="stroke remote" {} "between nodes" } }
            @if is_told_last { li { span class="stroke critical" {} "the way to the member that is reached last" } }
        }
    }
}
