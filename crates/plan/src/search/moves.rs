//! The moves of a walk over trees, and their choice.
//!
//! A subtree gets another parent, half of the time one of those that reach it cheapest; two members or two subtrees
//! change places; a member is taken out and put back as a leaf, or put between a parent and its child; a member and its
//! parent change roles. Three quarters of
//! the members to move are picked from those whose messages decide the makespan: moving others cannot lower it.

use fastrand::Rng;

use super::moving_tree::MovingTree;
use super::ticks::Ticks;
use crate::limits::Limits;

/// The number of cheapest senders of each member that are preferred as its new parent.
const NEAR: usize = 8;
/// Of this many members to move, three are critical ones; of this many new parents, three are near ones.
const FOUR: u32 = 4;

/// For each member those that reach it the cheapest, cheapest first.
#[derive(Debug)]
pub(super) struct Nearest {
    each: usize,
    senders: Vec<u32>,
}

impl Nearest {
    pub(super) fn of(ticks: &Ticks) -> Self {
        let len = ticks.len();
        let each = NEAR.min(len - 1);
        let mut senders = Vec::with_capacity(each * len);
        for child in 0..len {
            let key = |&parent: &u32| {
                let [send, receive] = ticks.row(parent as usize)[child];
                (u64::from(send) + u64::from(receive), parent)
            };
            let mut others: Vec<u32> = (0..len as u32).filter(|&parent| parent as usize != child).collect();
            if each > 0 && each < others.len() {
                others.select_nth_unstable_by_key(each - 1, key);
            }
            others.truncate(each);
            others.sort_unstable_by_key(key);
            senders.extend(others);
        }
        Self { each, senders }
    }

    fn of_member(&self, member: u32) -> &[u32] {
        &self.senders[member as usize * self.each..(member as usize + 1) * self.each]
    }
}

/// Picks and tries moves of one tree.
pub(super) struct Moves<'a> {
    nearest: &'a Nearest,
    is_root_fixed: bool,
    limits: Limits,
    rng: &'a mut Rng,
    /// Facts about the current tree: the members that decide its makespan.
    critical: Vec<u32>,
    is_tree_known: bool,
    /// The highest cost that the tree may have after the move.
    most: u64,
}

impl<'a> Moves<'a> {
    pub(super) fn new(nearest: &'a Nearest, is_root_fixed: bool, limits: Limits, rng: &'a mut Rng) -> Self {
        Self { nearest, is_root_fixed, limits, rng, critical: Vec::new(), is_tree_known: false, most: 0 }
    }

    /// Makes a random move after which the tree costs at most `most`; false, and the tree as it was, if the one drawn
    /// is none. The tree has at least three members.
    pub(super) fn make_one(&mut self, tree: &mut MovingTree<'_>, most: u64) -> bool {
        if !self.is_tree_known {
            tree.critical(&mut self.critical);
            tree.clock();
            self.is_tree_known = true;
        }
        self.most = most;
        let is_made = match self.rng.u32(0..23) {
            0..8 => self.relocate(tree),
            8..14 => self.swap_members(tree),
            14..16 => self.swap_subtrees(tree),
            16..18 => self.splice(tree),
            18..21 => self.insert(tree),
            _ => self.rotate(tree),
        };
        if is_made && tree.cost() <= most {
            tree.commit();
            self.is_tree_known = false;
            return true;
        }
        if is_made {
            tree.undo();
        }
        false
    }

    /// A member other than the root, three times out of four a critical one.
    fn pick(&mut self, tree: &MovingTree<'_>) -> u32 {
        if self.rng.u32(0..FOUR) > 0 {
            return self.critical[self.rng.usize(0..self.critical.len())];
        }
        self.other(tree, tree.root())
    }

    fn other(&mut self, tree: &MovingTree<'_>, member: u32) -> u32 {
        let drawn = self.rng.u32(0..tree.len() as u32 - 1);
        if drawn >= member { drawn + 1 } else { drawn }
    }

    /// A new parent for a member.
    fn parent_for(&mut self, tree: &MovingTree<'_>, member: u32) -> u32 {
        if self.rng.u32(0..FOUR) > 0 {
            let near = self.nearest.of_member(member);
            return near[self.rng.usize(0..near.len())];
        }
        self.other(tree, member)
    }

    fn relocate(&mut self, tree: &mut MovingTree<'_>) -> bool {
        let member = self.pick(tree);
        let parent = self.parent_for(tree, member);
        let may_move = parent != tree.parent(member)
            && !tree.is_below(parent, member)
            && self.has_room(tree, parent)
            && self.is_shallow(|| tree.depth(parent) + 1 + tree.height(member))
            && tree.may_relocate(member, parent, self.most);
        if may_move {
            tree.relocate(member, parent);
        }
        may_move
    }

    fn swap_members(&mut self, tree: &mut MovingTree<'_>) -> bool {
        let a = self.pick(tree);
        let b = self.other(tree, a);
        if b == tree.root() {
            if self.is_root_fixed {
                return false;
            }
        } else if !tree.is_below(a, b) && !tree.is_below(b, a) && !tree.may_swap_members(a, b, self.most) {
            return false;
        }
        tree.swap_members(a, b);
        true
    }

    fn swap_subtrees(&mut self, tree: &mut MovingTree<'_>) -> bool {
        let a = self.pick(tree);
        let b = self.other(tree, tree.root());
        let may_swap = tree.parent(a) != tree.parent(b)
            && !tree.is_below(a, b)
            && !tree.is_below(b, a)
            && self.is_shallow(|| tree.depth(a) + tree.height(b))
            && self.is_shallow(|| tree.depth(b) + tree.height(a))
            && tree.may_swap_subtrees(a, b, self.most);
        if may_swap {
            tree.swap_subtrees(a, b);
        }
        may_swap
    }

    fn splice(&mut self, tree: &mut MovingTree<'_>) -> bool {
        let member = self.pick(tree);
        let parent = self.parent_for(tree, member);
        let former = tree.parent(member);
        if tree.children(member).is_empty() || !self.has_room(tree, parent) {
            return false;
        }
        let adopted = tree.children(former).len() - 1 + tree.children(member).len() + usize::from(parent == former);
        if self.limits.children.is_some_and(|most| adopted > most) || !self.is_shallow(|| tree.depth(parent) + 1) {
            return false;
        }
        tree.splice(member, parent);
        true
    }

    /// Puts a member between a parent and one of its children: what undoes a splice.
    fn insert(&mut self, tree: &mut MovingTree<'_>) -> bool {
        let member = self.pick(tree);
        let parent = self.parent_for(tree, member);
        let count = tree.children(parent).len();
        if count == 0 || tree.is_below(parent, member) {
            return false;
        }
        let child = tree.children(parent)[self.rng.usize(0..count)];
        let may_insert = child != member
            && !tree.is_below(member, child)
            && self.has_room(tree, member)
            && self.is_shallow(|| tree.depth(parent) + 1 + tree.height(member).max(1 + tree.height(child)));
        if !may_insert {
            return false;
        }
        // The parent loses a child before it gets one, or has both already: it needs no room.
        if tree.parent(member) != parent {
            tree.relocate(member, parent);
        }
        tree.relocate(child, member);
        true
    }

    /// Lets a member and its parent change roles: the member takes the parent's place and becomes its parent.
    fn rotate(&mut self, tree: &mut MovingTree<'_>) -> bool {
        let member = self.pick(tree);
        let parent = tree.parent(member);
        if !self.has_room(tree, member) || !self.is_shallow(|| tree.depth(parent) + 1 + tree.height(parent)) {
            return false;
        }
        if parent != tree.root() {
            let above = tree.parent(parent);
            tree.relocate(member, above);
            tree.relocate(parent, member);
        } else if self.is_root_fixed {
            return false;
        } else {
            tree.reroot(member);
        }
        true
    }

    fn has_room(&self, tree: &MovingTree<'_>, parent: u32) -> bool {
        self.limits.children.is_none_or(|most| tree.children(parent).len() < most)
    }

    fn is_shallow(&self, depth: impl Fn() -> usize) -> bool {
        self.limits.depth.is_none_or(|most| depth() <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::costs::Costs;
    use crate::search::order::ordered;

    const LEN: usize = 11;

    fn ticks(rng: &mut Rng) -> (Costs, Ticks) {
        let cost: Vec<f64> = (0..2 * LEN * LEN).map(|_| f64::from(rng.u32(1..100))).collect();
        let costs = Costs::of_fn(LEN, |i, j| cost[i * LEN + j], |i, j| cost[LEN * LEN + i * LEN + j]);
        // A scale of 1, so that costs in ticks are those of the problem.
        let ticks = Ticks::of(&costs, (1_u64 << 30) as f64);
        (costs, ticks)
    }

    fn evaluated(costs: &Costs, parents: &[u32]) -> f64 {
        let mut children = vec![Vec::new(); LEN];
        let mut root = None;
        for (member, &parent) in parents.iter().enumerate() {
            if parent as usize == member {
                assert_eq!(root.replace(member), None, "one root");
            } else {
                children[parent as usize].push(member);
            }
        }
        ordered(costs, root.expect("a root"), children).cost
    }

    /// Makes thousands of random moves and compares with a fresh evaluation after each.
    fn wander(limits: Limits, is_root_fixed: bool) -> Vec<u32> {
        let mut rng = Rng::with_seed(5);
        let (costs, ticks) = ticks(&mut rng);
        let nearest = Nearest::of(&ticks);
        let mut tree = MovingTree::new(&ticks);
        let chain: Vec<u32> = (0..LEN as u32).map(|member| member / 2).collect();
        tree.set(&chain);
        let mut chance = rng.fork();
        let mut moves = Moves::new(&nearest, is_root_fixed, limits, &mut rng);
        let mut made = 0;
        for _ in 0..20_000 {
            let before = (tree.parents(), tree.cost());
            let most = tree.cost() + chance.u64(0..60);
            if moves.make_one(&mut tree, most) {
                made += 1;
                assert!(tree.cost() <= most);
                assert_eq!(tree.cost() as f64, evaluated(&costs, &tree.parents()));
            } else {
                assert_eq!((tree.parents(), tree.cost()), before, "a refused move leaves nothing behind");
            }
            assert!(!is_root_fixed || tree.root() == 0);
        }
        assert!(made > 1000, "{made} moves");
        tree.parents()
    }

    #[test]
    fn every_move_costs_what_a_fresh_evaluation_says() {
        wander(Limits::default(), false);
        wander(Limits::default(), true);
    }

    #[test]
    fn no_move_leaves_the_limits() {
        let parents = wander(Limits { children: Some(2), depth: Some(5) }, false);
        let is_child = |(child, &of): (usize, &u32), parent: u32| of == parent && child as u32 != of;
        let children = |parent: u32| parents.iter().enumerate().filter(|&entry| is_child(entry, parent)).count();
        assert!((0..LEN as u32).all(|parent| children(parent) <= 2));
        let depth = |member: usize| {
            std::iter::successors(Some(member), |&at| Some(parents[at] as usize).filter(|&up| up != at)).count() - 1
        };
        assert!((0..LEN).all(|member| depth(member) <= 5));
    }
}
