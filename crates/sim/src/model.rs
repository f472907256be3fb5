//! The model of a simulated machine, from which groups plan.

use corecast_base::CpuId;
use corecast_machine::{CostMatrix, Cpu, Extended, Machine as Model, Provenance, Unit};

use crate::machine::Machine;

/// The time to look at a line that is there already, which is part of what a model calls receiving.
const POLL_NS: f64 = 10.0;

/// The model of a machine as it would measure itself: a sender is busy for the gap between two requests of its store buffer, a
/// receiver for a load of a modified line. Its CPUs are numbered as the machine's.
#[must_use]
pub fn model(machine: &Machine) -> Model {
    let costs = machine.costs();
    let cpu = |number: usize| {
        let (id, location) = (CpuId::new(number as u32), machine.location(number));
        Cpu { numa: Some(location.node.into()), package: Some(location.package.into()), ..Cpu::flat(id) }
    };
    let matrix = |time: &dyn Fn(usize) -> f64| {
        let between = |from, to| if from == to { 0.0 } else { time(machine.distance(from, to)) };
        CostMatrix::from_fn(machine.cpus(), between).expect("times are finite and not negative")
    };
    Model {
        name: machine.name().to_owned(),
        unit: Unit::Ns,
        cpus: (0..machine.cpus()).map(cpu).collect(),
        send: matrix(&|distance| machine.ns(costs.gap[distance])),
        receive: matrix(&|distance| machine.ns(costs.load.modified[distance]) + POLL_NS),
        provenance: Provenance {
            kind: "simulated".to_owned(),
            source: "the costs of a simulated machine".to_owned(),
            ..Provenance::default()
        },
        extended: Extended::default(),
    }
}
