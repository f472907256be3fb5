//! Where the measured lines of a pair lie: on the NUMA node of one of the two CPUs, or on another one.
//!
//! The system puts a page near the CPU that touches it first, so a home is a CPU that does. That is as far as it goes: memory
//! policies of the process (`numactl`) come before it, the kernel may move pages later, and a node whose CPUs this process
//! may not use is nobody's home.

use corecast::base::CpuId;
use corecast::machine::Machine;
use serde::Serialize;

/// Which CPU of a pair its lines lie near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Home {
    /// The first of the pair; near the second, too, if both are of one node.
    First,
    /// The second of the pair, which is of another node than the first.
    Second,
    /// Neither.
    Elsewhere,
}

/// The homes that lines of a pair can have, each with a CPU that gives it to them; `None` where all CPUs are of one node, or it
/// is not known of all of them.
pub(super) fn homes(machine: &Machine, [first, second]: [CpuId; 2]) -> Vec<(Option<Home>, CpuId)> {
    let nodes: Option<Vec<(u32, CpuId)>> = machine.cpus.iter().map(|cpu| Some((cpu.numa?, cpu.id))).collect();
    let nodes = nodes.unwrap_or_default();
    let node = |of: CpuId| nodes.iter().find(|&&(_, id)| id == of).map(|&(node, _)| node);
    let (Some(near), Some(other)) = (node(first), node(second)) else { return vec![(None, first)] };
    let elsewhere = nodes.iter().filter(|&&(node, _)| node != near && node != other).min().map(|&(_, id)| id);
    if near == other && elsewhere.is_none() {
        return vec![(None, first)];
    }
    let second = (near != other).then_some((Some(Home::Second), second));
    let elsewhere = elsewhere.map(|id| (Some(Home::Elsewhere), id));
    [Some((Some(Home::First), first)), second, elsewhere].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use corecast::machine::{Cpu, Topology};

    use super::*;

    /// A machine whose CPUs are of these nodes.
    fn machine(nodes: &[Option<u32>]) -> Machine {
        let cpu = |(id, &numa): (usize, &Option<u32>)| Cpu { numa, ..Cpu::flat(CpuId::new(id as u32)) };
        Machine::from_topology(&Topology { cpus: nodes.iter().enumerate().map(cpu).collect(), ..Topology::default() })
    }

    fn planned(nodes: &[Option<u32>], pair: [u32; 2]) -> Vec<(Option<Home>, u32)> {
        let homes = homes(&machine(nodes), pair.map(CpuId::new));
        homes.into_iter().map(|(home, cpu)| (home, cpu.get())).collect()
    }

    #[test]
    fn one_node_or_none_known_is_one_home() {
        assert_eq!(planned(&[Some(0), Some(0)], [1, 0]), [(None, 1)]);
        assert_eq!(planned(&[None, None], [0, 1]), [(None, 0)]);
        assert_eq!(planned(&[Some(0), Some(1), None], [0, 1]), [(None, 0)], "of one CPU it is not known");
    }

    #[test]
    fn a_pair_of_two_nodes_has_a_home_at_each_and_a_third_one_is_elsewhere() {
        let (first, second, elsewhere) = (Some(Home::First), Some(Home::Second), Some(Home::Elsewhere));
        assert_eq!(planned(&[Some(0), Some(1)], [0, 1]), [(first, 0), (second, 1)]);
        let four = [Some(0), Some(0), Some(1), Some(1), Some(2), Some(3)];
        assert_eq!(planned(&four, [3, 0]), [(first, 3), (second, 0), (elsewhere, 4)]);
        assert_eq!(planned(&four, [4, 0]), [(first, 4), (second, 0), (elsewhere, 2)]);
    }

    #[test]
    fn a_pair_of_one_node_among_several_has_two_homes() {
        let nodes = [Some(1), Some(1), Some(0), Some(0)];
        assert_eq!(planned(&nodes, [0, 1]), [(Some(Home::First), 0), (Some(Home::Elsewhere), 2)]);
    }
}
