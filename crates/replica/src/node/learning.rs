//! How the learners of a group hear of decisions, and the choice where nobody has made it.

use std::sync::Arc;

use corecast_base::CpuId;
use corecast_machine::Machine;
use corecast_plan::Problem;

use super::config::Placement;
use super::driver::Driver;
use crate::placement::{LearnTree, PlacementPlan, Roles};
use crate::{NodeId, StateMachine};

/// The most members that a node plans for by itself: a plan for them takes milliseconds.
const MOST: usize = 64;

/// Commands that come at once where several clients write: one that waits for its own result has one.
const MUCH: u64 = 8;
/// A node that lags is behind by up to one part in this many of the log. Users wait for one that is 3/8 behind.
const LITTLE_OF_WINDOW: u64 = 32;

/// How learners hear that the acceptor has committed something.
///
/// Decisions stand in the acceptor's log, and every learner reads them there; this is about who watches and wakes whom.
/// Each node goes by its own configuration. Nodes that go by different ones lose time, not commands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Learning {
    /// Over a tree if the node knows the [machine](super::Config::machine), all members are bound to a CPU each, and a plan of
    /// them predicts clearly more throughput over a tree; directly otherwise.
    #[default]
    Planned,
    /// All learners watch the acceptor, which wakes them all.
    Direct,
    /// Each learner watches its parent, which wakes it. If a parent says nothing for 100 us of what the acceptor has committed,
    /// its children watch the acceptor until it speaks again.
    Tree(LearnTree),
}

/// The members to plan for.
pub(super) struct LearnJob {
    machine: Arc<Machine>,
    placement: Placement,
    nodes: Vec<NodeId>,
    /// The CPU of each.
    cpus: Vec<CpuId>,
}

/// The outcome of planning for some members.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MemberPlan {
    /// The tree, if it is worth it.
    pub(super) tree: Option<LearnTree>,
    /// The leader and the acceptor, if these roles are worth the move from those that a group begins with.
    pub(super) roles: Option<(NodeId, NodeId)>,
}

impl LearnJob {
    /// The plan. All members make the same one, whoever has the roles at the moment: a tree is good with any of its
    /// members as the acceptor.
    pub(super) fn plan(&self) -> Option<MemberPlan> {
        let problem = Problem::of_members(&self.machine, &self.cpus).ok()?;
        let is_fused = self.placement == Placement::Fused;
        let first = PlacementPlan::with_roles(&problem, Roles { leader: 0, acceptor: usize::from(!is_fused) });
        let best = if is_fused { PlacementPlan::fused(&problem) } else { PlacementPlan::separate(&problem) };
        let moves = best.is_worth_moving_to(&first);
        let plan = if moves { best } else { first };
        let roles = plan.roles_to_have();
        let slots: Vec<u16> = self.nodes.iter().map(|node| node.slot).collect();
        Some(MemberPlan {
            tree: plan.is_tree_worth_it().then(|| LearnTree::of_ranks(&plan.tree, &slots)),
            roles: moves.then(|| (self.nodes[roles.leader], self.nodes[roles.acceptor])),
        })
    }
}

impl<S: StateMachine> Driver<S> {
    /// The members that there is no plan for yet, if there is to be one. Where they have no CPU each, the node learns directly.
    pub(super) fn learning_to_plan(&mut self) -> Option<LearnJob> {
        let machine = self.config.machine.as_ref().filter(|_| self.config.learning == Learning::Planned)?;
        let members: Vec<NodeId> = self.core.members().iter().collect();
        if members == self.planned_for {
            return None;
        }
        let (machine, placement) = (Arc::clone(machine), self.config.placement);
        self.planned_for = members;
        let cpus = self.cpus_of_members();
        if cpus.is_none() {
            self.follow(None);
        }
        Some(LearnJob { machine, placement, nodes: self.planned_for.clone(), cpus: cpus? })
    }

    /// The CPUs of at least three members; `None` if one may run on several, or two run on the same.
    fn cpus_of_members(&self) -> Option<Vec<CpuId>> {
        let place = |node: &NodeId| self.shm.segment(*node)?.cpu();
        let cpus: Vec<CpuId> = self.planned_for.iter().map(place).collect::<Option<_>>()?;
        let mut sorted = cpus.clone();
        sorted.sort_unstable();
        sorted.dedup();
        (sorted.len() == cpus.len() && (3..=MOST).contains(&cpus.len())).then_some(cpus)
    }

    /// Goes by this plan from now on.
    pub(super) fn follow(&mut self, plan: Option<MemberPlan>) {
        let (tree, roles) = plan.map_or((None, None), |plan| (plan.tree, plan.roles));
        self.learn_over(tree);
        self.wish_for(roles);
    }

    /// True while this node's parent in the tree is silent: nobody wakes it for what the acceptor commits. That is no reason to
    /// suspect the acceptor or the leader, which may have nothing to do.
    pub(super) fn learns_alone(&self) -> bool {
        self.shm.relay.is_alone()
    }

    /// True if nobody waits for what this node learns, of which `learned` commands came at once: enough that a wake-up for each
    /// run of them is dear, and far fewer than the log holds for it. A caller that comes drives the node itself.
    pub(super) fn may_lag(&self, learned: u64) -> bool {
        let roles = *self.core.configuration();
        let has_role = [roles.leader, roles.acceptor].contains(&self.shm.me);
        let is_much = (MUCH..=self.config.window / LITTLE_OF_WINDOW).contains(&learned);
        is_much && !has_role && !self.shm.relay.is_in_use() && !self.expects_something()
    }

    /// Learns over this tree from now on, or directly.
    pub(super) fn learn_over(&mut self, tree: Option<LearnTree>) {
        self.shm.relay.set_tree(tree.map(Arc::new));
        self.pin_peers();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::Compact;
    use crate::node::{Config, Replicated};
    use corecast_machine::{CostMatrix, Cpu, Topology};

    #[test]
    fn only_a_node_without_a_role_that_expects_nothing_may_lag() {
        // No member of a loaded machine is suspected, which would move roles.
        let calm = std::time::Duration::from_secs(60);
        let config = Config::default().slots(4).window(512).placement(Placement::Separate).patience(calm);
        let first = Replicated::create(&config, Compact::with_capacity(10).expect("small")).expect("there is memory");
        let join = |_| Replicated::attach_fd(&config, first.share().expect("/proc")).expect("a free slot");
        let [_second, third] = [0, 1].map(join);
        let little = config.window / LITTLE_OF_WINDOW;
        let may_lag = |learned| third.with_driver(|driver| driver.may_lag(learned));
        assert_eq!([MUCH - 1, MUCH, little, little + 1].map(may_lag), [false, true, true, false]);
        assert!(!first.with_driver(|driver| driver.may_lag(MUCH)), "it leads");
        let is_leaving = |driver: &mut Driver<Compact>| {
            driver.is_leaving = true;
            let may_lag = driver.may_lag(MUCH);
            driver.is_leaving = false;
            may_lag
        };
        assert!(!third.with_driver(is_leaving), "it waits for others");
    }

    /// Eight CPUs; a send takes as long as a receive.
    fn machine() -> Arc<Machine> {
        let cpus = (0..8).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let costs = CostMatrix::from_fn(8, |from, to| if from == to { 0.0 } else { 100.0 }).expect("costs");
        (machine.send, machine.receive) = (costs.clone(), costs);
        Arc::new(machine)
    }

    fn job(machine: Arc<Machine>, members: &[(u16, u32)]) -> LearnJob {
        let nodes = members.iter().map(|&(slot, _)| NodeId::new(slot, 1)).collect();
        let cpus = members.iter().map(|&(_, cpu)| CpuId::new(cpu)).collect();
        LearnJob { machine, placement: Placement::Separate, nodes, cpus }
    }

    #[test]
    fn a_tree_that_is_worth_it_is_one_of_the_members_slots() {
        let members = [(0, 3), (1, 0), (2, 1), (4, 7), (5, 2), (6, 5), (9, 4), (11, 6)];
        let plan = job(machine(), &members).plan().expect("CPUs of the machine");
        let tree = plan.tree.expect("seven sends are more than any relay has");
        let is_member = |slot: u16| members.iter().any(|&(member, _)| member == slot);
        assert!((0..16).all(|slot| tree.has(slot) == is_member(slot)));
        let most = members.iter().map(|&(slot, _)| tree.children(slot, 1).count()).max();
        assert!(most < Some(7), "{tree:?}");
        assert_eq!(plan.roles, None, "all are as good");
    }

    #[test]
    fn few_members_and_unknown_cpus_learn_directly() {
        let few = job(machine(), &[(0, 0), (1, 1), (2, 2)]).plan();
        assert_eq!(few, Some(MemberPlan { tree: None, roles: None }), "two sends");
        let unknown = job(machine(), &[(0, 0), (1, 1), (2, 2), (3, 99)]).plan();
        assert_eq!(unknown, None, "no such CPU in the model");
    }

    /// The first two members are on CPUs that are ten times as far from all others.
    #[test]
    fn roles_move_to_members_that_are_near_the_others() {
        let mut machine = Machine::clone(&machine());
        let is_far = |cpu: usize| cpu < 2;
        let cost = |from, to| if is_far(from) || is_far(to) { 1000.0 } else { 100.0 };
        let costs = CostMatrix::from_fn(8, |from, to| if from == to { 0.0 } else { cost(from, to) }).expect("costs");
        (machine.send, machine.receive) = (costs.clone(), costs);
        let members = Vec::from_iter((0..8).map(|cpu| (cpu as u16 * 2, cpu)));
        let roles = job(Arc::new(machine), &members).plan().and_then(|plan| plan.roles);
        let (leader, acceptor) = roles.expect("they are worth the move");
        assert!(leader.slot >= 4 && acceptor.slot >= 4 && leader != acceptor, "{leader} {acceptor}");
    }
}
