//! The plan of a group: roles and the learn tree, with the figures it was chosen by.

use std::fmt;

use corecast_plan::Tree;

use super::costs::Costs;
use super::load::Load;
use super::roles::Roles;
use super::search::{choose, search};

/// The most pairs of roles for which trees are searched.
const PAIRS: usize = 4;
/// A tree counts as faster from this on: predictions that are off by up to a quarter are still believed.
const WORTH: f64 = 1.25;

/// The roles, the tree over which learners hear of decisions, and what a command costs that way and others.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacementPlan {
    /// The leader and the acceptor.
    pub roles: Roles,
    /// The learn tree, from the acceptor on: its children watch it, theirs watch them.
    pub tree: Tree,
    /// Learning over that tree.
    pub planned: Load,
    /// The acceptor tells each member itself, with the roles of `direct_roles`.
    pub direct: Load,
    /// The roles with which telling each member is fastest.
    pub direct_roles: Roles,
    /// All others read one line of the acceptor, with the same roles as the tree.
    pub shared_line: Load,
    /// True if the model has measured how one line goes around its readers, so that `shared_line` is no mere lower limit.
    pub is_line_measured: bool,
}

impl PlacementPlan {
    /// A plan with leader and acceptor at different members, if there are two.
    #[must_use]
    pub fn separate<'a>(costs: impl Into<Costs<'a>>) -> Self {
        let costs = costs.into();
        Self::of(costs, &Roles::ranked(costs, false))
    }

    /// A plan whose leader accepts itself.
    #[must_use]
    pub fn fused<'a>(costs: impl Into<Costs<'a>>) -> Self {
        let costs = costs.into();
        Self::of(costs, &Roles::ranked(costs, true))
    }

    /// A plan for members that have these roles already.
    ///
    /// # Panics
    /// If the problem has no such members.
    #[must_use]
    #[track_caller]
    pub fn with_roles<'a>(costs: impl Into<Costs<'a>>, roles: Roles) -> Self {
        let costs = costs.into();
        let members = costs.problem.len();
        assert!(roles.leader.max(roles.acceptor) < members, "{roles:?} of {members} members");
        Self::of(costs, &[roles])
    }

    /// A plan with one of these pairs of roles, the most promising first.
    fn of(costs: Costs<'_>, ranked: &[Roles]) -> Self {
        let direct = ranked.iter().map(|&roles| (Load::direct(costs, roles), roles));
        let (direct, direct_roles) =
            direct.min_by(|a, b| a.0.busiest.total_cmp(&b.0.busiest)).expect("there is a pair of roles");
        let mut pairs: Vec<Roles> = ranked.iter().copied().take(PAIRS).collect();
        // On machines whose receives take long and sends next to nothing, one level is best, with the roles that suit it.
        if !pairs.contains(&direct_roles) {
            pairs.push(direct_roles);
        }
        let (roles, tree, planned) = choose(pairs.iter().map(|&roles| search(costs, roles)).collect());
        let shared_line = Load::shared_line(costs, roles);
        let is_line_measured = corecast_plan::simulate::release(costs.problem).is_some();
        Self { roles, tree, planned, direct, direct_roles, shared_line, is_line_measured }
    }

    /// True if there are roles with clearly more throughput than those of another plan for the same members, so that they
    /// are worth a change of leader and acceptor. Trees are left out of it: a search that finds a better one for some
    /// roles says little about the others.
    #[must_use]
    pub fn is_worth_moving_to(&self, from: &Self) -> bool {
        self.without_tree().throughput_over(&from.without_tree()) >= WORTH
    }

    fn without_tree(&self) -> Load {
        if self.is_line_measured { self.shared_line } else { self.direct }
    }

    /// The roles that go with the way to learn: over the tree if it is worth it, without it otherwise.
    #[must_use]
    pub fn roles_to_have(&self) -> Roles {
        if self.is_tree_worth_it() || self.is_line_measured { self.roles } else { self.direct_roles }
    }

    /// True if the tree is predicted to have clearly more throughput than learning without one: in shared memory that is
    /// reading the acceptor's line, or, where nobody has measured how a line goes around, being told one by one.
    #[must_use]
    pub fn is_tree_worth_it(&self) -> bool {
        self.tree.depth() > 1 && self.planned.throughput_over(&self.without_tree()) >= WORTH
    }
}

impl fmt::Display for PlacementPlan {
    /// The reasons, in one sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gain = self.planned.throughput_over(&self.direct);
        let (depth, most) = (self.tree.depth(), self.tree.fan_out());
        if depth <= 1 {
            return write!(f, "the acceptor tells all others itself: no tree has a less busy member");
        }
        write!(
            f,
            "{depth} levels, at most {most} children each: {gain:.2} times the throughput of an acceptor that tells all "
        )?;
        write!(f, "others itself")
    }
}
