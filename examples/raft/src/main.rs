//! Does a service go on when one of its machines is lost, and do all processes of the others have the same state?
//!
//! Across machines the order of writes is that of Raft, by the crate openraft, with one voter on each host. The voter applies what
//! Raft has committed to a state that corecast replicates among the processes of its host: these read it from their own memory.
//! Clients write to the leader. A host that stands still for a while is brought up to date by a snapshot. The host that leads is killed
//! with all its processes, another one is elected, and the clients go on. In the end every replica of every living host has exactly what was acknowledged.
//!
//! Run it with `cargo run --release --manifest-path examples/raft/Cargo.toml`: the hosts are then groups of processes at three
//! addresses of this machine. Root has hosts with networks and memory of their own:
//! `corecast bench nodes --hosts 3 --run examples/raft/target/release/corecast-raft-example`.
//!
//! - `director`: starts the hosts, writes, stops one, kills one, and judges;
//! - `hosts`: a host, as namespaces or as an address;
//! - `client`: a client that writes;
//! - `voter`: the process of a host that takes part in Raft;
//! - `reader`: one of its other processes;
//! - `applied`: the state machine of Raft, which feeds the replicated state;
//! - `log`: the log and the vote of a voter;
//! - `network`: messages between voters, and from clients;
//! - `state`: the state.
#![allow(clippy::print_stdout, reason = "this is a program")]

mod applied;
mod client;
mod director;
mod hosts;
mod log;
mod network;
mod reader;
mod state;
mod voter;

use std::env;
use std::error::Error;

/// The outcome of everything that this program does.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Writes of each client, unless the command line says how many.
const WRITES: usize = 1000;

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => director::direct(WRITES),
        ["--writes", writes] => director::direct(writes.parse()?),
        ["voter", id, address, name] => voter::vote(id.parse()?, address, name),
        ["reader", name] => reader::read(name),
        _ => Err("expected nothing, or --writes N".into()),
    }
}
