//! The learn tree, as the nodes of a group use it.

use corecast_plan::Tree;

use super::plan::PlacementPlan;
use crate::MAX_SLOTS;

/// A tree over the slots of a group: whom a node watches for decisions, and whom it wakes.
///
/// Edges have no direction of their own: whichever slot accepts is the root, so a role change turns the tree around, and no node
/// has more neighbours than before. Slots that are not in the tree learn from the acceptor directly. Two nodes that go by
/// different trees lose time and nothing else, as what is decided stands in the acceptor's log alone.
///
/// ```
/// use corecast_replica::placement::LearnTree;
/// // 0 tells 1 and 2, 2 tells 3.
/// let tree = LearnTree::of_parents(&[None, Some(0), Some(0), Some(2)])?;
/// assert_eq!(tree.parent(3, 0), Some(2));
/// assert_eq!(tree.parent(0, 3), Some(2), "with 3 as the acceptor the way is walked back");
/// assert_eq!(tree.children(2, 0).collect::<Vec<_>>(), [3]);
/// # Ok::<(), corecast_replica::placement::NoTree>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnTree {
    /// By slot: its place in the tree as it was planned.
    places: Vec<Place>,
    /// By slot: the neighbours.
    neighbours: Vec<Vec<u16>>,
}

/// The place of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It is not in the tree.
    Outside,
    Root,
    Below(u16),
}

/// The reason why slots with these parents are no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoTree {
    /// There is no slot, or more than a group can have.
    #[error("a learn tree of {0} slots, expected 1 to 1023")]
    Size(usize),
    /// The parent is not one of the slots.
    #[error("the parent of slot {slot} is {parent}, which is not one of the slots")]
    UnknownParent {
        /// The slot.
        slot: usize,
        /// Its parent.
        parent: usize,
    },
    /// Not exactly one slot has no parent.
    #[error("{0} slots have no parent, expected one")]
    Roots(usize),
    /// The slot is its own ancestor.
    #[error("slot {0} is its own ancestor")]
    Circle(usize),
}

impl LearnTree {
    /// The tree of a plan whose member of rank r is in slot r of the group: nodes take slots in the order in which they join.
    ///
    /// # Errors
    /// [`NoTree::Size`] if a group cannot have as many members.
    pub fn of_plan(plan: &PlacementPlan) -> Result<Self, NoTree> {
        if plan.tree.len() > MAX_SLOTS {
            return Err(NoTree::Size(plan.tree.len()));
        }
        Ok(Self::of_ranks(&plan.tree, &Vec::from_iter(0..plan.tree.len() as u16)))
    }

    /// The tree whose member of rank r is in slot `slots[r]`; these differ.
    pub(crate) fn of_ranks(tree: &Tree, slots: &[u16]) -> Self {
        let len = slots.iter().map(|&slot| usize::from(slot) + 1).max().unwrap_or(0);
        let mut made = Self { places: vec![Place::Outside; len], neighbours: vec![Vec::new(); len] };
        for (rank, &slot) in slots.iter().enumerate() {
            made.place(slot, tree.parent(rank).map(|parent| slots[parent]));
        }
        made
    }

    fn place(&mut self, slot: u16, parent: Option<u16>) {
        self.places[usize::from(slot)] = parent.map_or(Place::Root, Place::Below);
        if let Some(parent) = parent {
            self.neighbours[usize::from(slot)].push(parent);
            self.neighbours[usize::from(parent)].push(slot);
        }
    }

    /// The tree in which each slot has this parent, and one slot none.
    ///
    /// # Errors
    /// [`NoTree`].
    pub fn of_parents(parents: &[Option<usize>]) -> Result<Self, NoTree> {
        let slots = parents.len();
        if !(1..=MAX_SLOTS).contains(&slots) {
            return Err(NoTree::Size(slots));
        }
        let unknown = |(slot, parent): &(usize, usize)| *parent >= slots || parent == slot;
        let edges = parents.iter().enumerate().filter_map(|(slot, parent)| Some((slot, (*parent)?)));
        if let Some((slot, parent)) = edges.clone().find(unknown) {
            let is_own = slot == parent;
            return Err(if is_own { NoTree::Circle(slot) } else { NoTree::UnknownParent { slot, parent } });
        }
        let roots = parents.iter().filter(|parent| parent.is_none()).count();
        if roots != 1 {
            return Err(NoTree::Roots(roots));
        }
        let ancestors = |slot: usize| std::iter::successors(parents[slot], |&ancestor| parents[ancestor]);
        // No way to the root has as many steps as the tree has slots: a longer one is a circle.
        if let Some(slot) = (0..slots).find(|&slot| ancestors(slot).take(slots).count() == slots) {
            return Err(NoTree::Circle(slot));
        }
        let mut tree = Self { places: vec![Place::Outside; slots], neighbours: vec![Vec::new(); slots] };
        for (slot, parent) in parents.iter().enumerate() {
            tree.place(slot as u16, parent.map(|parent| parent as u16));
        }
        Ok(tree)
    }

    /// The slot that `slot` watches while `acceptor` accepts; `None` for the acceptor, and for slots that learn from it directly
    /// because one of the two is not in the tree.
    #[must_use]
    pub fn parent(&self, slot: u16, acceptor: u16) -> Option<u16> {
        if slot == acceptor || !self.has(slot) || !self.has(acceptor) {
            return None;
        }
        // The neighbour on the way to the acceptor: below this slot if the acceptor is there, else above.
        let mut at = acceptor;
        loop {
            match self.places[usize::from(at)] {
                Place::Below(above) if above == slot => return Some(at),
                Place::Below(above) => at = above,
                Place::Root | Place::Outside => break,
            }
        }
        match self.places[usize::from(slot)] {
            Place::Below(above) => Some(above),
            Place::Root | Place::Outside => None,
        }
    }

    /// The slots that watch `slot` while `acceptor` accepts.
    pub fn children(&self, slot: u16, acceptor: u16) -> impl Iterator<Item = u16> + '_ {
        let parent = self.parent(slot, acceptor);
        let neighbours = if self.has(acceptor) { self.neighbours.get(usize::from(slot)) } else { None };
        neighbours.into_iter().flatten().copied().filter(move |&other| Some(other) != parent)
    }

    /// True if the slot is in the tree.
    #[must_use]
    pub fn has(&self, slot: u16) -> bool {
        self.places.get(usize::from(slot)).is_some_and(|&place| place != Place::Outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A random tree: each slot hangs below an earlier one.
    fn random(slots: usize, rng: &mut fastrand::Rng) -> LearnTree {
        let parents: Vec<_> = (0..slots).map(|slot| (slot > 0).then(|| rng.usize(..slot.max(1)))).collect();
        LearnTree::of_parents(&parents).expect("a tree")
    }

    #[test]
    fn every_acceptor_reaches_all_others_over_edges_that_both_ends_know() {
        let mut rng = fastrand::Rng::with_seed(18);
        for slots in [1, 2, 3, 7, 28] {
            let tree = random(slots, &mut rng);
            for acceptor in 0..slots as u16 {
                for slot in 0..slots as u16 {
                    let steps = std::iter::successors(Some(slot), |&at| tree.parent(at, acceptor));
                    assert_eq!(steps.take(slots).last(), Some(acceptor), "seed 18: {tree:?}");
                    for child in tree.children(slot, acceptor) {
                        assert_eq!(tree.parent(child, acceptor), Some(slot));
                    }
                }
                let told: usize = (0..slots as u16).map(|slot| tree.children(slot, acceptor).count()).sum();
                assert_eq!(told, slots - 1, "each but the acceptor has one parent");
            }
        }
    }

    #[test]
    fn slots_outside_learn_directly() {
        let tree = LearnTree::of_parents(&[None, Some(0), Some(1)]).expect("a chain");
        assert_eq!((tree.parent(3, 0), tree.parent(1, 3), tree.parent(0, 0)), (None, None, None));
        assert_eq!(tree.children(1, 3).count() + tree.children(3, 0).count(), 0);
    }

    #[test]
    fn members_may_have_any_slots() {
        let chain = Tree::new(0, vec![vec![1], vec![2], vec![]]).expect("a chain");
        let tree = LearnTree::of_ranks(&chain, &[4, 1, 2]);
        assert_eq!((tree.parent(2, 4), tree.parent(4, 2), tree.parent(3, 4)), (Some(1), Some(1), None));
        assert!(!tree.has(0) && !tree.has(3) && tree.has(4));
    }

    #[test]
    fn what_is_no_tree_is_refused_by_name() {
        for (parents, expected) in [
            (vec![], "a learn tree of 0 slots"),
            (vec![None, Some(2)], "the parent of slot 1 is 2"),
            (vec![None, None], "2 slots have no parent"),
            (vec![Some(1), Some(0)], "0 slots have no parent"),
            (vec![None, Some(2), Some(1)], "slot 1 is its own ancestor"),
            (vec![None, Some(1)], "slot 1 is its own ancestor"),
        ] {
            let error = LearnTree::of_parents(&parents).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = LearnTree::of_parents(&vec![None; MAX_SLOTS + 1]).expect_err("too many");
        assert_eq!(error, NoTree::Size(MAX_SLOTS + 1));
    }
}
