//! One member's edges of a tree: a channel each way to its parent and to each of its children.
//!
//! As every edge leads both ways, the same web carries a message from any root to all and from all to any root: a member
//! only needs to know which of its links leads towards that root. Members call the operations of a group in the same order
//! and edges are first in, first out, so operations with different roots do not mix.

use std::ops::Range;

use corecast_base::ArenaError;
use corecast_base::sync::Arc;
use corecast_channel::ump::any::{Receiver as AnyReceiver, Sender as AnySender, rings as any_rings};
use corecast_channel::ump::longest_message;
use corecast_plan::Tree;

use crate::chunks::Chunks;
use crate::layout::Site;

/// Slots of an edge: enough for the root to run ahead by some operations, few enough to stay in the first-level cache.
pub(crate) const EDGE_SLOTS: usize = 32;
/// The longest value that travels along an edge in one message.
pub(crate) const LONGEST_MESSAGE: usize = longest_message(EDGE_SLOTS);

/// The edge to one neighbour.
#[derive(Debug)]
pub(crate) struct Link {
    /// The neighbour.
    pub(crate) rank: usize,
    pub(crate) tx: AnySender,
    pub(crate) rx: AnyReceiver,
    /// The members behind it: for a child the places of its subtree, for the parent all others.
    behind: Behind,
}

#[derive(Debug)]
enum Behind {
    /// Subtrees are intervals when members are numbered depth first.
    Subtree(Range<usize>),
    /// All except the own subtree.
    AllBut(Range<usize>),
}

/// The inputs from which the webs of all members of one tree are built.
#[derive(Debug)]
pub(crate) struct WebPlan {
    numbering: Arc<Numbering>,
    /// The children of each member in the order in which it handles them, by rank.
    children: Vec<Vec<usize>>,
    /// By rank.
    parents: Vec<Option<usize>>,
}

impl WebPlan {
    /// The inputs for a tree. `children` gives each member's children in the order in which it handles them.
    pub(crate) fn of(tree: &Tree, children: impl Fn(usize) -> Vec<usize>) -> Self {
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

    /// The web of the member at `site`, without the edges from members that are `apart` to their parents. The cost grows
    /// only with the member's own edges.
    pub(crate) fn web(&self, apart: &[usize], site: &mut Site) -> Result<Web, ArenaError> {
        let Site { rank, roll, arena } = site;
        let (own, numbering) = (*rank, &self.numbering);
        let rings = any_rings(arena, 2 * (numbering.places.len() - 1), EDGE_SLOTS)?;
        let is_near = |member: usize| !apart.contains(&member);
        let mut links = Vec::with_capacity(self.children[own].len() + 1);
        for &child in self.children[own].iter().filter(|&&child| is_near(child)) {
            let (down, up) = numbering.rings_to(child);
            let tx = rings.sender(down, roll.bell(child).clone(), roll.bell(own).clone());
            let rx = rings.receiver(up, roll.bell(own).clone(), roll.bell(child).clone());
            links.push(Link { rank: child, tx, rx, behind: Behind::Subtree(numbering.subtrees[child].clone()) });
        }
        if let Some(parent) = self.parents[own].filter(|_| is_near(own)) {
            let (down, up) = numbering.rings_to(own);
            let tx = rings.sender(up, roll.bell(parent).clone(), roll.bell(own).clone());
            let rx = rings.receiver(down, roll.bell(own).clone(), roll.bell(parent).clone());
            links.push(Link { rank: parent, tx, rx, behind: Behind::AllBut(numbering.subtrees[own].clone()) });
        }
        let (own_place, numbering) = (numbering.places[own], Arc::clone(numbering));
        Ok(Web { own_place, numbering, links, missing: Vec::new(), chunks: None })
    }
}

/// All edges of one member.
#[derive(Debug)]
pub(crate) struct Web {
    own_place: usize,
    numbering: Arc<Numbering>,
    /// The children in the order asked for, then the parent, if there is one.
    pub(crate) links: Vec<Link>,
    /// Room for a list of links, kept so that no operation allocates one.
    pub(crate) missing: Vec<usize>,
    /// The chunks in which long slices travel along the edges; `None` until the first one, and if the memory has no room
    /// for them.
    pub(crate) chunks: Option<Box<Chunks>>,
}

impl Web {
    /// The number of members of the tree.
    pub(crate) fn members(&self) -> usize {
        self.numbering.places.len()
    }

    /// The index of the link that leads to `root`; `None` if this member is the root.
    #[inline]
    pub(crate) fn towards(&self, root: usize) -> Option<usize> {
        let place = self.place(root);
        if place == self.own_place { None } else { self.links.iter().position(|link| link.leads_to(place)) }
    }

    /// The index of the link to the parent in the tree, behind those to the children; `None` at the root.
    pub(crate) fn link_to_parent(&self) -> Option<usize> {
        self.links.iter().position(|link| matches!(link.behind, Behind::AllBut(_)))
    }

    /// The number of members behind a link.
    pub(crate) fn members_behind(&self, link: usize) -> usize {
        match &self.links[link].behind {
            Behind::Subtree(places) => places.len(),
            Behind::AllBut(places) => self.numbering.places.len() - places.len(),
        }
    }

    /// The `n`-th of the members behind a link, in depth-first order.
    pub(crate) fn rank_behind(&self, link: usize, n: usize) -> usize {
        let place = match &self.links[link].behind {
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

impl Link {
    #[inline]
    fn leads_to(&self, place: usize) -> bool {
        match &self.behind {
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
    use crate::layout::tests::sites;

    /// 2 -> 0, 3; 3 -> 1, 4.
    fn webs() -> Vec<Web> {
        let tree = Tree::new(2, vec![vec![], vec![], vec![0, 3], vec![1, 4], vec![]]).expect("a tree");
        let plan = WebPlan::of(&tree, |rank| tree.children(rank).to_vec());
        sites(5).map(|mut site| plan.web(&[], &mut site).expect("the heap has room")).collect()
    }

    #[test]
    fn every_member_knows_the_way_to_every_other() {
        let webs = webs();
        for start in 0..5 {
            for goal in 0..5 {
                let mut at = start;
                let mut hops = 0;
                while let Some(link) = webs[at].towards(goal) {
                    at = webs[at].links[link].rank;
                    hops += 1;
                    assert!(hops < 5, "from {start} to {goal} the way goes round in circles");
                }
                assert_eq!(at, goal);
            }
        }
    }

    #[test]
    fn members_behind_the_links_are_all_the_others() {
        for web in webs() {
            let behind = |link| (0..web.members_behind(link)).map(move |n| (link, n));
            let others = (0..web.links.len()).flat_map(behind).map(|(link, n)| {
                let rank = web.rank_behind(link, n);
                assert_eq!(web.towards(rank), Some(link));
                rank
            });
            let mut ranks: Vec<usize> = others.collect();
            ranks.sort_unstable();
            assert_eq!(ranks, (0..5).filter(|&rank| web.place(rank) != web.own_place).collect::<Vec<_>>());
        }
    }
}
