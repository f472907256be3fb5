//! Small clusters for tests.

use super::model::{ClusterModel, MachineKind, MachineSource, NodeRun, Tier};
use serde_json::Map;

/// Runs of nodes: kind, count and place.
pub(super) fn runs(nodes: &[(&str, u64, Option<u64>)]) -> Vec<NodeRun> {
    let run = |&(kind, count, place): &(&str, u64, Option<u64>)| NodeRun {
        kind: kind.to_owned(),
        count,
        place,
        other: Map::new(),
    };
    nodes.iter().map(run).collect()
}

/// A cluster of machines `a` and `b`, with tiers of these sizes and one for all.
pub(super) fn cluster(nodes: u64, sizes: &[u64]) -> ClusterModel {
    let kind = || MachineKind::of(MachineSource::Synthetic("core:4 pu:1".to_owned()));
    let sizes = sizes.iter().map(|&size| Some(size)).chain([None]);
    let tier = |(i, size)| Tier::assumed(&format!("tier {i}"), size, 600.0 + 300.0 * i as f64, 250.0, 0.08);
    ClusterModel {
        name: "planted".to_owned(),
        machines: [("a".to_owned(), kind()), ("b".to_owned(), kind())].into(),
        nodes: runs(&[("a", nodes, None)]),
        tiers: sizes.enumerate().map(tier).collect(),
        nic: None,
        arrival: None,
        other: Map::new(),
    }
}
