//! The setting that a contender is built for: the participants and where they run.

use std::cell::OnceCell;

use corecast::base::wait::{CpuSharing, Wait};
use corecast::base::{CpuId, CpuSet};
use corecast::machine::Machine;
use corecast::plan::{Problem, SHAPES, Tree};

use super::Contender;
use super::bodies::SliceTask;
use super::row_name::{CHOSEN, of_shape};
use crate::harness::Patience;
use crate::op::Op;
use crate::place::Place;

/// The participants of one group of the report. The same for all contenders.
#[derive(Debug)]
pub struct Setting<'a> {
    /// The machine that the plans are for.
    pub machine: &'a Machine,
    /// The operation.
    pub op: Op,
    /// The length in bytes of what every participant brings, or gets.
    pub bytes: usize,
    /// The CPUs in use.
    pub cpus: CpuSet,
    /// The CPU of each participant, by rank.
    pub seats: Vec<CpuId>,
    /// Whether each participant is bound to its CPU.
    pub bound: bool,
    /// True if some participant may have to wait for a CPU.
    pub oversubscribed: bool,
    /// How corecast's contenders wait.
    pub wait: Wait,
    /// Whether the participants are threads or processes.
    pub place: Place,
    /// The rank that broadcasts come from and reductions go to.
    pub root: usize,
    /// The names of the contenders that take part; all, if `None`.
    raced: Option<Vec<String>>,
    /// The one tree that the group's own choice uses for the operation; `None` if there is no such tree.
    chosen: Option<Tree>,
    trees: OnceCell<Vec<StaticTree>>,
}

/// The tree of one registered shape.
#[derive(Debug)]
pub struct StaticTree {
    pub shape: &'static str,
    pub tree: Tree,
    /// The contender that has the same tree already: the group's own choice, or an earlier shape.
    pub same_as: Option<String>,
}

impl<'a> Setting<'a> {
    /// `participants` dealt over `cpus` one by one, in ascending order.
    pub fn new(machine: &'a Machine, op: Op, cpus: &CpuSet, participants: usize, wait: Wait) -> Self {
        let seats: Vec<CpuId> = cpus.iter().collect::<Vec<_>>().into_iter().cycle().take(participants).collect();
        let on_fullest = participants.div_ceil(cpus.len().max(1));
        let oversubscribed = CpuSharing::pinned(participants, on_fullest).is_oversubscribed();
        let (cpus, trees) = (seats.iter().copied().collect(), OnceCell::new());
        Self {
            machine,
            op,
            bytes: op.bytes(),
            cpus,
            seats,
            bound: true,
            oversubscribed,
            wait,
            place: Place::Threads,
            root: 0,
            raced: None,
            chosen: None,
            trees,
        }
    }

    /// The same with another root.
    pub fn rooted_at(self, root: usize) -> Self {
        Self { root, trees: OnceCell::new(), ..self }
    }

    /// The same where only these take part: nobody else can have a tree before them.
    pub fn racing(self, contenders: &[Box<dyn Contender>]) -> Self {
        let raced = Some(contenders.iter().map(|contender| contender.name()).collect());
        Self { raced, trees: OnceCell::new(), ..self }
    }

    /// The same with participants of this kind.
    pub fn placed(self, place: &Place) -> Self {
        Self { place: place.clone(), ..self }
    }

    /// The same with participants that the system may move.
    pub fn unbound(self) -> Self {
        Self { bound: false, ..self }
    }

    /// The same with operations that carry this number of bytes.
    pub fn carrying(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// True if operations carry what they carry unless another length is asked for.
    pub fn is_usual(&self) -> bool {
        self.op.is_usual(self.bytes)
    }

    /// The task of bodies whose operations carry slices.
    pub fn slice_task(&self) -> SliceTask {
        SliceTask::carrying(self.bytes, self.op, self.root, self.participants())
    }

    /// The same where the group's own choice uses this tree: a contender that has it too would race against itself.
    pub fn choosing(self, tree: Option<Tree>) -> Self {
        Self { chosen: tree, trees: OnceCell::new(), ..self }
    }

    /// The number of participants.
    #[must_use]
    pub fn participants(&self) -> usize {
        self.seats.len()
    }

    /// How bare contenders wait.
    pub fn patience(&self) -> Patience {
        Patience::new(self.oversubscribed)
    }

    /// The trees of all registered shapes over the participants. Those of rooted operations begin at the group's root,
    /// those of others where the shape's authors begin. Empty if the machine does not have the CPUs.
    pub fn static_trees(&self) -> &[StaticTree] {
        self.trees.get_or_init(|| {
            let Ok(problem) = Problem::of_members(self.machine, &self.seats) else { return Vec::new() };
            let root = self.op.is_rooted().then_some(self.root);
            SHAPES.iter().fold(Vec::new(), |mut trees: Vec<StaticTree>, shape| {
                let tree = shape.build(&problem, root);
                let mut known = trees.iter().filter(|known| known.tree == tree).map(|known| of_shape(known.shape));
                let same_shape = known.find(|name| self.raced.as_ref().is_none_or(|raced| raced.contains(name)));
                let is_chosen = self.chosen.as_ref() == Some(&tree);
                let same_as = if is_chosen { Some(CHOSEN.to_owned()) } else { same_shape };
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
            assert_eq!(tree.same_as.clone().unwrap_or_else(|| of_shape(tree.shape)), of_shape(twin.shape));
            assert_eq!(tree.tree.root(), 0);
        }
    }

    #[test]
    fn two_members_leave_room_for_few_trees() {
        let machine = machine(2);
        let setting = setting(&machine, Op::Reduce, 2);
        assert_eq!(setting.static_trees().iter().filter(|tree| tree.same_as.is_none()).count(), 1);
    }

    #[test]
    fn a_contender_with_the_chosen_tree_is_named_after_the_choice() {
        let machine = machine(8);
        let plain = setting(&machine, Op::Broadcast, 8);
        let tree = plain.static_trees()[1].tree.clone();
        let choosing = setting(&machine, Op::Broadcast, 8).choosing(Some(tree.clone()));
        for known in choosing.static_trees() {
            assert_eq!(known.same_as.as_deref() == Some(CHOSEN), known.tree == tree, "{}", known.shape);
        }
    }

    #[test]
    fn a_contender_that_does_not_take_part_has_no_twin() {
        let machine = machine(2);
        let mut few = crate::contender::contenders(Op::Barrier);
        few.retain(|contender| ["corecast/tree/cluster", "corecast/tree/bad"].contains(&contender.name().as_str()));
        let setting = setting(&machine, Op::Barrier, 2).racing(&few);
        let twins = setting.static_trees().iter().filter_map(|tree| Some((tree.shape, tree.same_as.as_deref()?)));
        let of_those: Vec<_> = twins.filter(|(shape, _)| ["cluster", "bad"].contains(shape)).collect();
        assert_eq!(of_those, [("bad", "corecast/tree/cluster")]);
    }
}
