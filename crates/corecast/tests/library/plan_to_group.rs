//! A tree that was planned, written to a file and read again is the tree a group uses.

use corecast::machine::{Cpu, Topology};
use corecast::plan::{Operation, Problem, Request, tree_file};
use corecast::{CpuId, Group, Machine};

fn machine() -> Machine {
    let cpu = |id| Cpu { numa: Some(id / 3), ..Cpu::flat(CpuId::new(id)) };
    Machine::from_topology(&Topology { cpus: (0..6).map(cpu).collect(), ..Topology::default() })
}

#[test]
fn a_tree_goes_through_a_file_into_a_group() {
    let machine = machine();
    let cpus = machine.cpu_set();
    let problem = Problem::new(&machine, &cpus).expect("the machine's own CPUs");
    let adaptive = Request::new(Operation::Broadcast).planner("adaptive");
    let planned = adaptive.plan_from(&problem, Some(CpuId::new(4))).expect("CPU 4 is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tree.json");
    tree_file::write(&planned, &path).expect("the folder is writable");
    let tree = tree_file::read(&path, &problem).expect("just written").down;
    assert_eq!(tree, planned.tree);

    let group = Group::builder(&machine).tree(tree).pin(false).build().expect("six members");
    let got = group
        .run(|me| {
            let mut value = if me.rank() == 4 { 99 } else { 0 };
            me.broadcast(4, &mut value).map(|()| value)
        })
        .expect("nobody panics");
    assert_eq!(got, vec![Ok(99); 6]);
}
