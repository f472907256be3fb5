//! The time that one command takes the members, which limits throughput, and the time until the last client has its answer.

use corecast_plan::{Problem, Tree, simulate};

use super::costs::Costs;
use super::roles::Roles;

/// A prediction for one command of 1Paxos, in the unit of the problem.
///
/// Every member has sends and receives: of requests (a client is at each member equally often), of the accept, and of what is
/// learned. The member with most of it, work beside its messages included, limits the throughput. An answer takes the request,
/// the accept, and the way of the word to the client's own replica, which answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// The time for which the busiest member is busy.
    pub busiest: f64,
    /// That member, a rank.
    pub member: usize,
    /// The part of `busiest` that is no message: 0 where the costs have no work.
    pub work: f64,
    /// The time from a request to its answer, for the client that waits longest.
    pub response: f64,
}

impl Load {
    /// Learning over this tree, whose root accepts. A tree of one level is learning directly by messages.
    ///
    /// # Panics
    /// If the root is not the acceptor, or the tree has another number of members.
    #[must_use]
    #[track_caller]
    pub fn over<'a>(costs: impl Into<Costs<'a>>, roles: Roles, tree: &Tree) -> Self {
        let costs = costs.into();
        assert_eq!(tree.root(), roles.acceptor, "the acceptor is the first to know what is decided");
        let problem = costs.problem;
        let mut busy = roles.duties(costs);
        for &parent in tree.top_down() {
            for (nth, &child) in tree.children(parent).iter().enumerate() {
                busy[parent] += problem.nth_send(parent, child, nth);
                busy[child] += problem.receive(parent, child);
            }
        }
        Self::of(costs, roles, &busy, &simulate::arrivals(problem, tree))
    }

    /// The acceptor tells each other member, one after another, in order of rank.
    #[must_use]
    pub fn direct<'a>(costs: impl Into<Costs<'a>>, roles: Roles) -> Self {
        let costs = costs.into();
        Self::over(costs, roles, &star(costs.problem, roles.acceptor))
    }

    /// The acceptor writes one line that all others read. The model's curve of readers says how long the line goes around;
    /// without it readers are taken not to hinder each other, which is the least that it can be.
    #[must_use]
    pub fn shared_line<'a>(costs: impl Into<Costs<'a>>, roles: Roles) -> Self {
        let costs = costs.into();
        let problem = costs.problem;
        let acceptor = roles.acceptor;
        let others = || (0..problem.len()).filter(move |&member| member != acceptor);
        let written = others().map(|reader| problem.send(acceptor, reader)).fold(0.0, f64::max);
        let goes_round = simulate::release(problem).filter(|_| problem.len() > 1).unwrap_or(0.0);
        let mut busy = roles.duties(costs);
        let mut arrivals = vec![0.0; problem.len()];
        busy[acceptor] = (busy[acceptor] + written).max(goes_round);
        for reader in others() {
            let read = problem.receive(acceptor, reader);
            busy[reader] += read;
            arrivals[reader] = (written + read).max(goes_round);
        }
        Self::of(costs, roles, &busy, &arrivals)
    }

    fn of(costs: Costs<'_>, roles: Roles, busy: &[f64], arrivals: &[f64]) -> Self {
        let problem = costs.problem;
        let work = costs.work(roles);
        let later = |a: usize, b: usize| if busy[b] > busy[a] { b } else { a };
        let member = (0..busy.len()).reduce(later).expect("a problem has at least one member");
        let way = |from: usize, to: usize| if from == to { 0.0 } else { problem.message(from, to) };
        let accepted = way(roles.leader, roles.acceptor);
        let answers = (0..busy.len()).map(|client| way(client, roles.leader) + accepted + arrivals[client]);
        let response = answers.fold(0.0, f64::max) + work.response;
        Self { busiest: busy[member], member, work: work.of(roles, member), response }
    }

    /// This one's commands in the time of one of `other`'s: above 1 if this is the faster way.
    #[must_use]
    pub fn throughput_over(&self, other: &Self) -> f64 {
        // Members that have nothing to do are as fast as any.
        if self.busiest == other.busiest { 1.0 } else { other.busiest / self.busiest }
    }
}

/// The tree of one level with this root.
pub(super) fn star(problem: &Problem, root: usize) -> Tree {
    let mut children = vec![Vec::new(); problem.len()];
    children[root] = (0..problem.len()).filter(|&member| member != root).collect();
    Tree::new(root, children).expect("the root tells every other member once")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Work;
    use corecast_base::CpuId;
    use corecast_machine::{CostMatrix, Cpu, Machine, Topology};
    use corecast_plan::Terms;

    /// Four members; a send costs 10, a receive 100.
    fn problem() -> Problem {
        let cpus = (0..4).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let costs = |cost: f64| CostMatrix::from_fn(4, |i, j| if i == j { 0.0 } else { cost }).expect("costs");
        (machine.send, machine.receive) = (costs(10.0), costs(100.0));
        Problem::of_machine(&machine).expect("four CPUs")
    }

    const ROLES: Roles = Roles { leader: 1, acceptor: 0 };

    #[test]
    fn every_message_of_a_command_is_counted_at_both_ends() {
        let tree = Tree::new(0, vec![vec![1, 2], vec![], vec![3], vec![]]).expect("a tree");
        // Three of four requests come from elsewhere. The leader: those, the accept, the word of the acceptor.
        let leader = 75.0 + 10.0 + 100.0;
        let load = Load::over(&problem(), ROLES, &tree);
        assert_eq!((load.busiest, load.member), (leader, 1));
        // The client at 3: request, accept, two hops, the first of which waits for another send.
        assert_eq!(load.response, 110.0 + 110.0 + 20.0 + 100.0 + 110.0);
        let direct = Load::direct(&problem(), ROLES);
        assert_eq!((direct.busiest, direct.response), (leader, 110.0 + 110.0 + 30.0 + 100.0));
        assert_eq!(direct.throughput_over(&load), 1.0);
    }

    #[test]
    fn work_is_added_to_messages() {
        let work = Work { order: 4.0, serve: 4.0, accept: 900.0, run_share: 1.0, ..Work::default() };
        let problem = problem();
        let costs = Costs::with_work(&problem, work);
        let without = Load::direct(&problem, ROLES);
        let with = Load::direct(costs, ROLES);
        assert_eq!(without, Load::direct(Costs::with_work(&problem, Work::default()), ROLES));
        // The acceptor: a quarter of a request of its own, one accept, three words.
        assert_eq!((with.busiest, with.member, with.work), (2.5 + 100.0 + 30.0 + 900.0, 0, 900.0));
        assert_eq!(with.response, without.response + 904.0);
        let line = Load::shared_line(costs, ROLES);
        assert_eq!((line.member, line.work), (0, 900.0));
        let fused = Load::direct(costs, Roles { leader: 0, acceptor: 0 });
        let learner = 2.5 + 100.0 + 900.0;
        assert_eq!((fused.busiest, fused.member), (learner, 1), "the work of accepting is that of those who learn");
    }

    #[test]
    fn a_fused_leader_sends_itself_nothing() {
        let load = Load::direct(&problem(), Roles { leader: 0, acceptor: 0 });
        // The leader: three of four requests and three words. Another: a quarter of a request of its own, and the word.
        assert_eq!((load.busiest, load.member), (75.0 + 30.0, 0));
        assert_eq!(load.response, 110.0 + 30.0 + 100.0);
    }

    #[test]
    fn a_line_that_all_read_goes_around_as_measured() {
        let load = Load::shared_line(&problem(), ROLES);
        assert_eq!((load.busiest, load.response), (185.0, 110.0 + 110.0 + 110.0));
        let measured = problem().with_terms(Terms { readers: vec![(1, 50.0), (3, 700.0)], ..Terms::default() });
        let load = Load::shared_line(&measured, ROLES);
        assert_eq!((load.busiest, load.member), (700.0, 0));
    }

    #[test]
    fn one_member_has_nothing_to_do() {
        let one = problem().subset(&[0]);
        let load = Load::direct(&one, Roles { leader: 0, acceptor: 0 });
        assert_eq!(load, Load { busiest: 0.0, member: 0, work: 0.0, response: 0.0 });
        assert_eq!(load.throughput_over(&load), 1.0);
    }
}
