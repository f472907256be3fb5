//! The greedy trees that a search starts from: earliest completion in several forms, from several roots.
//!
//! No form wins everywhere, and a search that starts from one of them alone sticks to it. The forms differ in how much
//! they value a member as a relay, and in whether they hurry into clusters nobody has entered.

use super::costs::Costs;
use super::earliest_completion::EarliestCompletion;
use super::order::Ordered;
use crate::limits::Limits;

/// The forms by their weight of relaying; each once plain, once for each level of clusters.
const RELAY: [f64; 3] = [0.0, 0.5, 1.0];
/// The most roots that each form is tried from.
const ROOTS: usize = 64;

/// The best trees of each form: one from its best root, one from its second best if the root may be chosen. Best first,
/// each tree once.
pub(crate) fn greedy_trees(costs: &Costs, root: Option<usize>, limits: Limits, levels: &[Vec<u32>]) -> Vec<Ordered> {
    let roots = roots(costs, root);
    let plain: &[u32] = &[];
    let clusterings = [plain].into_iter().chain(levels.iter().map(Vec::as_slice));
    let forms = clusterings.flat_map(|cluster| RELAY.map(|relay| (relay, cluster)));
    let mut trees: Vec<Ordered> = Vec::new();
    for (relay, cluster) in forms {
        let form = EarliestCompletion::new(costs, relay, cluster, limits);
        let mut of_form: Vec<Ordered> = roots.iter().filter_map(|&root| form.from(root)).collect();
        of_form.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        of_form.truncate(2);
        trees.extend(of_form);
    }
    trees.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    trees.dedup_by(|a, b| a.tree == b.tree);
    trees
}

/// The roots to try: the one given, or those that reach the others the soonest.
fn roots(costs: &Costs, root: Option<usize>) -> Vec<usize> {
    if let Some(root) = root {
        return vec![root];
    }
    let len = costs.len();
    let total = |root: usize| (0..len).map(|other| costs.edge(root, other)).sum::<f64>();
    let mut by_total: Vec<(f64, usize)> = (0..len).map(|root| (total(root), root)).collect();
    by_total.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    by_total.truncate(ROOTS * ROOTS / len.max(ROOTS));
    by_total.into_iter().map(|(_, root)| root).collect()
}
