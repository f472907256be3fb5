//! Reading messages that another process has written.

use super::*;
use crate::one_paxos::{Adopted, Ballot, Entry, Former};
use crate::{Command, Configuration, Epoch, Index, LeaveReason, Op, RoleChange, SessionId};

/// The bytes that are left.
pub(super) struct Reader<'a> {
    pub(super) rest: &'a [u8],
    /// The nodes of the group.
    pub(super) nodes: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn message(&mut self, kind: u8) -> Option<Message<Body>> {
        Some(match kind {
            REQUEST => Message::Request(self.commands()?),
            ACCEPT => {
                let epoch = self.small()?;
                let (stable, first, commands) = self.run()?;
                Message::Accept { epoch, stable, first, commands }
            }
            LEARN => {
                let (stable, first, commands) = self.run()?;
                Message::Learn { stable, first, commands }
            }
            MISSING => Message::Missing { epoch: self.small()?, first: self.number()? },
            PREPARE => Message::Prepare(self.entry()?),
            PREPARE_RESPONSE => Message::PrepareResponse(self.adopted()?),
            CHOSEN => Message::Chosen(self.entry()?),
            ASK_FORMER => Message::AskFormer(self.entry()?),
            FORMER => Message::Former { epoch: self.small()?, former: self.option(Self::former)? },
            PROGRESS => Message::Progress { applied: self.number()? },
            ASK => Message::Ask { position: self.small()?, ballot: self.ballot()? },
            PROMISE => {
                Message::Promise { position: self.small()?, ballot: self.ballot()?, vote: self.option(Self::vote)? }
            }
            VOTE => Message::Vote { ballot: self.ballot()?, entry: self.entry()? },
            VOTED => Message::Voted { position: self.small()?, ballot: self.ballot()? },
            REFUSED => Message::Refused { position: self.small()?, promised: self.ballot()? },
            _ => return None,
        })
    }

    pub(super) fn state_message(&mut self, kind: u8) -> Option<StateMessage> {
        Some(match kind {
            TAKE => StateMessage::Take { number: self.small()?, offset: self.number()? },
            PART => {
                let (number, offset, len) = (self.small()?, self.number()?, self.number()?);
                StateMessage::Part { number, offset, len, crc: self.small()?, bytes: self.bytes()?.to_vec() }
            }
            DIGEST => {
                let (id, index) = (self.number()?, self.number()?);
                let (high, low) = (u128::from(self.number()?), u128::from(self.number()?));
                StateMessage::Digest { id, index, digest: high << 64 | low }
            }
            _ => return None,
        })
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            // The tenth byte has room for one bit.
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number of a type with fewer bits.
    fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        self.number()?.try_into().ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.small()?;
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    /// A list; each of its elements takes a byte at least, so a length beyond what is left is none.
    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let len: usize = self.small()?;
        if len > self.rest.len() {
            return None;
        }
        let mut list = Vec::new();
        for _ in 0..len {
            list.push(element(self)?);
        }
        Some(list)
    }

    pub(super) fn node(&mut self) -> Option<NodeId> {
        let (slot, inc): (u16, u16) = (self.small()?, self.small()?);
        let node = NodeId::from_bits(NodeId::new(slot, inc).to_bits())?;
        (usize::from(node.slot) < self.nodes).then_some(node)
    }

    fn ballot(&mut self) -> Option<Ballot> {
        Some(Ballot { round: self.small()?, node: self.node()? })
    }

    /// A byte that tells whether there is a value, and the value.
    fn option<T>(&mut self, value: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            1 => Some(Some(value(self)?)),
            _ => None,
        }
    }

    fn vote(&mut self) -> Option<(Ballot, Entry<Body>)> {
        Some((self.ballot()?, self.entry()?))
    }

    fn run(&mut self) -> Option<(Index, Index, Vec<Command<Body>>)> {
        let (stable, first, commands) = (self.number()?, self.number()?, self.commands()?);
        // Indexes do not wrap.
        first.checked_add(commands.len() as u64)?;
        Some((stable, first, commands))
    }

    fn commands(&mut self) -> Option<Vec<Command<Body>>> {
        self.list(Self::command)
    }

    fn command(&mut self) -> Option<Command<Body>> {
        let (session, rid) = (self.session()?, self.small()?);
        let op = match self.byte()? {
            NOOP => Op::Noop,
            USER => Op::User(Arc::from(self.bytes()?)),
            OPEN => Op::OpenSession,
            CLOSE => Op::CloseSession,
            EXPIRE => Op::ExpireSession(self.session()?),
            JOIN => Op::Join { node: self.node()?, boot: self.number()?, applied: self.number()? },
            LEAVE => Op::Leave { node: self.node()?, reason: LeaveReason::from_number(self.byte()?)? },
            BARRIER => Op::Barrier(self.number()?),
            _ => return None,
        };
        Some(Command { session, rid, op })
    }

    fn session(&mut self) -> Option<SessionId> {
        let Some(slot) = self.number()?.checked_sub(1) else { return Some(SessionId::SYSTEM) };
        let slot = u16::try_from(slot).ok()?;
        let node = NodeId::from_bits(NodeId::new(slot, self.small()?).to_bits())?;
        Some(SessionId::new(node, self.number()?))
    }

    fn configuration(&mut self) -> Option<Configuration> {
        let epoch: Epoch = self.small()?;
        let change = match self.byte()? {
            0 => RoleChange::Leader,
            1 => RoleChange::Acceptor,
            _ => return None,
        };
        let (leader, acceptor, source) = (self.node()?, self.node()?, self.node()?);
        let (inst, stable, hi) = (self.small()?, self.number()?, self.number()?);
        Some(Configuration { epoch, change, leader, acceptor, inst, stable, source, hi })
    }

    fn entry(&mut self) -> Option<Entry<Body>> {
        let (configuration, chosen) = (self.configuration()?, Arc::new(self.chosen()?));
        let (voters, owners) = (self.list(Self::node)?.into(), self.list(Self::owner)?.into());
        Some(Entry { configuration, chosen, voters, owners })
    }

    fn owner(&mut self) -> Option<(NodeId, Epoch)> {
        Some((self.node()?, self.small()?))
    }

    fn former(&mut self) -> Option<Former<Body>> {
        Some(Former { epoch: self.small()?, stable: self.number()?, chosen: Arc::new(self.chosen()?) })
    }

    fn chosen(&mut self) -> Option<Vec<(Index, Command<Body>)>> {
        self.list(|reader| Some((reader.number()?, reader.command()?)))
    }

    fn adopted(&mut self) -> Option<Adopted<Body>> {
        Some(Adopted {
            epoch: self.small()?,
            stable: self.number()?,
            commit: self.number()?,
            chosen: self.chosen()?,
            accepted: self.list(|reader| Some((reader.number()?, reader.small()?, reader.command()?)))?,
        })
    }
}
