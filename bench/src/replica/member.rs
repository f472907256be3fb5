//! The work of a process that takes part: a client of a store, a replica that may be killed, or a rival that may get stuck.

use std::io::Stdin;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use corecast::base::CpuId;
use corecast::base::wait::Wait;
use corecast::machine::pin;
use corecast::replica::kv::Compact;
use corecast::replica::{Node, Replicated};
use serde::{Deserialize, Serialize};

use super::contenders::contenders;
use super::host::{Address, Entrance, Setting};
use super::load::Load;
use super::ours::config_of_robustness;
use super::play;
use super::restart::{self, Restored};
use super::rivals::{lmdb, node_replication};
use super::series::SERIES;
use corecast_race::child::{Answer, attend, hand, hear, say, tell};
use corecast_race::failure::Failure;

/// The role that a process is given.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Assignment {
    /// A client of a store.
    Use(Use),
    /// The first replica of a group.
    Found { series: String, members: usize, wait: String },
    /// One more replica of the group whose descriptor comes along.
    Replicate { series: String, members: usize, wait: String },
    /// A replica with a large state, which tells when it can be read.
    Restore { series: String },
    /// Replicas of `node-replication` of which one idles.
    Idle { writes: u64 },
    /// A writer to the LMDB in this folder that never ends its write.
    HoldLmdb { folder: PathBuf },
    /// One that writes as often, once it is told to.
    WriteLmdb { folder: PathBuf, writes: u64 },
}

/// A client, and the situation that it is in.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Use {
    pub(super) contender: String,
    pub(super) rank: usize,
    pub(super) members: usize,
    pub(super) clients: usize,
    pub(super) cpus: Vec<u32>,
    pub(super) wait: String,
    pub(super) address: Address,
}

/// Asks a replica for its patience with others.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct AskPatience;

/// The work that a client is told to do.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum Duty {
    Fill,
    Verify,
    Play(Load),
}

/// The work of a process of `corecast bench replica`, as told on standard input. For the hidden subcommand of the program.
///
/// # Errors
/// A `Failure` in words, which the parent hears, too.
pub fn replica_member() -> Result<(), Failure> {
    attend(|control| {
        let Some((assignment, fds)) = hear::<Assignment>(control)? else { return Ok(()) };
        let fd = fds.into_iter().next();
        match assignment {
            Assignment::Use(given) => use_store(control, &given, fd),
            Assignment::Found { series, members, wait } => found(control, &series, members, &wait),
            Assignment::Replicate { series, members, wait } => replicate(control, (&series, members, &wait), fd),
            Assignment::Restore { series } => restore(control, &series, fd),
            Assignment::Idle { writes } => {
                tell(control, &node_replication::until_it_stops(writes, Duration::from_millis(500)))
            }
            Assignment::HoldLmdb { folder } => lmdb::hold_write(&folder, || {
                say(control, &Answer::Ready)?;
                hear::<()>(control).map(drop)
            }),
            Assignment::WriteLmdb { folder, writes } => write_lmdb(control, folder, writes),
        }
    })
}

fn wait_named(name: &str) -> Result<Wait, Failure> {
    name.parse().map_err(|_| Failure::Refused(format!("no policy is called {name}")))
}

fn use_store(control: &Stdin, given: &Use, fd: Option<OwnedFd>) -> Result<(), Failure> {
    let &Use { rank, members, clients, .. } = given;
    let cpus: Vec<CpuId> = given.cpus.iter().copied().map(CpuId::new).collect();
    let cpu = cpus[rank % cpus.len()];
    let setting = Setting { members, clients, cpus, wait: wait_named(&given.wait)? };
    let contender = contenders().into_iter().find(|contender| contender.name == given.contender);
    let contender = contender.ok_or_else(|| Failure::Refused(format!("there is no {}", given.contender)))?;
    let host = contender.join(&setting, Entrance { fd, path: given.address.path.clone() })?;
    let _pinned = pin::pin(cpu).map_err(Failure::refused)?;
    let mut client = host.client(rank)?;
    say(control, &Answer::Ready)?;
    while let Some((duty, _)) = hear::<Duty>(control)? {
        let tally = match duty {
            Duty::Fill => play::fill(&mut *client, rank, clients).map(|()| play::Tally::default()),
            Duty::Verify => play::verify(&mut *client).map(|()| play::Tally::default()),
            Duty::Play(load) => client.play(&load, rank, clients),
        };
        tell(control, &tally?)?;
    }
    Ok(())
}

/// A setting in which only the group's layout matters.
fn group(members: usize, wait: &str) -> Result<Setting, Failure> {
    Ok(Setting { members, clients: 1, cpus: Vec::new(), wait: wait_named(wait)? })
}

fn series(name: &str) -> Result<&'static super::series::Series, Failure> {
    let found = SERIES.iter().find(|series| series.name == name);
    found.ok_or_else(|| Failure::Refused(format!("no series is called {name}")))
}

fn found(control: &Stdin, name: &str, members: usize, wait: &str) -> Result<(), Failure> {
    let config = config_of_robustness(series(name)?, &group(members, wait)?);
    let node = Replicated::create(&config, Compact::default()).map_err(Failure::refused)?;
    let fd = node.share().map_err(Failure::while_doing("share a group"))?;
    hand(control, &node.id().slot, &[fd])?;
    live(control, &node)
}

fn replicate(control: &Stdin, (name, members, wait): (&str, usize, &str), fd: Option<OwnedFd>) -> Result<(), Failure> {
    let config = config_of_robustness(series(name)?, &group(members, wait)?);
    let fd = fd.ok_or_else(|| Failure::Refused("no descriptor of a group came".to_owned()))?;
    let node: Node<Compact> = Replicated::attach_fd(&config, fd).map_err(Failure::refused)?;
    tell(control, &node.id().slot)?;
    live(control, &node)
}

/// Lives until the parent is gone; tells its patience whenever it is asked.
fn live(control: &Stdin, node: &Node<Compact>) -> Result<(), Failure> {
    while let Some((AskPatience, _)) = hear(control)? {
        tell(control, &node.status().patience)?;
    }
    Ok(())
}

fn write_lmdb(control: &Stdin, folder: PathBuf, writes: u64) -> Result<(), Failure> {
    let setting = Setting { members: 1, clients: 1, cpus: Vec::new(), wait: Wait::Adaptive };
    let store = lmdb::join(&setting, Entrance { fd: None, path: Some(folder) })?;
    let mut client = store.client(0)?;
    say(control, &Answer::Ready)?;
    if hear::<()>(control)?.is_none() {
        return Ok(());
    }
    (0..writes).try_for_each(|number| client.set(number, play::value_of(number, number)))?;
    tell(control, &writes)
}

fn restore(control: &Stdin, name: &str, fd: Option<OwnedFd>) -> Result<(), Failure> {
    let fd = fd.ok_or_else(|| Failure::Refused("no descriptor of a group came".to_owned()))?;
    let (node, bytes) = restart::join(series(name)?, fd)?;
    tell(control, &Restored { slot: node.id().slot, bytes })?;
    while hear::<u64>(control)?.is_some() {}
    Ok(())
}
