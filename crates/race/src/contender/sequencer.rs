//! The textbook atomic broadcast among threads: a log behind one mutex, and one condition variable for all that wait.
//!
//! The log keeps the events of two rounds: a member publishes in a round when it has delivered the one before, so that no
//! event is overwritten that a member has still to deliver.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::bodies::{AtomicStreamEnd, Round, atomic_stream_body};
use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body};

pub(super) struct Sequencer;

struct Log {
    /// Events published so far.
    published: usize,
    /// The publisher and the words of each, at its number modulo their number.
    events: Vec<(usize, Vec<u64>)>,
}

struct Shared {
    log: Mutex<Log>,
    changed: Condvar,
}

struct End {
    rank: usize,
    delivered: usize,
    shared: Arc<Shared>,
}

impl Contender for Sequencer {
    fn name(&self) -> String {
        "mutex+condvar".to_owned()
    }

    fn about(&self) -> String {
        "a log behind one mutex and one condition variable, sleeps at once".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let task = setting.slice_task();
        let events = vec![(0, vec![0; task.words]); 2 * task.members];
        let log = Mutex::new(Log { published: 0, events });
        let shared = Arc::new(Shared { log, changed: Condvar::new() });
        let end = |rank| End { rank, delivered: 0, shared: Arc::clone(&shared) };
        Ok((0..task.members).map(|rank| atomic_stream_body(task, rank, end(rank))).collect())
    }
}

impl AtomicStreamEnd for End {
    fn exchange(&mut self, own: &[u64], round: &mut Round) -> Result<(), Failure> {
        let end = self.delivered + round.events.len();
        let mut log = self.shared.log.lock().unwrap_or_else(PoisonError::into_inner);
        let at = log.published % log.events.len();
        let (origin, words) = &mut log.events[at];
        *origin = self.rank;
        words.copy_from_slice(own);
        log.published += 1;
        if log.published == end {
            // Before that no member has all of the round.
            self.shared.changed.notify_all();
        }
        let is_short = |log: &mut Log| log.published < end;
        let log = self.shared.changed.wait_while(log, is_short).unwrap_or_else(PoisonError::into_inner);
        for number in self.delivered..end {
            let (origin, words) = &log.events[number % log.events.len()];
            round.deliver(*origin, words.iter().copied());
        }
        self.delivered = end;
        Ok(())
    }
}
