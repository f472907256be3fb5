//! The inputs from which a group is planned, kept as long as it lives so that parts of it can be planned anew.
//!
//! The plan of a part follows from these inputs alone, in steps that are counted and not timed. So members that plan the
//! same part, each by itself, arrive at the same plan.

use std::collections::HashMap;
use std::time::Duration;

use corecast_base::CpuId;
use corecast_base::sync::Arc;
use corecast_base::wait::{CpuSharing, Wait, Waiter};
use corecast_plan::{Effort, Problem};

use super::{Candidates, Choice, Planning, Searcher, Trees};
use crate::acknowledged::Routes;
use crate::barrier::Barrier;
use crate::error::BuildError;
use crate::membership::MemberProcesses;

/// The settings that also hold for parts.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) wait: Wait,
    pub(crate) trees: Trees,
    pub(crate) barrier: Option<Barrier>,
    pub(crate) effort: Effort,
}

/// The members of a group, the costs of messages between them, and the settings.
#[derive(Debug, Clone)]
pub(crate) struct PlanInputs {
    pub(crate) problem: std::sync::Arc<Problem>,
    /// The routes of acknowledged broadcasts, worked out once for all members in this process.
    pub(crate) routes: std::sync::Arc<Routes>,
    pub(crate) settings: Settings,
    /// The cost of a sleep and wake-up, where it was measured.
    pub(crate) wake_cost: Option<Duration>,
    pub(crate) is_pinned: bool,
    /// True if members have to share CPUs.
    pub(crate) is_crowded: bool,
    /// The CPUs of all members that run beside these, including these: those of the whole group that this is a part of.
    /// They take turns on a CPU, whatever part they are in.
    cohort: Vec<CpuId>,
}

impl PlanInputs {
    /// The inputs of members that are not a part of a larger group.
    pub(crate) fn of_all(
        problem: Problem,
        settings: Settings,
        wake_cost: Option<Duration>,
        is_pinned: bool,
        is_crowded: bool,
    ) -> Self {
        let cohort = problem.cpus().to_vec();
        let problem = std::sync::Arc::new(problem);
        let routes = std::sync::Arc::new(Routes::new(std::sync::Arc::clone(&problem)));
        Self { problem, routes, settings, wake_cost, is_pinned, is_crowded, cohort }
    }

    /// The inputs of the members of these ranks, which run beside all others.
    pub(crate) fn part(&self, ranks: &[usize]) -> Self {
        self.beside(ranks, self.cohort.clone())
    }

    /// The inputs of the members of these ranks, ascending, after the others have gone.
    pub(crate) fn survivors(&self, ranks: &[usize]) -> Self {
        let mut cohort = self.cohort.clone();
        for gone in (0..self.members()).filter(|rank| ranks.binary_search(rank).is_err()) {
            let place = cohort.iter().position(|&cpu| cpu == self.problem.cpu(gone));
            cohort.swap_remove(place.expect("members are among those that run beside them"));
        }
        self.beside(ranks, cohort)
    }

    /// If a group has no CPU for each member, neither has its part, unless each member of the part is bound to a CPU of its
    /// own.
    fn beside(&self, ranks: &[usize], cohort: Vec<CpuId>) -> Self {
        let part = Self { cohort, ..self.alone(ranks) };
        let is_shared = |&cpu: &CpuId| part.here(cpu) > 1;
        let is_crowded = self.is_crowded && (!self.is_pinned || part.problem.cpus().iter().any(is_shared));
        Self { is_crowded, ..part }
    }

    /// The inputs of the members of these ranks, if no others run beside them.
    pub(crate) fn alone(&self, ranks: &[usize]) -> Self {
        let Self { settings, wake_cost, is_pinned, is_crowded, .. } = self;
        let trees = match &settings.trees {
            // A given tree spans the members of the whole group.
            Trees::Given(_) => Trees::Cheapest,
            trees => trees.clone(),
        };
        let settings = Settings { trees, ..settings.clone() };
        Self::of_all(self.problem.subset(ranks), settings, *wake_cost, *is_pinned, *is_crowded)
    }

    pub(crate) fn members(&self) -> usize {
        self.problem.len()
    }

    /// The number of members on this CPU.
    fn here(&self, cpu: CpuId) -> usize {
        self.cohort.iter().filter(|&&other| other == cpu).count()
    }

    /// The waiter of a member; among processes it counts those that are there by now.
    pub(crate) fn waiter(&self, rank: usize, processes: Option<&Arc<MemberProcesses>>) -> Waiter {
        self.waiter_in(self.crowd(rank, processes))
    }

    fn crowd(&self, rank: usize, processes: Option<&Arc<MemberProcesses>>) -> CpuSharing {
        match processes {
            _ if self.is_pinned => CpuSharing::pinned(self.cohort.len(), self.here(self.problem.cpu(rank))),
            Some(processes) => MemberProcesses::crowd(processes),
            None => CpuSharing::unpinned(self.cohort.len()),
        }
    }

    fn waiter_in(&self, crowd: CpuSharing) -> Waiter {
        Waiter::new(self.settings.wait, crowd, self.wake_cost)
    }

    /// The waiters of all members, which are threads of this process. From now on the group counts as crowded if one of
    /// them is.
    pub(crate) fn look_around(&mut self) -> Vec<Waiter> {
        // One for all members with the same number on their CPU, as making it looks at the system's limits.
        let mut crowds: HashMap<Option<usize>, CpuSharing> = HashMap::new();
        let crowd = |rank| {
            let here = self.is_pinned.then(|| self.here(self.problem.cpu(rank)));
            crowds.entry(here).or_insert_with(|| self.crowd(rank, None)).clone()
        };
        let crowds: Vec<CpuSharing> = (0..self.members()).map(crowd).collect();
        let waiters: Vec<Waiter> = crowds.into_iter().map(|crowd| self.waiter_in(crowd)).collect();
        self.is_crowded = waiters.iter().any(|waiter| waiter.cpu_sharing().is_oversubscribed());
        waiters
    }

    /// Chooses trees and barrier, searching with this searcher.
    pub(crate) fn choose_with(&self, searcher: &Searcher) -> Result<Choice, BuildError> {
        let Settings { trees, barrier, effort, .. } = &self.settings;
        Choice::make(&self.problem, trees, searcher, *barrier, *effort, self.is_crowded)
    }

    /// True if there is something to race for: neither a barrier nor trees were asked for, and each member has a CPU.
    pub(crate) fn is_open(&self) -> bool {
        let Settings { trees, barrier, .. } = &self.settings;
        self.members() > 1 && !self.is_crowded && barrier.is_none() && matches!(trees, Trees::Cheapest)
    }

    /// The candidates that race beside what was chosen, found with this searcher.
    pub(crate) fn field_with(&self, choice: &Choice, searcher: &Searcher) -> Result<Candidates, BuildError> {
        let (problem, effort) = (&*self.problem, self.settings.effort);
        Candidates::of(&Planning { problem, trees: &Trees::Cheapest, searcher, effort, is_crowded: false }, choice)
    }

    /// The candidates for members at work, found without a plan service.
    pub(crate) fn candidates(&self, choice: &Choice) -> Candidates {
        self.field_with(choice, &Searcher::default()).expect("every barrier can be planned")
    }

    fn choose(&self) -> Result<Choice, BuildError> {
        self.choose_with(&Searcher::default())
    }

    /// Chooses trees and barrier without a plan service; takes the cheapest trees if the shape asked for has none.
    pub(crate) fn choose_anyhow(&self) -> Choice {
        let cheapest =
            || Self { settings: Settings { trees: Trees::Cheapest, ..self.settings.clone() }, ..self.clone() };
        self.choose().or_else(|_| cheapest().choose()).expect("every group has a cheapest tree")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use corecast_machine::{Cpu, Machine, Topology};

    /// Four members, of which the first and the last share a CPU.
    fn shared(is_pinned: bool) -> PlanInputs {
        let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_members(&machine, &[0, 1, 2, 0].map(CpuId::new)).expect("known CPUs");
        let (trees, effort) = (Trees::Shape("binary".to_owned()), Effort::Quick);
        let settings = Settings { wait: Wait::Adaptive, trees, barrier: None, effort };
        PlanInputs::of_all(problem, settings, None, is_pinned, true)
    }

    #[test]
    fn a_member_that_shares_a_cpu_does_so_in_every_part() {
        let whole = shared(true);
        assert!(whole.part(&[0, 1]).is_crowded, "beside a member that is in no part of it");
        assert!(!whole.part(&[2, 1]).is_crowded);
        assert!(shared(false).part(&[2, 1]).is_crowded, "they may run anywhere");
    }

    #[test]
    fn members_that_are_gone_share_no_cpu() {
        let left = shared(true).survivors(&[0, 1, 2]);
        assert!(!left.is_crowded && !left.part(&[0]).is_crowded);
        assert!(shared(true).survivors(&[0, 3]).is_crowded);
    }

    #[test]
    fn a_shape_that_was_asked_for_holds_for_parts_and_one_that_there_is_not_for_none() {
        let planner = |inputs: &PlanInputs| inputs.choose_anyhow().broadcast.planner;
        let part = shared(true).part(&[1, 2]);
        assert_eq!(planner(&part), "binary");
        let settings = Settings { trees: Trees::Shape("nobody".to_owned()), ..part.settings.clone() };
        assert_ne!(planner(&PlanInputs { settings, ..part }), "nobody");
    }
}
