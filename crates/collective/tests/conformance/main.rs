//! The rules for every barrier, tree shape and waiting policy of a group, run for every line of their registries.
#![cfg(not(loom))]

mod acknowledged;
mod allgather;
mod allreduce_slices;
mod atomic_stream;
mod barrier;
mod broadcast;
#[path = "../calls/mod.rs"]
mod calls;
mod debug_lines;
mod failure;
mod long_proposals;
mod long_slices;
mod mismatch;
mod race;
mod records;
mod reduce;
#[path = "../round/mod.rs"]
mod round;
mod shrink;
mod slices;
mod split;
mod started;
mod started_slices;
mod two_phase_commit;

use corecast_base::CpuId;
use corecast_collective::{Builder, Group};
use corecast_machine::{Cpu, Machine, Topology};
use round::one_round;

/// The sizes every test goes through: alone, pairs, powers of two and their neighbours.
const SIZES: std::ops::RangeInclusive<usize> = 1..=9;

/// A machine of this number of CPUs in two NUMA nodes. Members are not pinned, so it may be larger than the real one.
fn machine(cpus: u32) -> Machine {
    let cpu = |id| Cpu { numa: Some(id % 2), ..Cpu::flat(CpuId::new(id)) };
    Machine::from_topology(&Topology { cpus: (0..cpus).map(cpu).collect(), ..Topology::default() })
}

/// A group of `members` on the same number of CPUs, changed by `change`.
fn group(members: usize, change: impl FnOnce(Builder<'_>) -> Builder<'_>) -> Group {
    let machine = machine(members as u32);
    change(Group::builder(&machine).pin(false).plan_folder(None)).build().expect("a group of the machine's CPUs")
}
