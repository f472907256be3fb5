//! A replica's whole state as bytes: the count of commands, the group's own part, the state machine.
//!
//! ```text
//! "ccreplst" | version u64 | count u64 | bytes of the group's part u64 | that part | the state machine's snapshot
//! ```

use std::io::{self, Read};

use super::reply::Reply;
use crate::system::System;
use crate::{Index, StateMachine};

const MAGIC: u64 = u64::from_le_bytes(*b"ccreplst");
const VERSION: u64 = 1;

/// The group's own part of a replica.
pub(crate) type GroupState = System<Reply>;

/// Writes the state.
///
/// # Errors
/// Those of the state machine.
pub(crate) fn write<S: StateMachine>(system: &GroupState, machine: &S, to: &mut dyn io::Write) -> io::Result<()> {
    let mut group = Vec::new();
    system.encode(&mut group);
    for word in [MAGIC, VERSION, system.applied(), group.len() as u64] {
        to.write_all(&word.to_le_bytes())?;
    }
    to.write_all(&group)?;
    machine.snapshot(to)
}

/// How a state machine is made of its snapshot.
pub(crate) type Restore<'a, S> = &'a dyn Fn(&mut dyn io::Read) -> io::Result<S>;

/// Reads a state.
///
/// # Errors
/// Those of the reader, and [`io::ErrorKind::InvalidData`] for bytes that are no state.
pub(crate) fn read<S>(mut from: &mut dyn io::Read, restore: Restore<'_, S>) -> io::Result<(GroupState, S)> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut words = [0; 4];
    for word in &mut words {
        *word = read_word(from)?;
    }
    let [magic, version, count, len] = words;
    if magic != MAGIC {
        return Err(invalid("it is not the state of a replica"));
    }
    if version != VERSION {
        return Err(invalid(&format!("version {version} of the state of a replica, expected {VERSION}")));
    }
    let mut group = Vec::new();
    Read::take(&mut from, len).read_to_end(&mut group)?;
    let system = GroupState::decode(&group).ok_or_else(|| invalid("the group's part is damaged"))?;
    if system.applied() != count || group.len() as u64 != len {
        return Err(invalid("the group's part is cut off, or of another count"));
    }
    Ok((system, restore(from)?))
}

fn read_word(from: &mut dyn io::Read) -> io::Result<Index> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
