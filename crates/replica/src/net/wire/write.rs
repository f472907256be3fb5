//! Writing messages.

use super::*;
use crate::one_paxos::{Adopted, Ballot, Entry, Former};
use crate::{Command, Configuration, Index, Op, SessionId};

/// Appends to these bytes.
pub(super) struct Writer<'a>(pub(super) &'a mut Vec<u8>);

impl Writer<'_> {
    pub(super) fn message(&mut self, message: &Message<Body>, origin: Option<NodeId>) {
        self.byte(kind_of(message) | if origin.is_some() { RELAYED } else { 0 });
        if let Some(origin) = origin {
            self.node(origin);
        }
        match message {
            Message::Request(commands) => self.commands(commands),
            Message::Accept { epoch, stable, first, commands } => {
                self.number((*epoch).into());
                self.run(*stable, *first, commands);
            }
            Message::Learn { stable, first, commands } => self.run(*stable, *first, commands),
            Message::Missing { epoch, first } => {
                self.number((*epoch).into());
                self.number(*first);
            }
            Message::Prepare(entry) | Message::AskFormer(entry) | Message::Chosen(entry) => self.entry(entry),
            Message::PrepareResponse(adopted) => self.adopted(adopted),
            Message::Former { epoch, former } => self.former(*epoch, former.as_ref()),
            Message::Progress { applied } => self.number(*applied),
            Message::Ask { position, ballot } | Message::Voted { position, ballot } => {
                self.number((*position).into());
                self.ballot(*ballot);
            }
            Message::Refused { position, promised } => {
                self.number((*position).into());
                self.ballot(*promised);
            }
            Message::Promise { position, ballot, vote } => {
                self.number((*position).into());
                self.ballot(*ballot);
                self.vote(vote.as_ref());
            }
            Message::Vote { ballot, entry } => {
                self.ballot(*ballot);
                self.entry(entry);
            }
        }
    }

    pub(super) fn state_message(&mut self, message: &StateMessage) {
        match message {
            StateMessage::Take { number, offset } => {
                self.byte(TAKE);
                self.number((*number).into());
                self.number(*offset);
            }
            StateMessage::Part { number, offset, len, crc, bytes } => {
                self.byte(PART);
                [(*number).into(), *offset, *len, (*crc).into()].into_iter().for_each(|number| self.number(number));
                self.number(bytes.len() as u64);
                self.0.extend_from_slice(bytes);
            }
            StateMessage::Digest { id, index, digest } => {
                self.byte(DIGEST);
                let (high, low) = ((digest >> 64) as u64, *digest as u64);
                [*id, *index, high, low].into_iter().for_each(|number| self.number(number));
            }
        }
    }

    fn vote(&mut self, vote: Option<&(Ballot, Entry<Body>)>) {
        self.byte(u8::from(vote.is_some()));
        if let Some((ballot, entry)) = vote {
            self.ballot(*ballot);
            self.entry(entry);
        }
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn node(&mut self, node: NodeId) {
        self.number(node.slot.into());
        self.number(node.inc.into());
    }

    fn ballot(&mut self, ballot: Ballot) {
        self.number(ballot.round.into());
        self.node(ballot.node);
    }

    fn run(&mut self, stable: Index, first: Index, commands: &[Command<Body>]) {
        self.number(stable);
        self.number(first);
        self.commands(commands);
    }

    fn commands(&mut self, commands: &[Command<Body>]) {
        self.number(commands.len() as u64);
        commands.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command<Body>) {
        self.session(command.session);
        self.number(command.rid.into());
        match &command.op {
            Op::Noop => self.byte(NOOP),
            Op::User(bytes) => {
                self.byte(USER);
                self.number(bytes.len() as u64);
                self.0.extend_from_slice(bytes);
            }
            Op::OpenSession => self.byte(OPEN),
            Op::CloseSession => self.byte(CLOSE),
            Op::ExpireSession(session) => {
                self.byte(EXPIRE);
                self.session(*session);
            }
            Op::Join { node, boot, applied } => {
                self.byte(JOIN);
                self.node(*node);
                self.number(*boot);
                self.number(*applied);
            }
            Op::Leave { node, reason } => {
                self.byte(LEAVE);
                self.node(*node);
                self.byte(*reason as u8);
            }
            Op::Barrier(id) => {
                self.byte(BARRIER);
                self.number(*id);
            }
        }
    }

    /// Slot and one, incarnation, number; 0 for the sessions of the group.
    fn session(&mut self, session: SessionId) {
        let Some(node) = session.node() else { return self.number(0) };
        self.number(u64::from(node.slot) + 1);
        self.number(node.inc.into());
        self.number(session.number());
    }

    fn configuration(&mut self, configuration: &Configuration) {
        let Configuration { epoch, change, leader, acceptor, inst, stable, source, hi } = *configuration;
        self.number(epoch.into());
        self.byte(change as u8);
        [leader, acceptor, source].into_iter().for_each(|node| self.node(node));
        [inst.into(), stable, hi].into_iter().for_each(|number| self.number(number));
    }

    fn entry(&mut self, entry: &Entry<Body>) {
        self.configuration(&entry.configuration);
        self.chosen(&entry.chosen);
        self.number(entry.voters.len() as u64);
        entry.voters.iter().for_each(|&voter| self.node(voter));
        self.number(entry.owners.len() as u64);
        for &(owner, epoch) in entry.owners.iter() {
            self.node(owner);
            self.number(epoch.into());
        }
    }

    fn former(&mut self, asked: u32, former: Option<&Former<Body>>) {
        self.number(asked.into());
        self.byte(u8::from(former.is_some()));
        if let Some(Former { epoch, stable, chosen }) = former {
            self.number((*epoch).into());
            self.number(*stable);
            self.chosen(chosen);
        }
    }

    fn chosen(&mut self, chosen: &[(Index, Command<Body>)]) {
        self.number(chosen.len() as u64);
        for (index, command) in chosen {
            self.number(*index);
            self.command(command);
        }
    }

    fn adopted(&mut self, adopted: &Adopted<Body>) {
        self.number(adopted.epoch.into());
        self.number(adopted.stable);
        self.number(adopted.commit);
        self.chosen(&adopted.chosen);
        self.number(adopted.accepted.len() as u64);
        for (index, epoch, command) in &adopted.accepted {
            self.number(*index);
            self.number((*epoch).into());
            self.command(command);
        }
    }
}

pub(super) fn kind_of<B>(message: &Message<B>) -> u8 {
    match message {
        Message::Request(_) => REQUEST,
        Message::Accept { .. } => ACCEPT,
        Message::Learn { .. } => LEARN,
        Message::Missing { .. } => MISSING,
        Message::Prepare(_) => PREPARE,
        Message::PrepareResponse(_) => PREPARE_RESPONSE,
        Message::Chosen(_) => CHOSEN,
        Message::AskFormer(_) => ASK_FORMER,
        Message::Former { .. } => FORMER,
        Message::Progress { .. } => PROGRESS,
        Message::Ask { .. } => ASK,
        Message::Promise { .. } => PROMISE,
        Message::Vote { .. } => VOTE,
        Message::Voted { .. } => VOTED,
        Message::Refused { .. } => REFUSED,
    }
}
