//! Costs assumed from the topology alone, so that planning works on a machine that has not been measured yet.
//!
//! The nearest thing that two CPUs share decides their cost. The numbers are round ones of the size that x86 and ARM
//! servers of the last decade show; only their order is to be trusted, and a measured model replaces them all.

use crate::cost_matrix::CostMatrix;
use crate::extended::Extended;
use crate::machine::{Machine, Provenance};
use crate::topology::{Cpu, Topology};
use crate::unit::Unit;

/// The [`Provenance::kind`] of such costs.
pub(crate) const ASSUMED: &str = "assumed";

/// The cost of a message over one kind of distance.
struct Assumption {
    send_ns: f64,
    receive_ns: f64,
    /// True if two CPUs are that near.
    near: fn(&Cpu, &Cpu) -> bool,
}

/// From near to far; the last one fits every pair.
const ASSUMPTIONS: [Assumption; 6] = [
    Assumption { send_ns: 5.0, receive_ns: 10.0, near: |a, b| shared(a.core, b.core) },
    Assumption { send_ns: 8.0, receive_ns: 20.0, near: |a, b| shared(a.l2, b.l2) },
    Assumption { send_ns: 10.0, receive_ns: 35.0, near: |a, b| shared(a.l3, b.l3) },
    Assumption { send_ns: 15.0, receive_ns: 55.0, near: |a, b| shared(a.numa, b.numa) },
    Assumption { send_ns: 20.0, receive_ns: 75.0, near: |a, b| shared(a.package, b.package) },
    Assumption { send_ns: 30.0, receive_ns: 120.0, near: |_, _| true },
];

fn shared(a: Option<u32>, b: Option<u32>) -> bool {
    a.is_some() && a == b
}

fn assumption(a: &Cpu, b: &Cpu) -> &'static Assumption {
    ASSUMPTIONS.iter().find(|level| (level.near)(a, b)).expect("the last assumption fits every pair")
}

impl Machine {
    /// The machine of a topology with costs that are assumed, in nanoseconds of sender + receiver: same core 5 + 10,
    /// same second-level cache 8 + 20, same third-level cache 10 + 35, same NUMA node 15 + 55, same package 20 + 75,
    /// others 30 + 120.
    #[must_use]
    pub fn from_topology(topology: &Topology) -> Self {
        let cpus = topology.cpus.clone();
        let matrix = |cost: fn(&Assumption) -> f64| {
            let entry = |i: usize, j: usize| if i == j { 0.0 } else { cost(assumption(&cpus[i], &cpus[j])) };
            CostMatrix::from_fn(cpus.len(), entry).expect("assumed costs are costs")
        };
        Self {
            name: format!("{} CPUs, costs assumed", cpus.len()),
            unit: Unit::Ns,
            send: matrix(|level| level.send_ns),
            receive: matrix(|level| level.receive_ns),
            provenance: Provenance {
                kind: ASSUMED.to_owned(),
                source: "not measured: costs by the nearest cache, node or package that two CPUs share".to_owned(),
                groups: topology.source.clone(),
                ..Provenance::default()
            },
            extended: Extended::default(),
            cpus,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_base::CpuId;

    #[test]
    fn nearer_is_cheaper_and_unknown_is_far() {
        let place = |id, core, l3, package| Cpu {
            core: Some(core),
            l3: Some(l3),
            package: Some(package),
            ..Cpu::flat(CpuId::new(id))
        };
        let cpus = vec![place(0, 0, 0, 0), place(1, 0, 0, 0), place(2, 1, 0, 0), place(3, 2, 1, 0), place(4, 3, 2, 1)];
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let from_first: Vec<f64> = (0..5).map(|j| machine.send.get(0, j) + machine.receive.get(0, j)).collect();
        assert_eq!(from_first, [0.0, 15.0, 45.0, 95.0, 150.0]);

        let cpus = [0, 1].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
        let flat = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        assert_eq!(flat.receive.get(1, 0), 120.0);
        flat.check().expect("a flat machine is a machine");
    }
}
