//! Machines to plan on: made up ones, and captured ones where they are at hand.

use std::path::{Path, PathBuf};

use corecast_base::CpuId;
use corecast_machine::{CostMatrix, Cpu, Extended, Machine, Provenance, Unit};

/// The folder with captured machines and published results, if this checkout has it beside it.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what they skip")]
pub(crate) fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.is_dir() {
        eprintln!("skipped: no captured machines in {}", folder.display());
        return None;
    }
    Some(folder)
}

/// The machine of the golden trees: two packages with ten cores each.
pub(crate) fn xeon() -> Option<Machine> {
    let file = data()?.join("machines/paper-xeon-ivb-2x10-20.json");
    Some(corecast_machine::model_file::read(&file).expect("a captured machine is readable"))
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
