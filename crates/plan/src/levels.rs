//! Groups of members that are near each other, level by level.

use corecast_machine::Machine;

/// For members at these positions of the machine, the second-level cache, or where caches are not known the core,
/// or else the CPU, of each: numbered from 0.
pub(crate) fn siblings(machine: &Machine, positions: &[usize]) -> Vec<u32> {
    // The shared thing, told apart by its kind.
    let shared = |&position: &usize| match &machine.cpus[position] {
        cpu if cpu.l2.is_some() => (2, cpu.l2),
        cpu if cpu.core.is_some() => (1, cpu.core),
        cpu => (0, Some(cpu.id.get())),
    };
    numbered(positions.iter().map(shared))
}

/// The same partition with its parts numbered in the order of their first members.
pub(crate) fn numbered<T: PartialEq>(parts: impl Iterator<Item = T>) -> Vec<u32> {
    let mut known: Vec<T> = Vec::new();
    let number = |part| {
        let number = known.iter().position(|other| *other == part).unwrap_or_else(|| {
            known.push(part);
            known.len() - 1
        });
        number as u32
    };
    parts.map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Topology};

    fn problem(cpu: impl Fn(u32) -> Cpu, members: &[u32]) -> Problem {
        let machine = Machine::from_topology(&Topology { cpus: (0..8).map(cpu).collect(), ..Topology::default() });
        let members: Vec<CpuId> = members.iter().map(|&id| CpuId::new(id)).collect();
        Problem::of_members(&machine, &members).expect("known CPUs")
    }

    #[test]
    fn nodes_are_a_level_though_costs_do_not_show_them() {
        let flat = |id| Cpu { numa: Some(id % 2), ..Cpu::flat(CpuId::new(id)) };
        assert_eq!(problem(flat, &[1, 0, 3]).levels().last(), Some(&vec![0, 1, 0]));
    }

    #[test]
    fn siblings_share_the_nearest_thing_that_is_known() {
        let flat = |id| Cpu::flat(CpuId::new(id));
        assert_eq!(problem(flat, &[3, 1, 3]).siblings(), [0, 1, 0], "the same CPU");
        let threads = |id| Cpu { core: Some(id / 2), ..flat(id) };
        assert_eq!(problem(threads, &[0, 1, 2, 3]).siblings(), [0, 0, 1, 1]);
        let modules = |id| Cpu { l2: Some(id / 4), ..threads(id) };
        assert_eq!(problem(modules, &[0, 4, 3, 7]).siblings(), [0, 1, 0, 1]);
    }
}
