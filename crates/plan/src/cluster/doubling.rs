//! Recursive doubling among nodes: in round k each node exchanges with the one whose number differs in bit k.
//!
//! A number of nodes that is no power of two folds first: of the first nodes, each odd one hands its value to the even one
//! before it, and gets the result at the end.

use super::layout::Layout;

/// One allreduce of all nodes by recursive doubling.
#[derive(Clone, Debug)]
pub(super) struct Doubling<'a> {
    pub(super) layout: &'a Layout,
    /// By tier: an exchange.
    pub(super) exchange_ps: Vec<u64>,
    /// By tier: the message with the value of a node that folds.
    pub(super) fold_ps: Vec<u64>,
    /// By tier: the message that brings the result to a node that folded.
    pub(super) return_ps: Vec<u64>,
    /// By kind: when a node has its value.
    pub(super) ready_ps: &'a [u64],
    /// By kind: the work that a node has left with the result.
    pub(super) tails_ps: &'a [u64],
}

/// The most nodes that are simulated one by one where counts give no exact time.
pub(super) const MOST_SIMULATED: u64 = 1 << 17;

impl Doubling<'_> {
    /// Nodes that take part in the rounds: the largest power of two that there are.
    fn participants(&self) -> u64 {
        1 << self.layout.len().ilog2()
    }

    /// The number of rounds, without those in which nodes fold.
    pub(super) fn rounds(&self) -> u32 {
        self.layout.len().ilog2()
    }

    /// True if some nodes fold.
    pub(super) fn folds(&self) -> bool {
        self.layout.len() > self.participants()
    }

    /// The rank of a participant, and that of the node that folds into it.
    fn ranks(&self, participant: u64) -> (u64, Option<u64>) {
        let folding = self.layout.len() - self.participants();
        if participant < folding { (2 * participant, Some(2 * participant + 1)) } else { (participant + folding, None) }
    }

    /// The time until all nodes are done, node by node.
    pub(super) fn node_by_node_ps(&self) -> u64 {
        let ranks: Vec<(u64, Option<u64>)> = (0..self.participants()).map(|id| self.ranks(id)).collect();
        let positions = |&(own, other): &(u64, Option<u64>)| {
            (self.layout.position(own), other.map(|other| self.layout.position(other)))
        };
        let positions: Vec<(u64, Option<u64>)> = ranks.iter().map(positions).collect();
        let mut times: Vec<u64> = positions.iter().map(|&(own, other)| self.folded_ps(own, other)).collect();
        for round in 0..self.rounds() {
            let before = times.clone();
            for (id, time) in times.iter_mut().enumerate() {
                let partner = id ^ (1 << round);
                let tier = self.layout.tier_between(positions[id].0, positions[partner].0);
                *time = before[id].max(before[partner]) + self.exchange_ps[tier];
            }
        }
        let done = times.iter().zip(&positions).map(|(&time, &(own, other))| {
            let own_ps = time + self.tails_ps[self.layout.kind(own)];
            let other_ps = other.map_or(0, |other| {
                let tier = self.layout.tier_between(own, other);
                time + self.return_ps[tier] + self.tails_ps[self.layout.kind(other)]
            });
            own_ps.max(other_ps)
        });
        done.max().unwrap_or(0)
    }

    /// When a participant has the value of the node that folds into it as well.
    fn folded_ps(&self, own: u64, other: Option<u64>) -> u64 {
        let ready = |position| self.ready_ps[self.layout.kind(position)];
        let Some(other) = other else { return ready(own) };
        ready(own).max(ready(other)) + self.fold_ps[self.layout.tier_between(own, other)]
    }

    /// The time from counts alone: exact if `is_even`, else no less than what a simulation says.
    pub(super) fn counted_ps(&self) -> u64 {
        let last = self.layout.tier_between(self.layout.position(0), self.layout.position(self.layout.len() - 1));
        let is_even = self.is_even();
        let of_round = |round: u32| if is_even { self.layout.tier_between(0, 1 << round) } else { last };
        let most = |costs: &[u64]| costs[..=last].iter().copied().max().unwrap_or(0);
        let rounds: u64 = (0..self.rounds()).map(|round| self.exchange_ps[of_round(round)]).sum();
        let fold = if self.folds() { most(&self.fold_ps) + most(&self.return_ps) } else { 0 };
        let worst = |times: &[u64]| self.layout.kinds().map(|kind| times[kind]).max().unwrap_or(0);
        worst(self.ready_ps) + fold + rounds + worst(self.tails_ps)
    }

    /// True if counts say exactly what a simulation does: all units are full, each a power of two, and no node folds.
    pub(super) fn is_even(&self) -> bool {
        !self.folds() && self.layout.is_full_of_powers_of_two()
    }

    /// The outermost tier between the two nodes of a pair, for each round: the same for all pairs if the units are even.
    pub(super) fn outermost_tiers(&self) -> Vec<usize> {
        let last = self.layout.tier_between(self.layout.position(0), self.layout.position(self.layout.len() - 1));
        if self.is_even() {
            return (0..self.rounds()).map(|round| self.layout.tier_between(0, 1 << round)).collect();
        }
        if self.layout.len() > MOST_SIMULATED {
            return vec![last; self.rounds() as usize];
        }
        let positions: Vec<u64> = (0..self.participants()).map(|id| self.layout.position(self.ranks(id).0)).collect();
        let of_round = |round: u32| {
            let pairs = (0..positions.len()).map(|id| (positions[id], positions[id ^ (1 << round)]));
            pairs.map(|(own, other)| self.layout.tier_between(own, other)).max().unwrap_or(0)
        };
        (0..self.rounds()).map(of_round).collect()
    }

    /// The outermost tier that a node folds across.
    pub(super) fn outermost_fold(&self) -> usize {
        if self.layout.len() > MOST_SIMULATED {
            return self.layout.tier_between(self.layout.position(0), self.layout.position(self.layout.len() - 1));
        }
        let folding = (0..self.participants()).map(|id| self.ranks(id));
        let tiers = folding.filter_map(|(own, other)| {
            Some(self.layout.tier_between(self.layout.position(own), self.layout.position(other?)))
        });
        tiers.max().unwrap_or(0)
    }

    /// The time by the better of the two ways, and whether it is exact.
    pub(super) fn duration_ps(&self) -> (u64, bool) {
        if self.is_even() {
            return (self.counted_ps(), true);
        }
        if self.layout.len() <= MOST_SIMULATED { (self.node_by_node_ps(), true) } else { (self.counted_ps(), false) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::ClusterModel;
    use super::super::planted::{cluster, runs};
    use super::*;

    fn check(model: &ClusterModel, ready_ps: &[u64]) {
        let layout = Layout::new(model);
        let doubling = Doubling {
            layout: &layout,
            exchange_ps: vec![1600, 1900, 2500],
            fold_ps: vec![1550, 1850, 2450],
            return_ps: vec![1500, 1800, 2400],
            ready_ps,
            tails_ps: &[300, 900],
        };
        let (simulated, counted) = (doubling.node_by_node_ps(), doubling.counted_ps());
        assert!(simulated == counted || !doubling.is_even(), "{:?}: {simulated} {counted}", model.nodes);
        assert!(simulated <= counted, "{:?}: {simulated} {counted}", model.nodes);
        assert_eq!(doubling.duration_ps().0, if doubling.is_even() { counted } else { simulated });
    }

    #[test]
    fn pairs_cross_units_that_node_0_does_not_cross() {
        let tiers = |model: &ClusterModel| {
            let layout = Layout::new(model);
            let doubling = Doubling {
                layout: &layout,
                exchange_ps: Vec::new(),
                fold_ps: Vec::new(),
                return_ps: Vec::new(),
                ready_ps: &[],
                tails_ps: &[],
            };
            (doubling.outermost_tiers(), doubling.outermost_fold())
        };
        // Node 16 exchanges with node 24, and node 8 with node 24.
        assert_eq!(tiers(&cluster(32, &[24, 96])).0, [0, 0, 0, 1, 1]);
        assert_eq!(tiers(&cluster(32, &[4, 32])).0, [0, 0, 1, 1, 1]);
        // Of 6 nodes in units of 3, node 3 folds into node 2.
        assert_eq!(tiers(&cluster(6, &[3, 96])), (vec![0, 1], 1));
    }

    #[test]
    fn counts_say_what_a_simulation_says_or_no_less() {
        for nodes in [1, 2, 3, 4, 7, 8, 31, 32, 33, 100, 128, 256, 1000, 1024] {
            check(&cluster(nodes, &[4, 32]), &[700, 0]);
            check(&cluster(nodes, &[24, 96]), &[700, 0]);
        }
        let mixed = ClusterModel { nodes: runs(&[("a", 40, None), ("b", 24, None)]), ..cluster(1, &[4, 32]) };
        check(&mixed, &[700, 2000]);
        let gaps = ClusterModel { nodes: runs(&[("a", 40, None), ("b", 24, Some(64))]), ..cluster(1, &[4, 32]) };
        check(&gaps, &[2700, 2000]);
    }
}
