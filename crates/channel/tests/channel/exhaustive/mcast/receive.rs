//! The reader: poll the slot word of the next ticket, read, tell.

use super::state::{Ctl, Kind, ReaderPc, SenderPc, State, Word, slot};
use super::{NO_WAY_ON, OVERRUN, Policy, READERS, RING, Ring, Role, SKIPPED, Setup, Slip, WRONG};
use crate::exhaustive::checker::Steps;

impl Setup {
    pub(super) fn receive(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        match state.readers[me].pc {
            ReaderPc::Gone | ReaderPc::Dead => {}
            ReaderPc::Poll => self.poll(state, me, role, steps),
            ReaderPc::Read => self.read(state, me, role, steps),
            ReaderPc::Copy { .. } | ReaderPc::Look { .. } => self.copy(state, me, role, steps),
            ReaderPc::Lease { .. } | ReaderPc::LookLeased { .. } | ReaderPc::ReadLeased { .. } | ReaderPc::EndLease => {
                self.lease(state, me, role, steps)
            }
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
            // Nothing there. Only an evicted reader has something to do meanwhile.
            _ if role.policy != Policy::Lossy && state.lines[role.line].ctl == Ctl::Lagged => {
                reader.pc = ReaderPc::AmIEvicted;
                ("finds ticket {} not there", Ok(next))
            }
            _ => return,
        };
        steps.judge(READERS[me], what, at, result.map(|next| next.settle(self)));
    }

    /// In a gated ring the message where it lies, in an overwriting one at first only where that is.
    fn read(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = state.readers[me].next;
        let block = state.block_of[slot(at)];
        if self.ring == Ring::Overwrite {
            next.readers[me].pc = if role.leases { ReaderPc::Lease { block } } else { ReaderPc::Copy { block } };
            return steps.add(READERS[me], "loads the block, {}", block as i8, next);
        }
        pass(&mut next, me, role);
        let result = self.is_expected(state, me, state.content[usize::from(block)]).map(|()| next.settle(self));
        steps.judge(READERS[me], "reads the message of ticket {}", at, result);
    }

    fn copy(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = state.readers[me].next;
        let got = match state.readers[me].pc {
            ReaderPc::Copy { block } => {
                let got = state.content[usize::from(block)];
                next.readers[me].pc = ReaderPc::Look { got };
                if self.slip != Slip::CopyWithoutLook {
                    return steps.add(READERS[me], "copies what lies in block {}", block as i8, next);
                }
                got
            }
            ReaderPc::Look { got } if state.still_holds(at) => got,
            _ => {
                next.readers[me].pc = ReaderPc::Poll;
                return steps.add(READERS[me], "finds the slot of ticket {} changed", at, next);
            }
        };
        pass(&mut next, me, role);
        let result = self.is_expected(state, me, got).map(|()| next.settle(self));
        steps.judge(READERS[me], "takes the copy for ticket {}", at, result);
    }

    fn lease(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = state.readers[me].next;
        let lease = &mut next.lines[role.line].lease;
        let (what, number, then) = match state.readers[me].pc {
            ReaderPc::Lease { block } => {
                *lease = Some(block);
                let looks = self.slip != Slip::LeaseWithoutLook;
                let then = if looks { ReaderPc::LookLeased { block } } else { ReaderPc::ReadLeased { block } };
                ("leases block {}", block as i8, then)
            }
            ReaderPc::LookLeased { block } if state.still_holds(at) => {
                ("finds ticket {} still there", at, ReaderPc::ReadLeased { block })
            }
            ReaderPc::LookLeased { .. } => {
                *lease = None;
                ("finds the slot of ticket {} changed", at, ReaderPc::Poll)
            }
            ReaderPc::ReadLeased { block } => {
                next.readers[me].pc = ReaderPc::EndLease;
                let result = self.is_expected(state, me, state.content[usize::from(block)]).map(|()| next);
                return steps.judge(READERS[me], "reads the message of ticket {}", at, result);
            }
            _ => {
                *lease = None;
                pass(&mut next, me, role);
                return steps.add(READERS[me], "ends its lease", at, next.settle(self));
            }
        };
        next.readers[me].pc = then;
        steps.add(READERS[me], what, number, next);
    }

    fn is_expected(&self, state: &State, me: usize, got: u8) -> Result<(), &'static str> {
        let expected = state.ledger[state.readers[me].next as usize];
        if got == expected { Ok(()) } else { Err(WRONG) }
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

impl State {
    fn still_holds(&self, ticket: i8) -> bool {
        self.words[slot(ticket)] == Word { ticket, kind: Kind::Published }
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
