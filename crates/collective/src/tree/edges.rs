//! One member's edges of a tree: a channel each way to its parent and to each of its children.
//!
//! As every edge leads both ways, the same edges carry a message from any root to all and from all to any root: a member
//! only needs to know which of its links leads towards that root. Members call the operations of a group in the same order
//! and edges are first in, first out, so operations with different roots do not mix.

use std::ops::Range;

use corecast_base::ArenaError;
use corecast_base::sync::Arc;
use corecast_channel::ump::any::rings as any_rings;
use corecast_plan::{Problem, Schedule, Tree};

use super::Chunks;
use crate::link::{EDGE_SLOTS, LastType, Link};
use crate::membership::Site;

/// The members behind a link: for a child the places of its subtree, for the parent all others.
#[derive(Debug)]
enum Behind {
    /// Subtrees are intervals when members are numbered depth first.
    Subtree(Range<usize>),
    /// All except the own subtree.
    AllBut(Range<usize>),
}

/// The inputs from which all members' edges of one tree are built.
#[derive(Debug)]
pub(crate) struct TreeLayout {
    numbering: Arc<Numbering>,
    /// The children of each member in the order in which it handles them, by rank.
    children: Vec<Vec<usize>>,
    /// By rank.
    parents: Vec<Option<usize>>,
}

impl TreeLayout {
    /// For broadcasts: each member sends to its children in the order of the tree.
    pub(crate) fn in_send_order(tree: &Tree) -> Self {
        Self::of(tree, |rank| tree.children(rank).to_vec())
    }

    /// For reductions: each member handles its children in the order in which their values are expected.
    pub(crate) fn in_arrival_order(problem: &Problem, tree: &Tree) -> Self {
        let schedule = Schedule::reduction(problem, tree, 0.0);
        Self::of(tree, |member| {
            let mut arrivals: Vec<_> = schedule.received_by(member).collect();
            arrivals.sort_by(|a, b| a.receive_start.total_cmp(&b.receive_start));
            arrivals.into_iter().map(|transfer| transfer.from).collect()
        })
    }

    /// `children` gives each member's children in the order in which it handles them.
    pub(super) fn of(tree: &Tree, children: impl Fn(usize) -> Vec<usize>) -> Self {
        Self {
            numbering: Arc::new(Numbering::depth_first(tree)),
            children: (0..tree.len()).map(children).collect(),
            parents: (0..tree.len()).map(|rank| tree.parent(rank)).collect(),
        }
    }

    /// Every member that has children, and these behind it; from below.
    pub(crate) fn groups(&self) -> Vec<Vec<usize>> {
        let group = |&parent: &usize| [&[parent], self.children[parent].as_slice()].concat();
        let parents = self.numbering.ranks.iter().rev().filter(|&&rank| !self.children[rank].is_empty());
        parents.map(group).collect()
    }

    /// The edges of the member at `site`, without those from members that are `apart` to their parents. The cost grows only
    /// with the number of the member's own edges.
    pub(crate) fn edges(&self, apart: &[usize], site: &mut Site) -> Result<TreeEdges, ArenaError> {
        let Site { rank, table, arena } = site;
        let (own, numbering) = (*rank, &self.numbering);
        let rings = any_rings(arena, 2 * (numbering.places.len() - 1), EDGE_SLOTS)?;
        let is_near = |member: usize| !apart.contains(&member);
        let room = self.children[own].len() + 1;
        let (mut links, mut behind) = (Vec::with_capacity(room), Vec::with_capacity(room));
        for &child in self.children[own].iter().filter(|&&child| is_near(child)) {
            let (down, up) = numbering.rings_to(child);
            let tx = rings.sender(down, table.wake_word(child).clone(), table.wake_word(own).clone());
            let rx = rings.receiver(up, table.wake_word(own).clone(), table.wake_word(child).clone());
            links.push(Link { rank: child, tx, rx });
            behind.push(Behind::Subtree(numbering.subtrees[child].clone()));
        }
        if let Some(parent) = self.parents[own].filter(|_| is_near(own)) {
            let (down, up) = numbering.rings_to(own);
            let tx = rings.sender(up, table.wake_word(parent).clone(), table.wake_word(own).clone());
            let rx = rings.receiver(down, table.wake_word(own).clone(), table.wake_word(parent).clone());
            links.push(Link { rank: parent, tx, rx });
            behind.push(Behind::AllBut(numbering.subtrees[own].clone()));
        }
        let (own_place, numbering) = (numbering.places[own], Arc::clone(numbering));
        Ok(TreeEdges {
            own_place,
            numbering,
            links,
            behind,
            missing: Vec::new(),
            last: LastType::default(),
            chunks: None,
        })
    }
}

/// All edges of one member.
#[derive(Debug)]
pub(crate) struct TreeEdges {
    own_place: usize,
    numbering: Arc<Numbering>,
    /// The children in the order asked for, then the parent, if there is one.
    pub(crate) links: Vec<Link>,
    /// The members behind each link.
    behind: Vec<Behind>,
    /// Room for a list of links, kept so that no operation allocates one.
    pub(crate) missing: Vec<usize>,
    /// The type of the last slice.
    pub(crate) last: LastType,
    /// The chunks in which long slices travel along the edges; `None` until the first one, and if the memory has no room
    /// for them.
    pub(crate) chunks: Option<Box<Chunks>>,
}

impl TreeEdges {
    /// The number of members of the tree.
    pub(crate) fn members(&self) -> usize {
        self.numbering.places.len()
    }

    /// The index of the link that leads to `root`; `None` if this member is the root.
    #[inline]
    pub(crate) fn towards(&self, root: usize) -> Option<usize> {
        let place = self.place(root);
        if place == self.own_place { None } else { self.behind.iter().position(|behind| behind.includes(place)) }
    }

    /// The index of the link to the parent in the tree, behind those to the children; `None` at the root.
    pub(crate) fn link_to_parent(&self) -> Option<usize> {
        self.behind.iter().position(|behind| matches!(behind, Behind::AllBut(_)))
    }

    /// The number of members behind a link.
    pub(crate) fn members_behind(&self, link: usize) -> usize {
        match &self.behind[link] {
            Behind::Subtree(places) => places.len(),
            Behind::AllBut(places) => self.numbering.places.len() - places.len(),
        }
    }

    /// The `n`-th of the members behind a link, in depth-first order.
    pub(crate) fn rank_behind(&self, link: usize, n: usize) -> usize {
        let place = match &self.behind[link] {
            Behind::Subtree(places) => places.start + n,
            Behind::AllBut(places) if n < places.start => n,
            Behind::AllBut(places) => places.len() + n,
        };
        self.numbering.ranks[place]
    }

    /// The depth-first place of a member.
    #[inline]
    pub(crate) fn place(&self, rank: usize) -> usize {
        self.numbering.places[rank]
    }
}

impl Behind {
    #[inline]
    fn includes(&self, place: usize) -> bool {
        match self {
            Behind::Subtree(places) => places.contains(&place),
            Behind::AllBut(places) => !places.contains(&place),
        }
    }
}

/// The members of a tree in depth-first order.
#[derive(Debug)]
struct Numbering {
    /// The place of every member, by rank.
    places: Vec<usize>,
    /// The member at every place.
    ranks: Vec<usize>,
    /// The places of every member's subtree, by rank.
    subtrees: Vec<Range<usize>>,
}

impl Numbering {
    /// The rings of the edge between a member and its parent: from the parent, and to it. The root, at place 0, has none.
    fn rings_to(&self, member: usize) -> (usize, usize) {
        let edge = self.places[member] - 1;
        (2 * edge, 2 * edge + 1)
    }

    fn depth_first(tree: &Tree) -> Self {
        let mut sizes = vec![1; tree.len()];
        for &member in tree.top_down().iter().rev() {
            sizes[member] += tree.children(member).iter().map(|&child| sizes[child]).sum::<usize>();
        }
        let mut places = vec![0; tree.len()];
        let mut ranks = vec![0; tree.len()];
        for &member in tree.top_down() {
            ranks[places[member]] = member;
            let mut next = places[member] + 1;
            for &child in tree.children(member) {
                places[child] = next;
                next += sizes[child];
            }
        }
        let subtrees = places.iter().zip(sizes).map(|(&place, size)| place..place + size).collect();
        Self { places, ranks, subtrees }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::membership::tests::sites;

    /// 2 -> 0, 3; 3 -> 1, 4.
    fn edges() -> Vec<TreeEdges> {
        let tree = Tree::new(2, vec![vec![], vec![], vec![0, 3], vec![1, 4], vec![]]).expect("a tree");
        let plan = TreeLayout::of(&tree, |rank| tree.children(rank).to_vec());
        sites(5).map(|mut site| plan.edges(&[], &mut site).expect("the heap has room")).collect()
    }

    #[test]
    fn every_member_knows_the_way_to_every_other() {
        let edges = edges();
        for start in 0..5 {
            for goal in 0..5 {
                let mut at = start;
                let mut hops = 0;
                while let Some(link) = edges[at].towards(goal) {
                    at = edges[at].links[link].rank;
                    hops += 1;
                    assert!(hops < 5, "from {start} to {goal} the way goes round in circles");
                }
                assert_eq!(at, goal);
            }
        }
    }

    #[test]
    fn members_behind_the_links_are_all_the_others() {
        for edges in edges() {
            let behind = |link| (0..edges.members_behind(link)).map(move |n| (link, n));
            let others = (0..edges.links.len()).flat_map(behind).map(|(link, n)| {
                let rank = edges.rank_behind(link, n);
                assert_eq!(edges.towards(rank), Some(link));
                rank
            });
            let mut ranks: Vec<usize> = others.collect();
            ranks.sort_unstable();
            assert_eq!(ranks, (0..5).filter(|&rank| edges.place(rank) != edges.own_place).collect::<Vec<_>>());
        }
    }
}
