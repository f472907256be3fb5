//! The stable JSON form of a topology, as `corecast topo --json` prints it; every field is described in
//! `docs/json/topo.md`.

use serde::Serialize;

use crate::topology::{CoreKind, Cpu, NumaDistances, Topology};

/// A [`Topology`] ready to be serialised. Unknown is `null`, never a missing field.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Topology, TopologyJson};
/// let topology = Topology { cpus: vec![Cpu::flat(CpuId::new(3))], ..Topology::default() };
/// let text = serde_json::to_string(&TopologyJson::from(&topology))?;
/// assert!(text.starts_with(
///     r#"{"cpus":[{"id":3,"core":null,"package":null,"numa":null,"l2":null,"l3":null,"kind":null}],"quota":null,"#
/// ));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Serialize)]
pub struct TopologyJson<'a> {
    cpus: Vec<CpuJson>,
    quota: Option<f64>,
    numa_distances: Option<DistancesJson<'a>>,
    source: &'a str,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct CpuJson {
    id: u32,
    core: Option<u32>,
    package: Option<u32>,
    numa: Option<u32>,
    l2: Option<u32>,
    l3: Option<u32>,
    kind: Option<CoreKind>,
}

#[derive(Debug, Serialize)]
struct DistancesJson<'a> {
    nodes: &'a [u32],
    rows: &'a [Vec<u32>],
}

impl<'a> From<&'a Topology> for TopologyJson<'a> {
    fn from(topology: &'a Topology) -> Self {
        Self {
            cpus: topology.cpus.iter().map(CpuJson::from).collect(),
            quota: topology.quota,
            numa_distances: topology.numa_distances.as_ref().map(DistancesJson::from),
            source: &topology.source,
            notes: &topology.notes,
        }
    }
}

impl From<&Cpu> for CpuJson {
    fn from(cpu: &Cpu) -> Self {
        let Cpu { id, core, package, numa, l2, l3, kind } = *cpu;
        Self { id: id.get(), core, package, numa, l2, l3, kind }
    }
}

impl<'a> From<&'a NumaDistances> for DistancesJson<'a> {
    fn from(distances: &'a NumaDistances) -> Self {
        Self { nodes: &distances.nodes, rows: &distances.rows }
    }
}
