//! Where nodes lie, and which unit of which tier holds them.
//!
//! Nodes are numbered 0, 1, 2, ... in ascending positions (their *rank*). Positions without a node make units uneven. All
//! that is asked here is answered from the runs of the model: nothing has an entry for each node.

use super::model::ClusterModel;

/// Nodes of one kind on consecutive positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    count: u64,
    kind: usize,
    /// The rank of the first node.
    rank: u64,
}

impl Run {
    fn end(&self) -> u64 {
        self.first + self.count
    }
}

/// The nodes of a cluster on their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    runs: Vec<Run>,
    /// The size of a unit of each tier.
    sizes: Vec<u64>,
    len: u64,
}

/// A unit: the positions from `first` on that lie in one unit of tier `level - 1`; at level 0 a single node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Its first position.
    pub(super) first: u64,
    /// How many tiers are inside.
    pub(super) level: usize,
}

/// Equal units beside each other: `first`, and those that follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Units {
    pub(super) first: Unit,
    pub(super) count: u64,
}

impl Layout {
    /// The layout of a checked model.
    pub(super) fn new(model: &ClusterModel) -> Self {
        let (mut runs, mut next, mut rank): (Vec<Run>, u64, u64) = (Vec::new(), 0, 0);
        for run in &model.nodes {
            let first = run.place.unwrap_or(next);
            let kind =
                model.machines.keys().position(|kind| *kind == run.kind).expect("a checked model knows its kinds");
            match runs.last_mut() {
                Some(last) if last.kind == kind && last.end() == first => last.count += run.count,
                _ => runs.push(Run { first, count: run.count, kind, rank }),
            }
            next = first + run.count;
            rank += run.count;
        }
        let mut sizes: Vec<u64> = model.tiers.iter().map(|tier| tier.size.unwrap_or(u64::MAX)).collect();
        if let Some(last) = sizes.last_mut() {
            *last = u64::MAX;
        }
        Self { runs, sizes, len: rank }
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The number of tiers.
    pub(super) fn tiers(&self) -> usize {
        self.sizes.len()
    }

    /// The position of a node.
    pub(super) fn position(&self, rank: u64) -> u64 {
        let run = self.runs[self.runs.partition_point(|run| run.rank <= rank) - 1];
        run.first + (rank - run.rank)
    }

    /// The rank of the node at a position that has one.
    pub(super) fn rank(&self, position: u64) -> u64 {
        let run = self.run_at(position);
        run.rank + (position - run.first)
    }

    /// The kind of the node at a position that has one.
    pub(super) fn kind(&self, position: u64) -> usize {
        self.run_at(position).kind
    }

    /// The kinds of nodes that there are, some more than once.
    pub(super) fn kinds(&self) -> impl Iterator<Item = usize> + '_ {
        self.runs.iter().map(|run| run.kind)
    }

    fn run_at(&self, position: u64) -> Run {
        self.runs[self.runs.partition_point(|run| run.first <= position) - 1]
    }

    /// The smallest tier that has both positions in one unit.
    pub(super) fn tier_between(&self, a: u64, b: u64) -> usize {
        self.sizes.iter().position(|&size| a / size == b / size).expect("the last tier holds all positions")
    }

    /// True if every unit of every tier but the last is full, and has a power of two of nodes.
    pub(super) fn is_full_of_powers_of_two(&self) -> bool {
        let inner = &self.sizes[..self.tiers() - 1];
        let last = self.runs.last().expect("a checked model has a node");
        let has_gap = last.end() != self.len;
        !has_gap && inner.iter().all(|size| size.is_power_of_two() && (self.len % size == 0 || self.len < *size))
    }

    /// The unit of all nodes.
    pub(super) fn whole(&self) -> Unit {
        Unit { first: 0, level: self.tiers() }
    }

    /// The size of a unit of that level, in positions.
    pub(super) fn size(&self, level: usize) -> u64 {
        if level == 0 { 1 } else { self.sizes[level - 1] }
    }

    /// The unit of that level that has the position.
    pub(super) fn unit_at(&self, level: usize, position: u64) -> Unit {
        let size = self.size(level);
        Unit { first: position / size * size, level }
    }

    /// The units of the level below in a unit, those without a node left out; equal ones that follow each other are one entry,
    /// and so that the unit at `alone` is an entry of its own.
    pub(super) fn inside(&self, unit: Unit, alone: Option<u64>) -> Vec<Units> {
        let size = self.size(unit.level - 1);
        let end = unit.first.saturating_add(self.size(unit.level));
        let alone = alone.map(|position| position / size * size);
        let mut found = Vec::new();
        let mut next = self.next_node(unit.first);
        while let Some(position) = next.filter(|&position| position < end) {
            let first = position / size * size;
            let mut count = self.equal_units(first, size, end);
            if let Some(alone) = alone.filter(|&alone| first <= alone) {
                count = if alone == first { 1 } else { count.min((alone - first) / size) };
            }
            found.push(Units { first: Unit { first, level: unit.level - 1 }, count });
            next = self.next_node(first.saturating_add(size.saturating_mul(count)));
        }
        found
    }

    /// How many units from `first` on are full of nodes of one kind; 1 if that one is not.
    fn equal_units(&self, first: u64, size: u64, end: u64) -> u64 {
        let run = self.run_at(self.next_node(first).expect("a unit with a node"));
        if run.first > first { 1 } else { ((run.end().min(end) - first) / size).max(1) }
    }

    /// The first position from that one on that has a node.
    fn next_node(&self, position: u64) -> Option<u64> {
        let run = self.runs.get(self.runs.partition_point(|run| run.end() <= position))?;
        Some(run.first.max(position))
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::NodeRun;
    use super::super::planted::{cluster, runs};
    use super::*;

    fn layout(nodes: &[(&str, u64, Option<u64>)]) -> Layout {
        Layout::new(&ClusterModel { nodes: runs(nodes), ..cluster(1, &[4, 16]) })
    }

    #[test]
    fn ranks_follow_positions_over_gaps() {
        let layout = layout(&[("a", 5, None), ("b", 2, Some(9))]);
        assert_eq!((layout.len(), layout.position(4), layout.position(5)), (7, 4, 9));
        assert_eq!((layout.rank(10), layout.kind(10), layout.kind(0)), (6, 1, 0));
        assert_eq!([layout.tier_between(0, 3), layout.tier_between(3, 4), layout.tier_between(0, 16)], [0, 1, 2]);
    }

    #[test]
    fn units_that_are_full_of_one_kind_are_one_entry() {
        let layout = layout(&[("a", 10, None), ("b", 2, None), ("a", 8, Some(24))]);
        let of = |units: &Units| (units.first.first, units.count);
        let whole = layout.inside(layout.whole(), None);
        assert_eq!(whole.iter().map(of).collect::<Vec<_>>(), [(0, 1), (16, 1)], "neither group is full of one kind");
        let first = layout.inside(layout.unit_at(2, 3), None);
        assert_eq!(first.iter().map(of).collect::<Vec<_>>(), [(0, 2), (8, 1)]);
        let apart = layout.inside(layout.unit_at(2, 3), Some(5));
        assert_eq!(apart.iter().map(of).collect::<Vec<_>>(), [(0, 1), (4, 1), (8, 1)]);
        let second = layout.inside(layout.unit_at(2, 25), None);
        assert_eq!(second.iter().map(of).collect::<Vec<_>>(), [(24, 2)]);
        assert!(runs(&[]).is_empty() && NodeRun { count: 1, ..runs(&[("a", 2, None)])[0].clone() }.count == 1);
    }
}
