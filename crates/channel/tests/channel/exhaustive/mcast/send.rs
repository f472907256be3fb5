//! The sender: room, claim or mark, write, publish.

use super::state::{Kind, SenderPc, State, Word, half, slot};
use super::{RING, Ring, SENDERS, Senders, Setup, Slip};
use crate::exhaustive::checker::Steps;

impl Setup {
    pub(super) fn send(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        match state.senders[me].pc {
            SenderPc::Done | SenderPc::Dead => {}
            SenderPc::AwaitDeath => self.succeed(state, me, steps),
            SenderPc::LookForLease | SenderPc::Fill | SenderPc::LoadTail => self.begin(state, me, steps),
            SenderPc::ScanCtl { .. } | SenderPc::ScanCursor { .. } | SenderPc::CheckTail { .. } => {
                self.scan(state, me, steps);
            }
            SenderPc::Evict { .. } => self.evict(state, me, steps),
            SenderPc::LoadWord { .. }
            | SenderPc::Intend { .. }
            | SenderPc::Claim { .. }
            | SenderPc::Help { .. }
            | SenderPc::MoveTail { .. } => self.claim(state, me, steps),
            _ => self.write(state, me, steps),
        }
    }

    fn begin(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let block = state.sender_lines[me].block;
        if state.senders[me].pc == SenderPc::LookForLease {
            if !state.lines.iter().any(|line| line.lease == Some(block)) {
                next.senders[me].pc = SenderPc::Fill;
                steps.add(SENDERS[me], "sees that nobody leases block {}", block as i8, next);
            }
            return;
        }
        if state.senders[me].pc == SenderPc::Fill {
            next.content[usize::from(block)] = state.message(me);
            next.senders[me].pc = SenderPc::LoadTail;
            return steps.add(SENDERS[me], "fills its block {}", block as i8, next);
        }
        next.senders[me].pc = self.before_room(state, me, state.tail);
        steps.add(SENDERS[me], "loads the tail, {}", state.tail, next);
    }

    /// The next state once there is room for a ticket.
    pub(super) fn after_room(&self, ticket: i8) -> SenderPc {
        match (self.senders, self.ring) {
            (Senders::Multi, _) if self.slip == Slip::ClaimByTail => SenderPc::Claim { ticket },
            (Senders::Multi, _) => SenderPc::LoadWord { ticket },
            (Senders::Single, _) if self.has_blocks => SenderPc::Intend { ticket },
            (Senders::Single, _) => self.begin_single(ticket),
        }
    }

    /// The next state of a single sender once it has marked its ticket.
    pub(super) fn begin_single(&self, ticket: i8) -> SenderPc {
        let marks = self.ring == Ring::Overwrite && self.slip != Slip::WriteWithoutMark;
        if marks { SenderPc::Mark { ticket } } else { self.begin_write(ticket) }
    }

    /// The first step on the slot, which is this sender's alone now.
    pub(super) fn begin_write(&self, ticket: i8) -> SenderPc {
        if self.has_blocks { SenderPc::Incoming { ticket } } else { SenderPc::WriteHalf { ticket } }
    }

    /// A single sender takes over when the one before is dead and reaped.
    fn succeed(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        if state.senders[0].pc == SenderPc::Dead && !state.has_unreaped() {
            let mut next = *state;
            next.senders[me].pc = self.first_step();
            // It knows no cursor, so it has to scan.
            let knows_none = self.slip != Slip::TakeOverWithoutScan;
            next.senders[me].min_seen = if knows_none { state.tail - RING } else { state.tail };
            steps.add(SENDERS[me], "takes over at the tail, {}", state.tail, next);
        }
    }

    fn write(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let message = state.message(me);
        let line = &mut next.sender_lines[me];
        let (what, number, then) = match state.senders[me].pc {
            SenderPc::Mark { ticket } => {
                next.words[slot(ticket)] = Word { ticket, kind: Kind::Claimed(me as u8) };
                next.ledger[ticket as usize] = message;
                ("marks the slot of ticket {}", ticket, self.begin_write(ticket))
            }
            SenderPc::WriteHalf { ticket } => {
                next.content[usize::from(state.block_of[slot(ticket)])] = half(message);
                next.ledger[ticket as usize] = message;
                ("writes half of message {}", ticket, SenderPc::WriteWhole { ticket })
            }
            SenderPc::WriteWhole { ticket } => {
                next.content[usize::from(state.block_of[slot(ticket)])] = message;
                ("writes the rest of message {}", ticket, SenderPc::Publish { ticket })
            }
            SenderPc::Incoming { ticket } => {
                line.incoming = (state.block_of[slot(ticket)], ticket);
                ("notes the block it gets for ticket {}", ticket, SenderPc::Exchange { ticket })
            }
            SenderPc::Exchange { ticket } => {
                next.block_of[slot(ticket)] = line.block;
                next.ledger[ticket as usize] = message;
                ("puts its block into the slot of ticket {}", ticket, SenderPc::Publish { ticket })
            }
            SenderPc::Publish { ticket } => {
                next.words[slot(ticket)] = Word { ticket, kind: Kind::Published };
                ("publishes ticket {}", ticket, self.after_publish(&mut next, me, ticket))
            }
            SenderPc::StoreTail { ticket } => {
                next.tail = ticket + 1;
                ("stores the tail, {}", ticket + 1, self.after_ticket(&mut next, me))
            }
            SenderPc::TakeOld => {
                line.block = line.incoming.0;
                ("takes block {}", line.block as i8, SenderPc::Forget)
            }
            SenderPc::Forget => {
                line.inflight = None;
                ("forgets the exchange", 0, self.finish(&mut next, me))
            }
            _ => return,
        };
        next.senders[me].pc = then;
        steps.add(SENDERS[me], what, number, next.settle(self));
    }

    fn after_publish(&self, next: &mut State, me: usize, ticket: i8) -> SenderPc {
        match self.senders {
            Senders::Single => SenderPc::StoreTail { ticket },
            Senders::Multi => self.after_ticket(next, me),
        }
    }

    /// The ticket is done; a block has to be taken yet.
    fn after_ticket(&self, next: &mut State, me: usize) -> SenderPc {
        if self.has_blocks { SenderPc::TakeOld } else { self.finish(next, me) }
    }

    /// One message less to send.
    fn finish(&self, next: &mut State, me: usize) -> SenderPc {
        next.senders[me].left -= 1;
        match next.senders[me].left {
            0 => SenderPc::Done,
            _ => self.first_step(),
        }
    }

    /// Where a sender begins with a message.
    pub(super) fn first_step(&self) -> SenderPc {
        match self.ring {
            _ if !self.has_blocks => SenderPc::LoadTail,
            Ring::Overwrite if self.slip != Slip::FillLeased => SenderPc::LookForLease,
            _ => SenderPc::Fill,
        }
    }
}
