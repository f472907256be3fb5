//! Simulated annealing on the critical path.
//!
//! A move changes one tree a little: a subtree gets another parent (half of the time one of those that reach it
//! cheapest), two members or two subtrees change places, or a member is taken out and put back as a leaf. Three quarters
//! of the members to move are picked from those whose messages decide the makespan, since moving others cannot lower it.
//! A move that makes the tree worse is kept with a probability that falls with the temperature.
//!
//! Work is counted in moves: the same seed gives the same tree on every machine, on one thread or many.
//!
//! Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, 1983.

use fastrand::Rng;

use super::moving_tree::MovingTree;
use super::ticks::Ticks;
use crate::limits::Limits;

/// The first and last temperature, as parts of the makespan. Hotter was worse: it forgets the tree that it started from.
const HOT: f64 = 0.005;
const COLD: f64 = 0.0003;
/// How many of the cheapest senders of each member are preferred as its new parent.
const NEAR: usize = 8;
/// Moves between two questions whether to stop.
const BETWEEN_QUESTIONS: u64 = 1024;

/// The members that each one is reached from the cheapest, cheapest first.
#[derive(Debug)]
pub(crate) struct Nearest {
    each: usize,
    senders: Vec<u32>,
}

impl Nearest {
    pub(crate) fn of(ticks: &Ticks) -> Self {
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

/// A tree by the parents of its members (the root's is itself), and what it costs in ticks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Parents {
    pub(crate) cost: u64,
    pub(crate) parents: Vec<u32>,
}

/// What all runs over one problem share.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) ticks: &'a Ticks,
    pub(crate) nearest: &'a Nearest,
    pub(crate) is_root_fixed: bool,
    pub(crate) limits: Limits,
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
}

/// One walk from a tree, of so many moves; returns the best tree seen.
pub(crate) fn anneal(setting: &Setting<'_>, start: &[u32], moves: u64, seed: u64) -> Parents {
    let mut tree = MovingTree::new(setting.ticks);
    tree.set(start);
    let mut best = Parents { cost: tree.cost(), parents: start.to_vec() };
    if tree.len() < 3 {
        return best;
    }
    let mut rng = Rng::with_seed(seed);
    let mut walk = Walk { setting, critical: Vec::new(), is_critical_known: false };
    let cooling = (COLD / HOT).powf(1.0 / (moves / BETWEEN_QUESTIONS + 1) as f64);
    let mut temperature = HOT * tree.cost() as f64;
    for step in 0..moves {
        if step % BETWEEN_QUESTIONS == 0 && step > 0 {
            temperature *= cooling;
            if (setting.stop)() {
                break;
            }
        }
        let now = tree.cost();
        if !walk.move_something(&mut tree, &mut rng) {
            continue;
        }
        let cost = tree.cost();
        let is_kept = cost <= now || ((cost - now) as f64) < -temperature * rng.f64().ln();
        if !is_kept {
            tree.undo();
            continue;
        }
        tree.commit();
        walk.is_critical_known = false;
        if cost < best.cost {
            best = Parents { cost, parents: tree.parents() };
        }
    }
    best
}

/// Picks moves.
struct Walk<'a> {
    setting: &'a Setting<'a>,
    critical: Vec<u32>,
    is_critical_known: bool,
}

impl Walk<'_> {
    /// Tries a random move; false if the one drawn is none.
    fn move_something(&mut self, tree: &mut MovingTree<'_>, rng: &mut Rng) -> bool {
        match rng.u32(0..16) {
            0..8 => self.relocate(tree, rng),
            8..12 => self.swap_members(tree, rng),
            12..14 => self.swap_subtrees(tree, rng),
            _ => self.splice(tree, rng),
        }
    }

    /// A member other than the root, three times out of four a critical one.
    fn pick(&mut self, tree: &MovingTree<'_>, rng: &mut Rng) -> u32 {
        if rng.u32(0..4) > 0 {
            if !self.is_critical_known {
                tree.critical(&mut self.critical);
                self.is_critical_known = true;
            }
            return self.critical[rng.usize(0..self.critical.len())];
        }
        self.other(tree, tree.root(), rng)
    }

    fn other(&self, tree: &MovingTree<'_>, member: u32, rng: &mut Rng) -> u32 {
        let drawn = rng.u32(0..tree.len() as u32 - 1);
        if drawn >= member { drawn + 1 } else { drawn }
    }

    /// A new parent for a member.
    fn parent_for(&self, tree: &MovingTree<'_>, member: u32, rng: &mut Rng) -> u32 {
        if rng.bool() {
            let near = self.setting.nearest.of_member(member);
            return near[rng.usize(0..near.len())];
        }
        self.other(tree, member, rng)
    }

    fn relocate(&mut self, tree: &mut MovingTree<'_>, rng: &mut Rng) -> bool {
        let member = self.pick(tree, rng);
        let parent = self.parent_for(tree, member, rng);
        if parent == tree.parent(member) || tree.is_below(parent, member) || !self.may_adopt(tree, parent, member) {
            return false;
        }
        tree.relocate(member, parent);
        true
    }

    fn swap_members(&mut self, tree: &mut MovingTree<'_>, rng: &mut Rng) -> bool {
        let a = self.pick(tree, rng);
        let b = self.other(tree, a, rng);
        if self.setting.is_root_fixed && b == tree.root() {
            return false;
        }
        tree.swap_members(a, b);
        true
    }

    fn swap_subtrees(&mut self, tree: &mut MovingTree<'_>, rng: &mut Rng) -> bool {
        let a = self.pick(tree, rng);
        let b = self.other(tree, tree.root(), rng);
        if a == b || tree.parent(a) == tree.parent(b) || tree.is_below(a, b) || tree.is_below(b, a) {
            return false;
        }
        if let Some(most) = self.setting.limits.depth {
            let (depth_a, depth_b) = (tree.depth(a), tree.depth(b));
            if depth_a + tree.height(b) > most || depth_b + tree.height(a) > most {
                return false;
            }
        }
        tree.swap_subtrees(a, b);
        true
    }

    fn splice(&mut self, tree: &mut MovingTree<'_>, rng: &mut Rng) -> bool {
        let member = self.pick(tree, rng);
        let parent = self.parent_for(tree, member, rng);
        if tree.children(member).is_empty() || parent == member {
            return false;
        }
        let former = tree.parent(member);
        if let Some(most) = self.setting.limits.children {
            let adopted = tree.children(former).len() - 1 + tree.children(member).len();
            if adopted + usize::from(parent == former) > most {
                return false;
            }
        }
        if !self.may_adopt_leaf(tree, parent) {
            return false;
        }
        tree.splice(member, parent);
        true
    }

    fn may_adopt(&self, tree: &MovingTree<'_>, parent: u32, member: u32) -> bool {
        let Limits { children, depth } = self.setting.limits;
        children.is_none_or(|most| tree.children(parent).len() < most)
            && depth.is_none_or(|most| tree.depth(parent) + 1 + tree.height(member) <= most)
    }

    fn may_adopt_leaf(&self, tree: &MovingTree<'_>, parent: u32) -> bool {
        let Limits { children, depth } = self.setting.limits;
        children.is_none_or(|most| tree.children(parent).len() < most)
            && depth.is_none_or(|most| tree.depth(parent) < most)
    }
}
