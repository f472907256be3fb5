//! The processor time that nodes spend on a command beside its messages.

use corecast_base::Clock;
use corecast_machine::Unit;

use super::Roles;

/// The commands that are measured as a run, and the longest run that is reckoned with.
pub(crate) const RUN: usize = 8;

/// The time that the nodes of a group of two spend on one command, in nanoseconds, with all lines in the cache of the CPU that
/// does it: the part that a model of a machine's messages does not have. [`Work::measure`](crate::placement::Work::measure)
/// finds it on this machine.
///
/// A command of a client at the leader takes `order`, `accept` and `learn`; one of a client at the other node takes `forward`,
/// `serve`, `finish` and `follow`. Where the leader accepts itself, `order` and `serve` have the accepting, and the result of its
/// own client, in them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    /// The leader takes its client's request and proposes it.
    pub order: f64,
    /// The other node accepts it, or learns of it, and applies it.
    pub accept: f64,
    /// The leader learns of it, applies it, and gives its client the result.
    pub learn: f64,
    /// The other node takes its client's request and hands it to the leader.
    pub forward: f64,
    /// The leader takes it from there and proposes it.
    pub serve: f64,
    /// The other node accepts it, or learns of it, applies it, and gives its client the result.
    pub finish: f64,
    /// The leader learns of it and applies it.
    pub follow: f64,
    /// The part of `accept` that each further command of a run takes.
    pub run_share: f64,
}

/// The work of each member for one command of a run, by its role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RoleWork {
    /// Of the leader, which also learns.
    pub(super) leader: f64,
    /// Of the acceptor. Where the leader accepts itself, its work is in that of the leader.
    pub(super) acceptor: f64,
    /// Of each other member.
    pub(super) learner: f64,
    /// From the request to the answer of a client without a role, for a command that is in no run.
    pub(super) response: f64,
}

impl RoleWork {
    /// The work of one member, by rank.
    pub(super) fn of(self, roles: Roles, member: usize) -> f64 {
        match () {
            () if member == roles.leader => self.leader,
            () if member == roles.acceptor => self.acceptor,
            () => self.learner,
        }
    }
}

impl Work {
    /// In the unit of a model. A cycle is taken for a cycle of this machine's clock.
    #[must_use]
    pub fn in_unit(self, unit: Unit) -> Self {
        self.scaled(if unit == Unit::Ns { 1.0 } else { 1.0 / Clock::get().ns(1) })
    }

    fn scaled(self, factor: f64) -> Self {
        let Self { order, accept, learn, forward, serve, finish, follow, run_share } = self;
        Self {
            order: order * factor,
            accept: accept * factor,
            learn: learn * factor,
            forward: forward * factor,
            serve: serve * factor,
            finish: finish * factor,
            follow: follow * factor,
            run_share,
        }
    }

    /// The work of the members of a larger group, with a client at each. What other nodes than the leader do for their own
    /// clients is left out: it is a small part there.
    ///
    /// A member that limits the throughput finds commands waiting whenever it looks, those of all other clients but at most as
    /// many as [`Work::measure`] made a run of. So the roles have the work of a command in such a run, while an answer takes the
    /// work of one that is alone.
    pub(super) fn by_role(&self, members: usize, is_fused: bool) -> RoleWork {
        let own = 1.0 / members.max(1) as f64;
        let leader = |own_client: f64, others: f64| own * own_client + (1.0 - own) * others;
        let run = self.scaled(self.part_of_lone(members.clamp(1, RUN)));
        if is_fused {
            let response = self.forward + self.serve + self.finish;
            return RoleWork { leader: leader(run.order, run.serve), acceptor: 0.0, learner: run.accept, response };
        }
        let response = self.forward + self.serve + self.accept + self.learn;
        let leader = leader(run.order + run.learn, run.serve + run.follow);
        RoleWork { leader, acceptor: run.accept, learner: run.follow, response }
    }

    /// The mean work for a command in a run of this many, as a part of that for one that is alone.
    fn part_of_lone(&self, run: usize) -> f64 {
        let run = run as f64;
        (1.0 + (run - 1.0) * self.run_share) / run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_do_what_their_roles_ask() {
        let work = Work {
            order: 100.0,
            accept: 50.0,
            learn: 40.0,
            forward: 20.0,
            serve: 80.0,
            finish: 60.0,
            follow: 30.0,
            run_share: 0.5,
        };
        // Runs of four: one command in full, and three halves.
        let part = (1.0 + 3.0 * 0.5) / 4.0;
        let separate =
            RoleWork { leader: part * (35.0 + 82.5), acceptor: part * 50.0, learner: part * 30.0, response: 190.0 };
        assert_eq!(work.by_role(4, false), separate);
        let fused = RoleWork { leader: 0.75 * 90.0, acceptor: 0.0, learner: 0.75 * 50.0, response: 160.0 };
        assert_eq!(work.by_role(2, true), fused);
        assert_eq!(
            work.by_role(RUN, true).learner,
            work.by_role(8 * RUN, true).learner,
            "no longer runs were measured"
        );
    }

    #[test]
    fn work_in_cycles_is_that_of_this_machines_clock() {
        let work = Work { serve: Clock::get().ns(1000), run_share: 0.5, ..Work::default() };
        assert_eq!(work.in_unit(Unit::Ns), work);
        let cycles = work.in_unit(Unit::Cycles);
        assert!((cycles.serve - 1000.0).abs() < 1e-6 && cycles.run_share == 0.5, "{cycles:?}");
    }
}
