//! Searches for the cheapest tree: the building blocks, one file each, and their use by each effort.
//!
//! Every block works on [`Costs`], in which a reduction is a broadcast in reversed time.

mod annealing;
pub(crate) mod bound;
pub(crate) mod classes;
pub(crate) mod cooling;
pub(crate) mod costs;
pub(crate) mod earliest_completion;
pub(crate) mod exact;
pub(crate) mod hierarchy;
pub(crate) mod improve;
mod moves;
mod moving_tree;
pub(crate) mod order;
mod portfolio;
mod sketch;
pub(crate) mod stop;
mod ticks;
mod trial;
mod trial_buffers;

pub(crate) use costs::Costs;

use crate::effort::Effort;
use crate::settings::Settings;
use order::Ordered;

/// The goal of a search: the cheapest tree over these costs, from this root or from any.
pub(crate) struct Job<'a> {
    pub(crate) costs: &'a Costs,
    pub(crate) root: Option<usize>,
    pub(crate) settings: &'a Settings<'a>,
}

/// The tree that a search found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The tree, children in the order of sending, and what it costs.
    pub(crate) best: Ordered,
    /// The block that made it.
    pub(crate) by: &'static str,
    /// Changes tried; 0 for blocks that try none.
    pub(crate) iterations: u64,
    /// True if no tree with the root asked for costs less.
    pub(crate) is_optimal: bool,
}

/// A way of making trees that a request can name.
pub(crate) struct Block {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The block's best tree, or why it has none.
    pub(crate) find: fn(&Job<'_>) -> Result<Found, String>,
}

/// Every block.
pub(crate) const BLOCKS: &[Block] = &[
    Block {
        name: "earliest-completion",
        about: "greedy: the next message goes where it arrives soonest; several forms, best child order",
        find: earliest_completion_first,
    },
    Block { name: "classes", about: "programme over counts of members that are alike", find: over_classes },
    Block { name: "hierarchy", about: "programme over what is left at each level of clusters", find: over_levels },
    Block {
        name: "annealing",
        about: "improves the trees of the other blocks along their critical paths",
        find: annealed,
    },
    Block {
        name: "exact",
        about: "programme over all subsets: no tree is cheaper, with proof; a barrier gets two such trees, and other schemes \
                may cost less",
        find: over_subsets,
    },
];

/// The best tree that the effort finds; `None` if the limits allow none that a greedy rule finds.
pub(crate) fn search(costs: &Costs, root: Option<usize>, settings: &Settings<'_>) -> Option<Found> {
    let job = Job { costs, root, settings };
    let starts = starts(&job);
    let best = starts.first()?;
    if settings.effort == Effort::Quick || best.is_optimal {
        return Some(best.clone());
    }
    let members = costs.len();
    let is_in_reach = members <= settings.effort.exact_reach() && refusal(&job).is_none();
    if is_in_reach && members <= Effort::Normal.exact_reach() {
        return Some(proven(&job, best).unwrap_or_else(|| best.clone()));
    }
    let found = improved(&job, &starts);
    Some(if is_in_reach { proven(&job, &found).unwrap_or(found) } else { found })
}

/// The trees of all blocks that build one at once, best first.
fn starts(job: &Job<'_>) -> Vec<Found> {
    let Job { costs, root, settings } = *job;
    let levels = levels(costs);
    let greedy = portfolio::greedy_trees(costs, root, settings, &levels);
    let found = |by, best| Found { best, by, iterations: 0, is_optimal: costs.len() <= 2 };
    let mut starts: Vec<Found> = greedy.into_iter().map(|best| found("earliest-completion", best)).collect();
    starts.extend(hierarchy::hierarchy(costs, root, &levels).map(|best| found("hierarchy", best)));
    if settings.effort != Effort::Quick {
        let classes = classes::classes(costs, root, &levels, steps(costs.len(), settings.effort));
        starts.extend(classes.map(|seed| Found { is_optimal: seed.is_optimal, ..found("classes", seed.best) }));
    }
    starts.retain(|start| settings.limits.allow(&start.best.tree));
    starts.sort_by(|a, b| a.best.cost.total_cmp(&b.best.cost).then(b.is_optimal.cmp(&a.is_optimal)));
    starts
}

/// The number of steps of the class programme that fit into the effort: a tenth of its time.
fn steps(members: usize, effort: Effort) -> u64 {
    if effort <= Effort::Normal { 10_000 * members as u64 } else { classes::MOST_STEPS }
}

fn improved(job: &Job<'_>, starts: &[Found]) -> Found {
    let trees: Vec<&Ordered> = starts.iter().map(|start| &start.best).collect();
    let (best, iterations) = improve::improve(job.costs, job.root.is_some(), &trees, job.settings);
    if best.cost < starts[0].best.cost {
        Found { best, by: "annealing", iterations, is_optimal: false }
    } else {
        Found { iterations, ..starts[0].clone() }
    }
}

/// The optimum, given a good tree; `None` if the search was stopped or is too large.
fn proven(job: &Job<'_>, known: &Found) -> Option<Found> {
    let best = exact::optimum(job.costs, job.root, &known.best, job.settings.stop)?;
    Some(if best.cost < known.best.cost {
        Found { best, by: "exact", iterations: known.iterations, is_optimal: true }
    } else {
        Found { is_optimal: true, ..known.clone() }
    })
}

/// Why the subset programme cannot plan this.
pub(crate) fn refusal(job: &Job<'_>) -> Option<String> {
    let members = job.costs.len();
    if members > exact::LARGEST {
        let (most, megabytes) = (exact::LARGEST, exact::optimum_bytes(exact::LARGEST) / 1_000_000);
        let why =
            format!("the subset programme reaches {most} members, which take {megabytes} MB and seconds to minutes");
        return Some(format!("{why}; each further member takes twice the memory and three times as long"));
    }
    if !job.settings.limits.is_none() {
        return Some("the subset programme knows no limits on children or depth".to_owned());
    }
    (!job.costs.undrained().is_empty()).then(|| "the subset programme knows no costs of undrained sends".to_owned())
}

/// Why there is no optimum although the programme accepts the problem.
pub(crate) const UNFINISHED: &str =
    "the subset programme was stopped, or messages that take next to no time leave it too much";
const NO_TREE: &str = "it finds no tree within the limits";

fn earliest_completion_first(job: &Job<'_>) -> Result<Found, String> {
    let Job { costs, root, settings } = *job;
    let best = portfolio::greedy_trees(costs, root, settings, &levels(costs)).into_iter().next().ok_or(NO_TREE)?;
    Ok(Found { best, by: "earliest-completion", iterations: 0, is_optimal: costs.len() <= 2 })
}

fn over_classes(job: &Job<'_>) -> Result<Found, String> {
    let seed = classes::classes(job.costs, job.root, &levels(job.costs), classes::MOST_STEPS)
        .ok_or("too many classes of members")?;
    within_limits(job, Found { best: seed.best, by: "classes", iterations: 0, is_optimal: seed.is_optimal })
}

fn over_levels(job: &Job<'_>) -> Result<Found, String> {
    let best = hierarchy::hierarchy(job.costs, job.root, &levels(job.costs)).ok_or("the clusters are too irregular")?;
    within_limits(job, Found { best, by: "hierarchy", iterations: 0, is_optimal: false })
}

fn annealed(job: &Job<'_>) -> Result<Found, String> {
    let starts = starts(job);
    if starts.is_empty() {
        return Err(NO_TREE.to_owned());
    }
    Ok(Found { by: "annealing", is_optimal: false, ..improved(job, &starts) })
}

fn over_subsets(job: &Job<'_>) -> Result<Found, String> {
    if let Some(why) = refusal(job) {
        return Err(why);
    }
    // Finding a good tree to prune with takes less time than it saves.
    let is_pruned = job.costs.len() > Effort::Patient.exact_reach();
    let known = if is_pruned { annealed(job) } else { earliest_completion_first(job) }?;
    let found = proven(job, &known).ok_or(UNFINISHED)?;
    Ok(Found { by: "exact", ..found })
}

fn within_limits(job: &Job<'_>, found: Found) -> Result<Found, String> {
    if job.settings.limits.allow(&found.best.tree) { Ok(found) } else { Err(NO_TREE.to_owned()) }
}

/// The clusters of the members by what messages cost both ways, finest first.
fn levels(costs: &Costs) -> Vec<Vec<u32>> {
    corecast_machine::clusters::levels(costs.len(), &|a, b| costs.edge(a, b) + costs.edge(b, a))
}
