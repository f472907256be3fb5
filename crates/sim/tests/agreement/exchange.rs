//! The published machines without the parameters that were chosen on their own figures.

use corecast_sim::machine::{Costs, Machine, TICKS, Ticks, published};

/// The Opteron and the Xeon, each with the `service` and the `kappa` that were chosen on figures of the other one, the time in
/// nanoseconds.
pub(crate) fn exchanged() -> [Machine; 2] {
    let [opteron, xeon] = [published::opteron_4x12(), published::xeon_8x10()];
    [with_chosen_of(&opteron, &xeon), with_chosen_of(&xeon, &opteron)]
}

fn with_chosen_of(machine: &Machine, other: &Machine) -> Machine {
    let Costs { service, kappa, .. } = *other.costs();
    let service = (other.ns(service) * machine.units_per_us() / 1000.0 * TICKS as f64) as Ticks;
    let costs = Costs { service, kappa, ..machine.costs().clone() };
    machine.clone().with_costs(costs).expect("all times are there")
}
