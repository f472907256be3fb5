//! The greedy trees that a search starts from: earliest completion in several forms, from several roots.
//!
//! No form wins everywhere, and a search that starts from one of them alone stays near it. The forms differ in how much
//! they value a member as a relay, and in whether they prefer clusters that are still untouched.

use super::costs::Costs;
use super::earliest_completion::{EarliestCompletion, Preferences};
use super::order::Ordered;
use crate::effort::Effort;
use crate::settings::Settings;

/// How much the forms value relays, that of the form which chooses the roots first; each once without clusters, once
/// for each level of clusters.
const RELAY: [f64; 3] = [0.5, 0.0, 1.0];
/// Among more members, only the first two of them: sorting 256 members takes a millisecond for each of them and for each
/// level of clusters.
const ALL_FORMS: usize = 128;
/// Up to this many members effort quick tries them all; among more only the first one.
const ALL_FORMS_QUICKLY: usize = 64;
/// Up to this many members every form is tried from every root.
const ALL_ROOTS: usize = 20;
/// Among more members, how many roots are tried with one form, and how many of them with all.
const ROOTS: usize = 16;
const FEW_ROOTS: usize = 2;

/// The trees of all forms, best first, each tree once.
pub(crate) fn greedy_trees(
    costs: &Costs,
    root: Option<usize>,
    settings: &Settings<'_>,
    levels: &[Vec<u32>],
) -> Vec<Ordered> {
    let plain: &[u32] = &[];
    let mut roots = roots(costs, root);
    let mut trees: Vec<Ordered> = Vec::new();
    let forms = match settings.effort {
        Effort::Quick if costs.len() > ALL_FORMS_QUICKLY => 1,
        _ if costs.len() > ALL_FORMS => 2,
        _ => RELAY.len(),
    };
    for &relay in &RELAY[..forms] {
        let preferences = Preferences::new(costs, relay);
        for clusters in [plain].into_iter().chain(levels.iter().map(Vec::as_slice)) {
            let is_first = trees.is_empty();
            let form = EarliestCompletion::new(&preferences, clusters, settings.limits);
            trees.extend(roots.iter().filter_map(|&root| form.from(root)));
            if is_first && costs.len() > ALL_ROOTS {
                trees.sort_by(|a, b| a.cost.total_cmp(&b.cost));
                roots = trees.iter().take(FEW_ROOTS).map(|tree| tree.tree.root()).collect();
            }
        }
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
    by_total.truncate(if len <= ALL_ROOTS { len } else { ROOTS });
    by_total.into_iter().map(|(_, root)| root).collect()
}
