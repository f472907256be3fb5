//! The reader: poll the slot word of the next ticket, read, tell.

use super::state::{Ctl, Kind, ReaderPc, SenderPc, State, slot};
use super::{NO_WAY_ON, OVERRUN, Policy, READERS, RING, Ring, Role, SKIPPED, Setup, Slip, WRONG};
use crate::checker::Steps;

impl Setup {
    pub(super) fn receive(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        match state.readers[me].pc {
            ReaderPc::Gone | ReaderPc::Dead => {}
            ReaderPc::Poll => self.poll(state, me, role, steps),
            ReaderPc::Read => self.read(state, me, role, steps),
            ReaderPc::Look { got } => self.look(state, me, role, got, steps),
            ReaderPc::Overrun => self.overrun(state, me, steps),
            ReaderPc::AmIEvicted => self.am_i_evicted(state, me, role, steps),
            ReaderPc::Tell | ReaderPc::Leave => self.tell(state, me, role, steps),
            _ => self.join(state, me, role, steps),
        }
    }

    fn poll(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = state.readers[me].next;
        let word = state.words[slot(at)];
        let reader = &mut next.readers[me];
        let (what, result) = match word.kind {
            Kind::Published if word.ticket == at => {
                reader.pc = ReaderPc::Read;
                ("sees ticket {}", Ok(next))
            }
            Kind::Skipped if word.ticket == at => {
                let message = state.ledger[at as usize];
                let is_dead = message != 0 && state.senders[State::sender_of(message)].pc == SenderPc::Dead;
                pass(&mut next, me, role);
                ("passes over ticket {}", if is_dead { Ok(next) } else { Err(SKIPPED) })
            }
            _ if word.ticket > at && self.ring == Ring::Gated => ("finds the slot of ticket {} reused", Err(OVERRUN)),
            _ if word.ticket > at && role.policy == Policy::Deadline => {
                reader.pc = ReaderPc::AmIEvicted;
                ("finds the slot of ticket {} reused", Ok(next))
            }
            _ if word.ticket > at => {
                reader.pc = ReaderPc::Overrun;
                ("finds the slot of ticket {} reused", Ok(next))
            }
            // Nothing there. Only who was evicted has something to do meanwhile.
            _ if role.policy != Policy::Lossy && state.lines[role.line].ctl == Ctl::Lagged => {
                reader.pc = ReaderPc::AmIEvicted;
                ("finds ticket {} not there", Ok(next))
            }
            _ => return,
        };
        steps.judge(READERS[me], what, at, result.map(|next| next.settle(self)));
    }

    fn read(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = state.readers[me].next;
        let got = state.content[usize::from(state.block_of[slot(at)])];
        if self.ring == Ring::Overwrite && self.slip != Slip::CopyWithoutLook {
            next.readers[me].pc = ReaderPc::Look { got };
            return steps.add(READERS[me], "copies what lies in the slot of ticket {}", at, next);
        }
        pass(&mut next, me, role);
        let result = if got == state.ledger[at as usize] { Ok(next.settle(self)) } else { Err(WRONG) };
        steps.judge(READERS[me], "reads the message of ticket {}", at, result);
    }

    fn look(&self, state: &State, me: usize, role: Role, got: u8, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = state.readers[me].next;
        let word = state.words[slot(at)];
        if word.ticket != at || word.kind != Kind::Published {
            next.readers[me].pc = ReaderPc::Poll;
            return steps.add(READERS[me], "finds the slot of ticket {} changed", at, next);
        }
        pass(&mut next, me, role);
        let result = if got == state.ledger[at as usize] { Ok(next.settle(self)) } else { Err(WRONG) };
        steps.judge(READERS[me], "finds ticket {} still there", at, result);
    }

    /// A reader that nothing protects goes on at the oldest ticket that may still be there.
    fn overrun(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let reader = &mut next.readers[me];
        let oldest = if self.slip == Slip::OverrunOffByOne { state.tail - RING } else { state.tail - RING + 1 };
        let gets_on = oldest > reader.next;
        reader.next = oldest;
        reader.pc = ReaderPc::Poll;
        let result = if gets_on { Ok(next.settle(self)) } else { Err(NO_WAY_ON) };
        steps.judge(READERS[me], "goes on at ticket {}", oldest, result);
    }

    /// A reader that gates for some time only, and has found something strange: it joins again if it was evicted.
    fn am_i_evicted(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        let mut next = *state;
        let line = &mut next.lines[role.line];
        let result = if line.ctl == Ctl::Lagged {
            line.ctl = Ctl::Taken;
            line.generation += 1;
            next.readers[me].pc = ReaderPc::LoadTail;
            Ok(next.settle(self))
        } else {
            Err(OVERRUN)
        };
        steps.judge(READERS[me], "looks whether it was evicted", 0, result);
    }

    fn tell(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        let mut next = *state;
        let line = &mut next.lines[role.line];
        let reader = &mut next.readers[me];
        if reader.pc == ReaderPc::Leave {
            line.ctl = Ctl::Free;
            line.generation += 1;
            reader.pc = ReaderPc::Gone;
            reader.holds_line = false;
            return steps.add(READERS[me], "leaves", 0, next.settle(self));
        }
        line.cursor = reader.next;
        let leaves = role.leaves_after != 0 && reader.seen >= role.leaves_after;
        reader.pc = if leaves { ReaderPc::Leave } else { ReaderPc::Poll };
        steps.add(READERS[me], "moves its cursor to {}", reader.next, next.settle(self));
    }
}

/// The ticket is done with.
fn pass(next: &mut State, me: usize, role: Role) {
    let reader = &mut next.readers[me];
    reader.next += 1;
    if role.leaves_after != 0 {
        reader.seen += 1;
    }
    reader.pc = if role.policy == Policy::Lossy { ReaderPc::Poll } else { ReaderPc::Tell };
}
