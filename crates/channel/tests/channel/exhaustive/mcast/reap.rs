//! Deaths, and who cleans up after them.

use super::state::{Ctl, Kind, ReaderPc, Reaper, Sender, SenderPc, State, slot};
use super::{Crash, READERS, SENDERS, Senders, Setup, Slip};
use crate::exhaustive::checker::Steps;

impl Setup {
    /// The deaths that may happen now.
    pub(super) fn die(&self, state: &State, steps: &mut Steps<State>) {
        let mut next = *state;
        if self.reaper_may_die && state.reaper_deaths == 0 && state.reaper != Reaper::Idle {
            next.reaper_deaths = 1;
            next.reaper = Reaper::Idle;
            steps.fault("reaper", "dies", next);
        }
        if state.deaths > 0 {
            return;
        }
        for me in 0..2 {
            let mut next = *state;
            next.deaths = 1;
            let sender = state.senders[me].pc;
            if self.crash == Crash::Sender && !matches!(sender, SenderPc::Done | SenderPc::AwaitDeath) {
                next.senders[me] = Sender { pc: SenderPc::Dead, left: 0, min_seen: 0 };
                steps.fault(SENDERS[me], "dies", next.settle(self));
            }
            let reader = state.readers[me].pc;
            if self.crash == Crash::Reader && self.readers[me].is_some() && reader != ReaderPc::Gone {
                next.readers[me].pc = ReaderPc::Dead;
                next.readers[me].next = 0;
                steps.fault(READERS[me], "dies", next.settle(self));
            }
        }
    }

    pub(super) fn reap(&self, state: &State, steps: &mut Steps<State>) {
        if state.reaper == Reaper::Finished {
            return;
        }
        if let Some(dead) = state.senders.iter().position(|sender| sender.pc == SenderPc::Dead) {
            self.reap_sender(state, dead, steps);
        } else if let Some(dead) = state.readers.iter().position(|reader| reader.pc == ReaderPc::Dead) {
            self.reap_reader(state, dead, steps);
        }
    }

    fn reap_sender(&self, state: &State, dead: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let line = &mut next.sender_lines[dead];
        let (what, number, then) = match state.reaper {
            Reaper::Idle => ("begins", 0, self.first_duty()),
            Reaper::Inflight => match line.inflight {
                Some(ticket) => ("sees that ticket {} was in flight", ticket, Reaper::Incoming { ticket }),
                None => ("sees nothing in flight", 0, self.after_block()),
            },
            Reaper::Incoming { ticket } if line.incoming.1 == ticket => {
                let old = line.incoming.0;
                ("sees that it was to get block {}", old as i8, Reaper::SlotBlock { ticket, old })
            }
            Reaper::Incoming { .. } => ("sees that it got no block yet", 0, self.after_settling()),
            Reaper::SlotBlock { ticket, old } if state.block_of[slot(ticket)] != old => {
                ("sees that the slot has its block", 0, Reaper::GiveBack { old })
            }
            Reaper::SlotBlock { .. } => ("sees that the slot still has the old block", 0, self.after_settling()),
            Reaper::GiveBack { old } => {
                line.block = old;
                ("gives it block {}", old as i8, self.after_settling())
            }
            Reaper::Forget => {
                line.inflight = None;
                ("forgets what was in flight", 0, self.after_block())
            }
            _ => return self.reap_claim(state, dead, steps),
        };
        next.reaper = then;
        steps.add("reaper", what, number, next.settle(self));
    }

    fn reap_claim(&self, state: &State, dead: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let (what, number, then) = match state.reaper {
            Reaper::FindSlot if self.senders == Senders::Single => {
                let word = state.words[slot(state.tail)];
                if word.ticket == state.tail && word.kind == Kind::Published && self.slip != Slip::KeepTail {
                    next.tail += 1;
                }
                ("leaves the tail at {}", next.tail, self.after_skip())
            }
            Reaper::FindSlot => {
                let claimed = Kind::Claimed(dead as u8);
                match state.words.iter().find(|word| word.kind == claimed).map(|word| word.ticket) {
                    Some(ticket) if self.slip == Slip::SkipWithoutTail => {
                        ("finds its claim of {}", ticket, Reaper::Skip { ticket })
                    }
                    Some(ticket) => ("finds its claim of {}", ticket, Reaper::HelpTail { ticket }),
                    None => ("finds no claim", 0, self.after_skip()),
                }
            }
            Reaper::HelpTail { ticket } => {
                next.help_tail(ticket);
                ("helps the tail beyond {}", ticket, Reaper::Skip { ticket })
            }
            Reaper::Skip { ticket } => {
                next.words[slot(ticket)].kind = Kind::Skipped;
                ("lets ticket {} be skipped", ticket, self.after_skip())
            }
            _ => return,
        };
        next.reaper = then;
        steps.add("reaper", what, number, next.settle(self));
    }

    fn reap_reader(&self, state: &State, dead: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        next.reaper = Reaper::Finished;
        let role = self.readers[dead].expect("only readers that exist die");
        if state.readers[dead].holds_line && self.slip != Slip::KeepDeadReader {
            let line = &mut next.lines[role.line];
            line.ctl = Ctl::Free;
            line.generation += 1;
            line.lease = None;
        }
        steps.add("reaper", "frees the dead reader's line", 0, next.settle(self));
    }

    fn first_duty(&self) -> Reaper {
        match self.slip {
            _ if !self.has_blocks => Reaper::FindSlot,
            Slip::SkipBeforeBlock => Reaper::FindSlot,
            _ => Reaper::Inflight,
        }
    }

    fn after_settling(&self) -> Reaper {
        if self.slip == Slip::ForgetAfterSkip { Reaper::FindSlot } else { Reaper::Forget }
    }

    fn after_block(&self) -> Reaper {
        match self.slip {
            Slip::SkipBeforeBlock | Slip::ForgetAfterSkip => Reaper::Finished,
            _ => Reaper::FindSlot,
        }
    }

    fn after_skip(&self) -> Reaper {
        match self.slip {
            _ if !self.has_blocks => Reaper::Finished,
            Slip::SkipBeforeBlock => Reaper::Inflight,
            Slip::ForgetAfterSkip => Reaper::Forget,
            _ => Reaper::Finished,
        }
    }
}
