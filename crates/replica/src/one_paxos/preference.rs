//! Roles by plan: the runtime would rather have two other members lead and accept.
//!
//! The changes are the usual ones, leader change by the node that is to lead and acceptor change by the leader, so
//! nothing but time rests on the wish.

use super::io::{Effect, Transport};
use super::node::{Node, Role};
use crate::NodeId;

impl<B: Clone + PartialEq> Node<B> {
    /// The runtime wishes that `leader` leads and `acceptor` accepts, or has no wish. The node that is to lead asks for it;
    /// at other nodes it says which acceptor a leader chooses when it has to choose another. To be repeated until it is so.
    pub fn prefer(&mut self, roles: Option<(NodeId, NodeId)>, effects: &mut Vec<Effect<B>>) {
        self.preferred_acceptor = roles.map(|(_, acceptor)| acceptor);
        let Some((leader, acceptor)) = roles.filter(|&(leader, _)| leader == self.settings.me) else { return };
        if !self.leads() {
            return self.propose_itself(effects);
        }
        let is_separate = self.settings.transport != Transport::Shared { is_fused: true } && acceptor != leader;
        if self.role == Role::Leading && is_separate && self.may_accept(acceptor) {
            self.change_acceptor(effects);
        }
    }

    /// True if the node could be chosen as the acceptor instead of the present one.
    pub(super) fn may_accept(&self, node: NodeId) -> bool {
        node != self.settings.me && node != self.configuration.acceptor && !self.is_out(node)
    }
}
