//! The earnings of a message: a price for every member that is informed, and one for every cluster that is entered.
//!
//! In a tree every member but the root is informed exactly once, and every set of members without the root is entered
//! at least once from outside. So whatever the prices, but for those of sets, which are not negative, a tree earns at
//! least their sum. Sets are the clusters of single linkage, all n - 2 of them: no level has to be chosen.

use super::super::costs::Costs;

/// The sum of the prices of all that a tree must do, unless a message earned too much then.
pub(super) const GOAL: f64 = (1 << 13) as f64;
/// The most that a message earns, and the most expensive one loses.
const LIMIT: f64 = (1 << 13) as f64;

/// The constraints that have a price: members first, then sets, which are nested or apart.
pub(super) struct Constraints {
    len: usize,
    sets: Vec<Vec<bool>>,
    /// The sets that each member is in, smallest first.
    chains: Vec<Vec<usize>>,
}

/// Prices as whole numbers.
pub(super) struct Prices {
    /// Of the message from parent to child: `messages[parent * len + child]`.
    pub(super) messages: Vec<i16>,
    /// The least earnings of a tree from each root.
    pub(super) goals: Vec<i16>,
}

impl Constraints {
    pub(super) fn new(costs: &Costs) -> Self {
        let len = costs.len();
        let sets = linkage(costs);
        let chains = (0..len).map(|v| (0..sets.len()).filter(|&set| sets[set][v]).collect()).collect();
        Self { len, sets, chains }
    }

    /// The number of constraints that are for one member.
    pub(super) fn members(&self) -> usize {
        self.len
    }

    /// The sets that a message enters.
    fn entered(&self, parent: usize, child: usize) -> impl Iterator<Item = usize> {
        self.chains[child].iter().take_while(move |&&set| !self.sets[set][parent]).copied()
    }

    /// The duty of a tree from this root: 1 for each constraint that being the root does not fulfil.
    fn duty(&self, root: usize) -> Vec<f64> {
        let mut duty = vec![1.0; self.len + self.sets.len()];
        duty[root] = 0.0;
        self.chains[root].iter().for_each(|&set| duty[self.len + set] = 0.0);
        duty
    }

    /// The part of the duty that is missing if no message is sent, as negative numbers.
    pub(super) fn failed(&self, root: usize) -> Vec<f64> {
        self.duty(root).into_iter().map(|duty| -duty).collect()
    }

    /// Counts the effects of a message.
    pub(super) fn count(&self, parent: usize, child: usize, done: &mut [f64]) {
        done[child] += 1.0;
        self.entered(parent, child).for_each(|set| done[self.len + set] += 1.0);
    }

    /// Rounded prices in these proportions; `None` if a tree from this root would earn nothing.
    pub(super) fn prices(&self, proportions: &[f64], root: usize) -> Option<Prices> {
        let scale = GOAL / self.earned_by_trees(proportions, root);
        let most = self.earned_by_messages(proportions).fold(0.0, f64::max);
        let scale = Some(scale.min(LIMIT / most)).filter(|scale| scale.is_finite() && *scale > 0.0)?;
        let whole: Vec<f64> = proportions.iter().map(|price| (price * scale).round()).collect();
        // A floor only lets the relaxed broadcast earn more.
        let messages: Vec<f64> = self.earned_by_messages(&whole).map(|price| price.max(-LIMIT)).collect();
        let goals = (0..self.len).map(|root| self.earned_by_trees(&whole, root));
        let is_small = messages.iter().all(|price| *price <= 2.0 * LIMIT);
        is_small.then(|| Prices {
            messages: messages.into_iter().map(|price| price as i16).collect(),
            goals: goals.map(|goal| goal as i16).collect(),
        })
    }

    /// The least earnings of a tree from this root.
    fn earned_by_trees(&self, prices: &[f64], root: usize) -> f64 {
        prices.iter().zip(self.duty(root)).map(|(price, duty)| price * duty).sum()
    }

    /// The earnings of each message: from parent to child at `parent * len + child`.
    fn earned_by_messages<'p>(&'p self, prices: &'p [f64]) -> impl Iterator<Item = f64> + 'p {
        (0..self.len * self.len).map(move |at| {
            let (parent, child) = (at / self.len, at % self.len);
            prices[child] + self.entered(parent, child).map(|set| prices[self.len + set]).sum::<f64>()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn two_clusters() -> Costs {
        Costs::of_fn(4, |p, c| if p / 2 == c / 2 { 1.0 } else { 5.0 }, |_, _| 1.0)
    }

    /// The earnings of a tree with these edges.
    fn earned(prices: &Prices, edges: &[(usize, usize)]) -> i16 {
        edges.iter().map(|(parent, child)| prices.messages[parent * 4 + child]).sum()
    }

    #[test]
    fn a_tree_earns_the_goal_and_more_if_it_enters_a_cluster_twice() {
        let constraints = Constraints::new(&two_clusters());
        assert_eq!(constraints.sets.len(), 2, "two pairs; all four are no set");
        let prices = constraints.prices(&[0.1, 0.3, 0.2, 0.4, 0.5, 0.7], 0).expect("something to earn");
        assert_eq!(earned(&prices, &[(0, 1), (0, 2), (2, 3)]), prices.goals[0]);
        assert_eq!(earned(&prices, &[(3, 2), (3, 0), (0, 1)]), prices.goals[3]);
        assert!(earned(&prices, &[(0, 1), (0, 2), (0, 3)]) > prices.goals[0]);
    }

    #[test]
    fn a_tree_does_its_duty() {
        let constraints = Constraints::new(&two_clusters());
        let mut done = constraints.failed(3);
        [(3, 0), (0, 1), (3, 2)].iter().for_each(|&(p, c)| constraints.count(p, c, &mut done));
        assert_eq!(done, [0.0; 6]);
    }

    #[test]
    fn no_prices_without_anything_to_earn() {
        let constraints = Constraints::new(&two_clusters());
        assert!(constraints.prices(&[0.0; 6], 0).is_none());
        assert!(constraints.prices(&[-1.0; 6], 0).is_none());
        assert!(constraints.prices(&[f64::NAN; 6], 0).is_none());
    }
}
