//! Lower bounds for plans: how far from the best a plan can be.
//!
//! A bound holds for the plan's scheme. A plan of two trees costs at least the sum of both phases' bounds; another
//! scheme may cost less. An exchange by messages brings the value of each member to all, so it contains a broadcast
//! from every member and, read backwards, a reduction to every member: it costs at least as much as the cheapest of
//! those. That bound is low, but valid. A release line contains the reduction only, and a counter leaves nothing to
//! choose.

use crate::operation::Direction;
use crate::operation::Operation;
use crate::parallel;
use crate::plan::{Plan, Scheme};
use crate::problem::Problem;
use crate::search::{Costs, bound};

/// Two costs closer than this part of them count as equal, as rounding may make them differ.
const ROUNDING: f64 = 1e-9;

/// The effort spent on a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tightness {
    /// Shortest paths and counting: milliseconds for 256 members, tens of percent below the optimum.
    Quick,
    /// A Lagrangian relaxation of at most this many rounds: within a few percent of the optimum.
    Rounds(u32),
}

impl Plan {
    /// The plan with a lower bound for its operation and scheme, and proven if it costs no more. A bound that it has
    /// already is kept where it is the higher one. It ends early with the best bound so far once `stop` returns true.
    ///
    /// # Panics
    ///
    /// If the plan is not one for this problem.
    #[must_use]
    #[track_caller]
    pub fn with_bound(self, problem: &Problem, tightness: Tightness, stop: &(dyn Fn() -> bool + Sync)) -> Self {
        assert_eq!(self.tree.len(), problem.len(), "the plan must be one for the problem");
        let root = self.is_root_given.then(|| self.tree.root());
        let phase = |direction, upper: f64, root| {
            let costs = Costs::of(problem, direction);
            match tightness {
                Tightness::Quick => bound::quick_bound(&costs, root),
                Tightness::Rounds(rounds) => bound::lower_bound(&costs, root, upper, rounds, stop),
            }
        };
        let down = |root| phase(Direction::Down, Operation::Broadcast.cost(problem, &self.tree), root);
        let up = |root| phase(Direction::Up, Operation::Reduce.cost(problem, self.up()), root);
        let found = match (self.operation, &self.scheme) {
            (Operation::Broadcast, _) => down(root),
            (Operation::Reduce, _) => up(root),
            (Operation::TwoPhaseCommit, _) => 2.0 * down(root) + up(root),
            (Operation::Barrier | Operation::Allreduce, Scheme::Trees) => {
                // Side by side, so that a limit of time leaves each phase all of it.
                parallel::map(2, |phase| if phase == 0 { down(root) } else { up(root) }).into_iter().sum()
            }
            (Operation::Barrier | Operation::Allreduce, Scheme::ReleaseLine) => up(None),
            (Operation::Barrier | Operation::Allreduce, Scheme::Counter) => self.predicted,
            (Operation::Barrier | Operation::Allreduce, Scheme::Leaders(_) | Scheme::Dissemination(_)) => {
                down(None).max(up(None))
            }
        };
        // A bound above a cost that a plan has differs from it by rounding only.
        let found = self.bound.map_or(found, |known| known.max(found)).min(self.predicted);
        let is_proven = self.is_proven || self.predicted <= found * (1.0 + ROUNDING);
        Self { bound: Some(found), is_proven, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::Effort;
    use crate::request::Request;
    use crate::terms::Terms;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};

    #[test]
    fn a_release_line_is_bounded_by_its_reduction_only() {
        let cpus = (0..9).map(|id| Cpu { numa: Some(id / 3), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let terms = Terms { readers: vec![(1, 1.0), (8, 3.0)], ..Terms::default() };
        let problem = Problem::of_machine(&machine).expect("CPUs").with_terms(terms);
        let reduce = Request::new(Operation::Reduce).effort(Effort::Exact).plan(&problem).expect("a plan");
        assert!(reduce.is_proven);
        let quick = Request::new(Operation::Barrier).planner("release-line").effort(Effort::Quick);
        let plan = quick.plan(&problem).expect("readers are known");
        assert!(plan.scheme == Scheme::ReleaseLine && !plan.is_proven);
        for tightness in [Tightness::Quick, Tightness::Rounds(50)] {
            let bounded = plan.clone().with_bound(&problem, tightness, &|| false);
            let bound = bounded.bound.expect("just computed");
            assert!(0.0 < bound && bound <= reduce.predicted * (1.0 + 1e-6), "{bound} {}", reduce.predicted);
            assert!(!bounded.is_proven, "the release takes time too");
        }
    }
}
