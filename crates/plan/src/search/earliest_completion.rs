//! Earliest completion first: the next message goes to the member that it can inform the soonest.
//!
//! Repeatedly the pair of an informed sender and an uninformed member with the least time of arrival, plus two
//! corrections that look one step ahead: `relay` times the cheapest message that the new member could send on, and, in
//! the group form, minus the time that its cluster takes to spread a message if no member of it has been informed yet.
//! Every sender has the others sorted once, and a heap holds the next one of each sender: O(n^2 log n) for the sorting,
//! which all roots share, and O(n^2) at worst for each tree.
//!
//! Source: P. B. Bhat, C. S. Raghavendra, V. K. Prasanna, Efficient collective communication in distributed
//! heterogeneous systems, 2003 (FEF, ECEF and ECEF with look-ahead).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::costs::Costs;
use super::order::{Ordered, ordered};
use crate::limits::Limits;

/// The order in which each sender would inform the others, for one weight of relaying, shared by all forms with it.
#[derive(Debug)]
pub(crate) struct Preferences<'a> {
    costs: &'a Costs,
    /// By member: the weight of its cheapest onward message.
    onward: Vec<f64>,
    /// By sender: the others by the value of informing them, cheapest first.
    sorted: Vec<u16>,
}

/// The greedy rule for one problem: make it once, build from any root.
#[derive(Debug)]
pub(crate) struct EarliestCompletion<'a> {
    preferences: &'a Preferences<'a>,
    limits: Limits,
    /// The same with the bonus of each member's cluster, for as long as it is untouched. Empty without clusters.
    entering: Vec<u16>,
    /// By member, its cluster.
    cluster: &'a [u32],
    /// By cluster: the bonus for entering it first.
    bonus: Vec<f64>,
}

/// The value of informing a member.
#[derive(Clone, Copy, Debug)]
struct Choice {
    weight: f64,
    child: usize,
}

/// A sender in the heap with the earliest completion that it may still offer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Offer {
    completion: f64,
    sender: usize,
}

impl Eq for Offer {}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.completion.total_cmp(&other.completion).then(self.sender.cmp(&other.sender))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A tree that grows.
struct Growth {
    children: Vec<Vec<usize>>,
    informed: Vec<bool>,
    depth: Vec<usize>,
    /// By sender: when it is free again.
    free: Vec<f64>,
    touched: Vec<bool>,
    /// By sender: its place in `plain` and `entering`.
    next: Vec<[usize; 2]>,
    heap: BinaryHeap<Reverse<Offer>>,
}

impl<'a> Preferences<'a> {
    /// `relay` times the cheapest message that a member could send on counts against informing it.
    pub(crate) fn new(costs: &'a Costs, relay: f64) -> Self {
        let onward = (0..costs.len()).map(|member| relay * cheapest_onward(costs, member)).collect();
        let unsorted = Self { costs, onward, sorted: Vec::new() };
        Self { sorted: unsorted.sorted_with(|_| 0.0), ..unsorted }
    }

    #[inline]
    fn weight(&self, sender: usize, child: usize) -> f64 {
        self.costs.edge(sender, child) + self.onward[child]
    }

    /// By sender: all others, those with the least weight and `more` first. Weights that agree in their first 48 bits
    /// count as equal; the lower member then comes first.
    fn sorted_with(&self, more: impl Fn(usize) -> f64) -> Vec<u16> {
        let len = self.costs.len();
        let mut rows = Vec::with_capacity(len * len);
        let mut keys: Vec<u64> = Vec::with_capacity(len);
        for sender in 0..len {
            let others = (0..len).filter(|&child| child != sender);
            let weight = |child: usize| (self.weight(sender, child) + more(child)).to_bits() & !0xFFFF;
            keys.clear();
            keys.extend(others.map(|child| weight(child) | child as u64));
            keys.sort_unstable();
            rows.extend(keys.iter().map(|&key| key as u16));
        }
        rows
    }
}

impl<'a> EarliestCompletion<'a> {
    /// Prepares the rule. `cluster` names the cluster of each member for the group form; it may be empty.
    pub(crate) fn new(preferences: &'a Preferences<'a>, cluster: &'a [u32], limits: Limits) -> Self {
        let bonus = cluster_times(preferences.costs, cluster);
        let most = bonus.iter().copied().fold(0.0, f64::max);
        let left = |child: usize| most - bonus[cluster[child] as usize];
        let entering = if bonus.is_empty() { Vec::new() } else { preferences.sorted_with(left) };
        Self { preferences, limits, entering, cluster, bonus }
    }

    /// The tree from this root, children in the best order; `None` if the limits end it before every member is
    /// informed.
    pub(crate) fn from(&self, root: usize) -> Option<Ordered> {
        let costs = self.preferences.costs;
        let len = costs.len();
        let mut growth = Growth {
            children: vec![Vec::new(); len],
            informed: vec![false; len],
            depth: vec![0; len],
            free: vec![0.0; len],
            touched: vec![false; self.cluster.iter().max().map_or(0, |&last| last as usize + 1)],
            next: vec![[0; 2]; len],
            heap: BinaryHeap::with_capacity(2 * len),
        };
        self.inform(&mut growth, root, 0.0);
        let mut informed = 1;
        while let Some(Reverse(offer)) = growth.heap.pop() {
            let Some(choice) = self.best(&mut growth, offer.sender) else { continue };
            let completion = growth.free[offer.sender] + choice.weight;
            if completion > offer.completion {
                growth.heap.push(Reverse(Offer { completion, ..offer }));
                continue;
            }
            self.send(&mut growth, offer.sender, choice.child);
            informed += 1;
        }
        (informed == len).then(|| ordered(costs, root, growth.children))
    }

    fn inform(&self, growth: &mut Growth, member: usize, at: f64) {
        growth.informed[member] = true;
        growth.free[member] = at;
        if let Some(&cluster) = self.cluster.get(member) {
            growth.touched[cluster as usize] = true;
        }
        self.offer(growth, member);
    }

    fn send(&self, growth: &mut Growth, sender: usize, child: usize) {
        let costs = self.preferences.costs;
        let nth = growth.children[sender].len();
        growth.children[sender].push(child);
        growth.depth[child] = growth.depth[sender] + 1;
        growth.free[sender] += costs.nth_send(sender, child, nth);
        let at = growth.free[sender] + costs.receive(sender, child);
        self.inform(growth, child, at);
        self.offer(growth, sender);
    }

    /// Puts a sender into the heap with its best offer, if it may have one more child.
    fn offer(&self, growth: &mut Growth, sender: usize) {
        let full = self.limits.children.is_some_and(|most| growth.children[sender].len() >= most)
            || self.limits.depth.is_some_and(|most| growth.depth[sender] >= most);
        if full {
            return;
        }
        if let Some(choice) = self.best(growth, sender) {
            let completion = growth.free[sender] + choice.weight;
            growth.heap.push(Reverse(Offer { completion, sender }));
        }
    }

    /// The member that this sender would inform next.
    fn best(&self, growth: &mut Growth, sender: usize) -> Option<Choice> {
        let others = self.preferences.costs.len() - 1;
        let row = sender * others..(sender + 1) * others;
        let Growth { next, informed, touched, .. } = growth;
        let [plain, entering] = &mut next[sender];
        let weight = |child| self.preferences.weight(sender, child);
        let first = skip(&self.preferences.sorted[row.clone()], plain, |child| informed[child]);
        let first = first.map(|child| Choice { weight: weight(child), child });
        if self.entering.is_empty() {
            return first;
        }
        let is_gone = |child: usize| informed[child] || touched[self.cluster[child] as usize];
        let entry = skip(&self.entering[row], entering, is_gone);
        let entry =
            entry.map(|child| Choice { weight: weight(child) - self.bonus[self.cluster[child] as usize], child });
        match (first, entry) {
            (Some(first), Some(entry)) => Some(if entry.weight < first.weight { entry } else { first }),
            (first, entry) => first.or(entry),
        }
    }
}

/// Moves `at` on to the first child that is not gone, and returns it.
#[inline]
fn skip(children: &[u16], at: &mut usize, is_gone: impl Fn(usize) -> bool) -> Option<usize> {
    while let Some(&child) = children.get(*at) {
        if !is_gone(usize::from(child)) {
            return Some(usize::from(child));
        }
        *at += 1;
    }
    None
}

/// The cheapest message that a member could send; 0 for a single member.
fn cheapest_onward(costs: &Costs, member: usize) -> f64 {
    let others = (0..costs.len()).filter(|&other| other != member);
    others.map(|other| costs.edge(member, other)).reduce(f64::min).unwrap_or(0.0)
}

/// By cluster: how long it takes to spread a message in it, as if all its messages cost what they cost on average.
fn cluster_times(costs: &Costs, cluster: &[u32]) -> Vec<f64> {
    let count = cluster.iter().max().map_or(0, |&last| last as usize + 1);
    let mut members = vec![Vec::new(); count];
    for (member, &cluster) in cluster.iter().enumerate() {
        members[cluster as usize].push(member);
    }
    members.iter().map(|members| spreading_time(costs, members)).collect()
}

fn spreading_time(costs: &Costs, members: &[usize]) -> f64 {
    let pairs = members.iter().flat_map(|&a| members.iter().filter(move |&&b| a != b).map(move |&b| (a, b)));
    let (send, receive, count) = pairs.fold((0.0, 0.0, 0.0), |(send, receive, count), (a, b)| {
        (send + costs.send(a, b), receive + costs.receive(a, b), count + 1.0)
    });
    if count == 0.0 {
        return 0.0;
    }
    let (send, receive): (f64, f64) = (send / count, receive / count);
    let mut free = BinaryHeap::from([Reverse(Offer { completion: 0.0, sender: 0 })]);
    let mut end: f64 = 0.0;
    for _ in 1..members.len() {
        let Reverse(Offer { completion: now, .. }) = free.pop().expect("there is always a sender");
        let at = now + send + receive;
        end = end.max(at);
        free.extend([
            Reverse(Offer { completion: now + send, sender: 0 }),
            Reverse(Offer { completion: at, sender: 0 }),
        ]);
    }
    end
}
