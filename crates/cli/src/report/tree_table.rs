//! A planned tree as a table: every member, when it is reached, and to whom it sends in which order.

use corecast::plan::{Direction, Problem, Schedule, Tree};
use maud::{Markup, html};

use super::number::significant;
use super::tree_picture::children_in_order;

/// The deepest indentation: trees as deep as they have members would run out of the page.
const DEEPEST_INDENT: usize = 16;

/// A line for each member, from the root down, indented by depth. Members without children get no line of their own in
/// large trees: their parents name them.
pub(super) fn table(problem: &Problem, tree: &Tree, phases: &[Schedule], has_leaves: bool) -> Markup {
    let shown = in_order_of_descent(tree);
    let shown = shown.into_iter().filter(|&(member, _)| has_leaves || !tree.children(member).is_empty());
    html! {
        div class="scroll" { table {
            thead { tr {
                th class="words" scope="col" { "CPU" } th scope="col" { "NUMA node" }
                @for phase in phases { th scope="col" { (column(phase)) " [" (problem.unit()) "]" } }
                th class="words" scope="col" { (orders(phases)) }
            } }
            tbody { @for (member, depth) in shown { (line(problem, phases, member, depth)) } }
        } }
    }
}

fn line(problem: &Problem, phases: &[Schedule], member: usize, depth: usize) -> Markup {
    let children = children_in_order(phases, member);
    let children: Vec<String> = children.into_iter().map(|child| problem.cpu(child).to_string()).collect();
    let indent = format!("padding-left:{}em", 0.6 + 1.1 * depth.min(DEEPEST_INDENT) as f64);
    html! {
        tr {
            th class="words" scope="row" style=(indent) { (problem.cpu(member)) }
            td { (problem.numa(member)) }
            @for phase in phases { td { (significant(phase.arrivals[member])) } }
            td class="words long" { @if children.is_empty() { "–" } @else { (children.join(", ")) } }
        }
    }
}

fn column(phase: &Schedule) -> &'static str {
    match phase.direction {
        Some(Direction::Down) => "reached at",
        Some(Direction::Up) => "has its subtree at",
        None => "has heard all at",
    }
}

fn orders(phases: &[Schedule]) -> &'static str {
    match phases {
        [phase] if phase.direction == Some(Direction::Up) => "receives from, in this order",
        _ => "sends to, in this order",
    }
}

/// Every member right after its parent and the parent's earlier children with all below them, with its depth.
fn in_order_of_descent(tree: &Tree) -> Vec<(usize, usize)> {
    let mut order = Vec::with_capacity(tree.len());
    let mut waiting = vec![(tree.root(), 0)];
    while let Some((member, depth)) = waiting.pop() {
        order.push((member, depth));
        waiting.extend(tree.children(member).iter().rev().map(|&child| (child, depth + 1)));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descends_before_it_goes_on() {
        let tree = Tree::new(0, vec![vec![2, 1], vec![], vec![3], vec![]]).expect("a tree");
        assert_eq!(in_order_of_descent(&tree), [(0, 0), (2, 1), (3, 2), (1, 1)]);
    }
}
