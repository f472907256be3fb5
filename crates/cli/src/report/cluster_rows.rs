//! The rows of tables about a plan for a cluster, for the terminal and for the page.

use corecast::plan::cluster::{Candidate, ClusterPlan, FarScheme};

use super::number::{ratio, significant, time};

/// The cost with one number of nodes. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Growth {
    pub(crate) nodes: u64,
    pub(crate) members: u64,
    /// The cheapest way between nodes, and its cost with every node punctual and with waits.
    pub(crate) scheme: FarScheme,
    pub(crate) quiet_ns: f64,
    pub(crate) expected_ns: f64,
    /// With waits: the cheapest candidate of each scheme that there is.
    pub(crate) by_scheme: [(FarScheme, Option<f64>); 3],
}

/// Headings of [`candidates`], as `table` takes them.
pub(crate) const CANDIDATES: [&str; 10] = [
    "between nodes",
    ">expected",
    ">/ best",
    ">punctual",
    "?>near up",
    "?>far",
    "?>near down",
    "?>pieces",
    "?>waits",
    ">messages",
];

/// Headings of [`growth`].
pub(crate) const GROWTH: [&str; 5] = [">nodes", ">members", "between nodes", ">expected", ">punctual"];

/// The ways to do the operation, the cheapest first: of each scheme with its lanes the best length of pieces, and the one
/// without.
pub(crate) fn candidates(plan: &ClusterPlan) -> Vec<Vec<String>> {
    let best = plan.best().expected_ns();
    let mut seen = Vec::new();
    let is_first = |candidate: &&Candidate| {
        let kind = (candidate.scheme, candidate.lanes, candidate.chunk_bytes.is_some());
        let is_first = !seen.contains(&kind);
        seen.push(kind);
        is_first
    };
    plan.candidates.iter().filter(is_first).map(|candidate| row(candidate, best)).collect()
}

/// The ways that were compared, in words.
pub(crate) fn compared(is_beyond_groups: bool) -> &'static str {
    if is_beyond_groups {
        "compared: also ways that no group takes today, which say so; a group has one leader on each node, or lanes among ranks, and \
         pieces of 60 KiB, or 120 KiB by halving"
    } else {
        "compared: the ways that groups take, with one leader on each node, or lanes among ranks, and pieces of 60 KiB, or 120 KiB by \
         halving; --beyond-groups has others"
    }
}

fn row(candidate: &Candidate, best_ns: f64) -> Vec<String> {
    let remark = if candidate.is_of_groups { "" } else { " (no group does)" };
    vec![
        format!("{candidate}{remark}"),
        time(candidate.expected_ns()),
        ratio(candidate.expected_ns() / best_ns),
        time(candidate.quiet_ns),
        time(candidate.near_up_ns),
        time(candidate.far_ns),
        time(candidate.near_down_ns),
        time(candidate.chunks_ns),
        time(candidate.mean_wait_ns + candidate.tail_wait_ns),
        candidate.depth.to_string(),
    ]
}

/// The cost with each number of nodes.
pub(crate) fn growth(steps: &[Growth]) -> Vec<Vec<String>> {
    let row = |step: &Growth| {
        let (nodes, members) = (significant(step.nodes as f64), significant(step.members as f64));
        vec![nodes, members, step.scheme.to_string(), time(step.expected_ns), time(step.quiet_ns)]
    };
    steps.iter().map(row).collect()
}
