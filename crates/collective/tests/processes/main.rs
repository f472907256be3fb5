//! Groups whose members are processes: their results, in the plain operations (`work.rs`) and all others (`operations.rs`),
//! and their fate when one is killed, stopped or forked.
//!
//! A test starts this very program several times with a role (`roles.rs`).
#![cfg(not(loom))]

#[path = "../calls/mod.rs"]
mod calls;
mod commits;
mod damage;
mod death;
mod forming;
mod mismatch;
mod operations;
mod parts;
mod races;
mod roles;
#[path = "../round/mod.rs"]
mod round;
mod rounds;
mod shrink;
mod work;

use std::time::Duration;

use corecast_base::CpuId;
use corecast_collective::processes::Founding;
use corecast_collective::{Builder, Group};
use corecast_machine::{Cpu, Machine, Topology};
use corecast_plan::Effort;

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// A machine of this number of CPUs in two NUMA nodes. Members are not pinned, so it may be larger than the real one.
fn machine(cpus: u32) -> Machine {
    let cpu = |id| Cpu { numa: Some(id % 2), ..Cpu::flat(CpuId::new(id)) };
    Machine::from_topology(&Topology { cpus: (0..cpus).map(cpu).collect(), ..Topology::default() })
}

/// A group of `members` on the same number of CPUs, changed by `change`.
fn founding(members: usize, change: impl FnOnce(Builder<'_>) -> Builder<'_>) -> Founding {
    let machine = machine(members as u32);
    let builder = Group::builder(&machine).pin(false).effort(Effort::Quick);
    change(builder).found().expect("a group of the machine's CPUs")
}
