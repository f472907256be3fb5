//! The state that is replicated.

use std::io;

use crate::Index;

/// Values that become bytes and come back.
pub trait Wire: Sized {
    /// Appends the bytes of the value.
    fn encode(&self, to: &mut Vec<u8>);

    /// The value of exactly these bytes; `None` if they are those of no value.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

impl Wire for () {
    fn encode(&self, _to: &mut Vec<u8>) {}

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.is_empty().then_some(())
    }
}

impl Wire for u64 {
    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_le_bytes)
    }
}

impl Wire for Vec<u8> {
    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

/// A deterministic state machine: the same operations in the same order give the same state and the same results.
///
/// Clock values and random numbers have to arrive inside the operation. A panic in [`apply`](Self::apply) makes the replica
/// leave; if all replicas panic at the same index, the group stops.
pub trait StateMachine: Send + Sync + Sized + 'static {
    /// An operation that changes the state.
    type Op: Wire;
    /// The result of an operation.
    type Out: Wire;
    /// A question that changes nothing.
    type Query: ?Sized;
    /// Its answer.
    type Answer;

    /// Applies the operation at this place of the log, which is the same in every replica, and when files are read back. In a
    /// group that began with files it counts the commands in them, too, and so is ahead of the index that the operation's
    /// session gets.
    fn apply(&mut self, at: Index, op: &Self::Op) -> Self::Out;

    /// Answers a question.
    fn query(&self, query: &Self::Query) -> Self::Answer;

    /// A number that differs, with overwhelming probability, where the state differs.
    fn digest(&self) -> u128;

    /// Writes the whole state.
    ///
    /// # Errors
    /// Those of the writer.
    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()>;

    /// Reads a state that [`snapshot`](Self::snapshot) has written.
    ///
    /// # Errors
    /// Those of the reader, and [`io::ErrorKind::InvalidData`] for bytes that are no state.
    fn restore(from: &mut dyn io::Read) -> io::Result<Self>;

    /// The same, for a replica that has fallen behind and has this state: for state machines that carry more than their state.
    ///
    /// # Errors
    /// As of [`restore`](Self::restore).
    fn restore_anew(&self, from: &mut dyn io::Read) -> io::Result<Self> {
        Self::restore(from)
    }
}
