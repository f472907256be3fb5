//! The cost of a collective over a tree by the machine model: the time when its last member is done.
//!
//! A broadcast informs each member once; an informed member sends to its children one after the other, without a
//! pause. A reduction runs the other way: leaves send at once, and a parent takes its children in order of arrival, one
//! at a time. A barrier is a reduction and then a broadcast, a two-phase commit a broadcast, a reduction and a
//! broadcast. [`crate::Schedule`] has the same with every start and end.
//!
//! Barriers need not meet in a tree: [`dissemination`], [`leaders`], [`release_line`] and [`counter`] are the other
//! ways.
//!
//! Where the problem has [`crate::Terms`] beyond pairs, the first sends of a burst may cost less and receives may
//! overlap.
//!
//! Costs are sums in a fixed order of floating-point additions, so equal input gives equal bits everywhere.
//!
//! Source: the model of Kaestle et al., OSDI 2016, as their program counts it. Their formula lat(T, v) leaves the
//! receive cost out; trees chosen by that formula are 1.5 to 2.5 times worse.
//!
//! ```
//! use corecast_base::CpuId;
//! use corecast_machine::{Cpu, Machine, Topology};
//! use corecast_plan::{Problem, Tree, simulate};
//! let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
//! let problem = Problem::of_machine(&Machine::from_topology(&Topology { cpus, ..Topology::default() }))?;
//! let star = Tree::new(0, vec![vec![1, 2], vec![], vec![]])?;
//! let chain = Tree::new(0, vec![vec![1], vec![2], vec![]])?;
//! let arrivals = simulate::arrivals(&problem, &star);
//! assert!(arrivals[0] == 0.0 && arrivals[1] < arrivals[2], "member 1 is the first child");
//! assert!(simulate::broadcast(&problem, &star) < simulate::broadcast(&problem, &chain));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::problem::Problem;
use crate::tree::Tree;

/// When each member has received a broadcast that the root starts at 0, by rank.
///
/// # Panics
///
/// As all functions here: if the tree has not as many members as the problem.
#[must_use]
#[track_caller]
pub fn arrivals(problem: &Problem, tree: &Tree) -> Vec<f64> {
    check(problem, tree);
    let mut arrival = vec![0.0; tree.len()];
    for &parent in tree.top_down() {
        inform(problem, parent, tree.children(parent), &mut arrival);
    }
    arrival
}

/// Lets `parent`, which has the message, send it to these, one after the other.
fn inform(problem: &Problem, parent: usize, children: &[usize], arrival: &mut [f64]) {
    let mut now = arrival[parent];
    for (nth, &child) in children.iter().enumerate() {
        now += problem.nth_send(parent, child, nth);
        arrival[child] = now + problem.receive(parent, child);
    }
}

/// When each member has everything of its subtree in a reduction whose members all start at 0, by rank.
#[must_use]
#[track_caller]
pub fn completions(problem: &Problem, tree: &Tree) -> Vec<f64> {
    check(problem, tree);
    let mut done = vec![0.0; tree.len()];
    for &parent in tree.top_down().iter().rev() {
        let messages = in_order_of_arrival(problem, tree, parent, &done);
        done[parent] = received(problem, parent, &messages);
    }
    done
}

/// When `parent` has received these messages, earliest first.
fn received(problem: &Problem, parent: usize, messages: &[(f64, usize)]) -> f64 {
    messages.iter().fold(0.0, |now: f64, &(ready, child)| now.max(ready) + problem.occupancy(child, parent))
}

/// The children of a member with the time from which their message keeps it busy, earliest first; equal ones in child
/// order. That is when it has been sent, or, where receives overlap, when the latency of the receive is over.
pub(crate) fn in_order_of_arrival(problem: &Problem, tree: &Tree, parent: usize, done: &[f64]) -> Vec<(f64, usize)> {
    let ready = |&child: &usize| {
        let latency = problem.receive(child, parent) - problem.occupancy(child, parent);
        (done[child] + problem.send(child, parent) + latency, child)
    };
    let mut messages: Vec<(f64, usize)> = tree.children(parent).iter().map(ready).collect();
    messages.sort_by(|a, b| a.0.total_cmp(&b.0));
    messages
}

/// The cost of a broadcast from the root: when its last member has received.
#[must_use]
#[track_caller]
pub fn broadcast(problem: &Problem, tree: &Tree) -> f64 {
    arrivals(problem, tree).into_iter().fold(0.0, f64::max)
}

/// The cost of a reduction to the root: when the root has everything.
#[must_use]
#[track_caller]
pub fn reduction(problem: &Problem, tree: &Tree) -> f64 {
    completions(problem, tree)[tree.root()]
}

/// The cost of a barrier: a reduction over `up`, then a broadcast over `down`, which may be the same tree.
#[must_use]
#[track_caller]
pub fn barrier(problem: &Problem, up: &Tree, down: &Tree) -> f64 {
    assert_eq!(up.root(), down.root(), "the two trees of a barrier meet in one root");
    reduction(problem, up) + broadcast(problem, down)
}

/// The cost of an allreduce: a reduction over `up`, then a broadcast of the result over `down`.
#[must_use]
#[track_caller]
pub fn allreduce(problem: &Problem, up: &Tree, down: &Tree) -> f64 {
    barrier(problem, up, down)
}

/// The cost of a two-phase commit: broadcast of the proposal and reduction of the votes, then broadcast of the
/// decision.
#[must_use]
#[track_caller]
pub fn two_phase_commit(problem: &Problem, up: &Tree, down: &Tree) -> f64 {
    broadcast(problem, down) + barrier(problem, up, down)
}

/// The cost of a dissemination among all members in this order, by pairs: when the last of them has heard from all.
///
/// # Panics
///
/// If the order does not name every member once.
#[must_use]
#[track_caller]
pub fn dissemination(problem: &Problem, order: &[usize]) -> f64 {
    let mut named = order.to_vec();
    named.sort_unstable();
    assert!(named.into_iter().eq(0..problem.len()), "an order of dissemination names every member once");
    exchanged(problem, order, vec![0.0; order.len()]).into_iter().fold(0.0, f64::max)
}

/// When each of the members in `order`, ready at these times, has heard from all of them. In every round each sends to
/// the one that is 1, 2, 4, ... places further and then receives from the one as many places back; the costs are those
/// of pairs, as a wait lies between any two sends.
pub(crate) fn exchanged(problem: &Problem, order: &[usize], mut ready: Vec<f64>) -> Vec<f64> {
    let n = order.len();
    let distances = std::iter::successors(Some(1), |distance| Some(2 * distance));
    for distance in distances.take_while(|&distance| distance < n) {
        let sent: Vec<f64> = (0..n).map(|i| ready[i] + problem.send(order[i], order[(i + distance) % n])).collect();
        for (i, ready) in ready.iter_mut().enumerate() {
            let from = (i + n - distance) % n;
            *ready = sent[i].max(sent[from]) + problem.receive(order[from], order[i]);
        }
    }
    ready
}

/// The cost of a barrier with leaders: each group reduces to its leader, the leaders exchange by dissemination in the
/// order given, each then tells its group. The groups are the subtrees below the leaders: see
/// [`crate::Scheme::Leaders`].
///
/// # Panics
///
/// If the first leader is not the root of both trees, or another one not a child of it in both.
#[must_use]
#[track_caller]
pub fn leaders(problem: &Problem, up: &Tree, down: &Tree, leaders: &[usize]) -> f64 {
    let mut is_leader = vec![false; problem.len()];
    leaders.iter().for_each(|&leader| is_leader[leader] = true);
    for tree in [up, down] {
        check(problem, tree);
        let is_child = |&leader: &usize| tree.parent(leader) == Some(leaders[0]);
        let is_meeting = tree.root() == leaders[0] && leaders[1..].iter().all(is_child);
        assert!(is_meeting, "the first leader is the root, the others are its children");
    }
    let mut time = vec![0.0; problem.len()];
    for &parent in up.top_down().iter().rev() {
        let mut messages = in_order_of_arrival(problem, up, parent, &time);
        messages.retain(|&(_, child)| !is_leader[child]);
        time[parent] = received(problem, parent, &messages);
    }
    let ready = leaders.iter().map(|&leader| time[leader]).collect();
    for (&leader, exchanged) in leaders.iter().zip(exchanged(problem, leaders, ready)) {
        time[leader] = exchanged;
    }
    for &parent in down.top_down() {
        let children: Vec<usize> = down.children(parent).iter().copied().filter(|&child| !is_leader[child]).collect();
        inform(problem, parent, &children, &mut time);
    }
    time.into_iter().fold(0.0, f64::max)
}

/// The cost of a reduction and one store to a line that all others read; `None` if [`crate::Terms::readers`] does not
/// cover this many readers.
#[must_use]
#[track_caller]
pub fn release_line(problem: &Problem, up: &Tree) -> Option<f64> {
    release(problem).map(|release| reduction(problem, up) + release)
}

/// The cost of one increment of a shared word by every member and one store to a line that all others read; `None` if
/// [`crate::Terms::fetch_add`] and [`crate::Terms::readers`] do not cover this many members.
#[must_use]
pub fn counter(problem: &Problem) -> Option<f64> {
    let counted = at(&problem.terms().fetch_add, problem.len())?;
    release(problem).map(|release| counted + release)
}

/// The time from one store until all other members have seen it; `None` if [`crate::Terms::readers`] does not cover this many
/// readers.
#[must_use]
pub fn release(problem: &Problem) -> Option<f64> {
    at(&problem.terms().readers, problem.len() - 1)
}

/// The cost for `count` on a measured curve, straight between the points and level before the first; `None` beyond the
/// last, where nothing was measured.
fn at(curve: &[(u32, f64)], count: usize) -> Option<f64> {
    let behind = curve.partition_point(|&(measured, _)| (measured as usize) < count);
    let &(next, cost) = curve.get(behind)?;
    let Some(&(before, cost_before)) = behind.checked_sub(1).map(|before| &curve[before]) else { return Some(cost) };
    let part = (count as f64 - f64::from(before)) / f64::from(next - before);
    Some(cost_before + part * (cost - cost_before))
}

#[track_caller]
fn check(problem: &Problem, tree: &Tree) {
    assert_eq!(tree.len(), problem.len(), "the tree must have as many members as the problem");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Terms;
    use corecast_base::CpuId;
    use corecast_machine::{CostMatrix, Cpu, Machine, Topology};

    /// Three members; send = 1 + sender, receive = 10 * (1 + receiver).
    fn problem() -> Problem {
        let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let costs = |cost: fn(usize, usize) -> usize| {
            CostMatrix::from_fn(3, |i, j| if i == j { 0.0 } else { cost(i, j) as f64 }).expect("costs")
        };
        machine.send = costs(|i, _| 1 + i);
        machine.receive = costs(|_, j| 10 * (1 + j));
        Problem::of_machine(&machine).expect("three CPUs")
    }

    #[test]
    fn a_sender_sends_one_after_the_other() {
        let star = Tree::new(0, vec![vec![2, 1], vec![], vec![]]).expect("a tree");
        assert_eq!(arrivals(&problem(), &star), [0.0, 2.0 + 20.0, 1.0 + 30.0]);
        let chain = Tree::new(0, vec![vec![2], vec![], vec![1]]).expect("a tree");
        assert_eq!(broadcast(&problem(), &chain), 31.0 + 3.0 + 20.0);
    }

    #[test]
    fn a_parent_receives_in_order_of_arrival() {
        let star = Tree::new(0, vec![vec![2, 1], vec![], vec![]]).expect("a tree");
        assert_eq!(reduction(&problem(), &star), 2.0 + 10.0 + 10.0, "the second message waits for the first");
        let chain = Tree::new(0, vec![vec![2], vec![], vec![1]]).expect("a tree");
        assert_eq!(completions(&problem(), &chain), [2.0 + 30.0 + 3.0 + 10.0, 0.0, 32.0]);
    }

    #[test]
    fn barrier_and_commit_are_made_of_phases() {
        let star = Tree::new(0, vec![vec![2, 1], vec![], vec![]]).expect("a tree");
        let chain = Tree::new(0, vec![vec![2], vec![], vec![1]]).expect("a tree");
        assert_eq!(barrier(&problem(), &star, &chain), 22.0 + 54.0);
        assert_eq!(two_phase_commit(&problem(), &star, &chain), 54.0 + 22.0 + 54.0);
    }
    #[test]
    fn a_dissemination_takes_the_later_of_own_and_received() {
        // Round 1: 0 -> 2 -> 1 -> 0; round 2, two places on: 0 -> 1, 2 -> 0, 1 -> 2.
        let sent: [f64; 3] = [1.0, 2.0, 3.0];
        let second = [sent[0].max(sent[1]) + 10.0, sent[1].max(sent[2]) + 20.0, sent[2].max(sent[0]) + 30.0];
        let sent = [second[0] + 1.0, second[1] + 2.0, second[2] + 3.0];
        let ends = [sent[0].max(sent[2]) + 10.0, sent[1].max(sent[0]) + 20.0, sent[2].max(sent[1]) + 30.0];
        assert_eq!(dissemination(&problem(), &[0, 2, 1]), ends.into_iter().fold(0.0, f64::max));
    }

    #[test]
    fn leaders_gather_exchange_and_tell() {
        // 1 and 2 are a group led by 2: 1 tells 2 by 2 + 30; 0 and 2 exchange; 2 tells 1.
        let tree = Tree::new(0, vec![vec![2], vec![], vec![1]]).expect("a tree");
        let (sent_by_0, sent_by_2) = (1.0, 32.0 + 3.0);
        let (at_0, at_2) = (f64::max(sent_by_0, sent_by_2) + 10.0, f64::max(sent_by_0, sent_by_2) + 30.0);
        assert_eq!(leaders(&problem(), &tree, &tree, &[0, 2]), f64::max(at_0, at_2 + 3.0 + 20.0));
        assert_eq!(
            leaders(&problem(), &tree, &tree, &[0]),
            barrier(&problem(), &tree, &tree),
            "one leader is the root"
        );
    }

    #[test]
    fn shared_lines_cost_what_was_measured() {
        let tree = Tree::new(0, vec![vec![2, 1], vec![], vec![]]).expect("a tree");
        assert_eq!((release_line(&problem(), &tree), counter(&problem())), (None, None));
        let terms =
            Terms { readers: vec![(1, 7.0), (3, 11.0)], fetch_add: vec![(2, 4.0), (4, 10.0)], ..Terms::default() };
        let problem = problem().with_terms(terms);
        assert_eq!(release_line(&problem, &tree), Some(22.0 + 9.0));
        assert_eq!(counter(&problem), Some(7.0 + 9.0));
        assert_eq!(at(&[(4, 10.0)], 5), None, "nothing was measured beyond");
        assert_eq!(at(&[(4, 10.0)], 1), Some(10.0));
    }
}
