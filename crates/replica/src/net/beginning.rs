//! What each node knows of its group before it has heard of anybody.

use super::config::Config;
use super::peers::founder;
use crate::one_paxos::{Rules, Settings, Transport};
use crate::{Configuration, NodeId, RoleChange};

/// The settings of the protocol for node `me`.
pub(super) fn settings(config: &Config, me: NodeId) -> Settings {
    Settings {
        me,
        transport: Transport::Messages,
        window: config.window,
        founders: (0..config.nodes).map(founder).collect(),
        rules: Rules::ALL,
    }
}

/// The configuration that the group begins with.
pub(super) fn configuration(config: &Config) -> Configuration {
    let leader = founder(0);
    let acceptor = founder(usize::from(config.nodes > 1));
    Configuration {
        epoch: 0,
        change: RoleChange::Acceptor,
        leader,
        acceptor,
        inst: 0,
        stable: 0,
        source: leader,
        hi: 0,
    }
}
