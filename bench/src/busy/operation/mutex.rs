//! Critical sections: every member takes the same lock, works behind it, and frees it.
//!
//! Behind the lock a word is added to, and a second one beside that no lock knows of, by a load and a store. If two members
//! were ever behind the lock at once, or one had not seen what another did there, the two would differ.

use std::sync::Arc;

use corecast::base::sync::{AtomicU64, Ordering};
use corecast::lock::{Auto, Domains, Mutex, Setup};

use super::candidate::{Bodies, Candidate, judged, of_std, rival};
use crate::locks::{Guarded, Line, Pthread};
use corecast_race::contender::Setting;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body, empty_steps};

/// Empty steps of a long section.
const LONG: u64 = 5000;

/// A member.
struct Taker<G> {
    guarded: Arc<G>,
    /// The second word; read and written behind the lock.
    beside: Arc<AtomicU64>,
    /// Empty steps of each section.
    steps: u64,
}

/// Sections that only add.
pub(super) fn short_sections() -> Vec<Candidate> {
    of(0)
}

/// Sections that take some microseconds.
pub(super) fn long_sections() -> Vec<Candidate> {
    of(LONG)
}

fn of(steps: u64) -> Vec<Candidate> {
    vec![
        judged(takers::<Mutex<Line, Auto>>(steps)),
        of_std(takers::<std::sync::Mutex<Line>>(steps)),
        rival("parking_lot", true, takers::<parking_lot::Mutex<Line>>(steps)),
        rival("pthread", true, takers::<Pthread<{ libc::PTHREAD_MUTEX_NORMAL }>>(steps)),
    ]
}

fn takers<G: Guarded + Send + 'static>(steps: u64) -> impl Fn(&Setting<'_>, &Arc<Abort>) -> Bodies + 'static {
    move |setting, _| {
        let mut setup = Setup::of_threads(setting.participants());
        setup.domains = Domains::of_machine(setting.machine);
        let (guarded, beside) = (Arc::new(G::new(&setup)), Arc::new(AtomicU64::new(0)));
        let taker = |_| {
            let (guarded, beside) = (Arc::clone(&guarded), Arc::clone(&beside));
            Box::new(Taker { guarded, beside, steps }) as Box<dyn Body>
        };
        Ok((0..setting.participants()).map(taker).collect())
    }
}

impl<G: Guarded + Send + 'static> Body for Taker<G> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            let (counted, beside) = self.guarded.with(|line| {
                line.0 += 1;
                empty_steps(self.steps);
                // ORDERING: Relaxed, to order it is what the lock under test is for
                let beside = self.beside.load(Ordering::Relaxed) + 1;
                // ORDERING: Relaxed, as the load
                self.beside.store(beside, Ordering::Relaxed);
                (line.0, beside)
            });
            if counted != beside {
                return Err(Failure::Wrong(format!("{counted} sections have counted to {beside}")));
            }
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }
}
