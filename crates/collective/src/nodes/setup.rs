//! How the leaders of all nodes learn how many members each node has, and that all have the same lanes.

use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::yield_now;

use super::engine::{Engine, Slot, Step, Ticket};
use super::error::{Error, SetupError};
use super::lanes::Lanes;
use super::numbering::Numbering;
use super::{Facts, Fault};
use crate::MAX_MEMBERS;

/// Changes with the messages between nodes.
const PROTOCOL: u64 = 0x636f_7265_6e6f_0002;
const WORD_BYTES: usize = size_of::<u64>();
/// The words that a node says of itself: the protocol, its number of members, and its lanes.
const WORDS: usize = 4;

/// Tells all other nodes how many members and which lanes this one has, and hears theirs.
pub(super) fn meet(
    engine: &mut dyn Engine,
    members: usize,
    lanes: Lanes,
    limit: Duration,
) -> Result<Numbering, SetupError> {
    let facts = engine.facts().clone();
    let [count, least_bytes] = lanes.words();
    let said = exchange(engine, &facts, [PROTOCOL, members as u64, count, least_bytes], limit)?;
    for (node, words) in said.chunks_exact(WORDS).enumerate() {
        if words[0] != PROTOCOL {
            return Err(SetupError::OtherVersion { node });
        }
        if !(1..=MAX_MEMBERS as u64).contains(&words[1]) {
            return Err(SetupError::Members { node, members: words[1] });
        }
        let theirs = Lanes::of_words([words[2], words[3]]);
        if theirs != lanes {
            return Err(SetupError::OtherLanes { node, theirs, here: lanes });
        }
        if words[1] < count {
            return Err(SetupError::TooFewMembers { node, members: words[1] as usize, lanes: lanes.count() });
        }
    }
    let counts: Vec<usize> = said.chunks_exact(WORDS).map(|words| words[1] as usize).collect();
    Ok(Numbering::new(&facts, &counts))
}

fn exchange(
    engine: &mut dyn Engine,
    facts: &Facts,
    words: [u64; WORDS],
    limit: Duration,
) -> Result<Vec<u64>, SetupError> {
    let failed = |fault: Fault| SetupError::Operation(error_of(facts, fault));
    let ticket = start_gather(engine, facts.nodes(), &words).map_err(failed)?;
    let clock = Clock::get();
    let end = clock.ticks().saturating_add(clock.ticks_in(limit));
    while !engine.poll(ticket).map_err(failed)? {
        if clock.ticks() > end {
            return Err(SetupError::SetupTimeout { seconds: limit.as_secs() });
        }
        yield_now();
    }
    Ok(gathered(engine, facts.nodes(), WORDS))
}

/// Starts to give these words to all nodes and to get theirs.
pub(super) fn start_gather(engine: &mut dyn Engine, nodes: usize, words: &[u64]) -> Result<Ticket, Fault> {
    let bytes = words.len() * WORD_BYTES;
    let (from, into) = (Slot::outgoing(0), Slot::incoming(0));
    for (place, word) in engine.room(from, bytes).chunks_exact_mut(WORD_BYTES).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    engine.room(into, bytes * nodes);
    engine.start(Step::Gather { from, bytes, into })
}

/// The words of all nodes, node by node, once they have come.
pub(super) fn gathered(engine: &mut dyn Engine, nodes: usize, words: usize) -> Vec<u64> {
    let room = engine.room(Slot::incoming(0), words * WORD_BYTES * nodes);
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("as long as a word"));
    room.chunks_exact(WORD_BYTES).map(word).collect()
}

/// The error for a fault before there is a group.
pub(super) fn error_of(facts: &Facts, fault: Fault) -> Error {
    match fault {
        Fault::Engine { class, text } => Error::Engine { node: facts.node, class, text },
        Fault::NodeLost { node } => lost(facts, node),
        Fault::Told(word) => lost(facts, word.node as usize),
    }
}

fn lost(facts: &Facts, node: usize) -> Error {
    Error::NodeLost { node, host: facts.hosts.get(node).cloned().unwrap_or_default() }
}
