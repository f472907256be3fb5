//! One entry of the configuration log: which node leads, which one accepts.

use crate::{Epoch, Index, NodeId};

/// The role that an entry of the configuration log changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RoleChange {
    /// Another leader; the rest is inherited from the entry before.
    Leader = 0,
    /// Another acceptor, chosen by the leader. The configuration that a group begins with counts as one.
    Acceptor = 1,
}

/// The configuration with a number. The commands that its acceptor has to begin with, U in the design, are those at
/// `stable..hi` in the proposals of `source`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// Its number.
    pub epoch: Epoch,
    /// The role that changed.
    pub change: RoleChange,
    /// The node that leads.
    pub leader: NodeId,
    /// The node that accepts.
    pub acceptor: NodeId,
    /// The newest configuration up to this one that chose an acceptor.
    pub inst: Epoch,
    /// The count of commands that all members had applied when the acceptor was chosen.
    pub stable: Index,
    /// The node that chose the acceptor, and holds U.
    pub source: NodeId,
    /// The index after the last command of U; at least `stable`.
    pub hi: Index,
}
