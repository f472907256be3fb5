//! The builder of groups: members, their CPUs, trees, barrier, waiting.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use corecast_base::wait::{Wait, Waiter};
use corecast_base::{CpuId, CpuSet};
use corecast_machine::{Machine, user_cache_folder};
use corecast_plan::{Effort, Problem, Tree};

use super::{Group, RaceStore};
use crate::MAX_MEMBERS;
use crate::barrier::Barrier;
use crate::choice::{Candidates, PlanInputs, Searcher, Settings, Trees};
use crate::error::BuildError;
use crate::member::GroupPlan;

/// Settings of a future group; those that are not set are chosen.
#[derive(Clone)]
pub struct Builder<'a> {
    pub(crate) machine: &'a Machine,
    cpus: Option<CpuSet>,
    members: Option<usize>,
    bound: Option<Vec<CpuId>>,
    pub(crate) wait: Wait,
    trees: Trees,
    service: Option<PathBuf>,
    plan_folder: Option<PathBuf>,
    barrier: Option<Barrier>,
    effort: Effort,
    pinned: Option<bool>,
    pub(crate) race: bool,
    race_folder: Option<PathBuf>,
    pub(crate) room_bytes: usize,
}

/// The memory that processes can lay out after they have joined, by default.
const ROOM_BYTES: usize = 4 << 20;

/// A group whose members' ends are not built yet.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) planned: GroupPlan,
    waiters: Vec<Waiter>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(machine: &'a Machine) -> Self {
        let (wait, trees, effort) = (Wait::default(), Trees::default(), Effort::default());
        Self {
            machine,
            cpus: None,
            members: None,
            bound: None,
            wait,
            trees,
            service: None,
            plan_folder: user_cache_folder("plans"),
            barrier: None,
            effort,
            pinned: None,
            room_bytes: ROOM_BYTES,
            race: false,
            race_folder: user_cache_folder("races"),
        }
    }

    /// The CPUs to use; all of the machine's by default. Trees are planned for these alone.
    #[must_use]
    pub fn cpus(mut self, cpus: CpuSet) -> Self {
        self.cpus = Some(cpus);
        self
    }

    /// The number of members; by default one for each CPU. More members than CPUs are dealt out evenly.
    #[must_use]
    pub fn members(mut self, members: usize) -> Self {
        self.members = Some(members);
        self
    }

    /// A member for each of these CPUs, by rank, where a launcher has bound the members already: each may run on its CPU, or on
    /// several of which this is one. Takes the place of [`cpus`](Self::cpus) and [`members`](Self::members). Nobody is bound
    /// anew unless [`pin`](Self::pin) asks for it.
    #[must_use]
    pub fn bound_to(mut self, cpus: Vec<CpuId>) -> Self {
        self.bound = Some(cpus);
        self
    }

    /// The way in which members wait.
    #[must_use]
    pub fn wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// The tree shape of this name for all operations, instead of the cheapest one for each.
    #[must_use]
    pub fn shape(mut self, name: &str) -> Self {
        self.trees = Trees::Shape(name.to_owned());
        self
    }

    /// This tree over the ranks for all operations.
    #[must_use]
    pub fn tree(mut self, tree: Tree) -> Self {
        self.trees = Trees::Given(tree);
        self
    }

    /// Asks the plan service that listens at `path` (such as `corecast serve`) wherever this process would search. If it
    /// does not answer within 2 s, or its plan does not fit, this process searches itself, and
    /// [`Choice::why`](crate::Choice::why) says so.
    #[must_use]
    pub fn plan_service(mut self, path: impl Into<PathBuf>) -> Self {
        self.service = Some(path.into());
        self
    }

    /// The folder in which plans for more than 8 members are kept, so that the next group like this one need not search:
    /// the user's cache folder by default, `None` for nowhere. A plan that cannot be read or does not fit is searched for
    /// anew.
    #[must_use]
    pub fn plan_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.plan_folder = folder;
        self
    }

    /// This barrier, instead of the one that suits the members best.
    #[must_use]
    pub fn barrier(mut self, barrier: Barrier) -> Self {
        self.barrier = Some(barrier);
        self
    }

    /// The effort of the search for trees and the barrier's plan: [`Effort::Normal`] by default, which takes some
    /// hundredths of a second up to 64 members and under a second beyond. [`Effort::Quick`] takes some hundredths of a second
    /// among 256: a thread of this process then searches on with effort normal, for a second or so on one CPU, and keeps
    /// what it finds in the [plan folder](Self::plan_folder), where the next quick group like this one takes it. Where
    /// members share CPUs there is no search.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        self
    }

    /// Whether [`Group::run`], or joining a group of processes, binds each member to its CPU; by default it does if no two
    /// members share one, and none was [bound](Self::bound_to) before.
    #[must_use]
    pub fn pin(mut self, pinned: bool) -> Self {
        self.pinned = Some(pinned);
        self
    }

    /// The memory that members of a group of processes can lay out for slices, and for objects and parts made after they
    /// have joined; 4 MiB by default. The same amount is set aside for survivors that [shrink](crate::Member::shrink) the
    /// group. Long slices travel in chunks if these take no more than half of the remaining room, and in messages
    /// otherwise; chunks take 64 KiB for each member and direction, and 128 KiB for each of few members that show each
    /// other their slices. A commit of long proposals takes twice the longest. Groups of threads need no such setting.
    #[must_use]
    pub fn room_bytes(mut self, bytes: usize) -> Self {
        self.room_bytes = bytes;
        self
    }

    /// Lets the model's best candidates race beside controls that always run, barriers as well as trees for broadcasts and
    /// reductions, and the forms of an allreduce for each [size class](crate::SizeClass), and takes the fastest if it is
    /// clearly so. Off by default, as it takes up to some 120 ms; without it a group takes the result of an earlier race of
    /// members like its own, such as `corecast tune` keeps, as it is. Threads race
    /// before the group is built, on the members' CPUs; processes after all have
    /// [joined](crate::processes::Invitation::join). The result is kept for later groups like this one, which race anew if
    /// the barrier that won takes less than half or more than twice as long among them. There is no race if members share
    /// CPUs, for fewer than two members, or if a barrier or trees were asked for. If a race of threads fails, the model
    /// decides. Members at work race by [`Member::race`](crate::Member::race).
    #[must_use]
    pub fn race(mut self, race: bool) -> Self {
        self.race = race;
        self
    }

    /// The folder in which results of races are kept: the user's cache folder by default, `None` for nowhere.
    #[must_use]
    pub fn race_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.race_folder = folder;
        self
    }

    /// Plans the trees and lays out the edges.
    ///
    /// # Errors
    /// A [`BuildError`] that names the setting that does not fit.
    pub fn build(self) -> Result<Group, BuildError> {
        let Draft { mut planned, waiters } = self.draft()?;
        if let Some(candidates) = self.candidates(&planned, false)? {
            let records = self.records(&planned.inputs, candidates.trees_digest(), false);
            planned = match self.race {
                true => planned.raced_by_threads(&waiters, &candidates, &records)?,
                false => planned.known(&candidates, &records).unwrap_or(planned),
            };
        }
        Ok(Group::of_threads(planned, waiters)?)
    }

    /// The candidates of the race; `None` if there is none, and there is no result of an earlier one.
    pub(crate) fn candidates(
        &self,
        planned: &GroupPlan,
        are_processes: bool,
    ) -> Result<Option<Candidates>, BuildError> {
        let GroupPlan { inputs, choice } = planned;
        let is_wanted = inputs.is_open() && (self.race || self.records(inputs, 0, are_processes).are_there(inputs));
        is_wanted.then(|| inputs.field_with(choice, &self.searcher(&inputs.problem))).transpose()
    }

    /// The place where the results of races among these members are kept.
    pub(crate) fn records(&self, inputs: &PlanInputs, trees: u64, are_processes: bool) -> RaceStore {
        let cpus = inputs.problem.cpus();
        let cpus = self.machine.cpus.iter().filter(|cpu| cpus.contains(&cpu.id)).cloned().collect();
        RaceStore { folder: self.race_folder.clone(), cpus, are_processes, trees }
    }

    /// The same settings for another model of the machine.
    #[cfg(not(loom))]
    pub(crate) fn on<'b>(self, machine: &'b Machine) -> Builder<'b>
    where
        'a: 'b,
    {
        Builder { machine, ..self }
    }

    /// Plans the trees.
    pub(crate) fn draft(&self) -> Result<Draft, BuildError> {
        let problem = self.problem()?;
        let cpus = problem.cpus();
        if let Trees::Given(tree) = &self.trees {
            if tree.len() != cpus.len() {
                return Err(BuildError::TreeSize { nodes: tree.len(), members: cpus.len() });
            }
        }
        let shares_cpus = cpus.iter().copied().collect::<CpuSet>().len() < cpus.len();
        let is_pinned = self.pinned.unwrap_or(!shares_cpus && self.bound.is_none());
        let wake_cost = self.machine.extended.wake_ns.map(|ns| Duration::from_nanos(ns as u64));
        let mut inputs = PlanInputs::of_all(problem, self.settings(), wake_cost, is_pinned, false);
        let waiters = inputs.look_around();
        let choice = std::sync::Arc::new(inputs.choose_with(&self.searcher(&inputs.problem))?);
        Ok(Draft { planned: GroupPlan { inputs: std::sync::Arc::new(inputs), choice }, waiters })
    }

    fn settings(&self) -> Settings {
        let Self { wait, trees, barrier, effort, .. } = self;
        Settings { wait: *wait, trees: trees.clone(), barrier: *barrier, effort: *effort }
    }

    fn searcher(&self, problem: &Problem) -> Searcher {
        Searcher::new(self.service.as_deref(), self.machine).keeping(self.plan_folder.as_deref(), problem)
    }

    /// The number of members.
    #[cfg(not(loom))]
    pub(crate) fn size(&self) -> usize {
        if let Some(bound) = &self.bound {
            return bound.len();
        }
        self.members.unwrap_or_else(|| self.cpus.as_ref().map_or_else(|| self.machine.cpus.len(), CpuSet::len))
    }

    /// The members and the costs of messages between them.
    fn problem(&self) -> Result<Problem, BuildError> {
        let cpus = match (&self.bound, &self.cpus) {
            (Some(bound), _) => bound.clone(),
            (None, Some(cpus)) => cpus.as_slice().to_vec(),
            (None, None) => self.machine.cpu_set().as_slice().to_vec(),
        };
        let members = self.members.filter(|_| self.bound.is_none()).unwrap_or(cpus.len());
        let is_empty = self.bound.as_ref().map_or(self.members == Some(0), Vec::is_empty);
        if members > MAX_MEMBERS || is_empty {
            return Err(BuildError::Members { members });
        }
        let dealt: Vec<CpuId> = cpus.into_iter().cycle().take(members).collect();
        Ok(Problem::of_members(self.machine, &dealt)?)
    }
}

impl fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("machine", &self.machine.name)
            .field("members", &self.members)
            .field("wait", &self.wait)
            .field("barrier", &self.barrier)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use corecast_machine::{Cpu, Topology};

    #[test]
    fn a_search_result_is_kept_for_the_next_group() {
        let folder = tempfile::tempdir().expect("a folder");
        let plans = folder.path().join("plans");
        let cpus = (0..20).map(|id| Cpu { numa: Some(id / 5), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let plan = || {
            let builder = Group::builder(&machine).pin(true).effort(Effort::Quick);
            builder.plan_folder(Some(plans.clone())).build().expect("a group").choice().clone()
        };
        let count = || std::fs::read_dir(&plans).expect("it was made").count();
        let first = plan();
        assert_eq!(count(), 3, "one each for broadcasts, reductions and barriers");
        for file in std::fs::read_dir(&plans).expect("it was made") {
            let path = file.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a plan");
            std::fs::write(&path, text.replace(r#""why":""#, r#""why":"as it was kept: "#)).expect("written");
        }
        let second = plan();
        assert_eq!((count(), second.meeting.why), (3, format!("as it was kept: {}", first.meeting.why)));
        for file in std::fs::read_dir(&plans).expect("it was made") {
            std::fs::write(file.expect("an entry").path(), "{}").expect("written");
        }
        assert_eq!((count(), plan().to_string()), (3, first.to_string()), "damaged files are no matter");
    }

    #[test]
    fn a_quick_group_of_many_leaves_better_plans_to_the_next_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let cpus = (0..72).map(|id| Cpu { numa: Some(id / 9), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let plan = || {
            let builder = Group::builder(&machine).pin(true).effort(Effort::Quick);
            builder.plan_folder(Some(folder.path().to_owned())).draft().expect("a plan").planned.choice
        };
        let efforts =
            |choice: &crate::Choice| [&choice.broadcast, &choice.reduce, &choice.meeting].map(|plan| plan.effort);
        assert_eq!(efforts(&plan()), [Some(Effort::Quick); 3]);
        while efforts(&plan()) != [Some(Effort::Normal); 3] {
            std::thread::yield_now();
        }
    }

    #[test]
    fn members_that_a_launcher_has_bound_are_planned_for_where_they_are() {
        let cpus = (0..4).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let places = [3, 0, 2].map(CpuId::new);
        let builder = Group::builder(&machine).members(4).bound_to(places.to_vec()).plan_folder(None);
        assert_eq!(builder.size(), 3);
        let inputs = |builder: Builder<'_>| builder.draft().expect("a plan").planned.inputs;
        let planned = inputs(builder.clone());
        assert_eq!((planned.problem.cpus(), planned.is_pinned), (&places[..], false));
        assert!(inputs(builder.clone().pin(true)).is_pinned);
        assert!(matches!(builder.bound_to(Vec::new()).draft(), Err(BuildError::Members { members: 0 })));
    }

    #[test]
    fn members_are_pinned_by_default_only_where_no_two_share_a_cpu() {
        let cpus = (0..2).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let is_pinned =
            |members| Group::builder(&machine).members(members).draft().expect("a plan").planned.inputs.is_pinned;
        assert_eq!([1, 2, 3, 4].map(is_pinned), [true, true, false, false]);
    }
}
