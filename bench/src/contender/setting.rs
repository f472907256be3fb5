//! What a contender is built for: the participants and where they run.

use std::cell::OnceCell;

use corecast::base::wait::{Crowd, Wait};
use corecast::base::{CpuId, CpuSet};
use corecast::machine::Machine;
use corecast::plan::{Problem, SHAPES, Tree};

use crate::harness::Patience;
use crate::op::Op;

/// The participants of one group of the report. The same for all contenders.
#[derive(Debug)]
pub struct Setting<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) op: Op,
    /// The length in bytes of what every participant brings, or gets.
    pub(crate) bytes: usize,
    /// The CPUs in use.
    pub(crate) cpus: CpuSet,
    /// The CPU of each participant, by rank.
    pub(crate) seats: Vec<CpuId>,
    /// True if some participant may have to wait for a CPU.
    pub(crate) oversubscribed: bool,
    /// How corecast's contenders wait.
    pub(crate) wait: Wait,
    /// The rank that broadcasts come from and reductions go to.
    pub(crate) root: usize,
    trees: OnceCell<Vec<StaticTree>>,
}

/// The tree of one registered shape.
#[derive(Debug)]
pub(crate) struct StaticTree {
    pub(crate) shape: &'static str,
    pub(crate) tree: Tree,
    /// An earlier shape that makes the same tree.
    pub(crate) same_as: Option<&'static str>,
}

impl<'a> Setting<'a> {
    /// `participants` dealt over `cpus` one by one, in ascending order.
    pub(crate) fn new(machine: &'a Machine, op: Op, cpus: &CpuSet, participants: usize, wait: Wait) -> Self {
        let seats: Vec<CpuId> = cpus.iter().collect::<Vec<_>>().into_iter().cycle().take(participants).collect();
        let on_fullest = participants.div_ceil(cpus.len().max(1));
        let oversubscribed = Crowd::pinned(participants, on_fullest).is_crowded();
        let (cpus, trees) = (seats.iter().copied().collect(), OnceCell::new());
        Self { machine, op, bytes: op.bytes(), cpus, seats, oversubscribed, wait, root: 0, trees }
    }

    /// The same with another root.
    pub(crate) fn rooted_at(self, root: usize) -> Self {
        Self { root, trees: OnceCell::new(), ..self }
    }

    /// The number of participants.
    #[must_use]
    pub fn participants(&self) -> usize {
        self.seats.len()
    }

    /// How bare contenders wait.
    pub(crate) fn patience(&self) -> Patience {
        Patience::new(self.oversubscribed)
    }

    /// The trees of all registered shapes over the participants. Those of rooted operations begin at the group's root,
    /// those of others where the shape's authors begin. Empty if the machine does not have the CPUs.
    pub(crate) fn static_trees(&self) -> &[StaticTree] {
        self.trees.get_or_init(|| {
            let Ok(problem) = Problem::of_members(self.machine, &self.seats) else { return Vec::new() };
            let root = self.op.is_rooted().then_some(self.root);
            SHAPES.iter().fold(Vec::new(), |mut trees: Vec<StaticTree>, shape| {
                let tree = shape.build(&problem, root);
                let same_as = trees.iter().find(|known| known.tree == tree).map(|known| known.shape);
                trees.push(StaticTree { shape: shape.name(), tree, same_as });
                trees
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::{Cpu, Topology};

    use super::*;

    fn machine(cpus: u32) -> Machine {
        let cpus = (0..cpus).map(|id| Cpu::flat(CpuId::new(id))).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    fn setting(machine: &Machine, op: Op, participants: usize) -> Setting<'_> {
        Setting::new(machine, op, &machine.cpu_set(), participants, Wait::default())
    }

    #[test]
    fn participants_are_dealt_round_robin() {
        let machine = machine(2);
        let five = setting(&machine, Op::Barrier, 5);
        assert_eq!(five.seats, [0, 1, 0, 1, 0].map(CpuId::new));
        assert!(five.oversubscribed);
        assert_eq!(setting(&machine, Op::Barrier, 1).cpus.to_string(), "0", "only CPUs in use are named");
    }

    #[test]
    fn equal_trees_are_told_apart_from_different_ones() {
        let machine = machine(8);
        let setting = setting(&machine, Op::Broadcast, 8);
        let trees = setting.static_trees();
        assert_eq!(trees.len(), SHAPES.len());
        assert!(trees[0].same_as.is_none());
        for tree in trees {
            let twin = trees.iter().find(|other| other.tree == tree.tree).expect("itself");
            assert_eq!(tree.same_as.unwrap_or(tree.shape), twin.shape);
            assert_eq!(tree.tree.root(), 0);
        }
    }

    #[test]
    fn two_members_leave_room_for_few_trees() {
        let machine = machine(2);
        let setting = setting(&machine, Op::Reduce, 2);
        assert_eq!(setting.static_trees().iter().filter(|tree| tree.same_as.is_none()).count(), 1);
    }
}
