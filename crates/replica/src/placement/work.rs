//! The processor time that nodes spend on a command beside its messages.

use super::Roles;

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

/// The work of each member for one command, by its role.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RoleWork {
    /// Of the leader, which also learns.
    pub leader: f64,
    /// Of the acceptor. Where the leader accepts itself, its work is in that of the leader.
    pub acceptor: f64,
    /// Of each other member.
    pub learner: f64,
    /// From the request to the answer of a client without a role.
    pub response: f64,
}

impl RoleWork {
    /// No work at all: nothing but messages.
    pub const NONE: Self = Self { leader: 0.0, acceptor: 0.0, learner: 0.0, response: 0.0 };

    /// The work of one member, by rank.
    #[must_use]
    pub fn of(self, roles: Roles, member: usize) -> f64 {
        match () {
            () if member == roles.leader => self.leader,
            () if member == roles.acceptor => self.acceptor,
            () => self.learner,
        }
    }

    /// In another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let Self { leader, acceptor, learner, response } = self;
        Self {
            leader: leader * factor,
            acceptor: acceptor * factor,
            learner: learner * factor,
            response: response * factor,
        }
    }
}

impl Work {
    /// The work of the members of a larger group, with a client at each. What other nodes than the leader do for their own
    /// clients is left out: it is a small part there.
    #[must_use]
    pub fn by_role(&self, members: usize, is_fused: bool) -> RoleWork {
        let own = 1.0 / members.max(1) as f64;
        let leader = |own_client: f64, others: f64| own * own_client + (1.0 - own) * others;
        if is_fused {
            let response = self.forward + self.serve + self.finish;
            return RoleWork { leader: leader(self.order, self.serve), acceptor: 0.0, learner: self.accept, response };
        }
        let response = self.forward + self.serve + self.accept + self.learn;
        let leader = leader(self.order + self.learn, self.serve + self.follow);
        RoleWork { leader, acceptor: self.accept, learner: self.follow, response }
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
        let separate = RoleWork { leader: 35.0 + 82.5, acceptor: 50.0, learner: 30.0, response: 190.0 };
        assert_eq!(work.by_role(4, false), separate);
        let fused = RoleWork { leader: 90.0, acceptor: 0.0, learner: 50.0, response: 160.0 };
        assert_eq!(work.by_role(2, true), fused);
        assert_eq!(fused.scaled(2.0), RoleWork { leader: 180.0, acceptor: 0.0, learner: 100.0, response: 320.0 });
        assert_eq!(RoleWork::NONE.scaled(3.0), RoleWork::NONE);
    }
}
