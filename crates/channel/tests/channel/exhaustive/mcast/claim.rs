//! Room by the least cursor, and the claim of a slot.

use super::state::{Ctl, Kind, Least, SenderPc, State, Word, slot};
use super::{FALSE_CORRUPT, RING, Ring, SENDERS, Senders, Setup, Slip};
use crate::exhaustive::checker::Steps;

impl Setup {
    /// Room for a ticket as far as this sender knows, or a scan.
    pub(super) fn before_room(&self, state: &State, me: usize, ticket: i8) -> SenderPc {
        if ticket - state.senders[me].min_seen < RING {
            return self.after_room(ticket);
        }
        let cursor = if self.slip == Slip::UncappedMinimum { i8::MAX } else { ticket };
        SenderPc::ScanCtl { ticket, line: 0, least: Least { cursor, line: 0, generation: 0 } }
    }

    pub(super) fn scan(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let (what, number, then) = match state.senders[me].pc {
            SenderPc::ScanCtl { ticket, line, least } => {
                let was = state.lines[usize::from(line)];
                let then = if self.is_gating(was) {
                    SenderPc::ScanCursor { ticket, line, least, was }
                } else {
                    self.scan_on(&mut next, me, ticket, line, least)
                };
                ("looks who gates in line {}", line as i8, then)
            }
            SenderPc::ScanCursor { ticket, line, mut least, was } => {
                let cursor = state.lines[usize::from(line)].cursor;
                let judges = was.ctl == Ctl::Active || self.slip == Slip::JudgeJoining;
                if judges && cursor < state.senders[me].min_seen {
                    return steps.judge(SENDERS[me], "reads a cursor that went back, {}", cursor, Err(FALSE_CORRUPT));
                }
                if cursor < least.cursor {
                    least = Least { cursor, line, generation: was.generation };
                }
                let then = if cursor > ticket {
                    SenderPc::CheckTail { ticket, line, least, cursor }
                } else {
                    self.scan_on(&mut next, me, ticket, line, least)
                };
                ("reads a cursor, {}", cursor, then)
            }
            SenderPc::CheckTail { ticket, line, least, cursor } => {
                if cursor > state.tail {
                    return steps.judge(SENDERS[me], "finds the tail behind it, {}", state.tail, Err(FALSE_CORRUPT));
                }
                ("loads the tail again, {}", state.tail, self.scan_on(&mut next, me, ticket, line, least))
            }
            _ => return,
        };
        next.senders[me].pc = then;
        steps.add(SENDERS[me], what, number, next.settle(self));
    }

    /// The next line, or what the scan came to.
    fn scan_on(&self, next: &mut State, me: usize, ticket: i8, line: u8, least: Least) -> SenderPc {
        if line == 0 {
            return SenderPc::ScanCtl { ticket, line: 1, least };
        }
        let m = if least.cursor == i8::MAX { ticket } else { least.cursor };
        let sender = &mut next.senders[me];
        sender.min_seen = sender.min_seen.max(m);
        if ticket - sender.min_seen < RING {
            self.after_room(ticket)
        } else if self.ring == Ring::Overwrite && self.has_deadline() {
            SenderPc::Evict { line: least.line, generation: least.generation }
        } else {
            SenderPc::LoadTail
        }
    }

    /// Full, and somebody is behind: it is evicted, or the deadline has not passed.
    pub(super) fn evict(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let SenderPc::Evict { line, generation } = state.senders[me].pc else { return };
        let mut next = *state;
        next.senders[me].pc = SenderPc::LoadTail;
        steps.add(SENDERS[me], "has time to wait for line {}", line as i8, next);
        let theirs = &mut next.lines[usize::from(line)];
        if theirs.ctl == Ctl::Active && theirs.generation == generation {
            theirs.ctl = Ctl::Lagged;
        }
        steps.add(SENDERS[me], "evicts the reader of line {}", line as i8, next);
    }

    pub(super) fn claim(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let (what, number, then) = match state.senders[me].pc {
            SenderPc::LoadWord { ticket } => {
                let word = state.words[slot(ticket)];
                ("loads the word of ticket {}", ticket, self.by_word(word, ticket))
            }
            SenderPc::Intend { ticket } => {
                next.sender_lines[me].inflight = Some(ticket);
                let is_single = self.senders == Senders::Single;
                let then = if is_single { self.begin_single(ticket) } else { SenderPc::Claim { ticket } };
                ("notes that it goes for ticket {}", ticket, then)
            }
            SenderPc::Claim { ticket } if self.slip == Slip::ClaimByTail => {
                let won = state.tail == ticket;
                if won {
                    next.tail = ticket + 1;
                    next.ledger[ticket as usize] = state.message(me);
                }
                let mark = SenderPc::Mark { ticket };
                ("tries to claim ticket {} by the tail", ticket, if won { mark } else { SenderPc::LoadTail })
            }
            SenderPc::Claim { ticket } => {
                let word = &mut next.words[slot(ticket)];
                let won = is_free_for(*word, ticket);
                if won {
                    *word = Word { ticket, kind: Kind::Claimed(me as u8) };
                    next.ledger[ticket as usize] = state.message(me);
                }
                let then = if won { SenderPc::MoveTail { ticket } } else { SenderPc::LoadTail };
                (if won { "claims ticket {}" } else { "fails to claim ticket {}" }, ticket, then)
            }
            SenderPc::Help { ticket } => {
                next.help_tail(ticket);
                ("helps the tail beyond {}", ticket, SenderPc::LoadTail)
            }
            SenderPc::MoveTail { ticket } => {
                next.help_tail(ticket);
                ("moves the tail beyond {}", ticket, self.begin_write(ticket))
            }
            _ => return,
        };
        next.senders[me].pc = then;
        steps.add(SENDERS[me], what, number, next.settle(self));
    }

    fn by_word(&self, word: Word, ticket: i8) -> SenderPc {
        if is_free_for(word, ticket) {
            if self.has_blocks { SenderPc::Intend { ticket } } else { SenderPc::Claim { ticket } }
        } else if word.ticket == ticket {
            SenderPc::Help { ticket }
        } else {
            SenderPc::LoadTail
        }
    }
}

/// The lap before is over in this slot.
fn is_free_for(word: Word, ticket: i8) -> bool {
    word.ticket == ticket - RING && matches!(word.kind, Kind::Published | Kind::Skipped)
}

impl State {
    pub(super) fn help_tail(&mut self, ticket: i8) {
        if self.tail == ticket {
            self.tail = ticket + 1;
        }
    }
}
