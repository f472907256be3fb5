//! ZIMP's protocol as published: one lock for the next entry to send, one bitmap of readers for each entry.
//!
//! Senders advance `next_send` under a lock, and wait for the entry's bitmap to be empty, write and publish after
//! releasing it. Here are one reader and messages of two words, which must be read as they were written. The lock counts
//! as one step: nothing else happens under it.
//!
//! Source: P.-L. Aublin et al., ZIMP: Efficient Inter-core Communications on Manycore Machines, 2011.

use crate::exhaustive::checker::{Model, Steps, explore};

const ENTRIES: usize = 3;
const SENDERS: [&str; 2] = ["sender A", "sender B"];
const TORN: &str = "a message is torn";

struct Zimp {
    entries: i8,
    /// Messages of each sender.
    messages: [u8; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sender {
    Claim,
    AwaitEmpty(i8),
    WriteFirst(i8),
    WriteSecond(i8),
    Publish(i8),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Reader {
    Poll,
    ReadFirst,
    ReadSecond(u8),
    Clear,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    next_send: i8,
    /// The bitmap of each entry; one reader has one bit.
    unread: [bool; ENTRIES],
    words: [[u8; 2]; ENTRIES],
    senders: [Sender; 2],
    left: [u8; 2],
    reader: Reader,
    next_read: i8,
}

impl Zimp {
    fn send(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let message = 1 + me as u8 * 8 + state.left[me];
        let (what, entry, then) = match state.senders[me] {
            Sender::Claim if state.left[me] == 0 => return,
            Sender::Claim => {
                next.next_send = (state.next_send + 1) % self.entries;
                ("takes entry {} under the lock", state.next_send, Sender::AwaitEmpty(state.next_send))
            }
            Sender::AwaitEmpty(entry) if state.unread[entry as usize] => return,
            Sender::AwaitEmpty(entry) => ("sees the bitmap of entry {} empty", entry, Sender::WriteFirst(entry)),
            Sender::WriteFirst(entry) => {
                next.words[entry as usize][0] = message;
                ("writes the first word of entry {}", entry, Sender::WriteSecond(entry))
            }
            Sender::WriteSecond(entry) => {
                next.words[entry as usize][1] = message;
                ("writes the second word of entry {}", entry, Sender::Publish(entry))
            }
            Sender::Publish(entry) => {
                next.unread[entry as usize] = true;
                next.left[me] -= 1;
                ("fills the bitmap of entry {}", entry, Sender::Claim)
            }
        };
        next.senders[me] = then;
        steps.add(SENDERS[me], what, entry, next);
    }

    fn receive(&self, state: &State, steps: &mut Steps<State>) {
        let mut next = *state;
        let entry = state.next_read as usize;
        match state.reader {
            Reader::Poll if !state.unread[entry] => {}
            Reader::Poll => {
                next.reader = Reader::ReadFirst;
                steps.add("reader", "sees its bit in entry {}", state.next_read, next);
            }
            Reader::ReadFirst => {
                next.reader = Reader::ReadSecond(state.words[entry][0]);
                steps.add("reader", "reads the first word of entry {}", state.next_read, next);
            }
            Reader::ReadSecond(first) => {
                next.reader = Reader::Clear;
                let next = if state.words[entry][1] == first { Ok(next) } else { Err(TORN) };
                steps.judge("reader", "reads the second word of entry {}", state.next_read, next);
            }
            Reader::Clear => {
                next.unread[entry] = false;
                next.next_read = (state.next_read + 1) % self.entries;
                next.reader = Reader::Poll;
                steps.add("reader", "clears its bit in entry {}", state.next_read, next);
            }
        }
    }
}

impl Model for Zimp {
    type State = State;

    fn start(&self) -> State {
        State {
            next_send: 0,
            unread: [false; ENTRIES],
            words: [[0; 2]; ENTRIES],
            senders: [Sender::Claim; 2],
            left: self.messages,
            reader: Reader::Poll,
            next_read: 0,
        }
    }

    fn steps(&self, state: &State, steps: &mut Steps<State>) {
        self.send(state, 0, steps);
        self.send(state, 1, steps);
        self.receive(state, steps);
    }

    fn is_done(&self, state: &State) -> bool {
        state.left == [0; 2] && state.unread == [false; ENTRIES] && state.reader == Reader::Poll
    }
}

#[test]
fn two_senders_tear_a_message_in_a_ring_of_two() {
    assert_eq!(explore(&Zimp { entries: 2, messages: [2, 2] }).breaks("zimp, ring 2, two senders", TORN), 16);
}

#[test]
fn two_senders_tear_a_message_in_a_ring_of_three() {
    assert_eq!(explore(&Zimp { entries: 3, messages: [3, 3] }).breaks("zimp, ring 3, two senders", TORN), 21);
}

#[test]
fn a_single_sender_is_right() {
    explore(&Zimp { entries: 2, messages: [5, 0] }).holds("zimp, ring 2, one sender");
    explore(&Zimp { entries: 3, messages: [7, 0] }).holds("zimp, ring 3, one sender");
}
