//! The forms of our own replication that are raced: a list for shared memory, and one for messages.

use corecast::plan::shape::{Binary, Cluster, Fibonacci, Mst, Shape};
use corecast::replica::Placement;

/// One form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Series {
    /// Its name in every table.
    pub(super) name: &'static str,
    pub(super) placement: Placement,
    /// Whether reads look into the lines of the table, beside the thread that applies, or take the lock of the state.
    pub(super) reads_lines: bool,
    /// Whether it is a form of its own, or differs in its reads only.
    pub(super) is_form: bool,
}

/// All of them. The log of `shm` lies in memory that outlives its writer.
pub(super) const SERIES: &[Series] = &[
    Series { name: "shm-separate", placement: Placement::Separate, reads_lines: false, is_form: true },
    Series { name: "shm-fused", placement: Placement::Fused, reads_lines: false, is_form: true },
    Series { name: "shm-separate-lines", placement: Placement::Separate, reads_lines: true, is_form: false },
    Series { name: "shm-fused-lines", placement: Placement::Fused, reads_lines: true, is_form: false },
];

/// The forms whose writes differ.
pub(super) fn forms() -> impl Iterator<Item = &'static Series> {
    SERIES.iter().filter(|series| series.is_form)
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
