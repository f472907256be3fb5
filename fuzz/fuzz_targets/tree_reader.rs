//! The reader of trees: what it accepts spans the members, and every operation over it has a cost.

#![no_main]

use corecast_base::CpuId;
use corecast_machine::{Cpu, Machine, Topology};
use corecast_plan::{Operation, Problem, tree_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let cpus = (0..8).map(|id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) }).collect();
    let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    let problem = Problem::of_machine(&machine).expect("a machine has CPUs");
    if let Ok(trees) = tree_file::parse(text, &problem) {
        for operation in Operation::ALL {
            let plan = trees.clone().plan(&problem, operation, "given");
            assert!(plan.tree.len() == 8 && plan.predicted.is_finite());
        }
    }
});
