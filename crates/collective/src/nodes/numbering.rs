//! The numbers of members over all nodes: node by node, the ranks of a node side by side.

use super::Facts;
use super::engine::Survival;

/// The members of all nodes. The same at all of them but for `node`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbering {
    /// This node.
    pub(super) node: usize,
    /// The first rank of each node, and behind the last one the number of all members.
    first: Vec<usize>,
    /// The host of each node.
    pub(super) hosts: Vec<String>,
    /// The engine's name.
    pub(super) engine: String,
    pub(super) survival: Survival,
}

impl Numbering {
    /// Of nodes with these numbers of members.
    pub(super) fn new(facts: &Facts, members: &[usize]) -> Self {
        let mut first = vec![0];
        first.extend(members.iter().scan(0, |sum, members| {
            *sum += members;
            Some(*sum)
        }));
        let Facts { node, hosts, engine, survival, .. } = facts.clone();
        Self { node, first, hosts, engine, survival }
    }

    pub(super) fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// The number of all members.
    pub(super) fn members(&self) -> usize {
        self.first[self.nodes()]
    }

    /// The number of a node's members.
    pub(super) fn members_of(&self, node: usize) -> usize {
        self.first[node + 1] - self.first[node]
    }

    /// The most members of a node.
    pub(super) fn most_members(&self) -> usize {
        (0..self.nodes()).map(|node| self.members_of(node)).max().unwrap_or(0)
    }

    /// The rank of a node's member of this local rank.
    pub(super) fn rank(&self, node: usize, local: usize) -> usize {
        self.first.get(node).map_or(local, |first| first + local)
    }

    /// The rank of this node's member of this local rank.
    pub(super) fn own_rank(&self, local: usize) -> usize {
        self.rank(self.node, local)
    }

    /// The node and the local rank of a member.
    pub(super) fn place(&self, rank: usize) -> (usize, usize) {
        let node = self.first.partition_point(|&first| first <= rank) - 1;
        (node, rank - self.first[node])
    }

    /// The numbers of members of all nodes.
    pub(super) fn counts(&self) -> Vec<u64> {
        (0..self.nodes()).map(|node| self.members_of(node) as u64).collect()
    }

    /// The text that the other members of a node are told beside [`counts`](Self::counts).
    pub(super) fn text(&self) -> String {
        let survival = match self.survival {
            Survival::Nothing => "0",
            Survival::Members => "1",
            Survival::Nodes => "2",
        };
        format!("{}\n{survival}\n{}\n{}", self.node, self.engine.replace('\n', " "), self.hosts.join("\n"))
    }

    /// The numbering that [`counts`](Self::counts) and [`text`](Self::text) are of; `None` if they are of none.
    pub(super) fn told(counts: &[u64], text: &str) -> Option<Self> {
        let mut lines = text.split('\n');
        let node = lines.next()?.parse().ok()?;
        let survival = match lines.next()? {
            "0" => Survival::Nothing,
            "1" => Survival::Members,
            "2" => Survival::Nodes,
            _ => return None,
        };
        let engine = lines.next()?.to_owned();
        let hosts: Vec<String> = lines.map(str::to_owned).collect();
        let is_right = hosts.len() == counts.len() && node < counts.len();
        let members: Vec<usize> = counts.iter().map(|&members| members as usize).collect();
        let facts = Facts { survival, ..Facts::new(node, hosts, engine) };
        is_right.then(|| Self::new(&facts, &members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_node_lie_side_by_side() {
        let facts = Facts::new(1, ["a", "b", "c"].map(str::to_owned).to_vec(), "an engine");
        let numbering = Numbering::new(&facts, &[1, 3, 2]);
        assert_eq!((numbering.nodes(), numbering.members(), numbering.most_members()), (3, 6, 3));
        let places: Vec<_> = (0..6).map(|rank| numbering.place(rank)).collect();
        assert_eq!(places, [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]);
        assert!(places.iter().enumerate().all(|(rank, &(node, local))| numbering.rank(node, local) == rank));
        assert_eq!(Numbering::told(&numbering.counts(), &numbering.text()), Some(numbering.clone()));
        assert_eq!(Numbering::told(&[1, 3], &numbering.text()), None);
        assert_eq!(Numbering::told(&[1], "0\n3\nx\na"), None);
    }
}
