//! Sleeping and waking under store buffers, as x86 has them: a store reaches the others some time after it was made.
//!
//! The steps are those of `corecast_base::wait::WakeWord`. A store goes to the end of its thread's buffer and from the
//! front of it to memory at any time; a load sees the own buffer first; a fence, an atomic swap and a system call wait
//! until the own buffer is empty. `membarrier` makes every other CPU do that at some time while it runs, one after the
//! other. Sleepers have no time-out here, so that a lost wake-up is a sleep without end.

use crate::checker::{Model, STUCK, Steps, explore};

const PUBLISHERS: [&str; 2] = ["publisher A", "publisher B"];
const SLEEPERS: [&str; 2] = ["sleeper A", "sleeper B"];
/// The word beside the messages of both publishers.
const ARMED: usize = 2;
/// Stores that wait in one buffer, at most.
const DEPTH: usize = 3;

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

struct Wake {
    fences: Fences,
    /// How many messages each publisher publishes.
    messages: [u8; 2],
    /// Whose messages each sleeper waits for, all of them; `None`: there is no such sleeper.
    waits_for: [Option<usize>; 2],
    /// The event count is read only after arming.
    counts_late: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Publisher {
    Store,
    Fence,
    LoadArmed,
    Swap,
    Advance,
    Wake,
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sleeper {
    Look,
    ReadCount,
    Arm {
        seen: u8,
    },
    ReadCountLate,
    Fence {
        seen: u8,
    },
    /// `membarrier` has been on the CPUs of so many publishers.
    Barrier {
        seen: u8,
        done: u8,
    },
    LookAgain {
        seen: u8,
    },
    Wait {
        seen: u8,
    },
    Asleep,
    Done,
}

/// What a thread has stored and the others do not see yet, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Buffer([Option<(u8, u8)>; DEPTH]);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    /// The last message of each publisher, and `ARMED`.
    words: [u8; 3],
    count: u8,
    publishers: [Publisher; 2],
    published: [u8; 2],
    sleepers: [Sleeper; 2],
    got: [u8; 2],
    /// Of the publishers, then of the sleepers.
    buffers: [Buffer; 4],
}

impl Buffer {
    fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    fn store(&mut self, word: usize, value: u8) {
        let free = self.0.iter().position(Option::is_none).expect("no thread stores so much between two fences");
        self.0[free] = Some((word as u8, value));
    }
}

impl State {
    fn load(&self, thread: usize, word: usize) -> u8 {
        let own = self.buffers[thread].0.iter().flatten().rev().find(|store| usize::from(store.0) == word);
        own.map_or(self.words[word], |store| store.1)
    }
}

impl Wake {
    fn publish(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let mut next = *state;
        let is_drained = state.buffers[me].is_empty();
        let (what, then) = match state.publishers[me] {
            Publisher::Store => {
                next.published[me] += 1;
                next.buffers[me].store(me, next.published[me]);
                let is_fenced = matches!(self.fences, Fences::Plain | Fences::PublisherOnly);
                ("stores message {}", if is_fenced { Publisher::Fence } else { Publisher::LoadArmed })
            }
            Publisher::Fence | Publisher::Swap if !is_drained => return,
            Publisher::Fence => ("passes its fence", Publisher::LoadArmed),
            Publisher::LoadArmed if state.load(me, ARMED) == 0 => ("finds nobody asleep", self.go_on(&next, me)),
            Publisher::LoadArmed => ("finds somebody asleep", Publisher::Swap),
            Publisher::Swap => {
                next.words[ARMED] = 0;
                let took = state.words[ARMED] != 0;
                ("swaps armed", if took { Publisher::Advance } else { self.go_on(&next, me) })
            }
            Publisher::Advance => {
                next.count += 1;
                ("advances the count", Publisher::Wake)
            }
            Publisher::Wake => {
                for sleeper in next.sleepers.iter_mut().filter(|sleeper| **sleeper == Sleeper::Asleep) {
                    *sleeper = Sleeper::Look;
                }
                ("wakes all", self.go_on(&next, me))
            }
            Publisher::Done => return,
        };
        next.publishers[me] = then;
        steps.add(PUBLISHERS[me], what, next.published[me] as i8, next);
    }

    fn go_on(&self, state: &State, me: usize) -> Publisher {
        if state.published[me] == self.messages[me] { Publisher::Done } else { Publisher::Store }
    }

    fn sleep(&self, state: &State, me: usize, steps: &mut Steps<State>) {
        let Some(whose) = self.waits_for[me] else { return };
        let mut next = *state;
        let thread = 2 + me;
        let is_drained = state.buffers[thread].is_empty();
        let is_there = state.load(thread, whose) > state.got[me];
        let (what, then) = match state.sleepers[me] {
            Sleeper::Look | Sleeper::LookAgain { .. } if is_there => {
                next.got[me] += 1;
                let is_all = next.got[me] == self.messages[whose];
                ("gets message {}", if is_all { Sleeper::Done } else { Sleeper::Look })
            }
            Sleeper::Look if self.counts_late => ("finds no message", Sleeper::Arm { seen: 0 }),
            Sleeper::Look => ("finds no message", Sleeper::ReadCount),
            Sleeper::ReadCount => ("reads the count", Sleeper::Arm { seen: state.count }),
            Sleeper::Arm { seen } => {
                next.buffers[thread].store(ARMED, 1);
                ("arms", if self.counts_late { Sleeper::ReadCountLate } else { self.fence(seen) })
            }
            Sleeper::ReadCountLate => ("reads the count", self.fence(state.count)),
            Sleeper::Fence { .. } | Sleeper::Wait { .. } if !is_drained => return,
            Sleeper::Fence { seen } if self.fences == Fences::Membarrier => {
                ("calls membarrier", Sleeper::Barrier { seen, done: 0 })
            }
            Sleeper::Fence { seen } => ("passes its fence", Sleeper::LookAgain { seen }),
            Sleeper::Barrier { seen, done: 2 } => ("returns from membarrier", Sleeper::LookAgain { seen }),
            Sleeper::Barrier { done, .. } if !state.buffers[usize::from(done)].is_empty() => return,
            Sleeper::Barrier { seen, done } => {
                ("has one more CPU pass a fence", Sleeper::Barrier { seen, done: done + 1 })
            }
            Sleeper::LookAgain { seen } => ("finds no message again", Sleeper::Wait { seen }),
            Sleeper::Wait { seen } if state.count != seen => ("finds the count changed", Sleeper::Look),
            Sleeper::Wait { .. } => ("falls asleep", Sleeper::Asleep),
            Sleeper::Asleep | Sleeper::Done => return,
        };
        next.sleepers[me] = then;
        steps.add(SLEEPERS[me], what, next.got[me] as i8, next);
    }

    fn fence(&self, seen: u8) -> Sleeper {
        match self.fences {
            Fences::Plain | Fences::Membarrier | Fences::SleeperOnly => Sleeper::Fence { seen },
            Fences::PublisherOnly | Fences::None => Sleeper::LookAgain { seen },
        }
    }

    fn drain(&self, state: &State, thread: usize, steps: &mut Steps<State>) {
        let Some((word, value)) = state.buffers[thread].0[0] else { return };
        let mut next = *state;
        next.words[usize::from(word)] = value;
        next.buffers[thread].0.rotate_left(1);
        next.buffers[thread].0[DEPTH - 1] = None;
        let who = if thread < 2 { PUBLISHERS[thread] } else { SLEEPERS[thread - 2] };
        let what = if usize::from(word) == ARMED { "has its arming seen" } else { "has message {} seen" };
        steps.add(who, what, value as i8, next);
    }
}

impl Model for Wake {
    type State = State;

    fn start(&self) -> State {
        State {
            words: [0; 3],
            count: 0,
            publishers: self.messages.map(|count| if count == 0 { Publisher::Done } else { Publisher::Store }),
            published: [0; 2],
            sleepers: self.waits_for.map(|whose| if whose.is_some() { Sleeper::Look } else { Sleeper::Done }),
            got: [0; 2],
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
    Wake { fences, messages: [2, 0], waits_for: [Some(0), None], counts_late: false }
}

/// Two publishers and two sleepers at one word, each waiting for another publisher.
fn crowd(fences: Fences) -> Wake {
    Wake { fences, messages: [2, 1], waits_for: [Some(0), Some(1)], counts_late: false }
}

#[test]
fn two_real_fences_lose_no_wake_up() {
    explore(&pair(Fences::Plain)).holds("wake, two fences");
    explore(&crowd(Fences::Plain)).holds("wake, two fences, two of each");
}

#[test]
fn a_compiler_fence_and_membarrier_lose_no_wake_up() {
    explore(&pair(Fences::Membarrier)).holds("wake, membarrier");
    explore(&crowd(Fences::Membarrier)).holds("wake, membarrier, two of each");
}

#[test]
fn without_a_fence_on_either_side_a_wake_up_is_lost() {
    explore(&pair(Fences::None)).breaks("wake, no fence", STUCK);
    explore(&pair(Fences::SleeperOnly)).breaks("wake, no fence at the publisher", STUCK);
    explore(&pair(Fences::PublisherOnly)).breaks("wake, no fence at the sleeper", STUCK);
}

#[test]
fn reading_the_count_after_arming_loses_a_wake_up() {
    let late = Wake { counts_late: true, ..crowd(Fences::Plain) };
    explore(&late).breaks("wake, the count is read after arming", STUCK);
}
