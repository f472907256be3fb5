//! Schedules: every message of a collective with its predicted start and end, for drawing and explaining.
//!
//! The times are those of [`crate::simulate`]; a schedule only writes them all down.

use crate::operation::{Direction, Operation};
use crate::plan::{Plan, Scheme};
use crate::problem::Problem;
use crate::simulate;
use crate::tree::Tree;

/// One message, in the problem's unit after the start of the operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// The sender's rank.
    pub from: usize,
    /// The receiver's rank.
    pub to: usize,
    /// The sender begins to send.
    pub send_start: f64,
    /// The sender is free again, and the message is there.
    pub send_end: f64,
    /// The receiver turns to this message.
    pub receive_start: f64,
    /// The receiver has it.
    pub receive_end: f64,
}

/// The messages of one phase of a collective.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Whether messages run to or from the root, or leaders of groups; `None` where members exchange without a root.
    pub direction: Option<Direction>,
    /// When the phase begins.
    pub start: f64,
    /// When its last member is done.
    pub end: f64,
    /// By rank: when the member has the broadcast, or everything of its subtree in a reduction, or all that it is to hear
    /// in an exchange.
    pub arrivals: Vec<f64>,
    /// Every message, grouped by parent from the root down; among one parent's in the order in which it sends or
    /// receives them. Those of an exchange are grouped by round.
    pub transfers: Vec<Transfer>,
}

impl Schedule {
    /// The phases of a plan, whatever its scheme; the last one's end is what it should cost.
    ///
    /// # Panics
    ///
    /// If the plan has not as many members as the problem.
    #[must_use]
    #[track_caller]
    pub fn of_plan(problem: &Problem, plan: &Plan) -> Vec<Self> {
        let members = problem.len();
        match &plan.scheme {
            Scheme::Trees => Self::of_two(plan.operation, problem, plan.up(), &plan.tree),
            Scheme::Dissemination(order) => vec![Self::exchange(problem, order, &vec![0.0; members])],
            Scheme::Leaders(leaders) => {
                let up = Self::gather(problem, plan.up(), leaders);
                let exchange = Self::exchange(problem, leaders, &up.arrivals);
                let down = Self::spread(problem, &plan.tree, leaders, &exchange.arrivals);
                vec![up, exchange, down]
            }
            Scheme::ReleaseLine => {
                let up = Self::reduction(problem, plan.up(), 0.0);
                let end = simulate::release_line(problem, plan.up()).unwrap_or(plan.predicted);
                let release = Self::release(members, plan.tree.root(), up.end, end);
                vec![up, release]
            }
            Scheme::Counter => {
                vec![Self::messageless(members, simulate::counter(problem).unwrap_or(plan.predicted))]
            }
        }
    }

    /// The phases of an operation over one tree, one after the other; the last one's end is the operation's cost.
    ///
    /// # Panics
    ///
    /// If the tree has not as many members as the problem.
    #[must_use]
    #[track_caller]
    pub fn of(operation: Operation, problem: &Problem, tree: &Tree) -> Vec<Self> {
        Self::of_two(operation, problem, tree, tree)
    }

    /// The phases of an operation whose reductions go up one tree and whose broadcasts go down another.
    ///
    /// # Panics
    ///
    /// If a tree has not as many members as the problem.
    #[must_use]
    #[track_caller]
    pub fn of_two(operation: Operation, problem: &Problem, up: &Tree, down: &Tree) -> Vec<Self> {
        let mut phases: Vec<Self> = Vec::new();
        for direction in operation.phases() {
            let start = phases.last().map_or(0.0, |phase| phase.end);
            phases.push(match direction {
                Direction::Down => Self::broadcast(problem, down, start),
                Direction::Up => Self::reduction(problem, up, start),
            });
        }
        phases
    }

    /// The messages of a broadcast that the root begins at `start`.
    ///
    /// # Panics
    ///
    /// If the tree has not as many members as the problem.
    #[must_use]
    #[track_caller]
    pub fn broadcast(problem: &Problem, tree: &Tree, start: f64) -> Self {
        let arrivals: Vec<f64> = simulate::arrivals(problem, tree).into_iter().map(|time| start + time).collect();
        let mut transfers = Vec::with_capacity(tree.len() - 1);
        for &from in tree.top_down() {
            let mut now = arrivals[from];
            for (nth, &to) in tree.children(from).iter().enumerate() {
                let send_end = now + problem.nth_send(from, to, nth);
                let receive_end = arrivals[to];
                transfers.push(Transfer { from, to, send_start: now, send_end, receive_start: send_end, receive_end });
                now = send_end;
            }
        }
        let end = arrivals.iter().copied().fold(start, f64::max);
        Self { direction: Some(Direction::Down), start, end, arrivals, transfers }
    }

    /// The messages of a reduction that all members begin at `start`.
    ///
    /// # Panics
    ///
    /// If the tree has not as many members as the problem.
    #[must_use]
    #[track_caller]
    pub fn reduction(problem: &Problem, tree: &Tree, start: f64) -> Self {
        let done = simulate::completions(problem, tree);
        let mut transfers = Vec::with_capacity(tree.len() - 1);
        for &to in tree.top_down() {
            let mut now: f64 = 0.0;
            for (ready, from) in simulate::in_order_of_arrival(problem, tree, to, &done) {
                let receive_start = now.max(ready);
                now = receive_start + problem.occupancy(from, to);
                transfers.push(Transfer {
                    from,
                    to,
                    send_start: start + done[from],
                    send_end: start + (done[from] + problem.send(from, to)),
                    receive_start: start + receive_start,
                    receive_end: start + now,
                });
            }
        }
        let arrivals: Vec<f64> = done.into_iter().map(|time| start + time).collect();
        Self { direction: Some(Direction::Up), start, end: arrivals[tree.root()], arrivals, transfers }
    }

    /// The messages that a member sends, in the order of sending.
    pub fn sent_by(&self, member: usize) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter().filter(move |transfer| transfer.from == member)
    }

    /// The messages that a member receives, in the order of receiving.
    pub fn received_by(&self, member: usize) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter().filter(move |transfer| transfer.to == member)
    }
}
