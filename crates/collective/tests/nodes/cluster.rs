//! Some nodes and their members, on threads of this process.

use std::sync::Barrier;
use std::thread;

use corecast_base::CpuId;
use corecast_collective::nodes::local::Network;
use corecast_collective::nodes::{Engine, Member};
use corecast_collective::{Group, RunError};
use corecast_machine::{Cpu, Machine, Topology};

/// A machine of this number of CPUs, none of which has to be there, as no member is pinned.
pub(crate) fn machine(cpus: usize) -> Machine {
    let cpus = (0..cpus as u32).map(|id| Cpu::flat(CpuId::new(id))).collect();
    Machine::from_topology(&Topology { cpus, ..Topology::default() })
}

/// Runs `body` as every member of nodes with these numbers of members; the results of each node.
pub(crate) fn run<R: Send>(
    network: Network,
    members: &[usize],
    body: impl Fn(&mut Member) -> R + Sync,
) -> Vec<Result<Vec<R>, RunError>> {
    run_over(network.engines(), members, body)
}

/// The same over engines of any kind.
pub(crate) fn run_over<R: Send>(
    engines: Vec<Box<dyn Engine>>,
    members: &[usize],
    body: impl Fn(&mut Member) -> R + Sync,
) -> Vec<Result<Vec<R>, RunError>> {
    let (body, have_met) = (&body, &Barrier::new(members.len()));
    let one = |engine: Box<dyn Engine>, members: usize| {
        let machine = machine(members);
        let group = Group::builder(&machine).members(members).pin(false).plan_folder(None).race_folder(None);
        let group = group.over(engine).build().expect("the nodes meet");
        // A fault that a node told before another one has met all would end that one's set-up.
        have_met.wait();
        group.run(body)
    };
    thread::scope(|scope| {
        let nodes: Vec<_> = engines.into_iter().zip(members).collect();
        let threads: Vec<_> =
            nodes.into_iter().map(|(engine, &members)| scope.spawn(move || one(engine, members))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no node panics")).collect()
    })
}

/// The results of all members by rank.
pub(crate) fn all<R>(nodes: Vec<Result<Vec<R>, RunError>>) -> Vec<R> {
    nodes.into_iter().flat_map(|node| node.expect("no member panics")).collect()
}

/// Numbers of members to try.
pub(crate) const CELLS: [&[usize]; 11] =
    [&[1], &[3], &[1, 1], &[2, 2], &[4, 4], &[1, 3], &[3, 1], &[1, 1, 1], &[2, 1, 3], &[1, 1, 1, 1], &[1, 3, 2, 1]];
