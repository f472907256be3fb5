//! How do the members of several machines add up? The first program on a cluster.
//!
//! With a thread for each CPU of a node: `mpirun --map-by ppr:1:node --bind-to none target/release/examples/far_sum`; with
//! processes: `mpirun --map-by ppr:1:node --bind-to none corecast run -n 4 -- target/release/examples/far_sum`. Without
//! `--bind-to none` Open MPI binds all members of a node to a core or a package. Without a launcher there is one node. An
//! argument is the number of threads on each node.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]

use std::env;
use std::error::Error;

use corecast::collective::nodes::{Error as GroupError, Member};
use corecast::collective::op::Sum;
use corecast::mpi::Cluster;
use corecast::processes::Invitation;
use corecast::{Group, machine};

fn main() -> Result<(), Box<dyn Error>> {
    let cluster = Cluster::from_env()?;
    if let Some(invitation) = Invitation::from_env()? {
        let mut me = invitation.over(cluster).join()?;
        return Ok(add(&mut me)?);
    }
    println!("{cluster}");
    let machine = machine::detect()?;
    let threads = env::args().nth(1).map(|threads| threads.parse()).transpose()?;
    let builder = threads.into_iter().fold(Group::builder(&machine), |builder, threads| builder.members(threads));
    let results = builder.over(cluster).build()?.run(add)?;
    results.into_iter().collect::<Result<(), _>>()?;
    Ok(())
}

fn add(me: &mut Member) -> Result<(), GroupError> {
    let (rank, size) = (me.rank() as u64, me.size() as u64);
    let sum = me.allreduce_with(rank, Sum)?;
    assert_eq!(sum, size * (size - 1) / 2);
    // A slice travels in chunks: within the nodes, between them, and back, all three at once.
    let mut values = vec![rank; 100_000];
    me.allreduce_slice_with(&mut values, Sum)?;
    assert!(values.iter().all(|&value| value == sum));
    let hosts = (0..me.nodes()).map(|node| me.host(node)).collect::<Vec<_>>().join(", ");
    if rank == 0 {
        println!("{size} members on {} nodes ({hosts}), over {}: the sum is {sum}", me.nodes(), me.engine());
    }
    me.barrier()
}
