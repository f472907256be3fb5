//! The state that is replicated: a list of all commands in the order in which they were applied.

use std::io;

use corecast_replica::{Index, StateMachine, Wire};
use corecast_sim_core::with_current;

use crate::error::SimError;

/// The bytes of a command.
const ENTRY_BYTES: usize = 24;

/// A command: as long as one that sets a key of 8 bytes to a value of 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The client that asked for it.
    pub(super) client: u64,
    /// Its number among those of the client, from 0.
    pub(super) number: u64,
}

impl Wire for Entry {
    fn encode(&self, to: &mut Vec<u8>) {
        for word in [self.client, self.number, !self.number] {
            to.extend_from_slice(&word.to_le_bytes());
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let words: Vec<u64> =
            bytes.chunks(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?))).collect();
        match words[..] {
            [client, number, check] if bytes.len() == ENTRY_BYTES && check == !number => Some(Self { client, number }),
            _ => None,
        }
    }
}

/// How a replica writes a command down: [`Vec::push`], but in tests that look for faults.
pub(super) type Write = fn(&mut Vec<Entry>, Entry);

/// One replica of the list.
#[derive(Debug)]
pub(super) struct Ledger {
    entries: Vec<Entry>,
    write: Write,
    /// The time for which the replica computes for each command.
    own_ns: u64,
}

impl Ledger {
    pub(super) fn new(write: Write, own_ns: u64) -> Self {
        Self { entries: Vec::new(), write, own_ns }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl StateMachine for Ledger {
    type Op = Entry;
    type Out = ();
    type Query = ();
    type Answer = usize;

    fn apply(&mut self, _at: Index, entry: &Entry) {
        with_current(|thread| thread.map(|thread| thread.work_ns(self.own_ns)));
        (self.write)(&mut self.entries, *entry);
    }

    fn query(&self, (): &()) -> usize {
        self.entries.len()
    }

    fn digest(&self) -> u128 {
        let word = |entry: &Entry| u128::from(entry.client) << 64 | u128::from(entry.number);
        self.entries.iter().fold(0, |digest: u128, entry| digest.wrapping_mul(31).wrapping_add(word(entry)))
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.entries.iter().for_each(|entry| entry.encode(&mut bytes));
        to.write_all(&bytes)
    }

    /// Replicas of a run begin together: a list that is taken from another one takes the place of one that has fallen behind.
    fn restore(_from: &mut dyn io::Read) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn restore_anew(&self, from: &mut dyn io::Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        let entries: Option<Vec<Entry>> = bytes.chunks(ENTRY_BYTES).map(Entry::decode).collect();
        Ok(Self { entries: entries.ok_or(io::ErrorKind::InvalidData)?, write: self.write, own_ns: self.own_ns })
    }
}

/// Checks that all lists are equal, and have each command of each client once, in the client's order. A replica is named by its
/// node. `counts` has the number of commands that each client had answers to.
pub(super) fn check(lists: &[(usize, Vec<Entry>)], counts: &[u64]) -> Result<(), SimError> {
    let differ = |reason: String| Err(SimError::Replicas { reason });
    let Some(((first, expected), others)) = lists.split_first() else { return Ok(()) };
    for (node, list) in others {
        if let Some(place) = (0..expected.len().max(list.len())).find(|&place| expected.get(place) != list.get(place)) {
            let text = |entry: Option<&Entry>| entry.map_or_else(|| "none".to_owned(), |entry| format!("{entry:?}"));
            let (one, other) = (text(expected.get(place)), text(list.get(place)));
            return differ(format!("command {place} is {one} at node {first} and {other} at node {node}"));
        }
    }
    let mut next = vec![0; counts.len()];
    for (place, entry) in expected.iter().enumerate() {
        let Some(number) = next.get_mut(entry.client as usize) else {
            return differ(format!("command {place} names client {}, and no client has this number", entry.client));
        };
        if entry.number != *number {
            return differ(format!("command {place} is {entry:?} where number {number} of the client was to come"));
        }
        *number += 1;
    }
    match (0..counts.len()).find(|&client| next[client] != counts[client]) {
        Some(client) => {
            differ(format!("{} of the {} commands of client {client} were applied", next[client], counts[client]))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[(u64, u64)]) -> Vec<Entry> {
        entries.iter().map(|&(client, number)| Entry { client, number }).collect()
    }

    #[test]
    fn lists_that_differ_or_lack_a_command_are_found() {
        let right = list(&[(0, 0), (1, 0), (0, 1)]);
        let checked = |other: &[(u64, u64)], counts: &[u64]| {
            check(&[(0, right.clone()), (3, list(other))], counts).map_err(|error| error.to_string())
        };
        assert_eq!(checked(&[(0, 0), (1, 0), (0, 1)], &[2, 1]), Ok(()));
        for (other, counts, words) in [
            (&[(0, 0), (0, 1), (1, 0)][..], [2, 1], "command 1 is"),
            (&[(0, 0), (1, 0)], [2, 1], "none at node 3"),
            (&[(0, 0), (1, 0), (0, 1)], [3, 1], "2 of the 3 commands of client 0"),
        ] {
            let error = checked(other, &counts).expect_err(words);
            assert!(error.contains(words), "{error}");
        }
        for (both, words) in [
            (&[(0, 0), (0, 0)][..], "where number 1 of the client"),
            (&[(0, 1), (0, 0)], "where number 0 of the client"),
            (&[(2, 0)], "names client 2, and no client"),
        ] {
            let error = check(&[(0, list(both)), (1, list(both))], &[2, 0]).expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_command_comes_back_from_its_bytes_and_from_no_others() {
        let entry = Entry { client: 7, number: 1 << 40 };
        let mut bytes = Vec::new();
        entry.encode(&mut bytes);
        assert_eq!((bytes.len(), Entry::decode(&bytes)), (ENTRY_BYTES, Some(entry)));
        bytes[8] ^= 1;
        assert_eq!(Entry::decode(&bytes), None);
        assert_eq!(Entry::decode(&bytes[..23]), None);
    }
}
