//! The memory, and the positions of all ends.

use super::{Policy, RING, SLOTS, Senders, Setup};

/// Tickets in a run, at most.
const TICKETS: usize = 7;

/// Set in a payload that is half written.
const HALF: u8 = 0x80;

/// The word of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Word {
    pub(super) ticket: i8,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// By this sender.
    Claimed(u8),
    Published,
    Skipped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Ctl {
    Free,
    /// A reader took the line and has not announced itself yet.
    Taken,
    Joining,
    Active,
    Lagged,
}

/// The line of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Line {
    pub(super) ctl: Ctl,
    pub(super) generation: u8,
    pub(super) cursor: i8,
    /// The block that must not be written to.
    pub(super) lease: Option<u8>,
}

/// The line of a sender: enough to settle its block if it dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SenderLine {
    pub(super) inflight: Option<i8>,
    /// The block it takes from the slot, and the ticket it does so for.
    pub(super) incoming: (u8, i8),
    pub(super) block: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SenderPc {
    /// Of a single sender, until the one before has died.
    AwaitDeath,
    LookForLease,
    Fill,
    LoadTail,
    ScanCtl {
        ticket: i8,
        line: u8,
        least: Least,
    },
    ScanCursor {
        ticket: i8,
        line: u8,
        least: Least,
        was: Line,
    },
    CheckTail {
        ticket: i8,
        line: u8,
        least: Least,
        cursor: i8,
    },
    Evict {
        line: u8,
        generation: u8,
    },
    LoadWord {
        ticket: i8,
    },
    Intend {
        ticket: i8,
    },
    Claim {
        ticket: i8,
    },
    Help {
        ticket: i8,
    },
    MoveTail {
        ticket: i8,
    },
    Mark {
        ticket: i8,
    },
    WriteHalf {
        ticket: i8,
    },
    WriteWhole {
        ticket: i8,
    },
    Incoming {
        ticket: i8,
    },
    Exchange {
        ticket: i8,
    },
    Publish {
        ticket: i8,
    },
    StoreTail {
        ticket: i8,
    },
    TakeOld,
    Forget,
    Done,
    Dead,
}

/// The least cursor of a scan so far, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Least {
    pub(super) cursor: i8,
    pub(super) line: u8,
    pub(super) generation: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Sender {
    pub(super) pc: SenderPc,
    pub(super) left: u8,
    /// Below this every gating cursor is known to be.
    pub(super) min_seen: i8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ReaderPc {
    Take,
    LoadTail,
    StoreFirst { tail: i8 },
    Announce { tail: i8 },
    LoadTailAgain,
    StoreSecond { tail: i8 },
    Activate { tail: i8 },
    Poll,
    Read,
    Copy { block: u8 },
    Look { got: u8 },
    Lease { block: u8 },
    LookLeased { block: u8 },
    ReadLeased { block: u8 },
    EndLease,
    Overrun,
    AmIEvicted,
    Tell,
    Leave,
    Gone,
    Dead,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Reader {
    pub(super) pc: ReaderPc,
    /// The ticket it reads next.
    pub(super) next: i8,
    pub(super) seen: u8,
    /// It holds its cursor line.
    pub(super) holds_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reaper {
    Idle,
    Inflight,
    Incoming { ticket: i8 },
    SlotBlock { ticket: i8, old: u8 },
    GiveBack { old: u8 },
    Forget,
    FindSlot,
    HelpTail { ticket: i8 },
    Skip { ticket: i8 },
    Finished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) tail: i8,
    pub(super) words: [Word; SLOTS],
    pub(super) block_of: [u8; SLOTS],
    /// The payload of each block: 0, a message, or half of one.
    pub(super) content: [u8; SLOTS + 2],
    pub(super) lines: [Line; 2],
    pub(super) sender_lines: [SenderLine; 2],
    pub(super) senders: [Sender; 2],
    pub(super) readers: [Reader; 2],
    pub(super) reaper: Reaper,
    pub(super) deaths: u8,
    pub(super) reaper_deaths: u8,
    /// The message for which each ticket was claimed. Not a part of the protocol: the messages that readers get are
    /// compared with it.
    pub(super) ledger: [u8; TICKETS],
}

/// The slot of a ticket.
pub(super) fn slot(ticket: i8) -> usize {
    ticket.rem_euclid(RING) as usize
}

pub(super) fn half(message: u8) -> u8 {
    message | HALF
}

impl State {
    pub(super) fn start(setup: &Setup) -> Self {
        let free = Line { ctl: Ctl::Free, generation: 0, cursor: 0, lease: None };
        let mut lines = [free; 2];
        let readers = setup.readers.map(|role| {
            let joins = role.is_none_or(|role| role.joins);
            if let Some(role) = role.filter(|role| !joins && role.policy != Policy::Lossy) {
                lines[role.line].ctl = Ctl::Active;
            }
            let pc = if joins { ReaderPc::Take } else { ReaderPc::Poll };
            Reader { pc, next: 0, seen: 0, holds_line: !joins }
        });
        let sender = |me: usize| {
            let left = setup.messages[me];
            let pc = match (setup.senders, me) {
                (Senders::Single, 1) => SenderPc::AwaitDeath,
                _ if left == 0 => SenderPc::Done,
                _ => setup.first_step(),
            };
            Sender { pc, left, min_seen: 0 }
        };
        let sender_line = |block| SenderLine { inflight: None, incoming: (0, -1), block };
        Self {
            tail: 0,
            words: [0, 1].map(|ticket| Word { ticket: ticket - RING, kind: Kind::Published }),
            block_of: [0, 1],
            content: [0; SLOTS + 2],
            lines,
            sender_lines: [sender_line(2), sender_line(3)],
            senders: [sender(0), sender(1)],
            readers,
            reaper: Reaper::Idle,
            deaths: 0,
            reaper_deaths: 0,
            ledger: [0; TICKETS],
        }
    }

    /// The message a sender sends next.
    pub(super) fn message(&self, sender: usize) -> u8 {
        1 + sender as u8 * 8 + self.senders[sender].left
    }

    /// The sender of a message.
    pub(super) fn sender_of(message: u8) -> usize {
        (usize::from(message) - 1) / 8
    }

    /// True while somebody is dead and the reaper has not been there.
    pub(super) fn has_unreaped(&self) -> bool {
        let dead = self.senders.iter().any(|sender| sender.pc == SenderPc::Dead)
            || self.readers.iter().any(|reader| reader.pc == ReaderPc::Dead);
        dead && self.reaper != Reaper::Finished
    }

    /// True if every block has one owner, a slot or a sender.
    pub(super) fn accounts_for_blocks(&self) -> bool {
        let [first, second] = self.block_of;
        let owned = [first, second, self.sender_lines[0].block, self.sender_lines[1].block];
        owned.iter().fold(0, |seen, block| seen | 1 << block) == 0b1111
    }

    /// Forgets which messages had the tickets that nobody will read any more.
    pub(super) fn settle(mut self, setup: &Setup) -> Self {
        let needed = |(role, reader): (&Option<super::Role>, &Reader)| match reader.pc {
            _ if role.is_none() => None,
            ReaderPc::Gone | ReaderPc::Dead => None,
            ReaderPc::Take | ReaderPc::LoadTail => Some(self.tail),
            ReaderPc::StoreFirst { tail } | ReaderPc::Announce { tail } => Some(tail),
            _ => Some(reader.next),
        };
        let oldest = setup.readers.iter().zip(&self.readers).filter_map(needed).min().unwrap_or(self.tail);
        let oldest = oldest.min(self.tail);
        for ticket in 0..oldest.max(0) {
            self.ledger[ticket as usize] = 0;
        }
        self
    }
}
