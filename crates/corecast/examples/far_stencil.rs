//! How does a program that computes in rounds use several machines? Heat in a rod, which all members share.
//!
//! Each member has a part of the rod. After each round all members need the values at the borders, and the greatest change, which
//! says when to stop. Started as `far_sum` is. If a member or a node is lost, the others name it and go on with the last state
//! that they all have, as far as the engine survives it: `corecast mpi` tells.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]

use std::env;
use std::error::Error;

use corecast::collective::nodes::{Error as GroupError, Member};
use corecast::mpi::Cluster;
use corecast::processes::Invitation;
use corecast::{Group, machine};

/// The places of the rod, and the change at which it is at rest.
const PLACES: usize = 1200;
const AT_REST: f64 = 1e-3;
/// The most rounds.
const ROUNDS: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let cluster = Cluster::from_env()?;
    if let Some(invitation) = Invitation::from_env()? {
        let mut me = invitation.over(cluster).join()?;
        return Ok(heat(&mut me)?);
    }
    let machine = machine::detect()?;
    let threads = env::args().nth(1).map(|threads| threads.parse()).transpose()?;
    let builder = threads.into_iter().fold(Group::builder(&machine), |builder, threads| builder.members(threads));
    let results = builder.over(cluster).build()?.run(heat)?;
    results.into_iter().collect::<Result<(), _>>()?;
    Ok(())
}

/// Computes, and after a loss goes on with those that are left.
fn heat(me: &mut Member) -> Result<(), GroupError> {
    let mut rod = vec![0.0; PLACES];
    rod[0] = 100.0;
    let error = match compute(me, &mut rod) {
        Ok(()) => return Ok(()),
        Err(error) => error,
    };
    eprintln!("member {}: {error}", me.rank());
    let mut shrunk = me.shrink()?;
    // Members may have come one round further than others: all take the state of the first.
    shrunk.me.broadcast_slice(0, &mut rod)?;
    compute(&mut shrunk.me, &mut rod)
}

fn compute(me: &mut Member, rod: &mut [f64]) -> Result<(), GroupError> {
    let (rank, size) = (me.rank(), me.size());
    let (first, end) = (PLACES * rank / size, PLACES * (rank + 1) / size);
    for round in 1..=ROUNDS {
        let mut next = vec![0.0; PLACES];
        let mut change = 0.0_f64;
        for place in first.max(1)..end.min(PLACES - 1) {
            next[place] = (rod[place - 1] + rod[place] + rod[place + 1]) / 3.0;
            change = change.max((next[place] - rod[place]).abs());
        }
        if rank == 0 {
            next[0] = rod[0];
        }
        // Each place is 0 at all members but one, so the sum is exact, in any order.
        me.allreduce_slice(&mut next, |a, b| a + b)?;
        rod.copy_from_slice(&next);
        if me.allreduce(change, f64::max)? < AT_REST {
            print_result(rank, round, rod);
            break;
        }
        if round == ROUNDS {
            print_result(rank, round, rod);
        }
    }
    me.barrier()
}

fn print_result(rank: usize, rounds: usize, rod: &[f64]) {
    if rank == 0 {
        let heat: f64 = rod.iter().sum();
        println!("at rest after {rounds} rounds, with a heat of {heat:.6}");
    }
}
