//! The operations on one word, one type each: the call, and the value that the word must have after all calls.
//!
//! To add one: a type here, and a line in `contenders`.

use corecast::base::sync::{AtomicU64, Ordering};

use corecast_race::failure::Failure;

/// The line that all threads go for: both words are in it.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Written by every call of every thread.
    pub(super) word: AtomicU64,
    /// Test and set only: how often it was won. Written by the thread that has won and not yet cleared the word.
    wins: AtomicU64,
}

/// One thread's side of an operation.
pub(super) trait Operation: Send + Sized {
    /// The thread of this rank, which has not called yet.
    fn new(rank: usize) -> Self;

    /// Does it once; true if it did what it was called for.
    fn call(&mut self, line: &Line) -> bool;

    /// The number of atomic instructions in this number of calls.
    fn tries(&self, calls: u64) -> u64 {
        calls
    }

    /// The value that the line must hold after these calls of all threads and their successes.
    fn check(threads: &[Self], successes: u64, line: &Line) -> Result<(), Failure>;
}

/// Compare and swap of the value last seen with the next one. Fails if another thread came between.
pub(super) struct Cas {
    known: u64,
}

/// Test and set, as locks do it: swaps a one in. Succeeds if there was none, then counts and clears the word.
pub(super) struct Tas;

/// Fetch and increment, which always succeeds.
pub(super) struct Fai;

/// Swaps a value in that no thread has swapped in before, which always succeeds.
pub(super) struct Swap {
    next: u64,
    /// The sum of all values swapped in, and of those swapped out.
    given: u64,
    taken: u64,
}

/// Fetch and increment made of compare and swap, which is repeated until it succeeds.
pub(super) struct FaiByCas {
    tries: u64,
}

impl Operation for Cas {
    fn new(_rank: usize) -> Self {
        Self { known: 0 }
    }

    #[inline(always)]
    fn call(&mut self, line: &Line) -> bool {
        // ORDERING: Relaxed twice, the word orders nothing but itself
        let swapped = line.word.compare_exchange(self.known, self.known + 1, Ordering::Relaxed, Ordering::Relaxed);
        self.known = swapped.map_or_else(|seen| seen, |before| before + 1);
        swapped.is_ok()
    }

    fn check(_threads: &[Self], successes: u64, line: &Line) -> Result<(), Failure> {
        counted(line, successes)
    }
}

impl Operation for Tas {
    fn new(_rank: usize) -> Self {
        Self
    }

    #[inline(always)]
    fn call(&mut self, line: &Line) -> bool {
        // ORDERING: Acquire, pairs with the Release of the thread that clears it below [stress-set]
        let is_won = line.word.swap(1, Ordering::Acquire) == 0;
        if is_won {
            // ORDERING: Relaxed, only the winner comes here, and the set word orders winners
            let wins = line.wins.load(Ordering::Relaxed);
            // ORDERING: Relaxed, as the load
            line.wins.store(wins + 1, Ordering::Relaxed);
            // ORDERING: Release, pairs with the Acquire of the next winner above [stress-set]
            line.word.store(0, Ordering::Release);
        }
        is_won
    }

    fn check(_threads: &[Self], successes: u64, line: &Line) -> Result<(), Failure> {
        counted(line, 0)?;
        // ORDERING: Relaxed, the threads have ended
        holds("wins counted under the set word", line.wins.load(Ordering::Relaxed), successes)
    }
}

impl Operation for Fai {
    fn new(_rank: usize) -> Self {
        Self
    }

    #[inline(always)]
    fn call(&mut self, line: &Line) -> bool {
        // ORDERING: Relaxed, the word orders nothing but itself
        std::hint::black_box(line.word.fetch_add(1, Ordering::Relaxed));
        true
    }

    fn check(_threads: &[Self], successes: u64, line: &Line) -> Result<(), Failure> {
        counted(line, successes)
    }
}

impl Operation for Swap {
    fn new(rank: usize) -> Self {
        Self { next: (rank as u64 + 1) << 40, given: 0, taken: 0 }
    }

    #[inline(always)]
    fn call(&mut self, line: &Line) -> bool {
        self.next += 1;
        let value = mixed(self.next);
        self.given = self.given.wrapping_add(value);
        // ORDERING: Relaxed, the word orders nothing but itself
        self.taken = self.taken.wrapping_add(line.word.swap(value, Ordering::Relaxed));
        true
    }

    /// Whatever was swapped in was swapped out once, but for the last.
    fn check(threads: &[Self], _successes: u64, line: &Line) -> Result<(), Failure> {
        let sum = |of: fn(&Self) -> u64| threads.iter().map(of).fold(0, u64::wrapping_add);
        // ORDERING: Relaxed, the threads have ended
        let left = line.word.load(Ordering::Relaxed);
        holds("sum of what was swapped out and is left", sum(|own| own.taken).wrapping_add(left), sum(|own| own.given))
    }
}

impl Operation for FaiByCas {
    fn new(_rank: usize) -> Self {
        Self { tries: 0 }
    }

    #[inline(always)]
    fn call(&mut self, line: &Line) -> bool {
        // ORDERING: Relaxed, as all below: the word orders nothing but itself
        let mut known = line.word.load(Ordering::Relaxed);
        loop {
            self.tries += 1;
            // ORDERING: Relaxed twice, as above: it orders nothing
            match line.word.compare_exchange(known, known + 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => known = seen,
            }
        }
    }

    fn tries(&self, _calls: u64) -> u64 {
        self.tries
    }

    fn check(_threads: &[Self], successes: u64, line: &Line) -> Result<(), Failure> {
        counted(line, successes)
    }
}

/// A value of which no other number has the same; odd factors can be undone.
#[inline(always)]
fn mixed(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The word must hold this.
fn counted(line: &Line, expected: u64) -> Result<(), Failure> {
    // ORDERING: Relaxed, the threads have ended
    holds("word", line.word.load(Ordering::Relaxed), expected)
}

fn holds(what: &str, found: u64, expected: u64) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    Err(Failure::Wrong(format!("the {what} is {found}, and the calls come to {expected}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads in turns; the successes of each call.
    fn in_turns<O: Operation>(calls: usize) -> (Vec<bool>, Vec<O>, Line) {
        let (line, mut threads) = (Line::default(), vec![O::new(0), O::new(1)]);
        let done = (0..calls).map(|call| threads[call % 2].call(&line)).collect();
        (done, threads, line)
    }

    fn assert_checked<O: Operation>(successes: &[bool]) {
        let (done, threads, line) = in_turns::<O>(successes.len());
        assert_eq!(done, successes);
        let count = done.iter().filter(|done| **done).count() as u64;
        assert_eq!(O::check(&threads, count, &line), Ok(()));
        line.word.fetch_add(1, Ordering::Relaxed);
        let error = O::check(&threads, count, &line).expect_err("one too many").to_string();
        assert!(error.starts_with("wrong result: the ") && error.contains("the calls come to"), "{error}");
    }

    #[test]
    fn each_does_what_it_says_and_its_check_finds_one_that_was_lost() {
        assert_checked::<Cas>(&[true, false, true, false]);
        assert_checked::<Tas>(&[true; 4]);
        assert_checked::<Fai>(&[true; 4]);
        assert_checked::<Swap>(&[true; 4]);
        assert_checked::<FaiByCas>(&[true; 4]);
    }

    #[test]
    fn a_set_word_is_won_by_nobody_and_lost_wins_are_found() {
        let (line, mut thread) = (Line::default(), Tas::new(0));
        assert!(thread.call(&line));
        line.word.store(1, Ordering::Relaxed);
        assert!(!thread.call(&line));
        line.word.store(0, Ordering::Relaxed);
        assert_eq!(Tas::check(&[], 1, &line), Ok(()));
        let error = Tas::check(&[], 2, &line).expect_err("a win is missing").to_string();
        assert_eq!(error, "wrong result: the wins counted under the set word is 1, and the calls come to 2");
    }

    #[test]
    fn instructions_are_counted_where_they_are_more_than_calls() {
        let (line, mut thread) = (Line::default(), FaiByCas::new(0));
        assert!(thread.call(&line) && thread.call(&line));
        assert_eq!((thread.tries(2), Fai::new(0).tries(2)), (2, 2));
    }
}
