//! The members with a role.

use std::cmp::Ordering;

use corecast_plan::Problem;

use super::costs::Costs;

/// The member that orders commands and the one that accepts them, as ranks of a [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Roles {
    /// The leader.
    pub leader: usize,
    /// The acceptor. The leader itself where the roles are fused.
    pub acceptor: usize,
}

impl Roles {
    /// True if the leader accepts itself.
    #[must_use]
    pub fn is_fused(&self) -> bool {
        self.leader == self.acceptor
    }

    /// The time in which the roles alone keep each member busy for one command, by rank: the request, which comes from each
    /// member equally often and from the leader's own clients for nothing, the accept, and the member's work. Messages by which
    /// members learn are not in it.
    pub(super) fn duties(&self, costs: Costs<'_>) -> Vec<f64> {
        let problem = costs.problem;
        let work = costs.work(*self);
        let (leader, share) = (self.leader, 1.0 / problem.len() as f64);
        let mut busy: Vec<f64> = (0..problem.len()).map(|member| work.of(*self, member)).collect();
        for client in (0..problem.len()).filter(|&client| client != leader) {
            busy[client] += share * problem.send(client, leader);
            busy[leader] += share * problem.receive(client, leader);
        }
        if !self.is_fused() {
            busy[leader] += problem.send(leader, self.acceptor);
            busy[self.acceptor] += problem.receive(leader, self.acceptor);
        }
        busy
    }

    /// Pairs of roles, the most promising first: those whose two members are least busy before anyone learns, then those with the
    /// shortest way from a client to the acceptor.
    pub(super) fn ranked(costs: Costs<'_>, is_fused: bool) -> Vec<Self> {
        let problem = costs.problem;
        let members = 0..problem.len();
        let pairs = members.clone().flat_map(|leader| members.clone().map(move |acceptor| Self { leader, acceptor }));
        let is_asked_for = |roles: &Self| roles.is_fused() == (is_fused || problem.len() == 1);
        let asking: Vec<(f64, f64)> = members.clone().map(|leader| asked(problem, leader)).collect();
        let mut ranked: Vec<_> = pairs
            .filter(is_asked_for)
            .map(|roles| {
                let (busy, way) = asking[roles.leader];
                (roles.promise(costs, busy, way), roles)
            })
            .collect();
        ranked.sort_by(|a, b| compare(a.0, b.0));
        ranked.into_iter().map(|(_, roles)| roles).collect()
    }

    /// The busier one of the two, with one child each and one parent for the leader, and the way of a request.
    fn promise(&self, costs: Costs<'_>, asked: f64, way: f64) -> (f64, f64) {
        let Self { leader, acceptor } = *self;
        let problem = costs.problem;
        let work = costs.work(*self);
        let others = || (0..problem.len()).filter(move |&member| member != leader && member != acceptor);
        let least = |cost: &dyn Fn(usize) -> f64| others().map(cost).reduce(f64::min).unwrap_or(0.0);
        let tells = least(&|child| problem.send(acceptor, child));
        if self.is_fused() {
            return (work.leader + asked + tells, way);
        }
        let learns = least(&|parent| problem.receive(parent, leader));
        let leads = work.leader + asked + problem.send(leader, acceptor) + learns;
        (leads.max(work.acceptor + problem.receive(leader, acceptor) + tells), way + problem.message(leader, acceptor))
    }
}

/// The time in which requests keep this leader busy for one command, and the mean way of a request to it.
fn asked(problem: &Problem, leader: usize) -> (f64, f64) {
    let share = 1.0 / problem.len() as f64;
    let others = || (0..problem.len()).filter(|&client| client != leader);
    let busy = others().map(|client| share * problem.receive(client, leader)).sum();
    (busy, others().map(|client| share * problem.message(client, leader)).sum())
}

/// By the first number, then the second.
pub(super) fn compare(a: (f64, f64), b: (f64, f64)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
}
