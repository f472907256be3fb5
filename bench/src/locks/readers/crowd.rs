//! Many threads that read one value, and write it now and then.
//!
//! For each access a draw decides whether it is a write; the share is in percent. A write adds one to each word; a reader finds
//! out whether the words it has copied are equal to each other and no less than those it has seen before, and at last they are
//! compared with the number of writes.

use std::hint::black_box;
use std::time::Duration;

use corecast::base::{Clock, CpuId};
use corecast::lock::{Domains, Setup};
use fastrand::Rng;

use super::super::together::{Stop, in_turn, mops, seconds, together};
use super::value::{Value, Words};
use corecast_race::failure::Failure;

/// The work of a crowd.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd<'a> {
    pub(super) threads: usize,
    /// Of a hundred accesses.
    pub(super) writes: u32,
    /// The CPUs that threads are bound to, in turn.
    pub(super) cpus: &'a [CpuId],
    pub(super) domains: &'a Domains,
    /// For so long.
    pub(super) time: Duration,
    pub(super) seed: u64,
}

/// The results of one contender in one block.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// Accesses of each thread.
    pub(super) counts: Vec<u64>,
    /// How many of them were writes.
    pub(super) writes: u64,
    /// Seconds from the first thread's start to the last one's end.
    pub(super) seconds: f64,
}

impl Turn {
    /// Millions of accesses in a second, of all threads.
    pub(super) fn mops(&self) -> f64 {
        mops(&self.counts, self.seconds)
    }

    /// The accesses that were writes.
    pub(super) fn write_mops(&self) -> f64 {
        mops(&[self.writes], self.seconds)
    }
}

#[derive(Clone, Debug, Default)]
struct Thread {
    count: u64,
    writes: u64,
    seen: Words,
    wrong: Option<Words>,
    start: u64,
    end: u64,
}

/// Runs the crowd over a new value.
pub(super) fn crowd<V: Value>(crowd: &Crowd<'_>) -> Result<Turn, Failure> {
    let mut setup = Setup::of_threads(crowd.threads);
    setup.domains = crowd.domains.clone();
    let value = V::new(&setup);
    let seats: Vec<_> = in_turn(crowd.cpus, crowd.threads).collect();
    let threads = together(&seats, crowd.time, &|rank, stop| take(crowd, &value, rank, stop))?;
    turn(&threads, value.read(&value.reader()))
}

/// The counts of the threads, if the values they saw and the values left are right.
fn turn(threads: &[Thread], left: Words) -> Result<Turn, Failure> {
    if let Some(words) = threads.iter().find_map(|thread| thread.wrong) {
        return Err(Failure::Wrong(format!("a reader has seen {words:?}, which is torn or has been before")));
    }
    let writes = threads.iter().map(|thread| thread.writes).sum();
    if left != [writes; 4] {
        return Err(Failure::Wrong(format!("{writes} writes have counted to {left:?}")));
    }
    let counts = threads.iter().map(|thread| thread.count).collect();
    Ok(Turn { counts, writes, seconds: seconds(threads.iter().map(|thread| (thread.start, thread.end))) })
}

/// One thread of it.
fn take<V: Value>(crowd: &Crowd<'_>, value: &V, rank: usize, stop: &Stop) -> Thread {
    let clock = Clock::get();
    let mut random = Rng::with_seed(crowd.seed ^ (rank as u64) << 32);
    let reader = value.reader();
    let mut thread = Thread { start: clock.ticks(), ..Thread::default() };
    while !stop.is_over() {
        if crowd.writes > 0 && random.u32(..100) < crowd.writes {
            value.add_one();
            thread.writes += 1;
        } else {
            thread.look(black_box(value.read(&reader)));
        }
        thread.count += 1;
    }
    thread.end = clock.ticks();
    thread
}

impl Thread {
    #[inline]
    fn look(&mut self, words: Words) {
        if words != [words[0]; 4] || words[0] < self.seen[0] {
            self.wrong.get_or_insert(words);
        }
        self.seen = words;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_knows_a_torn_value_and_one_that_has_been_before() {
        let mut thread = Thread::default();
        thread.look([1; 4]);
        thread.look([1; 4]);
        assert_eq!(thread.wrong, None);
        let mut torn = thread.clone();
        torn.look([2, 2, 2, 1]);
        thread.look([0; 4]);
        assert_eq!((torn.wrong, thread.wrong), (Some([2, 2, 2, 1]), Some([0; 4])));
        let error = turn(&[torn], [0; 4]).expect_err("it is wrong");
        assert!(error.to_string().contains("[2, 2, 2, 1]"), "{error}");
    }

    #[test]
    fn a_lost_write_is_told() {
        let thread = Thread { writes: 3, count: 4, end: 9, ..Thread::default() };
        let error = turn(&[thread.clone(), thread.clone()], [5; 4]).expect_err("one is lost");
        assert!(error.to_string().contains("6 writes have counted to [5, 5, 5, 5]"), "{error}");
        let turn = turn(&[thread.clone(), thread], [6; 4]).expect("right");
        assert_eq!((turn.counts, turn.writes), (vec![4, 4], 6));
    }
}
