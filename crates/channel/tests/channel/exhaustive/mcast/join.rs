//! A reader comes in while senders send.

use super::state::{Ctl, ReaderPc, State};
use super::{READERS, Role, Setup, Slip};
use crate::exhaustive::checker::Steps;

impl Setup {
    pub(super) fn join(&self, state: &State, me: usize, role: Role, steps: &mut Steps<State>) {
        let mut next = *state;
        let line = &mut next.lines[role.line];
        let reader = &mut next.readers[me];
        let (what, number, then) = match reader.pc {
            ReaderPc::Take if line.ctl != Ctl::Free => return,
            ReaderPc::Take => {
                line.ctl = Ctl::Taken;
                reader.holds_line = true;
                ("takes line {}", role.line as i8, ReaderPc::LoadTail)
            }
            ReaderPc::LoadTail => ("loads the tail, {}", state.tail, ReaderPc::StoreFirst { tail: state.tail }),
            ReaderPc::StoreFirst { tail } => {
                line.cursor = tail;
                ("puts its cursor at {}", tail, ReaderPc::Announce { tail })
            }
            ReaderPc::Announce { tail } => {
                line.ctl = Ctl::Joining;
                let is_first = self.slip == Slip::JoinAtFirstTail;
                reader.next = tail;
                (
                    "says that it is joining",
                    0,
                    if is_first { ReaderPc::Activate { tail } } else { ReaderPc::LoadTailAgain },
                )
            }
            ReaderPc::LoadTailAgain => {
                reader.next = state.tail;
                ("loads the tail again, {}", state.tail, ReaderPc::StoreSecond { tail: state.tail })
            }
            ReaderPc::StoreSecond { tail } => {
                line.cursor = tail;
                ("puts its cursor at {}", tail, ReaderPc::Activate { tail })
            }
            ReaderPc::Activate { tail } => {
                line.ctl = Ctl::Active;
                reader.next = tail;
                ("is active from ticket {} on", tail, ReaderPc::Poll)
            }
            _ => return,
        };
        reader.pc = then;
        steps.add(READERS[me], what, number, next.settle(self));
    }
}
