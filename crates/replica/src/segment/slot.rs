//! One command as 64 bytes.
//!
//! ```text
//! stamp u64 | epoch u32 kind u8 check u8 len u16 | session u64 | rid u32 checksum u32 | 32 bytes: the body, or its place
//! ```
//! The stamp is that of a record with the number index + 1. The checksum covers all but the epoch, which a leader raises in
//! place: a command that was accepted must not look absent for a moment, as it would while the slot is written anew. The
//! check byte covers the epoch and lies in the same word.

use super::body::{Body, BulkPlace, INLINE_BYTES};
use super::checksum::of_eight;
use crate::{Command, Epoch, Index, LeaveReason, NodeId, Op, SessionId};

/// The words of a slot, the stamp among them.
pub(super) const SLOT_WORDS: usize = 8;
/// The words of a slot behind its stamp.
pub(super) const BODY_WORDS: usize = SLOT_WORDS - 1;

/// The words of a command behind the stamp.
pub(super) type Encoded = [u64; BODY_WORDS];

/// A slot as a reader found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotRead {
    /// No command with this index was written, or it was erased.
    Absent,
    /// It is being written. It was not there before, or nobody has relied on it: commands that were accepted stay readable.
    Busy,
    /// The command.
    Command {
        /// The epoch under which it was written or confirmed last.
        epoch: Epoch,
        /// The command.
        command: Command<Body>,
    },
    /// The slot holds a command with a larger index.
    Lapped,
    /// The words are no command.
    Corrupt,
}

const EPOCH: u32 = 32;
const KIND: u32 = 24;
const CHECK: u32 = 16;
/// Kind and length, which the checksum covers.
const COVERED: u64 = 0xff << KIND | 0xffff;

const NOOP: u8 = 0;
const INLINE: u8 = 1;
const BULK: u8 = 2;
const OPEN_SESSION: u8 = 3;
const CLOSE_SESSION: u8 = 4;
const EXPIRE_SESSION: u8 = 5;
const JOIN: u8 = 6;
const LEAVE: u8 = 7;
const BARRIER: u8 = 8;

/// The words of a command at this index.
#[inline]
pub(super) fn encode(index: Index, epoch: Epoch, command: &Command<Body>) -> Encoded {
    let (kind, len, body) = encode_op(&command.op);
    let head = u64::from(kind) << KIND | u64::from(len);
    let rid = u64::from(command.rid) << 32;
    let sum = checksum(index, head, command.session.0, rid, body);
    let [a, b, c, d] = body;
    [with_epoch(head, epoch), command.session.0, rid | u64::from(sum), a, b, c, d]
}

/// The epoch and command of these words; `None` if they are none.
#[inline]
pub(super) fn decode(index: Index, words: &Encoded) -> Option<(Epoch, Command<Body>)> {
    let [head, session, rid, a, b, c, d] = *words;
    let body = [a, b, c, d];
    let epoch = (head >> EPOCH) as Epoch;
    let is_sound = with_epoch(head & COVERED, epoch) == head
        && checksum(index, head & COVERED, session, rid & !0xffff_ffff, body) == rid as u32;
    if !is_sound {
        return None;
    }
    let op = decode_op((head >> KIND) as u8, head as u16, body)?;
    Some((epoch, Command { session: SessionId(session), rid: (rid >> 32) as u32, op }))
}

/// The first word behind the stamp, under another epoch.
#[inline]
pub(super) fn with_epoch(head: u64, epoch: Epoch) -> u64 {
    let [a, b, c, d] = epoch.to_le_bytes();
    // Not zero for zero, so that it also shows that the word was written.
    let check = a ^ b.rotate_left(1) ^ c.rotate_left(2) ^ d.rotate_left(3) ^ 0x5a;
    head & COVERED | u64::from(epoch) << EPOCH | u64::from(check) << CHECK
}

/// True if these are the words of one command, under the same epoch or another.
#[inline]
pub(super) fn is_same(one: &Encoded, other: &Encoded) -> bool {
    one[0] & COVERED == other[0] & COVERED && one[1..] == other[1..]
}

#[inline(always)]
fn checksum(index: Index, head: u64, session: u64, rid: u64, [a, b, c, d]: [u64; 4]) -> u32 {
    of_eight([index, head, session, rid, a, b, c, d])
}

/// Kind, length and words of an operation.
fn encode_op(op: &Op<Body>) -> (u8, u16, [u64; 4]) {
    let node_bits = |node: NodeId| u64::from(node.to_bits());
    match *op {
        Op::Noop => (NOOP, 0, [0; 4]),
        Op::User(Body::Inline(len, bytes)) => (INLINE, u16::from(len), to_words(&bytes)),
        Op::User(Body::Bulk(BulkPlace { node, len, offset, crc })) => {
            (BULK, 0, [node_bits(node), offset, u64::from(len) << 32 | u64::from(crc), 0])
        }
        Op::OpenSession => (OPEN_SESSION, 0, [0; 4]),
        Op::CloseSession => (CLOSE_SESSION, 0, [0; 4]),
        Op::ExpireSession(session) => (EXPIRE_SESSION, 0, [session.0, 0, 0, 0]),
        Op::Join { node, boot, applied } => (JOIN, 0, [node_bits(node), boot, applied, 0]),
        Op::Leave { node, reason } => (LEAVE, 0, [node_bits(node), reason as u64, 0, 0]),
        Op::Barrier(id) => (BARRIER, 0, [id, 0, 0, 0]),
    }
}

/// The operation of these words. A sound checksum does not prove that another version of the program did not write them.
fn decode_op(kind: u8, len: u16, words: [u64; 4]) -> Option<Op<Body>> {
    let [a, b, c, _] = words;
    let node = || NodeId::from_bits(u32::try_from(a).ok()?);
    Some(match kind {
        NOOP => Op::Noop,
        INLINE => Op::User(inline(len, words)?),
        BULK => Op::User(Body::Bulk(BulkPlace { node: node()?, len: (c >> 32) as u32, offset: b, crc: c as u32 })),
        OPEN_SESSION => Op::OpenSession,
        CLOSE_SESSION => Op::CloseSession,
        EXPIRE_SESSION => Op::ExpireSession(SessionId(a)),
        JOIN => Op::Join { node: node()?, boot: b, applied: c },
        LEAVE => Op::Leave { node: node()?, reason: LeaveReason::from_number(u8::try_from(b).ok()?)? },
        BARRIER => Op::Barrier(a),
        _ => return None,
    })
}

fn inline(len: u16, words: [u64; 4]) -> Option<Body> {
    let bytes = to_bytes(words);
    let is_padded = bytes.get(usize::from(len)..)?.iter().all(|&byte| byte == 0);
    is_padded.then_some(Body::Inline(u8::try_from(len).ok()?, bytes))
}

fn to_words(bytes: &[u8; INLINE_BYTES]) -> [u64; 4] {
    let word = |at: usize| u64::from_le_bytes(bytes[8 * at..][..8].try_into().expect("eight bytes"));
    std::array::from_fn(word)
}

fn to_bytes(words: [u64; 4]) -> [u8; INLINE_BYTES] {
    std::array::from_fn(|at| words[at / 8].to_le_bytes()[at % 8])
}
