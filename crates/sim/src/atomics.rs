//! Threads that work on words by atomic operations, on a simulated machine: the stress that `corecast bench atomics` measures.
//!
//! The values that the words hold in the end are compared with what was counted. Rates are those of the cost model; fairness is
//! not: a line serves the oldest request first, so threads that do nothing else come in the same order again and again, and each
//! compare and swap is won by the same one.
//!
//! Source: T. David, R. Guerraoui, V. Trigonakis, "Everything you always wanted to know about synchronization but were afraid to
//! ask", SOSP 2013, figure 4.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering, spin_for};
use corecast_sim_core::{Counts, Machine, Random, Thread};

use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;
use crate::fairness::jain;
use crate::rounds::{Played, Rounds, SetUp, alone};

/// An operation on a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOperation {
    /// Compare and swap of the value last seen with the next one. Fails if another thread came between.
    Cas,
    /// Test and set: swaps a one in. Succeeds if there was none, and clears the word then.
    Tas,
    /// Fetch and increment, which always succeeds.
    Fai,
    /// Swaps a value in that no thread has swapped in before, which always succeeds.
    Swap,
    /// Fetch and increment made of compare and swap, which is repeated until it succeeds.
    FaiByCas,
}

impl AtomicOperation {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Cas, Self::Tas, Self::Fai, Self::Swap, Self::FaiByCas];

    /// Its name in `corecast bench atomics`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cas => "cas",
            Self::Tas => "tas",
            Self::Fai => "fai",
            Self::Swap => "swap",
            Self::FaiByCas => "fai-by-cas",
        }
    }
}

impl fmt::Display for AtomicOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown operation '{name}': expected one of cas, tas, fai, swap, fai-by-cas")]
pub struct UnknownOperation {
    /// The text.
    pub name: String,
}

impl FromStr for AtomicOperation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, UnknownOperation> {
        let found = Self::ALL.into_iter().find(|operation| operation.name() == name);
        found.ok_or_else(|| UnknownOperation { name: name.to_owned() })
    }
}

/// Threads that work on words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtomicLoad {
    /// The threads, on the first CPUs of the machine.
    pub threads: usize,
    /// The words, each on a line of its own at the node of the first thread. Each call is for one at random; 0 is 1.
    pub words: usize,
    /// The virtual time before calls count, in microseconds.
    pub warm_up_us: u64,
    /// The virtual time after it in which calls count, in microseconds.
    pub duration_us: u64,
    /// The time for which a thread computes after each call, in nanoseconds; it differs by up to half between threads and calls.
    pub pause_ns: u64,
    /// True if it does not differ, and threads look at the clock until it is over, as those of the benchmark of real words do.
    pub is_steady: bool,
    /// The seed of the threads' begins and of the words that they choose.
    pub seed: u64,
    /// The disturbances of the threads.
    pub disturbance: Disturbance,
}

/// The outcome of an [`AtomicLoad`].
#[derive(Clone, Debug, PartialEq)]
pub struct AtomicOutcome {
    /// The calls of each thread that counted.
    pub calls: Vec<u64>,
    /// Those of each thread that did what they were for.
    pub successes: Vec<u64>,
    /// The time in which they counted, in nanoseconds.
    pub ns: f64,
    /// All calls, with those of the warm-up.
    pub all: u64,
    /// Atomic instructions for each of them: more than one where a call tries again.
    pub tries_per_call: f64,
    /// The accesses of all calls.
    pub counts: Counts,
    /// How the threads were disturbed.
    pub disturbed: Disturbed,
}

impl AtomicOutcome {
    /// The calls of all threads in a second, in millions.
    #[must_use]
    pub fn mops(&self) -> f64 {
        self.calls.iter().sum::<u64>() as f64 / self.ns * 1000.0
    }

    /// The part of the calls that did what they were for; `None` if there were none.
    #[must_use]
    pub fn success_share(&self) -> Option<f64> {
        let [calls, successes] = [&self.calls, &self.successes].map(|numbers| numbers.iter().sum::<u64>());
        (calls > 0).then(|| successes as f64 / calls as f64)
    }

    /// Lines that moved in a call, by the distance that they came from.
    #[must_use]
    pub fn transfers(&self) -> Vec<f64> {
        self.counts.transfers_each(self.all)
    }

    /// Jain's index of fairness, by the successes of each thread: 1 if all have as many, 1 / threads if one has all.
    #[must_use]
    pub fn jain(&self) -> Option<f64> {
        jain(&self.successes)
    }
}

/// Lets threads work on words.
///
/// # Errors
/// [`SimError::Threads`] if the machine has fewer CPUs, [`SimError::Stopped`] if a run has no outcome, [`SimError::Lost`] if the
/// words do not hold what was counted, [`SimError::Stack`] if there is no memory for a thread.
pub fn atomics(machine: &Machine, operation: AtomicOperation, load: AtomicLoad) -> Result<AtomicOutcome, SimError> {
    let AtomicLoad { threads, words, warm_up_us, duration_us, pause_ns, is_steady, seed, disturbance } = load;
    let _alone = alone();
    let words: Arc<[CacheLine<Word>]> = (0..words.max(1)).map(|_| CacheLine::default()).collect();
    let sums = Rc::new(Sums::default());
    let (set_up, all_words) = (SetUp::default(), Arc::clone(&words));
    let begin = move |me: &Thread, cpu: usize| {
        set_up.by_first(me, cpu, || all_words.iter().for_each(|word| word.touch()));
        let next = (cpu as u64 + 1) << 40;
        Caller { known: vec![0; all_words.len()], next }
    };
    let (ours, own_sums) = (Arc::clone(&words), Rc::clone(&sums));
    let round = move |me: &Thread, caller: &mut Caller, random: &mut Random| {
        let at = random.below(ours.len() as u64) as usize;
        let is_success = caller.call(operation, &ours[at], at, &own_sums);
        match is_steady {
            true => spin_for(Duration::from_nanos(pause_ns)),
            false => me.work_ns(pause_ns + random.below(pause_ns / 2 + 1)),
        }
        is_success
    };
    let rounds = Rounds { threads, warm_up_us, duration_us, seed, disturbance, first: 0, traced: None };
    // SAFETY: threads share words on the heap, and nothing on their stacks.
    let played = unsafe { rounds.play(machine, begin, round) }?;
    check(operation, &words, &sums, &played)?;
    let of = |of: fn(&crate::rounds::Tally) -> u64| played.tallies.iter().map(of).collect();
    let all = played.sum(|tally| tally.all);
    Ok(AtomicOutcome {
        calls: of(|tally| tally.counted),
        successes: of(|tally| tally.succeeded),
        ns: played.ns,
        all,
        tries_per_call: sums.tries.get() as f64 / all as f64,
        counts: played.counts,
        disturbed: played.disturbed,
    })
}

/// Both words are on a line.
#[derive(Debug, Default)]
struct Word {
    /// Written by every call.
    value: AtomicU64,
    /// Test and set only: how often it was won. Written by the thread that has won and not yet cleared the value.
    wins: AtomicU64,
}

impl Word {
    fn touch(&self) {
        // ORDERING: Relaxed, the line is touched and nothing is changed
        self.value.fetch_add(0, Ordering::Relaxed);
    }
}

/// Sums over all threads.
#[derive(Debug, Default)]
struct Sums {
    /// Atomic instructions.
    tries: Cell<u64>,
    /// Values swapped in, less those swapped out.
    swapped: Cell<u64>,
}

/// The state of a thread.
struct Caller {
    /// The value that was last seen in each word.
    known: Vec<u64>,
    /// The next value to swap in.
    next: u64,
}

impl Caller {
    /// True if it did what it was for.
    fn call(&mut self, operation: AtomicOperation, word: &Word, at: usize, sums: &Sums) -> bool {
        sums.tries.set(sums.tries.get() + 1);
        match operation {
            AtomicOperation::Cas => self.exchange(word, at),
            AtomicOperation::Tas => test_and_set(word),
            AtomicOperation::Fai => {
                // ORDERING: Relaxed, the word orders nothing but itself
                word.value.fetch_add(1, Ordering::Relaxed);
                true
            }
            AtomicOperation::Swap => {
                self.next += 1;
                // ORDERING: Relaxed, the word orders nothing but itself
                let before = word.value.swap(self.next, Ordering::Relaxed);
                sums.swapped.set(sums.swapped.get().wrapping_add(self.next).wrapping_sub(before));
                true
            }
            AtomicOperation::FaiByCas => {
                // ORDERING: Relaxed, the exchange looks again
                self.known[at] = word.value.load(Ordering::Relaxed);
                while !self.exchange(word, at) {
                    sums.tries.set(sums.tries.get() + 1);
                }
                true
            }
        }
    }

    fn exchange(&mut self, word: &Word, at: usize) -> bool {
        let known = &mut self.known[at];
        // ORDERING: Relaxed twice, the word orders nothing but itself
        let swapped = word.value.compare_exchange(*known, *known + 1, Ordering::Relaxed, Ordering::Relaxed);
        *known = swapped.map_or_else(|seen| seen, |before| before + 1);
        swapped.is_ok()
    }
}

fn test_and_set(word: &Word) -> bool {
    // ORDERING: Acquire, pairs with the Release of the thread that clears it below [stress-set]
    let is_won = word.value.swap(1, Ordering::Acquire) == 0;
    if is_won {
        // ORDERING: Relaxed, only the winner comes here, and the set word orders winners
        let wins = word.wins.load(Ordering::Relaxed);
        // ORDERING: Relaxed, as the load
        word.wins.store(wins + 1, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire of the next winner above [stress-set]
        word.value.store(0, Ordering::Release);
    }
    is_won
}

/// Compares what the words hold with what was counted.
fn check(operation: AtomicOperation, words: &[CacheLine<Word>], sums: &Sums, played: &Played) -> Result<(), SimError> {
    // ORDERING: Relaxed, the run is over
    let sum = |of: fn(&Word) -> &AtomicU64| words.iter().map(|word| of(word).load(Ordering::Relaxed)).sum::<u64>();
    let (values, successes) = (sum(|word| &word.value), played.sum(|tally| tally.all_succeeded));
    let (counted, total) = match operation {
        AtomicOperation::Cas | AtomicOperation::Fai | AtomicOperation::FaiByCas => (values, successes),
        AtomicOperation::Tas => (sum(|word| &word.wins) + values, successes),
        AtomicOperation::Swap => (values, sums.swapped.get()),
    };
    // The last call of a thread that was killed may have taken effect, and was not counted: by a win, and by a word that stays
    // set.
    let most = total + 2 * played.disturbed.killed;
    if (total..=most).contains(&counted) { Ok(()) } else { Err(SimError::Lost { counted, total }) }
}
