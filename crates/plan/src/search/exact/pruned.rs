//! The subset programme for one root after the other, without the states that belong to no better tree.

use std::sync::Mutex;

use super::super::bound::{PartPrices, Potential};
use super::super::costs::Costs;
use super::super::order::Ordered;
use super::super::stop::Stop;
use super::gate::Gate;
use super::sets::{packed, spread, subsets};
use super::tables::{NEVER, Tables};
use crate::parallel;

/// Sets of one member with their f.
type States = Vec<(u32, u32)>;

/// A root, and the prices for trees from there.
type Priced = (usize, PartPrices);

/// The better one of `known` and the best tree from `root`, or from any root; `None` if it is stopped.
///
/// `known` has the root, and the potential of its cost an order.
pub(super) fn optimum(costs: &Costs, root: Option<usize>, known: &Ordered, stop: Stop) -> Option<Ordered> {
    let first = known.tree.root();
    debug_assert!(root.is_none_or(|root| root == first), "the known tree has the root asked for");
    let mut best = known.clone();
    let roots = [vec![first], (0..costs.len()).filter(|&other| other != first && root.is_none()).collect()];
    for roots in roots {
        let upper = best.cost;
        let priced = |at: usize| Some((roots[at], PartPrices::of(costs, roots[at], upper, stop)?));
        let priced: Vec<Option<Priced>> = parallel::map(roots.len(), priced);
        for (root, prices) in priced.into_iter().flatten() {
            let found = best_from(costs, root, best.cost, &prices, stop)?;
            best = found.filter(|found| found.cost < best.cost).unwrap_or(best);
        }
    }
    Some(best)
}

/// The best tree from this root, if there is one that costs less than `upper`; at any prices. The outer `None` if it is
/// stopped.
pub(super) fn best_from(
    costs: &Costs,
    root: usize,
    upper: f64,
    prices: &PartPrices,
    stop: Stop,
) -> Option<Option<Ordered>> {
    let potential = Potential::new(costs, root, upper, prices);
    let mut tables = Tables::new(costs, Some(root), upper);
    let gate = Gate::new(&tables.names, prices, potential);
    tables.fill_open(&gate, stop)?;
    let last = tables.len() - 1;
    let is_found = tables.inform[last][tables.others(last)] < NEVER;
    Some(is_found.then(|| tables.tree(costs, last)))
}

impl Tables {
    /// Fills in the sets that the gate lets through, smallest first.
    fn fill_open(&mut self, gate: &Gate, stop: Stop) -> Option<()> {
        let mut layer: Vec<States> = vec![vec![(0, 0)]; self.len()];
        for members in 1..self.len() {
            self.enter_first(&layer);
            let open = |v| self.open(v, members, gate, stop);
            layer = parallel::map(self.len(), open).into_iter().collect::<Option<_>>()?;
            for (inform, states) in self.inform.iter_mut().zip(&layer) {
                states.iter().for_each(|&(set, time)| inform[set as usize] = time);
            }
        }
        Some(())
    }

    /// f of v's sets of `members` members, where it is of use.
    fn open(&self, v: usize, members: usize, gate: &Gate, stop: Stop) -> Option<States> {
        let mut open = Vec::new();
        for (count, set) in subsets(self.inform[v].len(), members).enumerate() {
            if count % 64 == 0 && stop() {
                return None;
            }
            let time = gate.limit(v, set).map_or(NEVER, |limit| self.best_split(v, set, limit).0);
            if time < NEVER {
                open.push((set as u32, time));
            }
        }
        Some(open)
    }

    /// Enters into A every child with one of these states below it.
    fn enter_first(&mut self, layer: &[States]) {
        let n = self.len();
        let rows: Vec<Mutex<&mut Vec<u32>>> = self.first.iter_mut().map(Mutex::new).collect();
        parallel::map(n, |v| {
            let mut first = rows[v].lock().expect("one thread locks each row, once");
            let edges = &self.edge[v * n..][..n];
            // The root comes last and is never a child.
            for child in (0..n - 1).filter(|&child| child != v) {
                for &(set, time) in &layer[child] {
                    let all = spread(child, set as usize);
                    if all >> v & 1 == 0 {
                        let least = &mut first[packed(v, all | 1 << child)];
                        *least = (*least).min(edges[child] + time);
                    }
                }
            }
        });
    }
}
