//! Sleeping and waking under store buffers, as x86 has them: a store reaches the others some time after it was made.
//!
//! The steps are those of `corecast_base::wait::WakeWord`. A store goes to the end of its thread's buffer and from the
//! front of it to memory at any time; a load sees the own buffer first; a fence, an atomic swap and a system call wait
//! until the own buffer is empty. `membarrier` makes every other CPU do that at some time while it runs, one after the
//! other. Arming goes through the buffer, too, although on x86 an atomic `or` does not: elsewhere it may. Sleepers have
//! no time-out here, so that a lost wake-up is a sleep without end.

use crate::exhaustive::checker::{Model, STUCK, Steps, explore};

const PUBLISHERS: [&str; 2] = ["publisher A", "publisher B"];
const SLEEPERS: [&str; 2] = ["sleeper A", "sleeper B"];
/// Somebody sleeps on the word itself.
const HERE: u8 = 1;
/// A thread sleeps on the parker.
const ELSEWHERE: u8 = 2;
/// The sleeping place beside the words 0 and 1.
const SEAT: u8 = 2;
/// Where the armed bits of word 0 lie, behind the last messages of both publishers.
const ARMED: usize = 2;
/// Stores that wait in one buffer, at most.
const DEPTH: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fences {
    /// A real fence on both sides.
    Plain,
    /// A compiler fence at the publisher, `membarrier` at the sleeper.
    Membarrier,
    /// A compiler fence at the publisher, a real one at the sleeper.
    SleeperOnly,
    PublisherOnly,
    None,
}

/// Where a sleeper sleeps, and whose messages it waits for.
#[derive(Clone, Copy)]
enum Waits {
    Nowhere,
    /// On a word, for one publisher.
    Here {
        word: u8,
        whose: usize,
    },
    /// On the parker, for both publishers.
    OnSeat,
}

struct Wake {
    fences: Fences,
    /// How many messages each publisher publishes.
    messages: [u8; 2],
    /// The word that each publisher rings.
    rings: [u8; 2],
    sleepers: [Waits; 2],
    /// The event count is read only after arming.
    counts_late: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Publisher {
    Store,
    Fence,
    LoadArmed,
    Swap,
    Advance { armed: u8 },
    Wake { place: u8, armed: u8 },
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sleeper {
    Look {
        at: u8,
    },
    ReadCount,
    Arm {
        word: u8,
        seen: u8,
    },
    ReadCountLate,
    Fence {
        seen: u8,
    },
    /// `membarrier` has been on the CPUs of this many publishers.
    Barrier {
        seen: u8,
        done: u8,
    },
    LookAgain {
        at: u8,
        seen: u8,
    },
    Wait {
        seen: u8,
    },
    Asleep,
    Done,
}

/// The stores of a thread (messages) and the bits it has set that the others do not see yet, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Buffer([Option<(u8, u8)>; DEPTH]);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    /// The last message of each publisher, then the armed bits of both words.
    words: [u8; 4],
    /// The counts of both words, and of the parker.
    counts: [u8; 3],
    publishers: [Publisher; 2],
    published: [u8; 2],
    sleepers: [Sleeper; 2],
    /// The messages that each sleeper has got from each publisher.
    got: [[u8; 2]; 2],
    /// Of the publishers, then of the sleepers.
    buffers: [Buffer; 4],
}

impl Waits {
    fn place(self) -> u8 {
        if let Self::Here { word, .. } = self { word } else { SEAT }
    }

    fn waits_for(self, publisher: u8) -> bool {
        match self {
            Self::Nowhere => false,
            Self::Here { whose, .. } => whose == usize::from(publisher),
            Self::OnSeat => true,
        }
    }
}

impl Buffer {
    fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    fn put(&mut self, word: usize, value: u8) {
        let free = self.0.iter().position(Option::is_none).expect("no thread stores so much between two fences");
        self.0[free] = Some((word as u8, value));
    }
}

impl Wake {
    fn publish(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let is_drained = state.buffers[me].is_empty();
        let armed_word = ARMED + usize::from(self.rings[me]);
        let (what, then) = match state.publishers[me] {
            Publisher::Store => {
                next.published[me] += 1;
                next.buffers[me].put(me, next.published[me]);
                let is_fenced = matches!(self.fences, Fences::Plain | Fences::PublisherOnly);
                ("stores message {}", if is_fenced { Publisher::Fence } else { Publisher::LoadArmed })
            }
            Publisher::Fence | Publisher::Swap if !is_drained => return,
            Publisher::Fence => ("passes its fence", Publisher::LoadArmed),
            Publisher::LoadArmed if state.words[armed_word] == 0 => ("finds nobody asleep", self.go_on(&next, me)),
            Publisher::LoadArmed => ("finds somebody asleep", Publisher::Swap),
            Publisher::Swap => {
                next.words[armed_word] = 0;
                ("clears the armed bits", self.ring(&next, me, state.words[armed_word]))
            }
            Publisher::Advance { armed } => {
                let (place, rest) = if armed & HERE != 0 { (self.rings[me], armed & !HERE) } else { (SEAT, 0) };
                next.counts[usize::from(place)] += 1;
                ("advances a count", Publisher::Wake { place, armed: rest })
            }
            Publisher::Wake { place, armed } => {
                for (sleeper, waits) in next.sleepers.iter_mut().zip(self.sleepers) {
                    if *sleeper == Sleeper::Asleep && waits.place() == place {
                        *sleeper = Sleeper::Look { at: 0 };
                    }
                }
                ("wakes all there", self.ring(&next, me, armed))
            }
            Publisher::Done => return,
        };
        next.publishers[me] = then;
        steps.add(PUBLISHERS[me], what, next.published[me] as i8, next);
    }

    fn ring(&self, state: &State, me: usize, armed: u8) -> Publisher {
        if armed == 0 { self.go_on(state, me) } else { Publisher::Advance { armed } }
    }

    fn go_on(&self, state: &State, me: usize) -> Publisher {
        if state.published[me] == self.messages[me] { Publisher::Done } else { Publisher::Store }
    }

    fn sleep(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let waits = self.sleepers[me];
        let mut next = *state;
        let is_drained = state.buffers[2 + me].is_empty();
        let count = state.counts[usize::from(waits.place())];
        let (what, then) = match state.sleepers[me] {
            Sleeper::Look { at } | Sleeper::LookAgain { at, .. } => return self.look(state, me, at, steps),
            Sleeper::ReadCount => ("reads the count", Sleeper::Arm { word: 0, seen: count }),
            Sleeper::Arm { word, seen } => {
                let is_last = match waits {
                    Waits::OnSeat => word == 1,
                    _ => true,
                };
                let (word, bit) = if waits.place() == SEAT { (word, ELSEWHERE) } else { (waits.place(), HERE) };
                next.buffers[2 + me].put(ARMED + usize::from(word), bit);
                let then = if self.counts_late { Sleeper::ReadCountLate } else { self.fence(seen) };
                ("arms a word", if is_last { then } else { Sleeper::Arm { word: word + 1, seen } })
            }
            Sleeper::ReadCountLate => ("reads the count", self.fence(count)),
            Sleeper::Fence { .. } | Sleeper::Wait { .. } if !is_drained => return,
            Sleeper::Fence { seen } if self.fences == Fences::Membarrier => {
                ("calls membarrier", Sleeper::Barrier { seen, done: 0 })
            }
            Sleeper::Fence { seen } => ("passes its fence", Sleeper::LookAgain { at: 0, seen }),
            Sleeper::Barrier { seen, done: 2 } => ("returns from membarrier", Sleeper::LookAgain { at: 0, seen }),
            Sleeper::Barrier { done, .. } if !state.buffers[usize::from(done)].is_empty() => return,
            Sleeper::Barrier { seen, done } => ("has a CPU pass a fence", Sleeper::Barrier { seen, done: done + 1 }),
            Sleeper::Wait { seen } if count != seen => ("finds the count changed", Sleeper::Look { at: 0 }),
            Sleeper::Wait { .. } => ("falls asleep", Sleeper::Asleep),
            Sleeper::Asleep | Sleeper::Done => return,
        };
        next.sleepers[me] = then;
        steps.add(SLEEPERS[me], what, 0, next);
    }

    /// Looks for messages of one publisher, and goes on with the other one if there are none.
    fn look(&self, state: &State, me: usize, at: u8, steps: &mut Steps<State>) {
        let mut next = *state;
        let waits = self.sleepers[me];
        let publisher = usize::from(at);
        let is_there = waits.waits_for(at) && state.words[publisher] > state.got[me][publisher];
        if is_there {
            next.got[me][publisher] += 1;
            let is_all =
                |of: u8| !waits.waits_for(of) || next.got[me][usize::from(of)] == self.messages[usize::from(of)];
            next.sleepers[me] = if is_all(0) && is_all(1) { Sleeper::Done } else { Sleeper::Look { at: 0 } };
            return steps.add(SLEEPERS[me], "gets message {}", next.got[me][publisher] as i8, next);
        }
        next.sleepers[me] = match state.sleepers[me] {
            Sleeper::LookAgain { seen, .. } if at == 1 => Sleeper::Wait { seen },
            Sleeper::LookAgain { seen, .. } => Sleeper::LookAgain { at: 1, seen },
            _ if at == 0 => Sleeper::Look { at: 1 },
            _ if self.counts_late => Sleeper::Arm { word: 0, seen: 0 },
            _ => Sleeper::ReadCount,
        };
        steps.add(SLEEPERS[me], "finds nothing", 0, next);
    }

    fn fence(&self, seen: u8) -> Sleeper {
        match self.fences {
            Fences::Plain | Fences::Membarrier | Fences::SleeperOnly => Sleeper::Fence { seen },
            Fences::PublisherOnly | Fences::None => Sleeper::LookAgain { at: 0, seen },
        }
    }

    fn drain(&self, state: &State, thread: usize, steps: &mut Steps<State>) {
        let Some((word, value)) = state.buffers[thread].0[0] else { return };
        let mut next = *state;
        let is_armed = usize::from(word) >= ARMED;
        let target = &mut next.words[usize::from(word)];
        *target = if is_armed { *target | value } else { value };
        next.buffers[thread].0.rotate_left(1);
        next.buffers[thread].0[DEPTH - 1] = None;
        let who = if thread < 2 { PUBLISHERS[thread] } else { SLEEPERS[thread - 2] };
        steps.add(who, if is_armed { "has its arming seen" } else { "has message {} seen" }, value as i8, next);
    }
}

impl Model for Wake {
    type State = State;

    fn start(&self) -> State {
        State {
            words: [0; 4],
            counts: [0; 3],
            publishers: self.messages.map(|count| if count == 0 { Publisher::Done } else { Publisher::Store }),
            published: [0; 2],
            sleepers: self.sleepers.map(|waits| match waits {
                Waits::Nowhere => Sleeper::Done,
                _ => Sleeper::Look { at: 0 },
            }),
            got: [[0; 2]; 2],
            buffers: [Buffer([None; DEPTH]); 4],
        }
    }

    fn steps(&self, state: &State, steps: &mut Steps<State>) {
        for me in 0..2 {
            self.publish(state, me, steps);
            self.sleep(state, me, steps);
        }
        for thread in 0..4 {
            self.drain(state, thread, steps);
        }
    }

    fn is_done(&self, state: &State) -> bool {
        state.publishers == [Publisher::Done; 2] && state.sleepers == [Sleeper::Done; 2]
    }
}

/// One publisher, one sleeper, two messages.
fn pair(fences: Fences) -> Wake {
    let sleepers = [Waits::Here { word: 0, whose: 0 }, Waits::Nowhere];
    Wake { fences, messages: [2, 0], rings: [0, 0], sleepers, counts_late: false }
}

/// Two publishers and two sleepers at one word, each waiting for another publisher.
fn crowd(fences: Fences) -> Wake {
    let sleepers = [Waits::Here { word: 0, whose: 0 }, Waits::Here { word: 0, whose: 1 }];
    Wake { fences, messages: [2, 1], rings: [0, 0], sleepers, counts_late: false }
}

/// A thread that waits on both words sleeps on the parker; a thread that waits on one of them sleeps on the word itself.
fn parker(fences: Fences) -> Wake {
    let sleepers = [Waits::OnSeat, Waits::Here { word: 1, whose: 1 }];
    Wake { fences, messages: [2, 1], rings: [0, 1], sleepers, counts_late: false }
}

#[test]
fn two_real_fences_lose_no_wake_up() {
    explore(&pair(Fences::Plain)).holds("wake, two fences");
    explore(&crowd(Fences::Plain)).holds("wake, two fences, two of each");
    explore(&parker(Fences::Plain)).holds("wake, two fences, a parker");
}

#[test]
fn a_compiler_fence_and_membarrier_lose_no_wake_up() {
    explore(&pair(Fences::Membarrier)).holds("wake, membarrier");
    explore(&crowd(Fences::Membarrier)).holds("wake, membarrier, two of each");
    explore(&parker(Fences::Membarrier)).holds("wake, membarrier, a parker");
}

#[test]
fn without_a_fence_on_either_side_a_wake_up_is_lost() {
    explore(&pair(Fences::None)).breaks("wake, no fence", STUCK);
    explore(&pair(Fences::SleeperOnly)).breaks("wake, no fence at the publisher", STUCK);
    explore(&pair(Fences::PublisherOnly)).breaks("wake, no fence at the sleeper", STUCK);
    explore(&parker(Fences::SleeperOnly)).breaks("wake, no fence at the publisher, a parker", STUCK);
}

#[test]
fn reading_the_count_after_arming_loses_a_wake_up() {
    let late = Wake { counts_late: true, ..crowd(Fences::Plain) };
    explore(&late).breaks("wake, the count is read after arming", STUCK);
    let late = Wake {
        counts_late: true,
        messages: [2, 0],
        sleepers: [Waits::OnSeat, Waits::Nowhere],
        ..parker(Fences::Plain)
    };
    explore(&late).breaks("wake, the count of a parker is read after arming", STUCK);
}
