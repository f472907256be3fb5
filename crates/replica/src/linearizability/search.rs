//! The search for an order.
//!
//! A configuration is the set of answered operations that have taken effect, the set of unanswered ones that have, and the
//! state. An operation may be next if no other one that is left returned before its call. The search follows one order into
//! the depth, goes back where none of these gives its answer, and remembers configurations that it has seen (Wing and Gong,
//! Testing and Verifying Concurrent Objects, 1993; Lowe, Testing for Linearizability, 2017). Four things keep it short:
//!
//! - a read that gives its answer goes first, without alternatives: no order needs it later. (A write that happens to change
//!   nothing here may be needed later.)
//! - unanswered operations come last, as few of them as possible: a configuration is skipped if the same one with fewer of
//!   them was seen, and of equal ones the earliest call is taken;
//! - an unanswered operation must matter to the next one: it is not tried before an operation that gives the same answer and
//!   result without it, or before it;
//! - a set of operations is a count, as they are ordered by call, and the few below it that are missing. Those were all open
//!   at one time, so that there are no more of them than clients. (A set of bits took a kilobyte where a stopped client keeps
//!   an operation open for 10,000 others.)
//!
//! The time is near linear in the operations for histories that are linearizable. To show that there is no order takes all
//! configurations: their number is exponential in the operations that are open at one time, and grows with the unanswered
//! ones. Of 10,000 operations on one key, up to eight clients and ten unanswered operations are decided in seconds.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::history::Operation;
use super::model::Model;
use super::verdict::{Verdict, Violation};

/// A limit on the configurations of a search that takes seconds, and some hundred megabytes.
pub const USUAL_LIMIT: usize = 1_000_000;

/// Looks for an order of the history, among at most `limit` configurations.
///
/// ```
/// use corecast_replica::linearizability::*;
///
/// let at = |call_ns, op, at_ns, answer| {
///     Operation { client: 1, op, call_ns, returned: Some(Return { at_ns, answer }) }
/// };
/// let history = [
///     at(0, RegisterOp::Set(5), 10, RegisterAnswer::Done),
///     at(20, RegisterOp::Get, 30, RegisterAnswer::Value(None)), // stale
/// ];
/// assert!(matches!(check(&Register, &history, USUAL_LIMIT), Verdict::Violated(_)));
/// ```
///
/// # Panics
/// If an operation returns before it is called, or there are 2^32 of them.
#[must_use]
pub fn check<M: Model>(model: &M, history: &[Operation<M::Op, M::Answer>], limit: usize) -> Verdict {
    Search::new(model, history).run(limit)
}

/// The first configuration has no parent.
const NO_NODE: u32 = u32::MAX;

/// An operation by its place in `Search::answered` or `Search::unanswered`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Answered(u32),
    Unanswered(u32),
}

/// The answered operations that have taken effect: all below `below` but those that are `missing`, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Done {
    below: u32,
    missing: Vec<u32>,
}

/// A configuration.
#[derive(Debug, Clone)]
struct Node<S> {
    done: Done,
    /// The unanswered operations that have taken effect, in order.
    used: Vec<u32>,
    state: S,
    parent: u32,
    /// How it came from its parent.
    step: Option<Step>,
}

/// A configuration that is still to be looked at: the deepest first, with the fewest unanswered operations, the newest.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    depth: usize,
    used: Reverse<usize>,
    number: u64,
    parent: u32,
    step: Step,
}

struct Search<'a, M: Model> {
    model: &'a M,
    history: &'a [Operation<M::Op, M::Answer>],
    /// Positions in the history, in order of call.
    answered: Vec<usize>,
    unanswered: Vec<usize>,
    /// For each unanswered operation the equal one that was called before it.
    equal_before: Vec<Option<u32>>,
    nodes: Vec<Node<M::State>>,
    /// For each set of answered operations and state, the smallest sets of unanswered ones it was seen with.
    seen: HashMap<(Done, M::State), Vec<Vec<u32>>>,
    open: BinaryHeap<Open>,
    opened: u64,
    /// The depth and the configuration with the longest order.
    deepest: (usize, Option<Node<M::State>>),
}

impl<'a, M: Model> Search<'a, M> {
    fn new(model: &'a M, history: &'a [Operation<M::Op, M::Answer>]) -> Self {
        assert!(u32::try_from(history.len()).is_ok_and(|len| len < NO_NODE), "a history has less than 2^32 operations");
        let mut by_call: Vec<usize> = (0..history.len()).collect();
        by_call.sort_by_key(|at| history[*at].call_ns);
        let (answered, unanswered): (Vec<_>, Vec<_>) =
            by_call.into_iter().partition(|at| history[*at].returned.is_some());
        let equals = |at: usize| move |before: &usize| history[*before].op == history[at].op;
        let equal_before = unanswered.iter().enumerate();
        let equal_before = equal_before.map(|(place, at)| unanswered[..place].iter().rposition(equals(*at)));
        let equal_before = equal_before.map(|place| place.map(|place| place as u32)).collect();
        let in_time = |at: &usize| history[*at].returned.as_ref().is_none_or(|end| end.at_ns >= history[*at].call_ns);
        assert!((0..history.len()).all(|at| in_time(&at)), "an operation returns after its call");
        Self {
            model,
            history,
            answered,
            unanswered,
            equal_before,
            nodes: Vec::new(),
            seen: HashMap::new(),
            open: BinaryHeap::new(),
            opened: 0,
            deepest: (0, None),
        }
    }

    fn run(mut self, limit: usize) -> Verdict {
        let state = self.model.initial();
        let mut next = Some(Node { done: Done::default(), used: Vec::new(), state, parent: NO_NODE, step: None });
        for _ in 0..limit {
            let Some(node) = next else { return Verdict::Violated(self.violation()) };
            if node.done.len() == self.answered.len() {
                return Verdict::Linearizable;
            }
            self.expand(node);
            next = self.open.pop().map(|open| self.enter(&open));
        }
        Verdict::Undecided(self.violation())
    }

    /// Opens everything that may follow the configuration.
    fn expand(&mut self, node: Node<M::State>) {
        let steps = self.steps(&node);
        let depth = node.done.len();
        if depth > self.deepest.0 || self.deepest.1.is_none() {
            self.deepest = (depth, Some(node.clone()));
        }
        if steps.is_empty() || !self.see(&node) {
            return;
        }
        let used = node.used.len();
        let parent = self.nodes.len() as u32;
        self.nodes.push(node);
        for step in steps.into_iter().rev() {
            let (depth, used) = match step {
                Step::Answered(_) => (depth + 1, used),
                Step::Unanswered(_) => (depth, used + 1),
            };
            self.opened += 1;
            self.open.push(Open { depth, used: Reverse(used), number: self.opened, parent, step });
        }
    }

    /// The configuration that was opened.
    fn enter(&self, open: &Open) -> Node<M::State> {
        let parent = &self.nodes[open.parent as usize];
        let (mut done, mut used) = (parent.done.clone(), parent.used.clone());
        match open.step {
            Step::Answered(at) => done.insert(at),
            Step::Unanswered(at) => used.insert(used.partition_point(|other| *other < at), at),
        }
        let state = self.after(&parent.state, open.step);
        Node { done, used, state, parent: open.parent, step: Some(open.step) }
    }

    /// Remembers the configuration. Returns false if the same one was seen with some of its unanswered operations, or all.
    fn see(&mut self, node: &Node<M::State>) -> bool {
        let seen = self.seen.entry((node.done.clone(), node.state.clone())).or_default();
        if seen.iter().any(|used| is_subset(used, &node.used)) {
            return false;
        }
        seen.retain(|used| !is_subset(&node.used, used));
        seen.push(node.used.clone());
        true
    }

    /// The operations that may be next and give their answers, in the order in which they are to be tried.
    fn steps(&self, node: &Node<M::State>) -> Vec<Step> {
        let (candidates, until_ns) = self.candidates(&node.done);
        let mut steps = Vec::new();
        for step in candidates.into_iter().map(Step::Answered) {
            let (_, answer) = self.model.apply(&node.state, &self.operation(step).op);
            let gives_it = self.operation(step).returned.as_ref().is_some_and(|end| end.answer == answer);
            if gives_it && self.model.is_read(&self.operation(step).op, &answer) {
                return if self.is_early(node, step) { Vec::new() } else { vec![step] };
            }
            if gives_it {
                steps.push(step);
            }
        }
        steps.sort_by_key(|step| self.operation(*step).returned.as_ref().map(|end| end.at_ns));
        steps.extend(self.unanswered_steps(node, until_ns));
        steps.retain(|step| !self.is_early(node, *step));
        steps
    }

    /// The answered operations that may be next, and the time by which the first of those that are left has returned.
    fn candidates(&self, done: &Done) -> (Vec<u32>, u64) {
        let mut until_ns = u64::MAX;
        let mut candidates = Vec::new();
        for at in done.missing.iter().copied().chain(done.below..self.answered.len() as u32) {
            let operation = &self.history[self.answered[at as usize]];
            // Those behind it were called later still.
            if operation.call_ns > until_ns {
                break;
            }
            until_ns = operation.returned.as_ref().map_or(until_ns, |end| end.at_ns.min(until_ns));
            candidates.push(at);
        }
        (candidates, until_ns)
    }

    /// The unanswered operations that may be next and change something.
    fn unanswered_steps(&self, node: &Node<M::State>, until_ns: u64) -> Vec<Step> {
        let called = self.unanswered.partition_point(|at| self.history[*at].call_ns <= until_ns) as u32;
        let is_used = |at: u32| node.used.binary_search(&at).is_ok();
        let is_first = |at: &u32| !is_used(*at) && self.equal_before[*at as usize].is_none_or(is_used);
        let steps = (0..called).filter(is_first).map(Step::Unanswered);
        steps.filter(|step| self.after(&node.state, *step) != node.state).collect()
    }

    /// Whether the configuration came from an unanswered operation that does not matter to this next one: an order without it,
    /// or with both the other way round, leads to the same.
    fn is_early(&self, node: &Node<M::State>, next: Step) -> bool {
        let Some(last @ Step::Unanswered(_)) = node.step else { return false };
        let before = &self.nodes[node.parent as usize].state;
        let (without, answer) = self.model.apply(before, &self.operation(next).op);
        if self.operation(next).returned.as_ref().is_some_and(|end| end.answer != answer) {
            return false;
        }
        let with = self.after(&node.state, next);
        // Of two unanswered ones that commute the earlier call goes first.
        let may_swap = matches!(next, Step::Answered(_)) || next < last;
        without == with || (may_swap && self.after(&without, last) == with)
    }

    fn after(&self, state: &M::State, step: Step) -> M::State {
        self.model.apply(state, &self.operation(step).op).0
    }

    fn operation(&self, step: Step) -> &'a Operation<M::Op, M::Answer> {
        &self.history[self.position(step)]
    }

    /// The place of the operation in the history.
    fn position(&self, step: Step) -> usize {
        match step {
            Step::Answered(at) => self.answered[at as usize],
            Step::Unanswered(at) => self.unanswered[at as usize],
        }
    }

    fn violation(&self) -> Violation {
        let Some(deepest) = &self.deepest.1 else { return Violation::default() };
        let mut order = Vec::new();
        let mut node = deepest;
        while let Some(step) = node.step {
            order.push(self.position(step));
            node = &self.nodes[node.parent as usize];
        }
        order.reverse();
        let stuck = self.candidates(&deepest.done).0.into_iter().map(|at| self.position(Step::Answered(at))).collect();
        Violation { order, state: format!("{:?}", deepest.state), stuck }
    }
}

impl Done {
    fn len(&self) -> usize {
        self.below as usize - self.missing.len()
    }

    fn insert(&mut self, at: u32) {
        if at < self.below {
            self.missing.retain(|missing| *missing != at);
        } else {
            self.missing.extend(self.below..at);
            self.below = at + 1;
        }
    }
}

/// Whether all of `few` are among `many`; both are in order.
fn is_subset(few: &[u32], many: &[u32]) -> bool {
    let mut many = many.iter();
    few.iter().all(|at| many.any(|other| other == at))
}
