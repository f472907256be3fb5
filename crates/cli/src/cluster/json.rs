//! The fields of `plan --cluster --json` and `explain --cluster --json`, described in `docs/json/plan.md`.

use corecast::plan::Direction;
use corecast::plan::cluster::{Candidate, ClusterPlan, Near, Neighbours};
use serde::Serialize;

use super::study::Study;
use crate::report::cluster_rows::Growth;

#[derive(Debug, Serialize)]
pub(super) struct StudyJson<'a> {
    /// Always true: nothing of a cluster plan is measured.
    simulated: bool,
    cluster: &'a str,
    op: &'static str,
    bytes: u64,
    nodes: u64,
    members: u64,
    root: u64,
    kinds: Vec<KindJson<'a>>,
    best: CandidateJson,
    candidates: Vec<CandidateJson>,
    depths: PhasesJson<Vec<u64>>,
    neighbours: Option<NeighboursJson>,
    growth: Vec<GrowthJson>,
    provenance: ProvenanceJson,
    parameters: Vec<ParameterJson<'a>>,
    time_ms: f64,
}

/// A kind of machine.
#[derive(Debug, Serialize)]
struct KindJson<'a> {
    kind: &'a str,
    nodes: u64,
    members: u32,
    up_ns: f64,
    down_ns: f64,
    about: &'a str,
}

#[derive(Debug, Serialize)]
struct CandidateJson {
    scheme: &'static str,
    lanes: u32,
    chunk_bytes: Option<u64>,
    near_up_ns: f64,
    far_ns: f64,
    near_down_ns: f64,
    chunks_ns: f64,
    quiet_ns: f64,
    mean_wait_ns: f64,
    tail_wait_ns: f64,
    expected_ns: f64,
    spread_ns: f64,
    depth: u32,
    exact: bool,
    of_groups: bool,
}

/// Something of both phases; null where the operation lacks one.
#[derive(Debug, Serialize)]
struct PhasesJson<T> {
    up: Option<T>,
    down: Option<T>,
}

#[derive(Debug, Serialize)]
struct NeighboursJson {
    node: u64,
    #[serde(flatten)]
    of: PhasesJson<EdgesJson>,
}

#[derive(Debug, Serialize)]
struct EdgesJson {
    parent: Option<u64>,
    children: Vec<u64>,
}

#[derive(Debug, Serialize)]
struct GrowthJson {
    nodes: u64,
    members: u64,
    scheme: &'static str,
    quiet_ns: f64,
    expected_ns: f64,
}

#[derive(Debug, Serialize)]
struct ProvenanceJson {
    measured: usize,
    published: usize,
    assumed: usize,
}

#[derive(Debug, Serialize)]
struct ParameterJson<'a> {
    field: String,
    value: f64,
    provenance: &'static str,
    source: &'a str,
}

impl<'a> StudyJson<'a> {
    pub(super) fn of(study: &'a Study) -> Self {
        let ClusterPlan { cluster, operation, bytes, nodes, members, root, candidates, .. } = &study.plan;
        let [measured, published, assumed] = study.provenance().map(|(_, count)| count);
        let parameters = study.model.parameters().into_iter().map(|(field, of)| ParameterJson {
            field,
            value: of.value,
            provenance: of.provenance.name(),
            source: &of.source,
        });
        Self {
            simulated: true,
            cluster,
            op: operation.name(),
            bytes: *bytes,
            nodes: *nodes,
            members: *members,
            root: *root,
            kinds: kinds(study),
            best: CandidateJson::of(study.plan.best()),
            candidates: candidates.iter().map(CandidateJson::of).collect(),
            depths: PhasesJson::of(|direction| study.plan.depths(direction).map(whole)),
            neighbours: study.node.map(|node| NeighboursJson {
                node,
                of: PhasesJson::of(|direction| study.plan.neighbours(direction, node).map(EdgesJson::of)),
            }),
            growth: study.growth.iter().map(GrowthJson::of).collect(),
            provenance: ProvenanceJson { measured, published, assumed },
            parameters: parameters.collect(),
            time_ms: study.time_ms,
        }
    }
}

fn kinds(study: &Study) -> Vec<KindJson<'_>> {
    study.near.iter().map(|(kind, near)| kind_json(study, kind, near)).collect()
}

fn kind_json<'a>(study: &'a Study, kind: &'a String, near: &'a Near) -> KindJson<'a> {
    let nodes = study.model.nodes.iter().filter(|run| run.kind == *kind).map(|run| run.count).sum();
    KindJson { kind, nodes, members: near.members, up_ns: near.up_ns, down_ns: near.down_ns, about: &near.about }
}

/// Counts of nodes, which the model has as shares.
fn whole(counts: Vec<f64>) -> Vec<u64> {
    let mut counts: Vec<u64> = counts.into_iter().map(|count| count.round() as u64).collect();
    while counts.last() == Some(&0) {
        counts.pop();
    }
    counts
}

impl<T> PhasesJson<T> {
    fn of(get: impl Fn(Direction) -> Option<T>) -> Self {
        Self { up: get(Direction::Up), down: get(Direction::Down) }
    }
}

impl EdgesJson {
    fn of(neighbours: Neighbours) -> Self {
        Self { parent: neighbours.parent, children: neighbours.children }
    }
}

impl GrowthJson {
    fn of(growth: &Growth) -> Self {
        let Growth { nodes, members, scheme, quiet_ns, expected_ns, .. } = *growth;
        Self { nodes, members, scheme: scheme.name(), quiet_ns, expected_ns }
    }
}

impl CandidateJson {
    fn of(candidate: &Candidate) -> Self {
        Self {
            scheme: candidate.scheme.name(),
            lanes: candidate.lanes,
            chunk_bytes: candidate.chunk_bytes,
            near_up_ns: candidate.near_up_ns,
            far_ns: candidate.far_ns,
            near_down_ns: candidate.near_down_ns,
            chunks_ns: candidate.chunks_ns,
            quiet_ns: candidate.quiet_ns,
            mean_wait_ns: candidate.mean_wait_ns,
            tail_wait_ns: candidate.tail_wait_ns,
            expected_ns: candidate.expected_ns(),
            spread_ns: candidate.spread_ns,
            depth: candidate.depth,
            exact: candidate.is_exact,
            of_groups: candidate.is_of_groups,
        }
    }
}
