//! Groups whose trees a plan service makes, and what they do without one.

use corecast::machine::{Cpu, Topology};
use corecast::plan::service::{Options, Server};
use corecast::{CpuId, Group, Machine};

fn machine(cpus: u32) -> Machine {
    let cpus = (0..cpus).map(|id| Cpu::flat(CpuId::new(id))).collect();
    Machine::from_topology(&Topology { cpus, ..Topology::default() })
}

#[test]
fn a_group_asks_the_service_that_it_is_told_of_and_needs_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.sock");
    let machine = machine(2);
    let own = Group::builder(&machine).build().expect("a group");
    let without = Group::builder(&machine).plan_service(&path).build().expect("a group");
    assert_eq!(without.choice().broadcast.tree, own.choice().broadcast.tree);
    let why = &without.choice().why;
    assert!(why.contains("planned in this process, as cannot connect to the plan service at"), "{why}");

    let server = Server::bind(&path, self::machine(1), Options::default()).expect("bound");
    let stopper = server.stopper();
    let serving = std::thread::spawn(move || server.serve());
    let served = Group::builder(&machine).plan_service(&path).build().expect("a group");
    assert_eq!(served.choice().reduce.tree, own.choice().reduce.tree);
    // Where members share CPUs, as on a machine of one, nothing is searched and nobody asked.
    if !served.choice().is_crowded {
        let why = &served.choice().why;
        assert!(why.contains("planned by the service at"), "{why}");
        assert!(served.choice().broadcast.why.ends_with("; served"), "{}", served.choice().broadcast.why);
    }
    stopper.stop();
    serving.join().expect("no panic").expect("no trouble");
}
