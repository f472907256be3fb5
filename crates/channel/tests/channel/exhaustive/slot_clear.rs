//! `ump` with the slot itself as credit: the receiver clears a header when it has read the message, the sender tests it.

use crate::exhaustive::checker::{Model, Steps, explore};

const SLOTS: u8 = 4;
const MESSAGES: u8 = 7;

const WRONG: &str = "the receiver gets something else than the next message";
const LOST: &str = "the receiver gives up before it has all that was sent";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    None,
    /// The header is cleared before the message is read.
    ClearBeforeRead,
    /// The sender does not test the header.
    NoTest,
}

struct SlotClear {
    may_die: bool,
    slip: Slip,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sender {
    Test,
    LookForReceiver,
    Write,
    Publish,
    Close,
    Done,
    Dead,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Receiver {
    Poll,
    Read,
    Clear,
    LookForSender,
    LastLook,
    Done,
    Dead,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    is_full: [bool; SLOTS as usize],
    payload: [u8; SLOTS as usize],
    sender: Sender,
    sent: u8,
    receiver: Receiver,
    received: u8,
}

fn slot(number: u8) -> usize {
    usize::from(number % SLOTS)
}

impl SlotClear {
    fn send(&self, state: &State, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = slot(state.sent);
        let (what, then) = match state.sender {
            Sender::Test if self.slip == Slip::NoTest || !state.is_full[at] => {
                ("finds a slot for message {}", Sender::Write)
            }
            Sender::Test => ("finds no slot for message {}", Sender::LookForReceiver),
            Sender::LookForReceiver if state.receiver == Receiver::Dead => ("finds the receiver dead", Sender::Close),
            Sender::LookForReceiver => ("finds the receiver alive", Sender::Test),
            Sender::Write => {
                next.payload[at] = state.sent;
                ("writes message {}", Sender::Publish)
            }
            Sender::Publish => {
                next.is_full[at] = true;
                next.sent += 1;
                ("publishes message {}", if next.sent == MESSAGES { Sender::Close } else { Sender::Test })
            }
            Sender::Close => ("closes", Sender::Done),
            Sender::Done | Sender::Dead => return,
        };
        next.sender = then;
        steps.add("sender", what, state.sent as i8, next);
    }

    fn receive(&self, state: &State, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = slot(state.received);
        let clears_first = self.slip == Slip::ClearBeforeRead;
        let mut is_right = Ok(());
        let (what, then) = match state.receiver {
            Receiver::Poll | Receiver::LastLook if state.is_full[at] => {
                ("sees message {}", if clears_first { Receiver::Clear } else { Receiver::Read })
            }
            Receiver::Poll => ("finds no message {}", Receiver::LookForSender),
            Receiver::LastLook => {
                is_right = if state.received < state.sent { Err(LOST) } else { Ok(()) };
                ("finds nothing more", Receiver::Done)
            }
            Receiver::Read => {
                is_right = if state.payload[at] == state.received { Ok(()) } else { Err(WRONG) };
                next.received += u8::from(clears_first);
                ("reads message {}", if clears_first { Receiver::Poll } else { Receiver::Clear })
            }
            Receiver::Clear => {
                next.is_full[at] = false;
                next.received += u8::from(!clears_first);
                ("clears the slot of message {}", if clears_first { Receiver::Read } else { Receiver::Poll })
            }
            Receiver::LookForSender if matches!(state.sender, Sender::Done | Sender::Dead) => {
                ("finds the sender gone", Receiver::LastLook)
            }
            Receiver::LookForSender => ("finds the sender there", Receiver::Poll),
            Receiver::Done | Receiver::Dead => return,
        };
        next.receiver = then;
        steps.judge("receiver", what, state.received as i8, is_right.map(|()| next));
    }
}

impl Model for SlotClear {
    type State = State;

    fn start(&self) -> State {
        State {
            is_full: [false; SLOTS as usize],
            payload: [u8::MAX; SLOTS as usize],
            sender: Sender::Test,
            sent: 0,
            receiver: Receiver::Poll,
            received: 0,
        }
    }

    fn steps(&self, state: &State, steps: &mut Steps<State>) {
        self.send(state, steps);
        self.receive(state, steps);
        let somebody_died = state.sender == Sender::Dead || state.receiver == Receiver::Dead;
        if self.may_die && !somebody_died {
            if state.sender != Sender::Done {
                steps.fault("sender", "dies", State { sender: Sender::Dead, ..*state });
            }
            if state.receiver != Receiver::Done {
                steps.fault("receiver", "dies", State { receiver: Receiver::Dead, ..*state });
            }
        }
    }

    fn is_done(&self, state: &State) -> bool {
        matches!(state.sender, Sender::Done | Sender::Dead) && matches!(state.receiver, Receiver::Done | Receiver::Dead)
    }
}

#[test]
fn every_message_arrives_once_and_in_order() {
    explore(&SlotClear { may_die: false, slip: Slip::None }).holds("ump, cleared slots");
}

#[test]
fn either_end_may_die_at_any_step() {
    explore(&SlotClear { may_die: true, slip: Slip::None }).holds("ump, cleared slots, either end dies");
}

#[test]
fn a_slot_that_is_cleared_before_it_is_read_is_written_too_early() {
    let model = SlotClear { may_die: false, slip: Slip::ClearBeforeRead };
    explore(&model).breaks("ump, cleared before it is read", WRONG);
}

#[test]
fn a_sender_that_does_not_test_the_slot_overwrites_a_message() {
    let model = SlotClear { may_die: false, slip: Slip::NoTest };
    explore(&model).breaks("ump, the slot is not tested", WRONG);
}
