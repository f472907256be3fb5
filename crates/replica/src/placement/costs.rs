//! The costs that loads are computed from and plans are made for.

use corecast_plan::Problem;

use super::roles::Roles;
use super::work::{RoleWork, Work};

/// The messages between members, and the work that a command takes them beside its messages.
///
/// A `&Problem` becomes costs without any work.
#[derive(Debug, Clone, Copy)]
pub struct Costs<'a> {
    pub(super) problem: &'a Problem,
    work: Work,
}

impl<'a> Costs<'a> {
    /// Messages and work. The work is in the unit of the problem: see [`Work::in_unit`].
    #[must_use]
    pub fn with_work(problem: &'a Problem, work: Work) -> Self {
        Self { problem, work }
    }

    /// The work of each member that has one of these roles, or none.
    pub(super) fn work(&self, roles: Roles) -> RoleWork {
        self.work.by_role(self.problem.len(), roles.is_fused())
    }
}

impl<'a> From<&'a Problem> for Costs<'a> {
    fn from(problem: &'a Problem) -> Self {
        Self::with_work(problem, Work::default())
    }
}
