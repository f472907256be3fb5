//! Our own stores: `kv::Compact`, keys of 8 bytes and values of 16, replicated at every member.

use std::time::Duration;

use corecast::replica::kv::{Compact, CompactOut, CompactReader, CompactSet};
use corecast::replica::{Config, Level, Node, Replicated, Session};

use super::host::{Client, Entrance, Host, Setting, Value};
use super::load::MOST_KEYS;
use super::series::{Reads, Series};
use corecast_race::failure::Failure;

/// Nodes of one process.
pub(super) struct Replicas {
    nodes: Vec<Node<Compact>>,
    reads: Reads,
}

/// The layout of a group of this number of members, as all of this benchmark's.
pub(super) fn config(series: &Series, setting: &Setting) -> Config {
    let slots = (setting.members + 2).next_power_of_two();
    Config::default().slots(slots).placement(series.placement).wait(setting.wait).bulk_bytes(1 << 20)
}

/// How long a replica may take to be as fresh as all others.
const CATCHING_UP: Duration = Duration::from_secs(5);

/// The commands of a log of 2 MiB: a slot is a line.
pub(super) const LOG_COMMANDS: u64 = 32_768;

/// The same with a log of 2 MiB.
pub(super) fn config_of_robustness(series: &Series, setting: &Setting) -> Config {
    config(series, setting).window(LOG_COMMANDS)
}

impl Replicas {
    /// A group whose members are threads of this process.
    pub(super) fn open(series: &Series, setting: &Setting) -> Result<Box<dyn Host>, Failure> {
        let mut replicas = Self::found(series, setting)?;
        for _ in 1..setting.members {
            let fd = replicas.nodes[0].share().map_err(Failure::while_doing("share a group"))?;
            let node = Replicated::attach_fd(&config(series, setting), fd).map_err(Failure::refused)?;
            replicas.nodes.push(node);
        }
        Ok(Box::new(replicas))
    }

    /// A group of which this process has the first member only.
    pub(super) fn open_first(series: &Series, setting: &Setting) -> Result<Box<dyn Host>, Failure> {
        Ok(Box::new(Self::found(series, setting)?))
    }

    fn found(series: &Series, setting: &Setting) -> Result<Self, Failure> {
        let state = Compact::with_capacity(MOST_KEYS).map_err(Failure::while_doing("make a store"))?;
        let node = Replicated::create(&config(series, setting), state).map_err(Failure::refused)?;
        Ok(Self { nodes: vec![node], reads: series.reads })
    }

    /// One more member, of this process, in the group of another one.
    pub(super) fn join(series: &Series, setting: &Setting, entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
        let fd = entrance.fd.ok_or_else(|| Failure::Refused("no descriptor of a group came".to_owned()))?;
        let node = Replicated::attach_fd(&config(series, setting), fd).map_err(Failure::refused)?;
        Ok(Box::new(Self { nodes: vec![node], reads: series.reads }))
    }
}

impl Host for Replicas {
    fn client(&self, rank: usize) -> Result<Box<dyn Client + '_>, Failure> {
        let node = &self.nodes[rank % self.nodes.len()];
        let session = node.session().map_err(Failure::refused)?;
        Ok(match self.reads {
            Reads::Locked => Box::new(LockedClient { node, session }),
            Reads::Lines => {
                let (reader, _) = node.read_with(Level::Local, Compact::reader).map_err(Failure::refused)?;
                Box::new(LineClient { node, session, reader })
            }
            Reads::Local => Box::new(LocalClient { node, session }),
        })
    }

    fn entrance(&self) -> Result<Entrance, Failure> {
        let fd = self.nodes[0].share().map_err(Failure::while_doing("share a group"))?;
        Ok(Entrance { fd: Some(fd), path: None })
    }
}

/// Reads under the lock of the state, as any state machine is read.
struct LockedClient<'a> {
    node: &'a Node<Compact>,
    session: Session<Compact>,
}

/// Reads the lines of the table.
struct LineClient<'a> {
    node: &'a Node<Compact>,
    session: Session<Compact>,
    reader: CompactReader,
}

/// Reads its replica as it is.
struct LocalClient<'a> {
    node: &'a Node<Compact>,
    session: Session<Compact>,
}

#[inline]
fn set(session: &mut Session<Compact>, key: u64, value: Value) -> Result<(), Failure> {
    match session.execute(&CompactSet { key: key.to_le_bytes(), value }) {
        Ok((CompactOut::Done, _)) => Ok(()),
        Ok((CompactOut::Full, _)) => Err(Failure::Wrong(format!("there is no room for key {key}"))),
        Err(error) => Err(Failure::refused(error)),
    }
}

impl Client for LockedClient<'_> {
    #[inline(always)]
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        match self.node.read(Level::Linearizable, &key.to_le_bytes()) {
            Ok((value, _)) => Ok(value),
            Err(error) => Err(Failure::refused(error)),
        }
    }

    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        set(&mut self.session, key, value)
    }
}

impl Client for LineClient<'_> {
    #[inline(always)]
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        match self.node.catch_up(Level::Linearizable, CATCHING_UP) {
            Ok(()) => Ok(self.reader.get(key.to_le_bytes())),
            Err(error) => Err(Failure::refused(error)),
        }
    }

    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        set(&mut self.session, key, value)
    }
}

impl Client for LocalClient<'_> {
    #[inline(always)]
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        match self.node.read(Level::Local, &key.to_le_bytes()) {
            Ok((value, _)) => Ok(value),
            Err(error) => Err(Failure::refused(error)),
        }
    }

    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        set(&mut self.session, key, value)
    }

    fn catch_up(&mut self) -> Result<(), Failure> {
        self.node.catch_up(Level::Linearizable, CATCHING_UP).map_err(Failure::refused)
    }
}
