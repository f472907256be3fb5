//! Machines to plan on: made up ones, and captured ones.

use corecast_base::CpuId;
use corecast_machine::{CostMatrix, Cpu, Extended, Machine, Provenance, Unit, model_file};
use corecast_testing::machines;

/// Every captured machine, with the path of its model.
pub(crate) fn captured() -> impl Iterator<Item = (String, Machine)> {
    let read = |file: machines::MachineFile| {
        let machine = model_file::read(&file.path).unwrap_or_else(|error| panic!("{error}"));
        (file.path.display().to_string(), machine)
    };
    machines::models().into_iter().map(read)
}

/// The captured machine of that name.
pub(crate) fn named(name: &str) -> Machine {
    model_file::read(&machines::model(name)).expect("a captured machine is readable")
}

/// The machine of the golden trees: two packages with ten cores each.
pub(crate) fn xeon() -> Machine {
    named("paper-xeon-ivb-2x10-20")
}

/// A machine of `len` CPUs in nodes of `per_node`, with the costs that the functions tell for CPU ids.
pub(crate) fn made_up(
    ids: &[u32],
    per_node: u32,
    send: impl Fn(u32, u32) -> f64,
    receive: impl Fn(u32, u32) -> f64,
) -> Machine {
    let matrix = |cost: &dyn Fn(u32, u32) -> f64| {
        let entry = |i: usize, j: usize| if i == j { 0.0 } else { cost(ids[i], ids[j]) };
        CostMatrix::from_fn(ids.len(), entry).expect("made-up costs are costs")
    };
    Machine {
        name: "made up".to_owned(),
        unit: Unit::Cycles,
        cpus: ids.iter().map(|&id| Cpu { numa: Some(id / per_node), ..Cpu::flat(CpuId::new(id)) }).collect(),
        send: matrix(&send),
        receive: matrix(&receive),
        provenance: Provenance::default(),
        extended: Extended::default(),
    }
}
