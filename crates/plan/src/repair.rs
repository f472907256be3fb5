//! Repairs a tree when a member leaves, dies or joins: in microseconds, where a search takes milliseconds.
//!
//! Take it to continue at once, and plan again when there is time: `docs/design/repair.md` has the loss. Only edges of
//! the member change. Its children, with their subtrees, are re-attached one after the other, the one that takes the
//! longest first, each to the parent that then finishes its own subtree the earliest; if the root leaves, one of its
//! children takes its place. A member that joins becomes a leaf in the same way. Children stay in the best order.
//! Limits that a tree was planned with are not known here.
//!
//! # Ranks
//!
//! The problem is always the larger one: before a member left, after one joined. The member goes by its rank there, and
//! in the smaller tree all higher ranks are one less: those of [`Problem`] without, or not yet with, its CPU.
//!
//! An operation of both phases has two trees with a common root. If that one leaves, mend one tree and give its new
//! root to the other:
//!
//! ```
//! use corecast_base::CpuId;
//! use corecast_machine::{Cpu, Machine, Topology};
//! use corecast_plan::{Direction, Operation, Problem, Request, repair};
//! let cpus = [3, 5, 7, 9].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
//! let problem = Problem::of_machine(&Machine::from_topology(&Topology { cpus, ..Topology::default() }))?;
//! let tree = Request::new(Operation::Broadcast).root(Some(1)).plan(&problem)?.tree;
//! // CPU 5, rank 1, dies: CPUs 3, 7 and 9 are ranks 0, 1 and 2 from now on.
//! let down = repair::without(&problem, &tree, 1, None, Direction::Down);
//! let up = repair::without(&problem, &tree, 1, Some(down.root()), Direction::Up);
//! assert_eq!((up.len(), up.root()), (3, down.root()));
//! // And comes back: a leaf for now.
//! assert!(repair::with(&problem, &down, 1, Direction::Down).children(1).is_empty());
//! # Ok::<(), corecast_plan::PlanError>(())
//! ```

use crate::problem::Problem;
use crate::schedule::Direction;
use crate::tree::Tree;

/// How many leaves are tried in the place of a member that leaves.
const STAND_INS: usize = 8;

/// The tree without one of its members; the problem is the one before it left. See the module's documentation for
/// ranks.
///
/// The root stays; if it is the one that leaves, `heir` becomes the root, a rank of the tree returned, or else the
/// child of the old root that is cheapest with the other children as its own.
///
/// # Panics
///
/// If the tree has not as many members as the problem, `member` is none of them or the only one, or the heir is no
/// member of the tree returned.
#[must_use]
#[track_caller]
pub fn without(problem: &Problem, tree: &Tree, member: usize, heir: Option<usize>, direction: Direction) -> Tree {
    assert_eq!(tree.len(), problem.len(), "the tree must have as many members as the problem");
    assert!(member < tree.len(), "no member {member} among {}", tree.len());
    assert!(tree.len() > 1, "nobody is left");
    assert!(heir.is_none_or(|heir| heir + 1 < tree.len()), "the heir must be a member that stays");
    let children = (0..tree.len()).map(|member| tree.children(member).to_vec()).collect();
    let whole = Mending::new(problem, direction, tree.root(), children);
    let raised = heir.map(|heir| heir + usize::from(heir >= member));
    let mut mended = vec![whole.scattered(member, raised)];
    if !tree.children(member).is_empty() {
        let is_allowed = |stand_in: usize| member != tree.root() || raised.is_none_or(|heir| heir == stand_in);
        let stand_ins = whole.nearest_leaves(member).into_iter().filter(|&leaf| is_allowed(leaf));
        mended.extend(stand_ins.map(|leaf| whole.with_stand_in(member, leaf)));
    }
    let mending = mended.into_iter().min_by(|a, b| a.below[a.root].total_cmp(&b.below[b.root])).expect("at least one");
    let lower = |rank: usize| rank - usize::from(rank > member);
    let mut children = mending.children;
    children.remove(member);
    children.iter_mut().flatten().for_each(|child| *child = lower(*child));
    Tree::new(lower(mending.root), children).expect("all but the member are in the tree once")
}

/// The tree with one more member; the problem is the one with it. See the module's documentation for ranks.
///
/// # Panics
///
/// If the tree has not one member less than the problem, or the problem has no such member.
#[must_use]
#[track_caller]
pub fn with(problem: &Problem, tree: &Tree, member: usize, direction: Direction) -> Tree {
    assert_eq!(tree.len() + 1, problem.len(), "the problem must have one member more than the tree");
    assert!(member < problem.len(), "no member {member} among {}", problem.len());
    let higher = |rank: usize| rank + usize::from(rank >= member);
    let raised = |rank: usize| tree.children(rank).iter().map(|&child| higher(child)).collect();
    let mut children: Vec<Vec<usize>> = (0..tree.len()).map(raised).collect();
    children.insert(member, Vec::new());
    let mut mending = Mending::new(problem, direction, higher(tree.root()), children);
    mending.attach(member);
    Tree::new(mending.root, mending.children).expect("all and the member are in the tree once")
}

/// A tree in the best order with some of its members detached, each with its subtree.
#[derive(Clone)]
struct Mending<'a> {
    problem: &'a Problem,
    direction: Direction,
    root: usize,
    parent: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// From when a member is informed until all below it are.
    below: Vec<f64>,
    /// When a member is informed.
    arrival: Vec<f64>,
}

impl<'a> Mending<'a> {
    fn new(problem: &'a Problem, direction: Direction, root: usize, children: Vec<Vec<usize>>) -> Self {
        let members = children.len();
        let mut parent = vec![None; members];
        for (member, children) in children.iter().enumerate() {
            children.iter().for_each(|&child| parent[child] = Some(member));
        }
        let (below, arrival) = (vec![0.0; members], vec![0.0; members]);
        let mut mending = Self { problem, direction, root, parent, children, below, arrival };
        let top_down: Vec<usize> = mending.top_down().collect();
        top_down.into_iter().rev().for_each(|member| mending.settle(member));
        mending
    }

    /// This tree when the children of a member that leaves are attached one by one; the heir becomes the root if the
    /// root leaves.
    fn scattered(&self, member: usize, heir: Option<usize>) -> Self {
        let mut mending = self.clone();
        let mut orphans = std::mem::take(&mut mending.children[member]);
        if member == self.root {
            let heir = heir.unwrap_or_else(|| self.cheapest_heir(&orphans));
            match orphans.iter().position(|&orphan| orphan == heir) {
                Some(at) => drop(orphans.remove(at)),
                None => mending.detach(heir),
            }
            mending.parent[heir] = None;
            mending.root = heir;
        } else {
            mending.detach(member);
        }
        orphans.sort_by(|&a, &b| self.below[b].total_cmp(&self.below[a]).then(a.cmp(&b)));
        orphans.into_iter().for_each(|orphan| mending.attach(orphan));
        mending
    }

    /// This tree when a leaf stands in for a member that leaves.
    fn with_stand_in(&self, member: usize, leaf: usize) -> Self {
        let mut mending = self.clone();
        mending.detach(leaf);
        let children = std::mem::take(&mut mending.children[member]);
        children.iter().for_each(|&child| mending.parent[child] = Some(leaf));
        mending.children[leaf] = children;
        mending.parent[leaf] = mending.parent[member].take();
        match mending.parent[leaf] {
            Some(parent) => {
                mending.children[parent].iter_mut().filter(|child| **child == member).for_each(|child| *child = leaf);
            }
            None => mending.root = leaf,
        }
        mending.settle_up_from(leaf);
        mending
    }

    /// The few leaves that cost the least in the place of a member, by its edges.
    fn nearest_leaves(&self, member: usize) -> Vec<usize> {
        let edge = |parent: usize, child: usize| self.send(parent, child, 0) + self.tail(parent, child);
        let edges = |leaf: usize| {
            let down = self.children[member].iter().filter(|&&child| child != leaf).map(|&child| edge(leaf, child));
            down.sum::<f64>() + self.parent[member].map_or(0.0, |parent| edge(parent, leaf))
        };
        let leaves = self.top_down().filter(|&leaf| self.children[leaf].is_empty());
        let mut leaves: Vec<(f64, usize)> = leaves.map(|leaf| (edges(leaf), leaf)).collect();
        leaves.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        leaves.into_iter().take(STAND_INS).map(|(_, leaf)| leaf).collect()
    }

    /// How long the `nth` send to `child`, counted from 0, keeps `parent` busy. As in a search, a reduction is a
    /// broadcast in reversed time.
    fn send(&self, parent: usize, child: usize, nth: usize) -> f64 {
        match self.direction {
            Direction::Down => self.problem.nth_send(parent, child, nth),
            Direction::Up => self.problem.occupancy(child, parent),
        }
    }

    /// From the end of the send until all below `child` are informed.
    fn tail(&self, parent: usize, child: usize) -> f64 {
        self.below[child]
            + match self.direction {
                Direction::Down => self.problem.receive(parent, child),
                Direction::Up => self.problem.message(child, parent) - self.problem.occupancy(child, parent),
            }
    }

    /// The root and all below it, each after its parent.
    fn top_down(&self) -> impl Iterator<Item = usize> + '_ {
        let mut open = vec![self.root];
        std::iter::from_fn(move || {
            let member = open.pop()?;
            open.extend(&self.children[member]);
            Some(member)
        })
    }

    /// From when `parent` is informed until it has informed these, and they all below them, in this order.
    fn time(&self, parent: usize, children: impl Iterator<Item = usize>) -> f64 {
        let step = |(now, end): (f64, f64), (nth, child)| {
            let now = now + self.send(parent, child, nth);
            (now, end.max(now + self.tail(parent, child)))
        };
        children.enumerate().fold((0.0, 0.0), step).1
    }

    /// Brings the children of a member into the best order, and what it takes below it up to date.
    fn settle(&mut self, member: usize) {
        let mut children = std::mem::take(&mut self.children[member]);
        children.sort_by(|&a, &b| self.tail(member, b).total_cmp(&self.tail(member, a)));
        self.below[member] = self.time(member, children.iter().copied());
        self.children[member] = children;
    }

    fn settle_up_from(&mut self, member: usize) {
        let mut next = Some(member);
        while let Some(member) = next {
            self.settle(member);
            next = self.parent[member];
        }
    }

    /// Takes a member with all below it away from its parent.
    fn detach(&mut self, member: usize) {
        let parent = self.parent[member].take().expect("the root is not taken away");
        self.children[parent].retain(|&child| child != member);
        self.settle_up_from(parent);
    }

    /// Makes a detached member a child of the parent that then finishes its own subtree the earliest.
    fn attach(&mut self, member: usize) {
        self.arrive();
        let done = |parent: usize| (self.arrival[parent] + self.time_with(parent, member), parent);
        let earliest = self.top_down().map(done).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (_, parent) = earliest.expect("the root is there");
        self.children[parent].push(member);
        self.parent[member] = Some(parent);
        self.settle_up_from(parent);
    }

    /// The time of a parent and its subtree with one more child, in its place by its tail.
    fn time_with(&self, parent: usize, child: usize) -> f64 {
        let children = &self.children[parent];
        let tail = self.tail(parent, child);
        let place = children.partition_point(|&other| self.tail(parent, other) >= tail);
        let (before, after) = children.split_at(place);
        self.time(parent, before.iter().copied().chain([child]).chain(after.iter().copied()))
    }

    /// The time when every member is informed.
    fn arrive(&mut self) {
        let mut arrival = std::mem::take(&mut self.arrival);
        arrival[self.root] = 0.0;
        for parent in self.top_down() {
            let mut now = arrival[parent];
            for (nth, &child) in self.children[parent].iter().enumerate() {
                now += self.send(parent, child, nth);
                arrival[child] = now + self.tail(parent, child) - self.below[child];
            }
        }
        self.arrival = arrival;
    }

    /// The sibling that is cheapest as the parent of the others.
    fn cheapest_heir(&self, siblings: &[usize]) -> usize {
        let cost = |&heir: &usize| {
            let others = siblings.iter().copied().filter(|&other| other != heir);
            let mut children: Vec<usize> = self.children[heir].iter().copied().chain(others).collect();
            children.sort_by(|&a, &b| self.tail(heir, b).total_cmp(&self.tail(heir, a)));
            (self.time(heir, children.into_iter()), heir)
        };
        let costs = siblings.iter().map(cost);
        costs.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).expect("a root that is not alone has children").1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Costs;
    use crate::search::order::{Ordered, ordered};
    use corecast_base::{CpuId, CpuSet};
    use corecast_machine::{CostMatrix, Cpu, Machine, Topology};
    use proptest::prelude::*;

    const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];

    fn machine(members: usize, costs: &[f64]) -> Machine {
        let cpus = (0..members as u32).map(|id| Cpu::flat(CpuId::new(2 * id))).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let matrix = |first: usize| {
            let cost = |i, j| if i == j { 0.0 } else { costs[(first + 31 * i + 17 * j) % costs.len()] };
            CostMatrix::from_fn(members, cost).expect("costs")
        };
        (machine.send, machine.receive) = (matrix(0), matrix(costs.len() / 2));
        machine
    }

    /// Member i's parent is one of those before it; then all are named anew.
    fn any_tree(picks: &[prop::sample::Index], names: &[usize]) -> Tree {
        let mut children = vec![Vec::new(); picks.len()];
        for member in 1..picks.len() {
            children[names[picks[member].index(member)]].push(names[member]);
        }
        Tree::new(names[0], children).expect("a tree")
    }

    fn reorder(costs: &Costs, tree: &Tree) -> Ordered {
        ordered(costs, tree.root(), (0..tree.len()).map(|member| tree.children(member).to_vec()).collect())
    }

    fn is_in_best_order(problem: &Problem, tree: &Tree, direction: Direction) -> bool {
        reorder(&Costs::of(problem, direction), tree).tree == *tree
    }

    proptest! {
        #[test]
        fn a_leaver_is_gone_and_a_joiner_is_there(
            (picks, names) in (2..20_usize).prop_flat_map(|n| (
                prop::collection::vec(any::<prop::sample::Index>(), n),
                Just((0..n).collect::<Vec<usize>>()).prop_shuffle(),
            )),
            costs in prop::collection::vec(prop_oneof![1.0..100.0_f64, (0..4_u32).prop_map(f64::from)], 401),
            member: prop::sample::Index,
            heir in prop::option::of(any::<prop::sample::Index>()),
        ) {
            let machine = machine(picks.len(), &costs);
            let tree = any_tree(&picks, &names);
            let member = member.index(tree.len());
            let all = Problem::of_machine(&machine).expect("CPUs");
            let others: CpuSet = all.cpus().iter().copied().filter(|&cpu| cpu != all.cpu(member)).collect();
            let few = Problem::new(&machine, &others).expect("CPUs");
            for direction in DIRECTIONS {
                let heir = heir.map(|heir| heir.index(few.len()));
                let mended = without(&all, &tree, member, heir, direction);
                prop_assert_eq!(mended.len(), few.len());
                if member == tree.root() {
                    prop_assert!(heir.is_none_or(|heir| heir == mended.root()));
                } else {
                    prop_assert_eq!(few.cpu(mended.root()), all.cpu(tree.root()));
                }
                prop_assert!(is_in_best_order(&few, &mended, direction));
                let back = with(&all, &mended, member, direction);
                prop_assert_eq!(all.cpu(back.root()), few.cpu(mended.root()));
                prop_assert!(back.children(member).is_empty());
                prop_assert!(is_in_best_order(&all, &back, direction));
            }
        }
    }

    #[test]
    fn a_leaf_that_leaves_makes_nothing_dearer() {
        let machine = machine(6, &[5.0, 9.0, 2.0, 7.0, 3.0, 8.0, 4.0]);
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let tree = Tree::new(2, vec![vec![5], vec![], vec![0, 1, 3], vec![4], vec![], vec![]]).expect("a tree");
        for direction in DIRECTIONS {
            let before = reorder(&Costs::of(&problem, direction), &tree).cost;
            for leaf in [1, 4, 5] {
                let others = (0..6).filter(|&member| member != leaf).map(|member| problem.cpu(member)).collect();
                let few = Problem::new(&machine, &others).expect("CPUs");
                let mended = without(&problem, &tree, leaf, None, direction);
                assert!(reorder(&Costs::of(&few, direction), &mended).cost <= before, "{leaf} {direction:?}");
            }
        }
    }

    #[test]
    fn one_of_two_is_left_alone() {
        let problem = Problem::of_machine(&machine(2, &[1.0, 2.0])).expect("CPUs");
        let pair = Tree::new(1, vec![vec![], vec![0]]).expect("a tree");
        for member in 0..2 {
            assert_eq!(without(&problem, &pair, member, None, Direction::Up).len(), 1);
        }
        let alone = Tree::new(0, vec![vec![]]).expect("a tree");
        assert_eq!(with(&problem, &alone, 0, Direction::Up), pair, "the new one has rank 0");
    }
}
