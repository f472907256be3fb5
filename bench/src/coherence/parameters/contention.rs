//! Contention: the rows of contended lines, and what they tell of homes and of requests that meet.

use corecast::base::CpuId;
use corecast::machine::{ByDistance, Coherence, Contended};

use super::{Measured, cell, rounded, time};
use crate::coherence::report::Placement;

/// The increments of all clusters, with their lines.
const CONTENDED: [(&str, u32); 3] = [("fai-contended-1", 1), ("fai-contended-8", 8), ("fai-contended-64", 64)];
/// A home is what increments of many lines wait for if they take longer than alone by this factor.
const SATURATED: f64 = 1.2;

/// Two CPUs of some clusters, on average.
struct Pairs {
    /// The share of pairs in different packages.
    far_share: f64,
    /// The time of a read-modify-write between two in one package, and in different ones.
    near: f64,
    far: f64,
}

impl Measured<'_> {
    /// The increments of all clusters as they are, to which a simulation can be fitted.
    pub(super) fn contended_rows(&self) -> Vec<Contended> {
        let rows = self.groups(Placement::Clusters).flat_map(|group| {
            let position = |&cpu: &u32| self.machine.position(CpuId::new(cpu));
            let cpus: Option<Vec<usize>> = group.cpus.iter().map(position).collect();
            CONTENDED.map(|(case, lines)| {
                let found = cell(group, case)?;
                let (time, handed) = (rounded(time(found)?), found.handed?);
                Some(Contended { clusters: group.clusters?, cpus: cpus.clone()?, lines, time, handed })
            })
        });
        rows.flatten().collect()
    }

    /// The time of a home for a request, and the factor by which requests of other packages take longer while more wait: from
    /// the increments of all clusters. Nothing where all CPUs are of one package.
    pub(super) fn contended(&self, known: &Coherence, times: &ByDistance) -> [Option<f64>; 2] {
        let found = || {
            let group = self.groups(Placement::Clusters).next_back()?;
            let pairs = self.pairs(known, &group.cpus, &times.as_ref()?.value)?;
            let between = |case: &str| {
                let found = cell(group, case)?;
                Some(time(found)? / (group.cpus.len() as f64 * found.handed.filter(|&share| share > 0.0)?))
            };
            Some((pairs, group.cpus.len() as f64, between("fai-contended-1"), between("fai-contended-64")))
        };
        let Some((Pairs { far_share, near, far }, cpus, one, many)) = found() else { return [None, None] };
        let kappa = one.map(|between| ((between - (1.0 - far_share) * near) / (far_share * far) - 1.0).max(0.0));
        let alone = ((1.0 - far_share) * near + far_share * far) / cpus;
        let service = many.filter(|&between| between > SATURATED * alone).map(|between| between / far_share);
        [service, kappa]
    }

    /// Nothing if they are all of one package.
    fn pairs(&self, known: &Coherence, cpus: &[u32], times: &[f64]) -> Option<Pairs> {
        let nodes = self.machine.numa_nodes();
        let positions: Vec<usize> = cpus.iter().filter_map(|&cpu| self.machine.position(CpuId::new(cpu))).collect();
        let package = |at: usize| self.machine.cpus[at].package.unwrap_or(nodes[at]);
        let pairs = || {
            let others = |&one: &usize| positions.iter().map(move |&other| (one, other));
            positions.iter().flat_map(others).filter(|(one, other)| one != other)
        };
        let mean = |is_far: bool| {
            let those = pairs().filter(|&(one, other)| (package(one) != package(other)) == is_far);
            let times: Vec<f64> = those.map(|(one, other)| times[usize::from(known.distances[one][other])]).collect();
            (times.iter().sum::<f64>() / times.len().max(1) as f64, times.len() as f64)
        };
        let ((near, near_pairs), (far, far_pairs)) = (mean(false), mean(true));
        (far_pairs > 0.0).then(|| Pairs { far_share: far_pairs / (near_pairs + far_pairs), near, far })
    }
}
