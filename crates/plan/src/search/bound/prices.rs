//! What a message earns: a price for every member that is informed, and one for every cluster that is entered.
//!
//! In a tree every member but the root is informed exactly once, and every set of members without the root is entered
//! at least once from outside. So whatever the prices, but for those of sets, which are not negative, a tree earns at
//! least their sum. Sets are the clusters of single linkage, all n - 2 of them: no level has to be chosen.

use super::super::costs::Costs;
use super::relaxed::LARGEST;

/// What the prices of all that a tree must do add up to.
pub(super) const GOAL: f32 = (1 << 17) as f32;

/// The constraints that have a price: members first, then sets, which are nested or apart.
pub(super) struct Constraints {
    len: usize,
    root: Option<usize>,
    sets: Vec<Vec<bool>>,
    /// The sets that each member is in, smallest first.
    chains: Vec<Vec<usize>>,
}

/// Prices as whole numbers.
pub(super) struct Prices {
    /// Of the message from parent to child: `messages[parent * len + child]`.
    pub(super) messages: Vec<f32>,
    /// What a member earns by being the root: nothing if the root is fixed.
    pub(super) roots: Vec<f32>,
    /// What a tree earns at least.
    pub(super) goal: f32,
}

impl Constraints {
    pub(super) fn new(costs: &Costs, root: Option<usize>) -> Self {
        let len = costs.len();
        let sets = linkage(costs);
        let chains = (0..len).map(|v| (0..sets.len()).filter(|&set| sets[set][v]).collect()).collect();
        Self { len, root, sets, chains }
    }

    /// The sets that a message enters.
    fn entered(&self, parent: Option<usize>, child: usize) -> impl Iterator<Item = usize> {
        let is_outside = move |set: &&usize| parent.is_none_or(|parent| !self.sets[**set][parent]);
        self.chains[child].iter().take_while(is_outside).copied()
    }

    /// What a tree must do: 1 for each constraint but those that the fixed root fulfils.
    fn duty(&self) -> Vec<f64> {
        let mut duty = vec![1.0; self.len + self.sets.len()];
        if let Some(root) = self.root {
            duty[root] = 0.0;
            self.chains[root].iter().for_each(|&set| duty[self.len + set] = 0.0);
        }
        duty
    }

    /// What is missing from the duty if no message is sent, as negative numbers.
    pub(super) fn failed(&self) -> Vec<f64> {
        self.duty().into_iter().map(|duty| -duty).collect()
    }

    /// Counts in what a message does; one without a parent makes its child the root.
    pub(super) fn count(&self, parent: Option<usize>, child: usize, done: &mut [f64]) {
        done[child] += 1.0;
        self.entered(parent, child).for_each(|set| done[self.len + set] += 1.0);
    }

    /// Rounded prices in these proportions; `None` if a tree would earn nothing.
    pub(super) fn prices(&self, proportions: &[f64]) -> Option<Prices> {
        let duty = self.duty();
        let sum = |prices: &[f64]| prices.iter().zip(&duty).map(|(price, duty)| price * duty).sum::<f64>();
        let scale = Some(f64::from(GOAL) / sum(proportions)).filter(|scale| scale.is_finite() && *scale > 0.0)?;
        let limit = f64::from(LARGEST);
        let whole: Vec<f64> = proportions.iter().map(|price| (price * scale).round().clamp(-limit, limit)).collect();
        let earned = |parent: Option<usize>, child: usize| {
            let entered = self.entered(parent, child).map(|set| whole[self.len + set]);
            // A floor only lets the relaxed broadcast earn more.
            (whole[child] + entered.sum::<f64>()).max(-limit / 4.0) as f32
        };
        let message = |at: usize| earned(Some(at / self.len), at % self.len);
        let root = |v: usize| if self.root.is_some() { 0.0 } else { earned(None, v) };
        Some(Prices {
            messages: (0..self.len * self.len).map(message).collect(),
            roots: (0..self.len).map(root).collect(),
            goal: sum(&whole) as f32,
        })
    }
}

/// The clusters that arise when the nearest two are joined, again and again, but for the one of all; smallest first
/// among those that hold a member.
fn linkage(costs: &Costs) -> Vec<Vec<bool>> {
    let len = costs.len();
    let both_ways = |(a, b): (usize, usize)| costs.edge(a, b) + costs.edge(b, a);
    let mut pairs: Vec<(usize, usize)> = (0..len).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    pairs.sort_by(|&a, &b| both_ways(a).total_cmp(&both_ways(b)));
    let mut cluster: Vec<usize> = (0..len).collect();
    let mut sets = Vec::new();
    for (a, b) in pairs {
        let (kept, joined) = (cluster[a], cluster[b]);
        if kept != joined && sets.len() + 2 < len {
            cluster.iter_mut().filter(|of| **of == joined).for_each(|of| *of = kept);
            sets.push(cluster.iter().map(|&of| of == kept).collect());
        }
    }
    sets
}
