//! The source `sysfs`.

use super::kind;
use super::nodes::Nodes;
use super::siblings::Siblings;
use super::tree::Tree;
use super::usable::Usable;
use crate::source::error::DiscoverError;
use crate::source::request::{DiscoveryRequest, Source};
use crate::topology::{Cpu, Topology};

/// This machine, or the captured tree of another.
pub(in crate::source) struct Sysfs;

impl Source for Sysfs {
    fn name(&self) -> &'static str {
        "sysfs"
    }

    fn discover(&self, request: &DiscoveryRequest) -> Result<Option<Topology>, DiscoverError> {
        request.root().map(|root| read(&Tree::new(root))).transpose()
    }
}

fn read(tree: &Tree) -> Result<Topology, DiscoverError> {
    let Usable { online, cpus, nodes, quota, mut notes } = Usable::read(tree)?;
    let siblings = Siblings::read(tree, &online);
    let nodes = Nodes::read(tree, nodes.as_deref(), &mut notes);
    let kinds = kind::read(tree, &online);
    let cpu = |id| {
        let (l2, l3) = siblings.caches(id);
        Cpu {
            id,
            core: siblings.core(id),
            package: siblings.package(id),
            numa: nodes.of(id),
            l2,
            l3,
            kind: kinds.get(&id).copied(),
        }
    };
    let cpus: Vec<Cpu> = cpus.iter().map(cpu).collect();
    notes.extend(missing(&cpus));
    Ok(Topology { cpus, numa_distances: nodes.distances, quota, source: String::new(), notes })
}

/// The answer when the tree lists no CPU at all.
fn missing(cpus: &[Cpu]) -> Option<String> {
    let unknown = |name: &'static str, group: fn(&Cpu) -> Option<u32>| {
        cpus.iter().all(|cpu| group(cpu).is_none()).then_some(name)
    };
    let unknown: Vec<&str> = [
        unknown("SMT siblings", |cpu| cpu.core),
        unknown("packages", |cpu| cpu.package),
        unknown("L2 caches", |cpu| cpu.l2),
        unknown("L3 caches", |cpu| cpu.l3),
        unknown("NUMA nodes", |cpu| cpu.numa),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!unknown.is_empty()).then(|| format!("not told by the system: {}", unknown.join(", ")))
}
