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

/// How learners hear that the acceptor has committed something.
///
/// Decisions stand in the acceptor's log, and every learner reads them there; this is about who watches and wakes whom. Each node
/// goes by its own configuration. Nodes that go by different ones lose time, not commands.
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
    members: Vec<(u16, CpuId)>,
}

impl LearnJob {
    /// The tree, if it is worth it. All members plan the same, so the roles are those that the group begins with: a tree is
    /// good with any of its members as the acceptor.
    pub(super) fn tree(&self) -> Option<LearnTree> {
        let cpus: Vec<CpuId> = self.members.iter().map(|&(_, cpu)| cpu).collect();
        let problem = Problem::of_members(&self.machine, &cpus).ok()?;
        let acceptor = if self.placement == Placement::Fused { 0 } else { 1 };
        let plan = PlacementPlan::with_roles(&problem, Roles { leader: 0, acceptor });
        let slots: Vec<u16> = self.members.iter().map(|&(slot, _)| slot).collect();
        plan.is_tree_worth_it().then(|| LearnTree::of_ranks(&plan.tree, &slots))
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
        let members = self.cpus_of_members();
        if members.is_none() {
            self.learn_over(None);
        }
        Some(LearnJob { machine, placement, members: members? })
    }

    /// The slots and CPUs of at least three members; `None` if one may run on several, or two run on the same.
    fn cpus_of_members(&self) -> Option<Vec<(u16, CpuId)>> {
        let place = |node: &NodeId| Some((node.slot, self.shm.segment(*node)?.cpu()?));
        let members: Vec<_> = self.planned_for.iter().map(place).collect::<Option<_>>()?;
        let mut cpus: Vec<CpuId> = members.iter().map(|&(_, cpu)| cpu).collect();
        cpus.sort_unstable();
        cpus.dedup();
        (cpus.len() == members.len() && (3..=MOST).contains(&members.len())).then_some(members)
    }

    /// True while this node's parent in the tree is silent: nobody wakes it for what the acceptor commits. That is no reason to
    /// suspect the acceptor or the leader, which may have nothing to do.
    pub(super) fn learns_alone(&self) -> bool {
        self.shm.relay.is_alone()
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
    use corecast_machine::{CostMatrix, Cpu, Topology};

    /// Eight CPUs; a send takes as long as a receive.
    fn machine() -> Arc<Machine> {
        let cpus = (0..8).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let costs = CostMatrix::from_fn(8, |from, to| if from == to { 0.0 } else { 100.0 }).expect("costs");
        (machine.send, machine.receive) = (costs.clone(), costs);
        Arc::new(machine)
    }

    fn job(members: &[(u16, u32)]) -> LearnJob {
        let members = members.iter().map(|&(slot, cpu)| (slot, CpuId::new(cpu))).collect();
        LearnJob { machine: machine(), placement: Placement::Separate, members }
    }

    #[test]
    fn a_tree_that_is_worth_it_is_one_of_the_members_slots() {
        let members = [(0, 3), (1, 0), (2, 1), (4, 7), (5, 2), (6, 5), (9, 4), (11, 6)];
        let tree = job(&members).tree().expect("seven sends are more than any relay has");
        let is_member = |slot: u16| members.iter().any(|&(member, _)| member == slot);
        assert!((0..16).all(|slot| tree.has(slot) == is_member(slot)));
        let most = members.iter().map(|&(slot, _)| tree.children(slot, 1).count()).max();
        assert!(most < Some(7), "{tree:?}");
    }

    #[test]
    fn few_members_and_unknown_cpus_learn_directly() {
        assert_eq!(job(&[(0, 0), (1, 1), (2, 2)]).tree(), None, "two sends");
        assert_eq!(job(&[(0, 0), (1, 1), (2, 2), (3, 99)]).tree(), None, "no such CPU in the model");
    }
}
