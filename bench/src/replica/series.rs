//! The forms of our own replication that are raced: a list for shared memory, and one for messages.

use corecast::plan::shape::{Binary, Cluster, Fibonacci, Mst, Shape};
use corecast::replica::Placement;

/// One form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Series {
    /// Its name in every table.
    pub(super) name: &'static str,
    pub(super) placement: Placement,
    pub(super) reads: Reads,
}

/// How a form's clients read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// Linearizable, under the lock of the state.
    Locked,
    /// Linearizable, from the lines of the table, beside the thread that applies.
    Lines,
    /// The client's own replica as it is, under the lock of the state: a value may be stale.
    Local,
}

impl Series {
    const fn separate(name: &'static str, reads: Reads) -> Self {
        Self { name, placement: Placement::Separate, reads }
    }

    const fn fused(name: &'static str, reads: Reads) -> Self {
        Self { name, placement: Placement::Fused, reads }
    }

    /// Whether it is a form of its own, or differs in its reads only.
    fn is_form(&self) -> bool {
        self.reads == Reads::Locked
    }
}

/// All of them. The log of `shm` lies in memory that outlives its writer.
pub(super) const SERIES: &[Series] = &[
    Series::separate("shm-separate", Reads::Locked),
    Series::fused("shm-fused", Reads::Locked),
    Series::separate("shm-separate-lines", Reads::Lines),
    Series::fused("shm-fused-lines", Reads::Lines),
    Series::separate("shm-separate-local", Reads::Local),
    Series::fused("shm-fused-local", Reads::Local),
];

/// The forms whose writes differ.
pub(super) fn forms() -> impl Iterator<Item = &'static Series> {
    SERIES.iter().filter(|series| series.is_form())
}

/// One form over messages.
#[derive(Clone, Copy)]
pub(super) struct NetSeries {
    /// Its name in every table.
    pub(super) name: &'static str,
    pub(super) way: Way,
    /// Whether it is raced wherever messages are, or as one of the tree shapes only.
    pub(super) is_form: bool,
}

/// How the acceptor's word gets to all nodes.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Sequential,
    Tree(&'static dyn Shape),
    Ring,
}

/// All of them. A node's memory may die with it; a read is ordered like a write.
pub(super) const NET: &[NetSeries] = &[
    NetSeries { name: "net-sequential", way: Way::Sequential, is_form: true },
    NetSeries { name: "net-tree", way: Way::Tree(&Binary), is_form: true },
    NetSeries { name: "net-tree-fibonacci", way: Way::Tree(&Fibonacci), is_form: false },
    NetSeries { name: "net-tree-mst", way: Way::Tree(&Mst), is_form: false },
    NetSeries { name: "net-tree-cluster", way: Way::Tree(&Cluster), is_form: false },
    NetSeries { name: "net-mcast", way: Way::Ring, is_form: true },
];
