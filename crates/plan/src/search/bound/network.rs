//! The possible messages, their times, and the part of the sender's budget that each takes.

use super::budgets::{Budgets, Kind};
use super::grid::Grid;

/// The number of times computed at once for messages that keep the sender busy for as long.
pub(super) const MANY: usize = 32;
/// The number for the other messages: beyond what is valid, sums are too small and computed again.
pub(super) const FEW: usize = 8;

/// Messages of one sender with the same effect on it: they keep it busy for as long and take as much of its budget.
pub(super) struct Group {
    pub(super) send: usize,
    pub(super) kind: Kind,
    /// Each child with the time until it is informed.
    pub(super) children: Vec<(usize, usize)>,
}

/// All messages that may be of use.
pub(super) struct Network {
    /// Longer messages are left out.
    pub(super) times: usize,
    pub(super) budgets: Budgets,
    /// The messages of each member that keep it busy for a block of times, shortest first.
    pub(super) far: Vec<Vec<Group>>,
    /// Those that keep it busy for a shorter time.
    pub(super) near: Vec<Vec<Group>>,
    /// Those that do not: each child with its time.
    pub(super) free: Vec<Vec<(usize, usize)>>,
    /// Near or free messages are computed for this many times at once: they lead nowhere sooner.
    pub(super) few: usize,
}

impl Network {
    /// A fixed root is never a child.
    pub(super) fn new(grid: &Grid, root: Option<usize>, budgets: Budgets) -> Self {
        let cost = |a: usize, child: usize| {
            let at = a * grid.len + child;
            (grid.send[at] as usize, grid.edge[at] as usize)
        };
        let is_usable = |a: usize, child: usize| child != a && Some(child) != root && cost(a, child).1 < grid.steps;
        let children = |a: usize| (0..grid.len).filter(move |&child| is_usable(a, child));
        let grouped = |a: usize, sends: &dyn Fn(usize) -> bool| {
            let mut groups: Vec<Group> = Vec::new();
            for child in children(a).filter(|&child| sends(cost(a, child).0)) {
                let ((send, edge), kind) = (cost(a, child), budgets.kind(a, child));
                match groups.iter_mut().find(|group| (group.send, group.kind) == (send, kind)) {
                    Some(group) => group.children.push((child, edge)),
                    None => groups.push(Group { send, kind, children: vec![(child, edge)] }),
                }
            }
            groups.sort_by_key(|group| (group.send, group.kind));
            groups
        };
        let unsent = |a: usize| {
            let free = children(a).filter(|&child| cost(a, child).0 == 0);
            free.map(|child| (child, cost(a, child).1)).collect()
        };
        Self {
            times: grid.steps,
            far: (0..grid.len).map(|a| grouped(a, &|send| send >= MANY)).collect(),
            near: (0..grid.len).map(|a| grouped(a, &|send| (1..MANY).contains(&send))).collect(),
            free: (0..grid.len).map(unsent).collect(),
            few: grid.lag.min(FEW),
            budgets,
        }
    }

    /// The number of members.
    pub(super) fn len(&self) -> usize {
        self.far.len()
    }

    /// The messages of a member that keep it busy.
    pub(super) fn groups(&self, a: usize) -> impl Iterator<Item = &Group> {
        self.near[a].iter().chain(&self.far[a])
    }
}
