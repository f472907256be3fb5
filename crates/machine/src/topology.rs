//! The CPUs this process may use, and the cores, caches, packages and NUMA nodes that they belong to.
//!
//! Group numbers (`core`, `package`, `l2`, `l3`) mean only equality: equal numbers share the thing, `None` is unknown.
//! A machine about which nothing is known but its CPU numbers is a valid topology: flat.

use std::fmt;

use corecast_base::CpuId;
use serde::{Deserialize, Serialize};

/// The kind of core on a machine with unequal cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoreKind {
    /// The faster kind (P-core, big).
    Performance,
    /// The thriftier kind (E-core, little).
    Efficiency,
}

/// One usable CPU and the groups it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The kernel's number of it.
    pub id: CpuId,
    /// CPUs with the same core are SMT siblings.
    pub core: Option<u32>,
    /// The package (socket).
    pub package: Option<u32>,
    /// The NUMA node's number, the lowest one where several are near.
    pub numa: Option<u32>,
    /// CPUs with the same number share a second-level cache.
    pub l2: Option<u32>,
    /// CPUs with the same number share a third-level cache.
    pub l3: Option<u32>,
    /// The kind of core, where the machine has more than one.
    pub kind: Option<CoreKind>,
}

impl Cpu {
    /// A CPU with nothing known but its number.
    #[must_use]
    pub fn flat(id: CpuId) -> Self {
        Self { id, core: None, package: None, numa: None, l2: None, l3: None, kind: None }
    }
}

/// Relative distances between NUMA nodes as the firmware reports them (10 = local).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumaDistances {
    /// The node numbers, in the order of rows and columns.
    pub nodes: Vec<u32>,
    /// `rows[i][j]` is the distance from `nodes[i]` to `nodes[j]`.
    pub rows: Vec<Vec<u32>>,
}

/// The CPUs this process may use and what they share.
#[derive(Clone, Default, PartialEq)]
pub struct Topology {
    /// The usable CPUs, ascending by id, each once.
    pub cpus: Vec<Cpu>,
    /// Distances between NUMA nodes, where the source has them.
    pub numa_distances: Option<NumaDistances>,
    /// CPU time this process may use, in CPUs (0.5 = half of one); `None` is no limit.
    pub quota: Option<f64>,
    /// The source of all this, such as `sysfs`.
    pub source: String,
    /// Oddities and gaps, in words for the user.
    pub notes: Vec<String>,
}

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Topology({} CPUs by {})", self.cpus.len(), self.source)
    }
}
