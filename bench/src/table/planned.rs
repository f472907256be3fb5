//! Runs another contender with its servers where the machine's model puts them: each cluster has its share of them, and none shares
//! a core with a client where that can be.

use std::borrow::Cow;

use corecast::base::{CpuId, CpuSet};
use corecast::tm::placement::Placement;

use super::deal::participants;
use super::host::{Host, Setting, Work};
use corecast_race::failure::Failure;

/// See the [module](self).
pub(super) struct Planned<H>(std::marker::PhantomData<H>);

impl<H: Host> Host for Planned<H> {
    fn servers(setting: &Setting<'_>) -> usize {
        H::servers(setting)
    }

    fn adapted<'a>(setting: &Setting<'a>) -> Result<Setting<'a>, Failure> {
        let refused = |why: &str| Err(Failure::Refused(format!("{why}, so it is the same as not planned")));
        let Some(machine) = setting.machine.filter(|_| setting.is_pinned) else {
            return refused("threads are not bound");
        };
        let (all, numbered): (CpuSet, _) = (setting.cpus.iter().copied().collect(), participants(setting));
        let placement = Placement::new(machine, &all, numbered, Some(setting.every)).map_err(Failure::refused)?;
        let in_turn: Vec<CpuId> = setting.cpus.iter().copied().cycle().take(numbered).collect();
        if placement.cpus() == in_turn {
            return refused("the plan has participants on the CPUs in the order of their numbers");
        }
        Ok(Setting { cpus: Cow::Owned(placement.cpus().to_vec()), ..setting.clone() })
    }

    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        H::with(setting, work)
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::Machine;
    use corecast::machine::source::{DiscoveryRequest, discover};

    use super::*;
    use crate::table::messages::Messages;
    use crate::table::play::tests::SETTING;

    #[test]
    fn servers_are_dealt_to_packages_and_one_package_is_the_same() {
        let machine = |synthetic: &str| {
            let request = DiscoveryRequest { synthetic: Some(synthetic.to_owned()), ..DiscoveryRequest::default() };
            Machine::from_topology(&discover(&request).expect("it is well written"))
        };
        let adapted = |machine: &Machine, threads| {
            let cpus = Cow::Owned(machine.cpu_set().iter().collect::<Vec<_>>());
            let setting = Setting { machine: Some(machine), cpus, is_pinned: true, threads, ..SETTING };
            Planned::<Messages>::adapted(&setting).map(|setting| setting.cpus.iter().map(|cpu| cpu.get()).collect())
        };
        let two: Result<Vec<u32>, Failure> = adapted(&machine("pack:2 core:6 pu:1"), 12);
        let cpus = two.expect("there are two packages");
        assert_eq!([0, 3, 6, 9].map(|server| cpus[server]), [0, 1, 6, 7]);
        let why = adapted(&machine("pack:1 core:2 pu:1"), 2).expect_err("there is one order").to_string();
        assert!(why.contains("in the order of their numbers"), "{why}");
        let unbound = Planned::<Messages>::adapted(&SETTING).err().map(|why| why.to_string());
        assert!(unbound.is_some_and(|why| why.starts_with("threads are not bound")));
    }
}
