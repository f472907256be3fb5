//! What every barrier, tree shape and waiting policy of a group must do, run for every line of their registries.
#![cfg(not(loom))]

mod acknowledged;
mod atomic_stream;
mod barrier;
mod broadcast;
mod failure;
mod race;
mod reduce;
mod shrink;
mod slices;
mod split;
mod started;
mod started_slices;
mod two_phase_commit;

use corecast_base::CpuId;
use corecast_collective::{Builder, Error, Group, Member, Order};
use corecast_machine::{Cpu, Machine, Topology};

/// The sizes every test goes through: alone, pairs, powers of two and their neighbours.
const SIZES: std::ops::RangeInclusive<usize> = 1..=9;

/// A machine of that many CPUs in two NUMA nodes. Members are not pinned, so it may be larger than the real one.
fn machine(cpus: u32) -> Machine {
    let cpu = |id| Cpu { numa: Some(id % 2), ..Cpu::flat(CpuId::new(id)) };
    Machine::from_topology(&Topology { cpus: (0..cpus).map(cpu).collect(), ..Topology::default() })
}

/// A group of `members` on as many CPUs, changed as `change` says.
fn group(members: usize, change: impl FnOnce(Builder<'_>) -> Builder<'_>) -> Group {
    let machine = machine(members as u32);
    change(Group::builder(&machine).pinned(false).plan_folder(None)).build().expect("a group of the machine's CPUs")
}

/// One of each operation, checked.
fn one_round(me: &mut Member, round: u64) -> Result<(), Error> {
    let (rank, members) = (me.rank(), me.members());
    let root = round as usize % members;
    me.barrier()?;
    let mut value = if rank == root { [round; 40] } else { [0; 40] };
    me.broadcast(root, &mut value)?;
    assert_eq!(value, [round; 40]);
    // A bit of its own for each member: lost and doubled values both show.
    let bits = me.reduce_in(Order::Arrival, root, 1u64 << rank, |a, b| a + b)?;
    assert_eq!(bits, (rank == root).then_some((1 << members) - 1));
    let sum = me.allreduce(round as f64, |a, b| a + b)?;
    assert_eq!(sum, round as f64 * members as f64);
    Ok(())
}
