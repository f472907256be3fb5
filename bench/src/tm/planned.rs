//! Runs a memory with its participants where the machine's model puts them: each cluster has its share of the servers, and none
//! shares a core with a client where that can be.

use corecast::base::{CpuId, CpuSet};
use corecast::tm::placement::Placement;

use super::host::{Session, Setting};
use super::variant::Variant;
use corecast_race::failure::Failure;

/// The memory that `run` makes, by messages, with the participants in planned places.
pub(super) fn with(
    setting: &Setting<'_>,
    session: Session<'_>,
    run: impl FnOnce(&Setting<'_>, Session<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let cpus = planned(setting)?;
    run(&Setting { cpus: &cpus, ..setting.clone() }, session)
}

/// The CPU of each participant.
fn planned(setting: &Setting<'_>) -> Result<Vec<CpuId>, Failure> {
    let all: CpuSet = setting.cpus.iter().copied().collect();
    let every = Some(Variant::every(setting));
    let placement = Placement::new(setting.machine, &all, setting.participants, every).map_err(Failure::refused)?;
    let in_turn = setting.cpus.iter().copied().cycle().take(setting.participants);
    if in_turn.eq(placement.cpus().iter().copied()) {
        let why =
            "the plan has participants on the CPUs in the order of their numbers, so it is the same as not planned";
        return Err(Failure::Refused(why.to_owned()));
    }
    Ok(placement.cpus().to_vec())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use corecast::base::wait::Wait;
    use corecast::machine::Machine;
    use corecast::machine::source::{DiscoveryRequest, discover};
    use corecast_race::place::Place;

    use super::*;
    use crate::tm::workload::Work;

    #[test]
    fn each_package_has_its_servers_and_one_order_is_not_raced_twice() {
        let planned_on = |synthetic: &str, participants| {
            let request = DiscoveryRequest { synthetic: Some(synthetic.to_owned()), ..DiscoveryRequest::default() };
            let machine = Machine::from_topology(&discover(&request).expect("it is well written"));
            let cpus: Vec<CpuId> = machine.cpu_set().iter().collect();
            planned(&Setting {
                work: Work::Mp,
                participants,
                every: 3,
                machine: &machine,
                cpus: &cpus,
                wait: Wait::default(),
                place: &Place::Threads,
                time: Duration::ZERO,
                seed: 1,
                text: Arc::default(),
            })
        };
        let cpus = planned_on("pack:2 core:6 pu:1", 12).expect("there are two packages");
        assert_eq!([0, 3, 6, 9].map(|server: usize| cpus[server].get()), [0, 1, 6, 7]);
        let why = planned_on("pack:1 core:2 pu:1", 2).expect_err("there is one order").to_string();
        assert!(why.contains("the same as not planned"), "{why}");
    }
}
