//! The replicated system as bytes, for snapshots.

use super::members::{Members, Slot};
use super::sessions::Session;
use super::state::System;
use crate::{MAX_SLOTS, NodeId, SessionId};

/// Of the layout below, and of what is made of a log: nodes of different ones do not go on from each other's states.
const VERSION: u32 = 2;

impl<O: AsRef<[u8]> + From<Vec<u8>>> System<O> {
    /// Appends the bytes of the whole state.
    pub fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&VERSION.to_le_bytes());
        to.extend_from_slice(&self.applied.to_le_bytes());
        to.extend_from_slice(&self.prefix.to_le_bytes());
        to.extend_from_slice(&(self.members.slots.len() as u32).to_le_bytes());
        for (number, slot) in &self.members.slots {
            to.extend_from_slice(&number.to_le_bytes());
            to.extend_from_slice(&slot.inc.to_le_bytes());
            to.extend_from_slice(&slot.boot.to_le_bytes());
            to.push(slot.is_member.into());
        }
        to.extend_from_slice(&(self.sessions.len() as u64).to_le_bytes());
        for (id, session) in &self.sessions {
            to.extend_from_slice(&id.0.to_le_bytes());
            encode_session(session, to);
        }
        to.extend_from_slice(&(self.opened.len() as u64).to_le_bytes());
        for (node, number) in &self.opened {
            to.extend_from_slice(&node.to_bits().to_le_bytes());
            to.extend_from_slice(&number.to_le_bytes());
        }
        to.extend_from_slice(&(self.ended.len() as u32).to_le_bytes());
        for (slot, inc) in &self.ended {
            to.extend_from_slice(&slot.to_le_bytes());
            to.extend_from_slice(&inc.to_le_bytes());
        }
    }

    /// The state of exactly these bytes; `None` if they are those of no state.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = Reader(bytes);
        if rest.u32()? != VERSION {
            return None;
        }
        let applied = rest.u64()?;
        let prefix = u128::from_le_bytes(rest.array()?);
        let mut members = Members::default();
        for _ in 0..rest.u32()? {
            let (number, slot) = rest.slot()?;
            let is_in_order = members.slots.last_key_value().is_none_or(|(&last, _)| last < number);
            (is_in_order && usize::from(number) < MAX_SLOTS).then(|| members.slots.insert(number, slot))?;
        }
        let mut system = Self { applied, prefix, ..Self::new(members) };
        for _ in 0..rest.u64()? {
            let id = SessionId(rest.u64()?);
            let is_in_order = system.sessions.last_key_value().is_none_or(|(&last, _)| last < id);
            let session = rest.session()?;
            is_in_order.then(|| system.sessions.insert(id, session))?;
        }
        rest.opened_and_ended(&mut system)?;
        rest.0.is_empty().then_some(system)
    }
}

fn encode_session<O: AsRef<[u8]>>(session: &Session<O>, to: &mut Vec<u8>) {
    to.extend_from_slice(&session.last.to_le_bytes());
    for (rid, reply) in &session.replies {
        to.extend_from_slice(&rid.to_le_bytes());
        let reply = reply.as_ref().map(AsRef::as_ref);
        to.extend_from_slice(&reply.map_or(u64::MAX, |reply| reply.len() as u64).to_le_bytes());
        to.extend_from_slice(reply.unwrap_or_default());
    }
}

/// The bytes that are left.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn slot(&mut self) -> Option<(u16, Slot)> {
        let number = u16::from_le_bytes(self.array()?);
        let (inc, boot) = (u16::from_le_bytes(self.array()?), self.u64()?);
        let [is_member] = self.array()?;
        (is_member <= 1).then_some((number, Slot { inc, boot, is_member: is_member == 1 }))
    }

    fn opened_and_ended<O>(&mut self, system: &mut System<O>) -> Option<()> {
        for _ in 0..self.u64()? {
            let node = NodeId::from_bits(self.u32()?)?;
            let number = self.u64()?;
            let is_in_order = system.opened.last_key_value().is_none_or(|(&last, _)| last < node);
            is_in_order.then(|| system.opened.insert(node, number))?;
        }
        for _ in 0..self.u32()? {
            let slot = u16::from_le_bytes(self.array()?);
            let inc = u16::from_le_bytes(self.array()?);
            let is_in_order = system.ended.last_key_value().is_none_or(|(&last, _)| last < slot);
            is_in_order.then(|| system.ended.insert(slot, inc))?;
        }
        Some(())
    }

    fn session<O: From<Vec<u8>>>(&mut self) -> Option<Session<O>> {
        let mut session = Session { last: self.u32()?, ..Session::new() };
        for kept in &mut session.replies {
            kept.0 = self.u32()?;
            let len = self.u64()?;
            if len != u64::MAX {
                let (reply, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
                (kept.1, self.0) = (Some(O::from(reply.to_vec())), rest);
            }
        }
        Some(session)
    }
}

#[cfg(test)]
mod tests {
    use crate::system::Members;
    use crate::{Command, LeaveReason, NodeId, Op, SessionId};

    type System = super::System<Vec<u8>>;

    fn system() -> System {
        let nodes = [NodeId::new(0, 1), NodeId::new(5, 2)];
        let mut system = System::new(Members::founding(nodes.map(|node| (node, 3))));
        let session = SessionId::new(nodes[0], 4);
        let ops = [Op::OpenSession, Op::User(1), Op::User(2), Op::Leave { node: nodes[1], reason: LeaveReason::Asked }];
        for (at, op) in ops.into_iter().enumerate() {
            system.begin(at as u64, &Command::<u64> { session, rid: at as u32, op });
            if at == 1 {
                system.finish(session, 1, b"reply".to_vec());
            }
        }
        system
    }

    #[test]
    fn the_bytes_hold_everything() {
        let (system, mut bytes) = (system(), Vec::new());
        system.encode(&mut bytes);
        assert_eq!(System::decode(&bytes), Some(system));
    }

    #[test]
    fn other_bytes_are_refused_or_a_state() {
        let mut bytes = Vec::new();
        system().encode(&mut bytes);
        for len in 0..bytes.len() {
            assert_eq!(System::decode(&bytes[..len]), None, "cut at {len}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Some(system) = System::decode(&flipped) {
                let mut again = Vec::new();
                system.encode(&mut again);
                assert_eq!(again, flipped, "bit {bit}");
            }
        }
    }
}
