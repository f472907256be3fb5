//! `ump` with acknowledgements in a line of their own: a ring of four slots, messages of one and two slots, either end dies.
//!
//! The second slot of a message has no header; where one is looked for a lap later lie bytes of the payload, here the very
//! worst: the header of the message that the receiver will wait for. An end that sees the other end dead looks once more.

use crate::exhaustive::checker::{Model, STUCK, Steps, explore};

const SLOTS: u8 = 4;
/// Messages, by their slots. The seventh does not fit before the end of the ring.
const SIZES: [u8; 8] = [2, 1, 1, 1, 1, 1, 2, 1];
/// The receiver acknowledges every second slot.
const ACK_EVERY: u8 = 2;

const WRONG: &str = "the receiver gets something else than the next message";
const LOST: &str = "the receiver gives up before it has all that was sent";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slip {
    None,
    /// The receiver does not acknowledge when it is idle.
    LazyAck,
    /// The header behind a message is left as it is.
    NoClear,
    /// Slots are freed before they are read.
    AckBeforeRead,
    /// The receiver does not look again once it has seen the sender gone.
    NoLastLook,
    /// No room is left for the header behind the message.
    NoRoomForClear,
}

struct AckLine {
    may_die: bool,
    slip: Slip,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Header {
    Nothing,
    Message { slot: u8, slots: u8 },
    Padding { slot: u8, slots: u8 },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sender {
    Room,
    LoadAck,
    LookForReceiver,
    Write { part: u8 },
    ClearNext,
    MessageHeader,
    PaddingHeader,
    Close,
    Done,
    Dead,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Receiver {
    Poll,
    SkipPadding,
    Read { part: u8, slots: u8 },
    AckFirst { slots: u8 },
    Ack,
    LookForSender,
    LastLook,
    Done,
    Dead,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    headers: [Header; SLOTS as usize],
    payload: [u8; SLOTS as usize],
    ack: u8,
    sender: Sender,
    head: u8,
    ack_seen: u8,
    sent: u8,
    receiver: Receiver,
    next: u8,
    acked: u8,
    received: u8,
}

fn slot(number: u8) -> usize {
    usize::from(number % SLOTS)
}

impl State {
    /// Slots of the message that is sent, and of the padding before it.
    fn need(&self) -> (u8, u8) {
        let slots = SIZES[usize::from(self.sent)];
        let left = SLOTS - self.head % SLOTS;
        (slots, if left < slots { left } else { 0 })
    }

    fn sender_is_gone(&self) -> bool {
        matches!(self.sender, Sender::Done | Sender::Dead)
    }

    /// Moves on to the next message, or to the end.
    fn publish(&mut self) {
        let (slots, padding) = self.need();
        self.head += padding + slots;
        self.sent += 1;
        self.sender = if usize::from(self.sent) == SIZES.len() { Sender::Close } else { Sender::Room };
    }
}

impl AckLine {
    fn send(&self, state: &State, steps: &mut Steps<State>) {
        let mut next = *state;
        if matches!(state.sender, Sender::Done | Sender::Dead) {
            return;
        }
        if state.sender == Sender::Close {
            next.sender = Sender::Done;
            return steps.add("sender", "closes", 0, next);
        }
        let (slots, padding) = state.need();
        let start = state.head + padding;
        let behind = start + slots;
        let spare = u8::from(self.slip != Slip::NoRoomForClear);
        let has_room = |ack: u8| behind + spare - ack <= SLOTS;
        let (what, number, then) = match state.sender {
            Sender::Room if has_room(state.ack_seen) => {
                ("has room for message {}", state.sent, Sender::Write { part: 0 })
            }
            Sender::Room => ("lacks room for message {}", state.sent, Sender::LoadAck),
            Sender::LoadAck => {
                next.ack_seen = state.ack;
                let then = if has_room(state.ack) { Sender::Write { part: 0 } } else { Sender::LookForReceiver };
                ("loads the acknowledgement, {}", state.ack, then)
            }
            Sender::LookForReceiver if state.receiver == Receiver::Dead => {
                ("finds the receiver dead", 0, Sender::Close)
            }
            Sender::LookForReceiver => ("finds the receiver alive", 0, Sender::LoadAck),
            Sender::Write { part } => {
                let at = start + part;
                next.payload[slot(at)] = state.sent;
                if part > 0 {
                    next.headers[slot(at)] = Header::Message { slot: at + SLOTS, slots: 1 };
                }
                let clear = if self.slip == Slip::NoClear { Sender::MessageHeader } else { Sender::ClearNext };
                ("writes slot {}", at, if part + 1 < slots { Sender::Write { part: part + 1 } } else { clear })
            }
            Sender::ClearNext => {
                next.headers[slot(behind)] = Header::Nothing;
                ("clears the header of slot {}", behind, Sender::MessageHeader)
            }
            Sender::MessageHeader => {
                next.headers[slot(start)] = Header::Message { slot: start, slots };
                next.sender = Sender::PaddingHeader;
                if padding == 0 {
                    next.publish();
                }
                ("stores the header of slot {}", start, next.sender)
            }
            Sender::PaddingHeader => {
                next.headers[slot(state.head)] = Header::Padding { slot: state.head, slots: padding };
                next.publish();
                ("stores the padding's header in slot {}", state.head, next.sender)
            }
            Sender::Close | Sender::Done | Sender::Dead => return,
        };
        next.sender = then;
        steps.add("sender", what, number as i8, next);
    }

    fn receive(&self, state: &State, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = state.next;
        let (what, number, then) = match state.receiver {
            Receiver::Poll => return self.poll(state, Receiver::Poll, steps),
            Receiver::LastLook => return self.poll(state, Receiver::LastLook, steps),
            Receiver::Read { part, slots } => return self.read(state, part, slots, steps),
            Receiver::SkipPadding => {
                let Header::Message { slot: of, slots } = state.headers[slot(at)] else {
                    return steps.judge("receiver", "finds nothing behind the padding", 0, Err(WRONG));
                };
                if of != at {
                    return steps.judge("receiver", "finds nothing behind the padding", 0, Err(WRONG));
                }
                ("sees the message in slot {}", at, Receiver::Read { part: 0, slots })
            }
            Receiver::AckFirst { slots } => {
                next.ack = at + slots;
                next.acked = at + slots;
                ("acknowledges {} slots", at + slots, Receiver::Read { part: 0, slots })
            }
            Receiver::Ack => {
                next.ack = at;
                next.acked = at;
                ("acknowledges {} slots", at, Receiver::Poll)
            }
            Receiver::LookForSender if !state.sender_is_gone() => ("finds the sender there", 0, Receiver::Poll),
            Receiver::LookForSender => {
                next.receiver = if self.slip == Slip::NoLastLook { Receiver::Done } else { Receiver::LastLook };
                return steps.judge("receiver", "finds the sender gone", 0, is_complete(next));
            }
            Receiver::Done | Receiver::Dead => return,
        };
        next.receiver = then;
        steps.add("receiver", what, number as i8, next);
    }

    fn poll(&self, state: &State, from: Receiver, steps: &mut Steps<State>) {
        let mut next = *state;
        match state.headers[slot(state.next)] {
            Header::Message { slot: of, slots } if of == state.next => {
                let early = self.slip == Slip::AckBeforeRead;
                next.receiver = if early { Receiver::AckFirst { slots } } else { Receiver::Read { part: 0, slots } };
                steps.add("receiver", "sees a message in slot {}", of as i8, next);
            }
            Header::Padding { slot: of, slots } if of == state.next => {
                next.next += slots;
                next.receiver = Receiver::SkipPadding;
                steps.add("receiver", "sees padding in slot {}", of as i8, next);
            }
            _ if from == Receiver::LastLook => {
                next.receiver = Receiver::Done;
                steps.judge("receiver", "finds nothing more", 0, is_complete(next));
            }
            _ if state.acked != state.next && self.slip != Slip::LazyAck => {
                next.receiver = Receiver::Ack;
                steps.add("receiver", "finds nothing in slot {}", state.next as i8, next);
            }
            _ => {
                next.receiver = Receiver::LookForSender;
                steps.add("receiver", "finds nothing in slot {}", state.next as i8, next);
            }
        }
    }

    fn read(&self, state: &State, part: u8, slots: u8, steps: &mut Steps<State>) {
        let mut next = *state;
        let at = state.next + part;
        let is_last = part + 1 == slots;
        next.receiver = Receiver::Read { part: part + 1, slots };
        if is_last {
            next.next += slots;
            next.received += 1;
            let is_due = next.next - next.acked >= ACK_EVERY;
            next.receiver = if is_due { Receiver::Ack } else { Receiver::Poll };
        }
        let is_right = state.payload[slot(at)] == state.received && slots == SIZES[usize::from(state.received)];
        steps.judge("receiver", "reads slot {}", at as i8, if is_right { Ok(next) } else { Err(WRONG) });
    }
}

/// An end that goes has everything that was published.
fn is_complete(state: State) -> Result<State, &'static str> {
    if state.receiver == Receiver::Done && state.received < state.sent { Err(LOST) } else { Ok(state) }
}

impl Model for AckLine {
    type State = State;

    fn start(&self) -> State {
        State {
            headers: [Header::Nothing; SLOTS as usize],
            payload: [u8::MAX; SLOTS as usize],
            ack: 0,
            sender: Sender::Room,
            head: 0,
            ack_seen: 0,
            sent: 0,
            receiver: Receiver::Poll,
            next: 0,
            acked: 0,
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
        state.sender_is_gone() && matches!(state.receiver, Receiver::Done | Receiver::Dead)
    }
}

fn slip(slip: Slip) -> AckLine {
    AckLine { may_die: false, slip }
}

#[test]
fn every_message_arrives_once_and_in_order() {
    explore(&slip(Slip::None)).holds("ump, acknowledgements");
}

#[test]
fn either_end_may_die_at_any_step() {
    explore(&AckLine { may_die: true, slip: Slip::None }).holds("ump, acknowledgements, either end dies");
}

#[test]
fn lazy_acknowledgements_alone_deadlock() {
    explore(&slip(Slip::LazyAck)).breaks("ump, lazy acknowledgements alone", STUCK);
}

#[test]
fn payload_passes_for_a_header_that_is_not_cleared() {
    explore(&slip(Slip::NoClear)).breaks("ump, the header behind is not cleared", WRONG);
}

#[test]
fn clearing_a_header_without_room_for_it_loses_a_message() {
    explore(&slip(Slip::NoRoomForClear)).breaks("ump, no room for the header behind", LOST);
}

#[test]
fn acknowledging_before_reading_tears_a_message() {
    explore(&slip(Slip::AckBeforeRead)).breaks("ump, acknowledged before it is read", WRONG);
}

#[test]
fn giving_up_without_a_last_look_loses_a_message() {
    explore(&slip(Slip::NoLastLook)).breaks("ump, no last look", LOST);
    let dying = AckLine { may_die: true, slip: Slip::NoLastLook };
    explore(&dying).breaks("ump, no last look, the sender dies", LOST);
}
