//! Roles that a plan wants elsewhere: the node that is to lead asks for that, and then has the planned member accept.
//!
//! A change of leader or acceptor holds writers up for as long as one after a failure does, without the time that it
//! takes to notice that. So a node moves the roles only where the plan predicts clearly more throughput than with those
//! that a group begins with, waits between two attempts, and gives up after a few: where a node cannot keep a role, the
//! others have it.

use std::time::Duration;

use corecast_base::Clock;

use super::driver::Driver;
use super::inner::Inner;
use crate::{NodeId, StateMachine};

/// The attempts for one set of members, one for each role and some that may fail.
const ATTEMPTS: u32 = 6;
/// The shortest time between two attempts.
const AGAIN: Duration = Duration::from_millis(100);

/// The roles that a plan wants.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoleWish {
    leader: NodeId,
    acceptor: NodeId,
    /// The number of times that this node has asked for them, and when it did last, in ticks.
    attempts: u32,
    asked: u64,
}

impl<S: StateMachine> Driver<S> {
    /// The plan wants these roles, or none.
    pub(super) fn wish_for(&mut self, roles: Option<(NodeId, NodeId)>) {
        let wish = |(leader, acceptor)| RoleWish { leader, acceptor, attempts: 0, asked: 0 };
        self.wish = roles.map(wish);
        if roles.is_none() {
            self.core.prefer(None, &mut Vec::new());
        }
    }

    /// Asks for the roles that the plan wants, if it is time.
    pub(super) fn move_roles(&mut self, inner: &Inner<S>) {
        let Some(wish) = &mut self.wish else { return };
        let configuration = self.core.configuration();
        let is_so = (configuration.leader, configuration.acceptor) == (wish.leader, wish.acceptor);
        if is_so || wish.attempts >= ATTEMPTS || self.is_leaving || self.core.is_proposing() {
            return;
        }
        let clock = Clock::get();
        let (now, pause) = (clock.ticks(), AGAIN.max(self.patience.limit() * 8));
        if now.saturating_sub(wish.asked) < clock.ticks_in(pause) {
            return;
        }
        wish.asked = now;
        wish.attempts += 1;
        let roles = Some((wish.leader, wish.acceptor));
        self.act(inner, |core, effects| core.prefer(roles, effects));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crate::Node;
    use crate::kv::{Compact, CompactSet};
    use crate::node::{Config, Placement, Replicated};

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Three nodes that are never held for stuck, the second of which accepts.
    fn nodes(placement: Placement) -> Vec<Node<Compact>> {
        let config = Config::default().slots(4).window(256).placement(placement).patience(Duration::from_secs(1));
        let store = Compact::with_capacity(100).expect("small");
        let first = Replicated::create(&config, store).expect("there is memory");
        let join = |_| Replicated::attach_fd(&config, first.share().expect("/proc")).expect("a free slot");
        let others = Vec::from_iter((0..2).map(join));
        std::iter::once(first.clone()).chain(others).collect()
    }

    /// All nodes plan the same: `leader` and `acceptor`. Writes go on until it is so.
    fn write_until_moved(nodes: &[Node<Compact>], leader: usize, acceptor: usize) {
        let wish = Some((nodes[leader].id(), nodes[acceptor].id()));
        nodes.iter().for_each(|node| node.with_driver(|driver| driver.wish_for(wish)));
        let until = Instant::now() + PATIENCE;
        let mut session = nodes[1].session().expect("a member");
        let mut number = 0_u128;
        loop {
            number += 1;
            let set = CompactSet { key: *b"number  ", value: number.to_le_bytes() };
            session.execute_timeout(&set, PATIENCE).expect("done");
            let (found, _) = nodes[2].read(crate::Level::Linearizable, b"number  ").expect("fresh");
            assert_eq!(found, Some(number.to_le_bytes()), "nothing is lost");
            let status = nodes[0].status();
            if Some((status.leader, status.acceptor)) == wish {
                return;
            }
            assert!(Instant::now() < until, "{status:?}");
        }
    }

    #[test]
    fn roles_move_to_where_the_plan_wants_them_and_on() {
        let nodes = nodes(Placement::Separate);
        write_until_moved(&nodes, 2, 0);
        write_until_moved(&nodes, 2, 1);
        write_until_moved(&nodes, 1, 0);
    }

    #[test]
    fn a_leader_that_accepts_itself_takes_both_along() {
        let nodes = nodes(Placement::Fused);
        write_until_moved(&nodes, 2, 2);
        write_until_moved(&nodes, 0, 0);
    }
}
