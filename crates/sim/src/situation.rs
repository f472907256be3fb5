//! The circumstances of locks on a simulated machine: they find in its model what locks of a program find in that of a real one.

use corecast_lock::{Domains, Params, Setup};
use corecast_machine::CostMatrix;
use corecast_sim_core::Machine;

use crate::model;

/// The setup of locks for this number of threads, whose domains are those of the machine; from now on all locks of the process
/// decide by the machine's costs. Only a caller that plays alone may call it.
pub(crate) fn setup(machine: &Machine, threads: usize) -> Setup {
    let mut model = model(machine);
    let costs = machine.costs();
    let line_ns =
        |one, other| if one == other { 0.0 } else { machine.ns(costs.load.modified[machine.distance(one, other)]) };
    let bounce = CostMatrix::from_fn(machine.cpus(), line_ns).expect("times are finite and not negative");
    model.extended.bounce = Some(bounce);
    model.extended.wake_ns = Some(machine.ns(costs.system.woken));
    Params::of(&model).set_for_process();
    let mut setup = Setup::of_threads(threads);
    setup.domains = Domains::of_machine(&model);
    setup
}

#[cfg(test)]
mod tests {
    use corecast_sim_core::published;

    use super::*;
    use crate::rounds::alone;

    #[test]
    fn locks_of_the_next_run_do_not_know_this_machine() {
        let playing = alone();
        setup(&published::opteron_4x12(), 2);
        assert_ne!(Params::of_process(), &Params::ASSUMED);
        drop(playing);
        let _alone = alone();
        assert_eq!(Params::of_process(), &Params::ASSUMED);
    }
}
