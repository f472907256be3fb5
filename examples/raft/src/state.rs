//! The state: texts by name, and the place in Raft's log that it shows.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::time::Instant;

use corecast::replica::{Batched, Index, Level, Node, StateMachine, Wire};
use openraft::{BasicNode, EntryPayload, LogId, StoredMembership};
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::hosts::PATIENCE;

openraft::declare_raft_types!(
    /// The types of Raft here: hosts are numbered from 1, and known by their addresses.
    pub(crate) Types:
        D = Put,
        R = Previous,
);

/// An entry of Raft's log.
pub(crate) type Entry = openraft::Entry<Types>;
/// A replica of a host's state, which takes many entries as one command.
pub(crate) type Replica = Node<Batched<State>>;

/// Sets a value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Put {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The value before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Previous(pub(crate) Option<String>);

/// A change of the state.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Change {
    /// The next entry of Raft's log.
    Entry(Entry),
    /// The whole state of another host, for a host that is far behind.
    Install(State),
}

/// The state, which is the same at all replicas of all hosts that have applied the same part of Raft's log.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// The last entry that has been applied.
    pub(crate) applied: Option<LogId<u64>>,
    /// The voters, as of the last entry that changed them.
    pub(crate) voters: StoredMembership<u64, BasicNode>,
    pub(crate) texts: BTreeMap<String, String>,
}

impl StateMachine for State {
    type Op = Change;
    type Out = Previous;
    type Query = ();
    type Answer = ();

    fn apply(&mut self, _at: Index, change: &Change) -> Previous {
        match change {
            Change::Install(state) => {
                self.clone_from(state);
                Previous(None)
            }
            // A voter that comes back hands in again what its host has applied.
            Change::Entry(entry) if self.applied.is_some_and(|applied| entry.log_id <= applied) => Previous(None),
            Change::Entry(entry) => self.apply_entry(entry),
        }
    }

    fn query(&self, (): &()) {}

    fn digest(&self) -> u128 {
        digest(&self.texts)
    }

    fn snapshot(&self, to: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(to, self).map_err(io::Error::from)
    }

    fn restore(from: &mut dyn Read) -> io::Result<Self> {
        serde_json::from_reader(from).map_err(io::Error::from)
    }
}

impl State {
    fn apply_entry(&mut self, entry: &Entry) -> Previous {
        self.applied = Some(entry.log_id);
        Previous(match &entry.payload {
            EntryPayload::Blank => None,
            EntryPayload::Normal(put) => self.texts.insert(put.name.clone(), put.text.clone()),
            EntryPayload::Membership(voters) => {
                self.voters = StoredMembership::new(Some(entry.log_id), voters.clone());
                None
            }
        })
    }
}

impl Wire for Change {
    fn encode(&self, to: &mut Vec<u8>) {
        serde_json::to_writer(to, self).expect("memory takes all that is written, and all keys are texts");
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

impl Wire for Previous {
    fn encode(&self, to: &mut Vec<u8>) {
        serde_json::to_writer(to, self).expect("memory takes all that is written");
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// FNV-1a of all names and texts, in their order.
pub(crate) fn digest(texts: &BTreeMap<String, String>) -> u128 {
    let prime = 0x0100_0000_0000_0000_0000_013b;
    let bytes = texts.iter().flat_map(|(name, text)| [name, text]).flat_map(|word| word.bytes().chain([0]));
    bytes
        .fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |sum: u128, byte| (sum ^ u128::from(byte)).wrapping_mul(prime))
}

/// Waits until a replica shows an entry of Raft's log, and tells the number of texts and their digest.
pub(crate) fn tell_of(replica: &Replica, entry: u64) -> Outcome<String> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let look = |state: &Batched<State>| {
            let state = state.machine();
            let has_applied = state.applied.is_some_and(|applied| applied.index >= entry);
            has_applied.then(|| format!("{} {:032x}", state.texts.len(), state.digest()))
        };
        let (found, shown) = replica.read_with(Level::Local, look)?;
        if let Some(found) = found {
            return Ok(found);
        }
        crate::reader::wait_for_change(replica, shown)?;
    }
    Err(format!("a replica does not show entry {entry} after {PATIENCE:?}").into())
}
