//! Messages as bytes: a kind, then numbers of 7 bits a byte, so that an operation of a few dozen bytes fits one cache line.
//!
//! ```text
//! kind u8, its highest bit set if a member passes the message on | then the origin | the fields of the message
//! command   session: slot, incarnation, number, or 0 for the group | rid | operation u8 | its fields
//! ```
//! Another process has written the bytes: the reader checks all of them, and takes memory only for what is there.

mod log_copy;
mod read;
mod write;

use std::sync::Arc;

use crate::one_paxos::Message;
use crate::{Command, Index, NodeId};

pub(super) use log_copy::LogCopy;

use read::Reader;
use write::Writer;

/// The bytes of a user's operation. All copies of a command in one process share them.
pub(super) type Body = Arc<[u8]>;

/// Set in the kind of a message that members pass on.
const RELAYED: u8 = 0x80;

const REQUEST: u8 = 1;
const ACCEPT: u8 = 2;
const LEARN: u8 = 3;
const MISSING: u8 = 4;
const PREPARE: u8 = 5;
const PREPARE_RESPONSE: u8 = 6;
const CHOSEN: u8 = 7;
const PROGRESS: u8 = 8;
const ASK: u8 = 9;
const PROMISE: u8 = 10;
const VOTE: u8 = 11;
const VOTED: u8 = 12;
const REFUSED: u8 = 13;
const ASK_FORMER: u8 = 14;
const FORMER: u8 = 15;
const TAKE: u8 = 16;
const PART: u8 = 17;
const DIGEST: u8 = 18;

/// The numbers of operations.
const NOOP: u8 = 0;
const USER: u8 = 1;
const OPEN: u8 = 2;
const CLOSE: u8 = 3;
const EXPIRE: u8 = 4;
const JOIN: u8 = 5;
const LEAVE: u8 = 6;
const BARRIER: u8 = 7;

/// Writes a message behind what `to` holds. With an `origin`, the receiver passes it on.
pub(super) fn encode(message: &Message<Body>, origin: Option<NodeId>, to: &mut Vec<u8>) {
    Writer(to).message(message, origin);
}

/// Writes a message about a state behind what `to` holds.
pub(super) fn encode_state(message: &StateMessage, to: &mut Vec<u8>) {
    Writer(to).state_message(message);
}

/// A message about a replica's whole state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StateMessage {
    /// A node that joins asks a member for its state, from a byte on. A number that it has not used before asks for the state as
    /// it is now.
    Take { number: u32, offset: u64 },
    /// Bytes of the state, which has `len` in all with this checksum.
    Part { number: u32, offset: u64, len: u64, crc: u32, bytes: Vec<u8> },
    /// The digest that the sender found at a cut.
    Digest { id: u64, index: Index, digest: u128 },
}

/// The content of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packet {
    /// For the protocol.
    Protocol(Message<Body>),
    /// About a state.
    State(StateMessage),
}

/// A message that has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Received {
    /// The node that made it, if others have passed it on.
    pub(super) origin: Option<NodeId>,
    pub(super) packet: Packet,
}

/// The message of exactly these bytes; `None` if they are those of none, or name a node beyond the group's.
pub(super) fn decode(bytes: &[u8], nodes: usize) -> Option<Received> {
    let mut reader = Reader { rest: bytes, nodes };
    let kind = reader.byte()?;
    let origin = if kind & RELAYED == 0 { None } else { Some(reader.node()?) };
    let packet = match kind & !RELAYED {
        kind @ TAKE.. => Packet::State(reader.state_message(kind)?),
        kind => Packet::Protocol(reader.message(kind)?),
    };
    reader.rest.is_empty().then_some(Received { origin, packet })
}

/// The message of these bytes, written anew.
pub(super) fn rewritten(bytes: &[u8], nodes: usize) -> Option<Vec<u8>> {
    let Received { origin, packet } = decode(bytes, nodes)?;
    let mut again = Vec::new();
    match packet {
        Packet::Protocol(message) => encode(&message, origin, &mut again),
        Packet::State(message) => encode_state(&message, &mut again),
    }
    Some(again)
}

/// The index after the last one that the message has a command for; 0 if there is none.
pub(super) fn end(message: &Message<Body>) -> Index {
    let after = |index: Index| index.saturating_add(1);
    let end_of = |chosen: &[(Index, Command<Body>)]| chosen.iter().map(|&(index, _)| after(index)).max().unwrap_or(0);
    match message {
        Message::Accept { first, commands, .. } | Message::Learn { first, commands, .. } if !commands.is_empty() => {
            first.saturating_add(commands.len() as u64)
        }
        Message::Prepare(entry)
        | Message::AskFormer(entry)
        | Message::Chosen(entry)
        | Message::Vote { entry, .. }
        | Message::Promise { vote: Some((_, entry)), .. } => end_of(&entry.chosen),
        Message::Former { former: Some(former), .. } => end_of(&former.chosen),
        Message::PrepareResponse(adopted) => {
            adopted.accepted.iter().map(|&(index, ..)| after(index)).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// Whether the message is to be passed on; false for bytes that are none.
pub(super) fn is_relayed(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|kind| kind & RELAYED != 0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Body, Packet, Received, StateMessage, decode, encode, encode_state, end};
    use crate::one_paxos::{Adopted, Ballot, Entry, Former, Message};
    use crate::{Command, Configuration, LeaveReason, MAX_SLOTS, NodeId, Op, RoleChange, SessionId};

    const NODE: NodeId = NodeId::new(5, 2);

    fn commands() -> Vec<Command<Body>> {
        let ops = [
            Op::Noop,
            Op::User(Arc::from(&b"an operation"[..])),
            Op::User(Arc::from(vec![7; 3000])),
            Op::OpenSession,
            Op::CloseSession,
            Op::ExpireSession(SessionId::new(NODE, 77)),
            Op::Join { node: NODE, boot: u64::MAX, applied: 1 << 40 },
            Op::Leave { node: NODE, reason: LeaveReason::Lagging },
            Op::Barrier(1 << 40),
        ];
        let session = |at: usize| if at % 2 == 0 { SessionId::new(NODE, at as u64) } else { SessionId::SYSTEM };
        let command = |(at, op)| Command { session: session(at), rid: at as u32 * 1000, op };
        ops.into_iter().enumerate().map(command).collect()
    }

    fn messages() -> Vec<Message<Body>> {
        let configuration = Configuration {
            epoch: 7,
            change: RoleChange::Acceptor,
            leader: NODE,
            acceptor: NodeId::new(0, 1),
            inst: 6,
            stable: 300,
            source: NODE,
            hi: 310,
        };
        let chosen = Arc::new(Vec::from_iter((300..).zip(commands())));
        let voters = Arc::from([NodeId::new(0, 1), NODE, NodeId::new(2, 9)]);
        let owners = Arc::from([(NodeId::new(0, 1), 6), (NODE, 7)]);
        let entry = Entry { configuration, chosen: Arc::clone(&chosen), voters, owners };
        let former = Former { epoch: 6, stable: 299, chosen };
        let accepted = (300..).zip(commands()).map(|(index, command)| (index, 6, command)).collect();
        let adopted = Adopted { epoch: 7, stable: 300, commit: 305, chosen: vec![], accepted };
        let ballot = Ballot { round: 3, node: NODE };
        vec![
            Message::Request(commands()),
            Message::Accept { epoch: 1, stable: 2, first: 1 << 50, commands: commands() },
            Message::Learn { stable: 2, first: 3, commands: vec![] },
            Message::Missing { epoch: u32::MAX, first: 4 },
            Message::Prepare(entry.clone()),
            Message::PrepareResponse(adopted),
            Message::Chosen(entry.clone()),
            Message::AskFormer(entry.clone()),
            Message::Former { epoch: 8, former: Some(former) },
            Message::Former { epoch: 8, former: None },
            Message::Progress { applied: u64::MAX },
            Message::Ask { position: 8, ballot },
            Message::Promise { position: 8, ballot, vote: None },
            Message::Promise { position: 8, ballot, vote: Some((ballot, entry.clone())) },
            Message::Vote { ballot, entry },
            Message::Voted { position: 8, ballot },
            Message::Refused { position: 8, promised: ballot },
        ]
    }

    #[test]
    fn every_message_comes_back() {
        for message in messages() {
            for origin in [None, Some(NODE)] {
                let mut bytes = Vec::new();
                encode(&message, origin, &mut bytes);
                let packet = Packet::Protocol(message.clone());
                assert_eq!(decode(&bytes, MAX_SLOTS), Some(Received { origin, packet }));
            }
        }
    }

    #[test]
    fn other_bytes_are_refused_or_a_message() {
        for message in messages() {
            let mut bytes = Vec::new();
            encode(&message, None, &mut bytes);
            for len in 0..bytes.len() {
                assert_eq!(decode(&bytes[..len], MAX_SLOTS), None, "{message:?} cut at {len}");
            }
            for bit in 0..bytes.len().min(400) * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                // It must not take memory for what is not there, nor panic.
                let _ = decode(&flipped, MAX_SLOTS);
            }
        }
    }

    #[test]
    fn messages_about_states_come_back_whole_or_not_at_all() {
        let messages = [
            StateMessage::Take { number: 7, offset: 1 << 40 },
            StateMessage::Part { number: 7, offset: 9, len: 1 << 40, crc: u32::MAX, bytes: vec![1; 300] },
            StateMessage::Part { number: 7, offset: 0, len: 0, crc: 0, bytes: Vec::new() },
            StateMessage::Digest { id: 1 << 60, index: 300, digest: u128::MAX - 5 },
        ];
        for message in messages {
            let mut bytes = Vec::new();
            encode_state(&message, &mut bytes);
            for len in 0..bytes.len() {
                assert_eq!(decode(&bytes[..len], MAX_SLOTS), None, "{message:?} cut at {len}");
            }
            let packet = Packet::State(message);
            assert_eq!(decode(&bytes, MAX_SLOTS), Some(Received { origin: None, packet }));
        }
    }

    #[test]
    fn nodes_and_indexes_beyond_the_group_are_seen() {
        let mut bytes = Vec::new();
        encode(&messages()[6], None, &mut bytes);
        assert!(decode(&bytes, usize::from(NODE.slot) + 1).is_some());
        assert_eq!(decode(&bytes, usize::from(NODE.slot)), None);
        let count = commands().len() as u64;
        let ends = Vec::from_iter(messages().iter().map(end));
        let entry = 300 + count;
        assert_eq!(
            ends,
            [0, (1 << 50) + count, 0, 0, entry, entry, entry, entry, entry, 0, 0, 0, 0, entry, entry, 0, 0]
        );
    }

    #[test]
    fn a_write_of_a_small_store_fits_a_line() {
        let op = Op::User(Arc::from(&[1; 24][..]));
        let commands = vec![Command { session: SessionId::new(NODE, 3), rid: 1 << 20, op }];
        let mut bytes = Vec::new();
        encode(&Message::Accept { epoch: 100, stable: 1 << 20, first: 1 << 20, commands }, None, &mut bytes);
        assert!(bytes.len() < 56, "{} bytes", bytes.len());
    }
}
