//! All members' values, brought to one of them.
//!
//! Each node's leader gathers the values of its node, and the leaders send them to the leader of the root's node, chunk by chunk;
//! it takes one node after the other. If the root does not lead, the values go on to it within the node in pieces.

use corecast_base::{Plain, bytes_of, bytes_of_mut};
use corecast_channel::ump::any::signature;
use corecast_channel::zeroed;

use super::ends::Ends;
use super::error::Error;
use super::exchange::{CHUNK_BYTES, Exchange, Header, Way};
use super::leader::Polled;
use super::message::OwnValue;
use super::schedule::Action;
use crate::call::{Call, CallKind};
use crate::error::Error as NearError;
use crate::operation::{Gathering, Progress, broadcast};

const WORD_BYTES: usize = size_of::<u64>();
/// A piece of the values on its way within the root's node: as long as one message.
const PIECE_BYTES: usize = 496;
type Piece = [u8; PIECE_BYTES];

/// A gather under way.
pub(super) struct Gather<T> {
    near_call: Call,
    header: Header,
    root: usize,
    own: Vec<T>,
    stage: Stage<T>,
    has_begun: bool,
    /// At a leader the values of its node, in the end those of all nodes at the root's leader: of each member the number of bytes
    /// and the bytes. At other members of the root's node, those of them that have come from the leader.
    bytes: Vec<u8>,
    /// The same of each node, at the root's leader while it receives them.
    by_node: Vec<Vec<u8>>,
}

/// How far a gather has come.
#[allow(clippy::large_enum_variant, reason = "one for each gather, which is moved a few times")]
enum Stage<T> {
    Begun,
    Near(Gathering<T>),
    /// A leader sends its node's values from this byte on.
    Sending {
        from: usize,
        exchange: Exchange,
    },
    /// The root's leader receives the values of a node; the number of bytes that are to come is known once the first chunk is
    /// here.
    Receiving {
        node: usize,
        missing: Option<usize>,
        chunk: u64,
        buffer: Vec<u8>,
        exchange: Exchange,
    },
    /// The number of bytes goes from the root's leader to the root.
    Length(OwnValue<u64>, Progress),
    /// A piece goes from the root's leader to the root.
    Passing {
        from: usize,
        len: usize,
        piece: OwnValue<Piece>,
        progress: Progress,
    },
    Done,
}

impl<T: Plain> Gather<T> {
    pub(super) fn new(ends: &mut Ends, kind: CallKind, root: usize, own: Vec<T>) -> Result<Self, Error> {
        ends.check_rank(root)?;
        ends.begin()?;
        let (node, local) = ends.numbering.place(root);
        let call = Call::rooted(kind, root);
        let near_root = (node == ends.numbering.node).then_some(local);
        Ok(Self {
            near_call: Call { operation: kind, root: near_root },
            // Nodes may have other numbers of values.
            header: Header { sequence: ends.operation, call, len: 0, signature: signature::<T>(), chunk: 0 },
            root,
            own,
            stage: Stage::Begun,
            has_begun: false,
            bytes: Vec::new(),
            by_node: Vec::new(),
        })
    }

    /// Goes on until the gather is done at this member; the values of all members at the root.
    pub(super) fn go_on(&mut self, ends: &mut Ends) -> Result<Option<Vec<Vec<T>>>, Error> {
        loop {
            self.stage = match &mut self.stage {
                Stage::Begun => {
                    let core = &ends.near.ends().core;
                    let own = std::mem::take(&mut self.own);
                    Stage::Near(Gathering::of_slice(core, &ends.near.ends().reduce, 0, own))
                }
                Stage::Near(gathering) => {
                    let bytes = &mut self.bytes;
                    ends.near(self.near_call, &mut self.has_begun, |near| {
                        if let Some(all) = gathering.go_on(&mut near.core, &mut near.reduce)? {
                            *bytes = packed(&all);
                        }
                        Ok(())
                    })?;
                    self.after_near(ends)
                }
                Stage::Sending { .. } => self.send(ends)?,
                Stage::Receiving { .. } => self.receive(ends)?,
                Stage::Length(len, progress) => {
                    ends.near(self.near_call, &mut self.has_begun, |near| {
                        broadcast(&mut near.core, &mut near.broadcast, 0, len, progress)
                    })?;
                    let len = len.0 as usize;
                    self.passing(0, len)
                }
                Stage::Passing { .. } => self.pass(ends)?,
                Stage::Done => break,
            };
        }
        if ends.rank() != self.root {
            return Ok(None);
        }
        let all = unpacked(&self.bytes, ends.numbering.members());
        Ok(Some(all.ok_or(NearError::Corrupt)?))
    }

    fn after_near(&mut self, ends: &Ends) -> Stage<T> {
        let node = ends.numbering.node;
        let is_root_node = ends.numbering.place(self.root).0 == node;
        match (is_root_node, ends.leader.is_some()) {
            (true, true) => {
                self.by_node.resize(ends.numbering.nodes(), Vec::new());
                self.by_node[node] = std::mem::take(&mut self.bytes);
                Self::receiving(ends, 0)
            }
            (false, true) => {
                // The number of bytes goes ahead.
                self.bytes.splice(0..0, (self.bytes.len() as u64).to_le_bytes());
                Stage::Sending { from: 0, exchange: Exchange::default() }
            }
            (true, false) => self.passed_on(ends),
            (false, false) => Stage::Done,
        }
    }

    /// The next stage at the root's node once its leader has all values.
    fn passed_on(&self, ends: &Ends) -> Stage<T> {
        match ends.numbering.place(self.root).1 {
            0 => Stage::Done,
            _ => Stage::Length(OwnValue(self.bytes.len() as u64), Progress::default()),
        }
    }

    fn receiving(ends: &Ends, node: usize) -> Stage<T> {
        let node = if node == ends.numbering.node { node + 1 } else { node };
        Stage::Receiving { node, missing: None, chunk: 0, buffer: vec![0; CHUNK_BYTES], exchange: Exchange::default() }
    }

    fn send(&mut self, ends: &mut Ends) -> Result<Stage<T>, Error> {
        let Stage::Sending { from, exchange } = &mut self.stage else { return Ok(Stage::Done) };
        let header = Header { chunk: (*from / CHUNK_BYTES) as u64, ..self.header };
        let end = self.bytes.len().min(*from + CHUNK_BYTES);
        let (node, _) = ends.numbering.place(self.root);
        let way = Way::Messages([Action::Send { to: node }].into());
        let (chunk, mut none) = (&mut self.bytes[*from..end], Vec::new());
        ends.far(|engine| match exchange.go_on(engine, &way, header, chunk, &mut none, &mut |_, _| {})? {
            true => Ok(Polled::Done),
            false => Ok(Polled::Awaits(Some(node))),
        })?;
        let is_last = end == self.bytes.len();
        Ok(if is_last { Stage::Done } else { Stage::Sending { from: end, exchange: Exchange::default() } })
    }

    fn receive(&mut self, ends: &mut Ends) -> Result<Stage<T>, Error> {
        let Stage::Receiving { node, missing, chunk, buffer, exchange } = &mut self.stage else {
            return Ok(Stage::Done);
        };
        let node = *node;
        if node >= ends.numbering.nodes() {
            self.bytes = std::mem::take(&mut self.by_node).concat();
            return Ok(self.passed_on(ends));
        }
        let header = Header { chunk: *chunk, ..self.header };
        let way = Way::Messages([Action::Replace { from: node }].into());
        let mut none = Vec::new();
        ends.far(|engine| match exchange.go_on(engine, &way, header, buffer, &mut none, &mut |_, _| {})? {
            true => Ok(Polled::Done),
            false => Ok(Polled::Awaits(Some(node))),
        })?;
        let (body, left) = match *missing {
            Some(left) => (&buffer[..], left),
            None => {
                let (len, body) = buffer.split_at(WORD_BYTES);
                (body, u64::from_le_bytes(len.try_into().expect("as long as a word")) as usize)
            }
        };
        let taken = body.len().min(left);
        self.by_node[node].extend(&body[..taken]);
        if taken == left {
            return Ok(Self::receiving(ends, node + 1));
        }
        let (chunk, buffer) = (*chunk + 1, std::mem::take(buffer));
        Ok(Stage::Receiving { node, missing: Some(left - taken), chunk, buffer, exchange: Exchange::default() })
    }

    fn passing(&self, from: usize, len: usize) -> Stage<T> {
        if from >= len {
            return Stage::Done;
        }
        let mut piece: Piece = [0; PIECE_BYTES];
        if let Some(rest) = self.bytes.get(from..) {
            let bytes = rest.len().min(PIECE_BYTES);
            piece[..bytes].copy_from_slice(&rest[..bytes]);
        }
        Stage::Passing { from, len, piece: OwnValue(piece), progress: Progress::default() }
    }

    fn pass(&mut self, ends: &mut Ends) -> Result<Stage<T>, Error> {
        let Stage::Passing { from, len, piece, progress } = &mut self.stage else { return Ok(Stage::Done) };
        ends.near(self.near_call, &mut self.has_begun, |near| {
            broadcast(&mut near.core, &mut near.broadcast, 0, piece, progress)
        })?;
        if ends.leader.is_none() {
            let bytes = PIECE_BYTES.min(*len - *from);
            self.bytes.extend(&piece.0[..bytes]);
        }
        let (from, len) = (*from + PIECE_BYTES, *len);
        Ok(self.passing(from, len))
    }
}

/// The values of some members: of each of them the number of bytes, and the bytes.
fn packed<T: Plain>(all: &[&[T]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for values in all {
        bytes.extend((size_of_val(*values) as u64).to_le_bytes());
        bytes.extend(bytes_of(values));
    }
    bytes
}

/// The values of this number of members; `None` if the bytes are not theirs.
fn unpacked<T: Plain>(mut bytes: &[u8], members: usize) -> Option<Vec<Vec<T>>> {
    let mut all = Vec::with_capacity(members);
    for _ in 0..members {
        let (len, rest) = bytes.split_at_checked(WORD_BYTES)?;
        let len = u64::from_le_bytes(len.try_into().ok()?);
        let (own, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
        let mut values = vec![zeroed::<T>(); own.len().checked_div(size_of::<T>()).unwrap_or(0)];
        if own.len() != size_of_val(values.as_slice()) {
            return None;
        }
        bytes_of_mut(&mut values).copy_from_slice(own);
        all.push(values);
        bytes = rest;
    }
    bytes.is_empty().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_values_come_back_and_other_bytes_are_refused() {
        let all: [&[u16]; 3] = [&[1, 2, 3], &[], &[4]];
        let bytes = packed(&all);
        assert_eq!(unpacked::<u16>(&bytes, 3), Some(all.map(<[u16]>::to_vec).to_vec()));
        assert_eq!(unpacked::<u16>(&bytes, 2), None);
        assert_eq!(unpacked::<u16>(&bytes[1..], 3), None);
        assert_eq!(unpacked::<u32>(&bytes, 3), None);
    }
}
