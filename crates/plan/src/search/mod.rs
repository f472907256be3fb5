//! Searching for the cheapest tree: the blocks, one file each, and what an effort makes of them.
//!
//! Every block works on [`Costs`], in which a reduction is a broadcast in reversed time.

mod annealing;
pub(crate) mod classes;
pub(crate) mod costs;
pub(crate) mod earliest_completion;
pub(crate) mod exact;
pub(crate) mod hierarchy;
pub(crate) mod improve;
mod moving_tree;
pub(crate) mod order;
mod portfolio;
mod sketch;
mod ticks;

pub(crate) use costs::Costs;

use crate::effort::Effort;
use crate::request::Settings;
use order::Ordered;

/// The tree that a search found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The tree, children in the order of sending, and what it costs.
    pub(crate) best: Ordered,
    /// Which block made it.
    pub(crate) by: &'static str,
    /// Changes tried, or entries of a table filled.
    pub(crate) iterations: u64,
    /// True if no tree with the root asked for costs less.
    pub(crate) is_optimal: bool,
}

/// The best tree that the effort finds; `None` if the limits allow none that a greedy rule finds.
pub(crate) fn search(costs: &Costs, root: Option<usize>, settings: &Settings<'_>) -> Option<Found> {
    let levels = levels(costs);
    let starts = portfolio::greedy_trees(costs, root, settings.limits, &levels);
    let greedy =
        Found { best: starts.first()?.clone(), by: "earliest-completion", iterations: 0, is_optimal: costs.len() <= 2 };
    if settings.effort == Effort::Quick || greedy.is_optimal {
        return Some(greedy);
    }
    let (best, iterations) = improve::improve(costs, root.is_some(), &starts, settings);
    Some(if best.cost < greedy.best.cost {
        Found { best, by: "annealing", iterations, is_optimal: false }
    } else {
        Found { iterations, ..greedy }
    })
}

/// The clusters of the members by what messages cost both ways, finest first.
fn levels(costs: &Costs) -> Vec<Vec<u32>> {
    corecast_machine::clusters::levels(costs.len(), &|a, b| costs.edge(a, b) + costs.edge(b, a))
}
