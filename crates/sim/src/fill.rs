//! The same machine with its CPUs numbered by turns over its packages.
//!
//! Every program puts its threads on the first CPUs. On a machine that is numbered package by package, as published ones are,
//! these are neighbours; on one that is numbered anew here they are spread: over the packages first, in each package over its
//! nodes, and in each node in the order that they had. Costs and distances stay those of the CPUs that they were measured on.

use corecast_sim_core::{Location, Machine, MachineError};
use measured_machine::Machine as Model;

/// A machine whose first CPUs are spread over its packages and nodes.
///
/// # Errors
/// [`MachineError`], which a machine that was made has not.
pub fn spread(machine: &Machine) -> Result<Machine, MachineError> {
    let places = (0..machine.cpus()).map(|cpu| machine.location(cpu));
    let order = order(&places.map(|Location { package, node }| (package.into(), node.into())).collect::<Vec<_>>());
    numbered_anew(machine, &order)
}

/// The same machine whose CPUs are numbered in this order, which has each of them once.
///
/// # Errors
/// [`MachineError`], which a machine that was made has not.
pub(crate) fn numbered_anew(machine: &Machine, order: &[usize]) -> Result<Machine, MachineError> {
    let locations = order.iter().map(|&cpu| machine.location(cpu)).collect();
    let distance = |one: usize, other: usize| machine.distance(order[one], order[other]) as u8;
    let numbered = Machine::new(machine.name(), machine.units_per_us(), locations, distance, machine.costs().clone())?;
    // A core has the number of its first CPU.
    let core_of = |cpu: usize| machine.siblings(order[cpu]).iter().copied().fold(order[cpu], usize::min);
    machine.smt().map_or(Ok(numbered.clone()), |smt| numbered.with_smt(smt, core_of))
}

/// The model of such a machine. The places of the CPUs keep their ids; races are left out, as they name other CPUs by these.
#[must_use]
pub fn spread_model(model: &Model) -> Model {
    let packages = model.cpus.iter().map(|cpu| cpu.package.unwrap_or(0));
    let order = order(&packages.zip(model.numa_nodes()).collect::<Vec<_>>());
    let mut spread = model.clone();
    for (cpu, &from) in spread.cpus.iter_mut().zip(&order) {
        let id = cpu.id;
        *cpu = model.cpus[from].clone();
        cpu.id = id;
    }
    let extended = &mut spread.extended;
    let others = [&mut extended.bounce, &mut extended.send_spread, &mut extended.receive_spread];
    let matrices = others.into_iter().flatten().chain([&mut spread.send, &mut spread.receive]);
    matrices.for_each(|matrix| *matrix = matrix.restricted_to(&order));
    extended.coherence = extended.coherence.as_ref().map(|coherence| coherence.restricted_to(&order));
    extended.races.clear();
    spread
}

/// The CPUs by turns over the packages, and in each of them over the nodes; `places` has the package and the node of each.
fn order(places: &[(u32, u32)]) -> Vec<usize> {
    let all: Vec<usize> = (0..places.len()).collect();
    let of_package = |cpus: &Vec<usize>| by_turns(&grouped(cpus, |cpu| places[cpu].1));
    by_turns(&grouped(&all, |cpu| places[cpu].0).iter().map(of_package).collect::<Vec<_>>())
}

/// The CPUs of each group, in the order of the groups' first CPUs.
fn grouped(cpus: &[usize], group_of: impl Fn(usize) -> u32) -> Vec<Vec<usize>> {
    let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
    for &cpu in cpus {
        let group = group_of(cpu);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, cpus)) => cpus.push(cpu),
            None => groups.push((group, vec![cpu])),
        }
    }
    groups.into_iter().map(|(_, cpus)| cpus).collect()
}

/// The first ones of all lists, then the second ones, and so on.
fn by_turns(lists: &[Vec<usize>]) -> Vec<usize> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|turn| lists.iter().filter_map(move |list| list.get(turn).copied())).collect()
}

#[cfg(test)]
mod tests {
    use corecast_sim_core::{Smt, published};
    use measured_machine::model_file;

    use super::*;
    use crate::from_model::of_model;

    #[test]
    fn packages_come_by_turns_then_their_nodes_and_the_fuller_ones_last() {
        let places = [(0, 0), (0, 0), (0, 1), (1, 2), (1, 2), (0, 1), (0, 1)];
        assert_eq!(order(&places), [0, 3, 2, 4, 1, 5, 6]);
        assert_eq!(order(&[(0, 0), (0, 0)]), [0, 1]);
    }

    #[test]
    fn a_published_machine_keeps_its_distances_and_its_cores() {
        let machine = published::opteron_4x12().with_smt(Smt { slowdown: 1.5, line: 8 }, |cpu| cpu / 2);
        let machine = machine.expect("a factor");
        let spread = spread(&machine).expect("a machine");
        let packages: Vec<u16> = (0..8).map(|cpu| spread.location(cpu).package).collect();
        assert_eq!(packages, [0, 1, 2, 3, 0, 1, 2, 3]);
        let nodes: Vec<u16> = (0..8).map(|cpu| spread.location(cpu).node).collect();
        assert_eq!(nodes, [0, 2, 4, 6, 1, 3, 5, 7], "each of the eight dies before a second CPU of one");
        assert_eq!(spread.distance(0, 1), machine.distance(0, 12));
        assert_eq!((machine.siblings(0), spread.siblings(0)), (&[1][..], &[8][..]));
        assert_eq!(spread.smt(), machine.smt());
    }

    #[test]
    fn a_model_keeps_ids_in_their_places_and_costs_with_their_cpus() {
        let text = r#"{"schema": "corecast-machine/1", "name": "four", "unit": "ns",
            "cpus": [{"id": 3, "numa": 0, "package": 0}, {"id": 5, "numa": 0, "package": 0},
                     {"id": 7, "numa": 1, "package": 1}, {"id": 9, "numa": 1, "package": 1}],
            "send": [[0, 1, 2, 3], [10, 0, 12, 13], [20, 21, 0, 23], [30, 31, 32, 0]],
            "receive": [[0, 40, 70, 70], [40, 0, 70, 70], [70, 70, 0, 40], [70, 70, 40, 0]],
            "coherence": {"unit": "ns", "classes": ["near", "far"],
                          "distances": [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]},
            "provenance": {"kind": "measured"}}"#;
        let model = model_file::parse(text).expect("a model");
        let spread = spread_model(&model);
        assert_eq!(spread.cpu_set(), model.cpu_set());
        assert_eq!(spread.cpus.iter().map(|cpu| cpu.package).collect::<Vec<_>>(), [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!((spread.send.get(0, 1), spread.send.get(1, 0), spread.send.get(0, 2)), (2.0, 20.0, 1.0));
        let machines = [&model, &spread].map(|model| of_model(model).expect("a machine").machine);
        let near = [0, 1, 2, 3].map(|cpu| machines[1].distance(0, cpu) == machines[0].distance(0, 1));
        assert_eq!(near, [true, false, true, false], "classes of `coherence` go with their CPUs, too");
        assert_eq!(machines[1].costs(), machines[0].costs());
    }
}
