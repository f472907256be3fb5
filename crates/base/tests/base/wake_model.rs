//! The wake word's protocol on a machine that keeps stores back, walked through state by state.
//!
//! Loom cannot express a fence that one thread makes the others execute (`membarrier`), so there both sides fence. Here each
//! thread has a store buffer of its own, as on x86, which a fence of its own empties, and a sleeper's heavy fence those of
//! all. The model has the steps of `wait/wake_word.rs`: publications of two publishers, two sleepers of which each waits for
//! its own, and the return of the publishers to the light fence, here after the first publication that finds no sleeper. A
//! sleeper that nobody wakes although its message is there is a deadlock, which the search finds.

use std::collections::HashSet;

const HERE: u8 = 1;
const ASKED: u8 = 2;
const FENCED: u8 = 4;
const EPOCH: u8 = 8;
const FLAGS: u8 = EPOCH - 1;

/// How the protocol is broken on purpose, so that the model is seen to notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// A publisher that is asked for a real fence looks at once.
    NoFenceWhenAsked,
    /// A sleeper promises before its heavy fence.
    PromisesEarly,
    /// A sleeper promises in an epoch that is not the one in which it asked.
    IgnoresEpoch,
    /// A sleeper trusts the question of another, and not the promise.
    TrustsQuestion,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Publisher {
    /// The message of this number goes into the store buffer.
    Store(u8),
    Look(u8),
    /// It saw a flag, and executes a real fence.
    Fence(u8),
    LookAgain(u8),
    /// It goes back to the light fence if the word still is what it saw.
    Retire(u8, u8),
    /// It advances the count and wakes.
    Wake(u8),
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Sleeper {
    ReadCount,
    Arm,
    /// It has armed, and executes the heavy fence; with the epoch that it saw.
    Heavy(u8),
    Promise(u8),
    LastLook,
    Asleep,
    Done,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    armed: u8,
    count: u8,
    /// The messages that arrived in memory: a bit for each.
    published: u8,
    /// Still in the store buffers of the publishers.
    buffered: [u8; 2],
    publishers: [Publisher; 2],
    sleepers: [Sleeper; 2],
    seen: [u8; 2],
}

/// How many messages each publisher sends; the sleepers wait for the last one of publisher 0 and of publisher 1.
const MESSAGES: u8 = 3;

fn bit(publisher: usize, message: u8) -> u8 {
    1 << (publisher as u8 * MESSAGES + message)
}

impl State {
    fn first() -> Self {
        Self {
            armed: 0,
            count: 0,
            published: 0,
            buffered: [0; 2],
            publishers: [Publisher::Store(0); 2],
            sleepers: [Sleeper::ReadCount; 2],
            seen: [0; 2],
        }
    }

    fn flush(&mut self, publisher: usize) {
        self.published |= std::mem::take(&mut self.buffered[publisher]);
    }

    /// After its `message`: the next one, or none.
    fn next(message: u8) -> Publisher {
        if message + 1 < MESSAGES { Publisher::Store(message + 1) } else { Publisher::Done }
    }

    /// One step of a publisher; `None` if it has none.
    fn publish(&self, at: usize, fault: Fault) -> Option<Self> {
        let mut to = self.clone();
        to.publishers[at] = match self.publishers[at] {
            Publisher::Store(message) => {
                to.buffered[at] |= bit(at, message);
                Publisher::Look(message)
            }
            Publisher::Look(message) if self.armed & FLAGS == 0 => Self::next(message),
            Publisher::Look(message) if fault == Fault::NoFenceWhenAsked => Publisher::LookAgain(message),
            Publisher::Look(message) => Publisher::Fence(message),
            Publisher::Fence(message) => {
                to.flush(at);
                Publisher::LookAgain(message)
            }
            Publisher::LookAgain(message) if self.armed & HERE != 0 => {
                // A locked instruction, which empties the buffer too; but only after the load that decided.
                to.flush(at);
                to.armed &= !HERE;
                Publisher::Wake(message)
            }
            Publisher::LookAgain(message) => Publisher::Retire(message, self.armed),
            Publisher::Retire(message, seen) => {
                to.flush(at);
                if self.armed == seen {
                    to.armed = (seen & !FLAGS).wrapping_add(EPOCH);
                }
                Self::next(message)
            }
            Publisher::Wake(message) => {
                to.count += 1;
                for (sleeper, seen) in to.sleepers.iter_mut().zip(self.seen) {
                    if *sleeper == Sleeper::Asleep && seen != to.count {
                        *sleeper = Sleeper::ReadCount;
                    }
                }
                Self::next(message)
            }
            Publisher::Done => return None,
        };
        Some(to)
    }

    /// One step of a sleeper; `None` if it has none.
    fn sleep(&self, at: usize, fault: Fault) -> Option<Self> {
        let mut to = self.clone();
        let is_there = self.published & bit(at, MESSAGES - 1) != 0;
        to.sleepers[at] = match self.sleepers[at] {
            Sleeper::ReadCount if is_there => Sleeper::Done,
            Sleeper::ReadCount => {
                to.seen[at] = self.count;
                Sleeper::Arm
            }
            Sleeper::Arm => {
                to.armed |= HERE | ASKED;
                let trusted = if fault == Fault::TrustsQuestion { ASKED | FENCED } else { FENCED };
                match self.armed & trusted {
                    0 if fault == Fault::PromisesEarly => Sleeper::Promise(self.armed & !FLAGS),
                    0 => Sleeper::Heavy(self.armed & !FLAGS),
                    _ => Sleeper::LastLook,
                }
            }
            Sleeper::Heavy(epoch) => {
                (0..2).for_each(|publisher| to.flush(publisher));
                if fault == Fault::PromisesEarly { Sleeper::LastLook } else { Sleeper::Promise(epoch) }
            }
            Sleeper::Promise(epoch) => {
                if self.armed & !FLAGS == epoch || fault == Fault::IgnoresEpoch {
                    to.armed |= FENCED;
                }
                if fault == Fault::PromisesEarly { Sleeper::Heavy(epoch) } else { Sleeper::LastLook }
            }
            Sleeper::LastLook if is_there => Sleeper::Done,
            Sleeper::LastLook if self.count != self.seen[at] => Sleeper::ReadCount,
            Sleeper::LastLook => Sleeper::Asleep,
            Sleeper::Asleep | Sleeper::Done => return None,
        };
        Some(to)
    }

    /// All that may happen next.
    fn steps(&self, fault: Fault) -> Vec<Self> {
        let publishers = (0..2).filter_map(|at| self.publish(at, fault));
        let sleepers = (0..2).filter_map(|at| self.sleep(at, fault));
        let flushes = (0..2).filter(|&at| self.buffered[at] != 0).map(|at| {
            let mut to = self.clone();
            to.flush(at);
            to
        });
        publishers.chain(sleepers).chain(flushes).collect()
    }
}

/// How many states there are, and one in which a sleeper sleeps on for ever.
fn search(fault: Fault) -> (usize, Option<State>) {
    let (mut seen, mut open) = (HashSet::new(), vec![State::first()]);
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let steps = state.steps(fault);
        if steps.is_empty() && state.sleepers != [Sleeper::Done; 2] {
            return (seen.len(), Some(state));
        }
        open.extend(steps);
    }
    (seen.len(), None)
}

#[test]
fn no_sleeper_sleeps_on_its_message() {
    let (states, lost) = search(Fault::None);
    assert!(lost.is_none(), "{lost:?}");
    assert!(states > 10_000, "the search went through {states} states only");
}

#[test]
fn each_fault_loses_a_wake_up() {
    for fault in [Fault::NoFenceWhenAsked, Fault::PromisesEarly, Fault::IgnoresEpoch, Fault::TrustsQuestion] {
        assert!(search(fault).1.is_some(), "{fault:?} was not noticed");
    }
}
