//! The registry of stores that are raced.

use super::host::{Entrance, Host, Join, Open, Setting};
use super::load::Mix;
use super::net::NetReplicas;
use super::ours::Replicas;
use super::preset::{Case, Workload};
use super::rivals::{lmdb, maps, node_replication, robust, sockets};
use super::series::{NET, NetSeries, Reads, SERIES, Series};
use corecast_race::failure::Failure;

/// A store that is raced.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Ours(&'static Series),
    /// Ours over messages.
    Net(&'static NetSeries),
    /// For the threads of one process.
    Threads(Open),
    /// For processes, too.
    Shared(Open, Join),
}

/// Contenders that no row can have, and why.
pub(super) const LEFT_OUT: &[(&str, &str)] = &[
    (
        "openraft",
        "it brings a hundred crates, and needs a store, a network and a runtime that its users write: examples/raft has them and is a \
         workspace of its own; openraft's own benchmark tells 14.3 us a write",
    ),
    (
        "iceoryx2 blackboard",
        "it has one writer and keys that are fixed when it is made, so it could be raced by reads alone; its crate builds with \
         libclang only, which is a package of the system",
    ),
];

/// All of them, ours first.
pub(super) fn contenders() -> Vec<Contender> {
    let ours = SERIES.iter().map(|series| Contender { name: series.name, kind: Kind::Ours(series) });
    let rivals = [
        ("node-replication", Kind::Threads(node_replication::open)),
        ("dashmap", Kind::Threads(maps::open::<maps::Dashmap>)),
        ("papaya", Kind::Threads(maps::open::<maps::Papaya>)),
        ("std-rwlock", Kind::Threads(maps::open::<maps::Std>)),
        ("robust-mutex", Kind::Shared(robust::open, robust::join)),
        ("lmdb", Kind::Shared(lmdb::open, lmdb::join)),
        ("redis", Kind::Shared(sockets::open_redis, sockets::join_redis)),
        ("memcached", Kind::Shared(sockets::open_memcached, sockets::join_memcached)),
    ];
    let net = NET.iter().map(|series| Contender { name: series.name, kind: Kind::Net(series) });
    ours.chain(net).chain(rivals.map(|(name, kind)| Contender { name, kind })).collect()
}

impl Contender {
    pub(super) fn is_ours(&self) -> bool {
        matches!(self.kind, Kind::Ours(_) | Kind::Net(_))
    }

    /// Whether it is raced in a situation where nobody names it. Over messages a read is ordered like a write, so there are
    /// writes only; the shapes of trees differ where there are many members and few clients, as in the paper. Stale reads are no
    /// rival of linearizable ones: they are raced in one experiment only.
    pub(super) fn takes_part(&self, case: &Case) -> bool {
        match self.kind {
            Kind::Ours(series) => series.reads != Reads::Local || case.has_stale_reads,
            Kind::Net(series) => {
                let is_writes = matches!(case.workload, Workload::Store { mix: Mix::Writes, .. });
                is_writes && (series.is_form || case.clients < case.replicas)
            }
            _ => true,
        }
    }

    /// Whether its clients can be processes.
    pub(super) fn has_processes(&self) -> bool {
        !matches!(self.kind, Kind::Threads(_))
    }

    /// Makes it for the threads of this process.
    pub(super) fn open(&self, setting: &Setting) -> Result<Box<dyn Host>, Failure> {
        match self.kind {
            Kind::Ours(series) => Replicas::open(series, setting),
            Kind::Net(series) => NetReplicas::open(series, setting),
            Kind::Threads(open) | Kind::Shared(open, _) => open(setting),
        }
    }

    /// Makes it for one client in this process, and others in processes of their own.
    pub(super) fn open_shared(&self, setting: &Setting) -> Result<Box<dyn Host>, Failure> {
        match self.kind {
            Kind::Ours(series) => Replicas::open_first(series, setting),
            Kind::Net(series) => NetReplicas::open_first(series, setting),
            Kind::Threads(_) => Err(Failure::Refused("it is for the threads of one process".to_owned())),
            Kind::Shared(open, _) => open(setting),
        }
    }

    /// Comes to one that another process has made.
    pub(super) fn join(&self, setting: &Setting, entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
        match self.kind {
            Kind::Ours(series) => Replicas::join(series, setting, entrance),
            Kind::Net(_) => NetReplicas::join(setting, entrance),
            Kind::Threads(_) => Err(Failure::Refused("it is for the threads of one process".to_owned())),
            Kind::Shared(_, join) => join(setting, entrance),
        }
    }
}
