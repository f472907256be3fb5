//! The registry of stores that are raced.

use super::host::{Entrance, Host, Join, Open, Setting};
use super::ours::Replicas;
use super::rivals::{maps, node_replication, robust, sockets};
use super::series::{SERIES, Series};
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
    /// For the threads of one process.
    Threads(Open),
    /// For processes, too.
    Shared(Open, Join),
}

/// Contenders that no row can have, and why.
pub(super) const LEFT_OUT: &[(&str, &str)] = &[
    (
        "openraft",
        "it needs a store, a network and an asynchronous runtime that its users write; its own benchmark tells 14.3 us a write",
    ),
    ("iceoryx2 blackboard", "it has one writer and keys that are fixed when it is made, and here all clients write"),
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
        ("lmdb", LMDB),
        ("redis", Kind::Shared(sockets::open_redis, sockets::join_redis)),
        ("memcached", Kind::Shared(sockets::open_memcached, sockets::join_memcached)),
    ];
    ours.chain(rivals.map(|(name, kind)| Contender { name, kind })).collect()
}

impl Contender {
    pub(super) fn is_ours(&self) -> bool {
        matches!(self.kind, Kind::Ours(_))
    }

    /// Whether its clients can be processes.
    pub(super) fn has_processes(&self) -> bool {
        !matches!(self.kind, Kind::Threads(_))
    }

    /// Makes it for the threads of this process.
    pub(super) fn open(&self, setting: &Setting) -> Result<Box<dyn Host>, Failure> {
        match self.kind {
            Kind::Ours(series) => Replicas::open(series, setting),
            Kind::Threads(open) | Kind::Shared(open, _) => open(setting),
        }
    }

    /// Makes it for one client in this process, and others in processes of their own.
    pub(super) fn open_shared(&self, setting: &Setting) -> Result<Box<dyn Host>, Failure> {
        match self.kind {
            Kind::Ours(series) => Replicas::open_first(series, setting),
            Kind::Threads(_) => Err(Failure::Refused("it is for the threads of one process".to_owned())),
            Kind::Shared(open, _) => open(setting),
        }
    }

    /// Comes to one that another process has made.
    pub(super) fn join(&self, setting: &Setting, entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
        match self.kind {
            Kind::Ours(series) => Replicas::join(series, setting, entrance),
            Kind::Threads(_) => Err(Failure::Refused("it is for the threads of one process".to_owned())),
            Kind::Shared(_, join) => join(setting, entrance),
        }
    }
}

#[cfg(feature = "lmdb")]
const LMDB: Kind = Kind::Shared(super::rivals::lmdb::open, super::rivals::lmdb::join);
#[cfg(not(feature = "lmdb"))]
const LMDB: Kind = Kind::Shared(|_| Err(not_built()), |_, _| Err(not_built()));

#[cfg(not(feature = "lmdb"))]
fn not_built() -> Failure {
    Failure::Refused("not built: cargo build --features lmdb, which takes a C compiler".to_owned())
}
