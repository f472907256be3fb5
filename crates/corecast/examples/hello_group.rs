//! How do processes meet, share and add up? The members of a group, each a process of its own.
//!
//! Run it with `cargo build --release --examples && corecast run -n 4 -- target/release/examples/hello_group`: it meets for
//! some seconds (or as many as its argument says). Kill one of the processes meanwhile: the others name it and exit with 3.
//! Under `mpirun` or `srun` on one machine it meets at a name.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a program")]

use std::env;
use std::error::Error;
use std::process::{self, ExitCode};
use std::time::{Duration, Instant};

use corecast::base::rendezvous::SocketDir;
use corecast::collective::Error as GroupError;
use corecast::processes::{Invitation, Launcher};
use corecast::{Group, Member, machine};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let seconds: f64 = env::args().nth(1).map_or(Ok(3.0), |seconds| seconds.parse())?;
    let duration = Duration::try_from_secs_f64(seconds)?;
    let mut me = invitation()?.join()?;
    match meet(&mut me, duration) {
        Ok(rounds) => {
            println!("rank {}: met {rounds} times", me.rank());
            Ok(ExitCode::SUCCESS)
        }
        Err(GroupError::MemberLost { rank, loss }) => {
            eprintln!("rank {rank} {loss}, says rank {}", me.rank());
            Ok(ExitCode::from(3))
        }
        Err(error) => Err(error.into()),
    }
}

/// By what `corecast run` left in the environment, or at a name with the processes of another launcher.
fn invitation() -> Result<Invitation, Box<dyn Error>> {
    if let Some(invitation) = Invitation::from_env()? {
        return Ok(invitation);
    }
    let launcher = Launcher::from_env()?.ok_or("start me with: corecast run -n 4 -- hello_group")?;
    let machine = machine::detect()?;
    let founder = Group::builder(&machine).members(launcher.members);
    Ok(Invitation::by_name(&SocketDir::of_user(), "hello_group", &founder)?.rank(launcher.rank))
}

fn meet(me: &mut Member, duration: Duration) -> Result<u64, GroupError> {
    me.barrier()?;
    let mut greeting = if me.rank() == 0 { 42_u64 } else { 0 };
    me.broadcast(0, &mut greeting)?;
    let sum = me.allreduce(greeting + me.rank() as u64, |a, b| a + b)?;
    println!("rank {} of {}, process {}: the sum is {sum}", me.rank(), me.size(), process::id());
    let begin = Instant::now();
    let mut rounds = 0;
    // All have to stop after the same round, so they agree on it.
    while me.allreduce(u8::from(begin.elapsed() < duration), u8::min)? == 1 {
        for _ in 0..100 {
            me.barrier()?;
        }
        rounds += 100;
    }
    Ok(rounds)
}
