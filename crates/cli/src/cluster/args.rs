//! Which cluster, and what is asked about it, as options.

use std::path::PathBuf;

use corecast::plan::cluster::MOST_NODES;

use crate::{bytes_arg, number_arg};

/// The cluster, as options that `plan` and `explain` share.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "With --cluster")]
pub(crate) struct ClusterArgs {
    /// Plan for all nodes of the cluster in this file, of schema corecast-cluster/1: what it would take is simulated.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["machine", "sysfs_root", "synthetic", "cpus"])]
    pub(super) cluster: Option<PathBuf>,
    /// Take this number of nodes instead of the file's; kinds of machines keep their shares.
    #[arg(long, value_name = "N", requires = "cluster", value_parser = number_arg::within::<u64>(1..=MOST_NODES))]
    pub(super) nodes: Option<u64>,
    /// Begin a broadcast or end a reduction at this node [default: 0].
    #[arg(long, value_name = "NODE", requires = "cluster", value_parser = number_arg::within::<u64>(0..=MOST_NODES - 1))]
    pub(super) root_node: Option<u64>,
    /// Say to which nodes this one sends in the planned trees, and from which it receives.
    #[arg(long, value_name = "NODE", requires = "cluster", value_parser = number_arg::within::<u64>(0..=MOST_NODES - 1))]
    pub(super) node: Option<u64>,
    /// Take every node as punctual: leave out what the file says of arrival.
    #[arg(long, requires = "cluster")]
    pub(super) punctual: bool,
    /// Also compare ways that groups do not take today: other pieces than of 60 KiB, or 120 KiB by halving, and lanes that share
    /// the work inside a node.
    #[arg(long, requires = "cluster")]
    pub(super) beyond_groups: bool,
    /// Also write a page with the tree of nodes and the growth of the cost.
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub(super) html: Option<PathBuf>,
}

/// Options that only `plan` has.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "With --cluster")]
pub(crate) struct PlanArgs {
    /// The bytes that the operation carries, such as 8, 4Ki or 1Mi [default: 8].
    #[arg(long, value_name = "BYTES", requires = "cluster", value_parser = bytes_arg::parse)]
    pub(crate) bytes: Option<usize>,
    /// Say what the plan was made from, and why.
    #[arg(long, requires = "cluster")]
    pub(crate) explain: bool,
}

impl ClusterArgs {
    /// True if a cluster is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.cluster.is_some()
    }
}
