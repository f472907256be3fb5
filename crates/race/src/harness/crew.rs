//! The threads that run the blocks: one for each participant, bound to its CPU, asleep between blocks.
//!
//! Blocks of different contenders run on the same threads one after the other, so that they differ in nothing but the
//! contender. A participant that panics or fails makes the harness raise the contender's [`Abort`]; one that does not come
//! back in time is given up together with its crew, whose threads keep what they hold until they end, and fresh threads
//! take their places. So a broken contender costs its own rows of the report and the time allowed, nothing more.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use corecast::base::CpuId;
use corecast::machine::pin::{self, PinError};

use super::abort::Abort;
use super::body::Body;
use super::patience::Patience;
use super::rendezvous::Rendezvous;
use super::task::{Share, Stamps, Task};
use crate::failure::Failure;

/// How long the others are waited for after a participant failed.
const GRACE: Duration = Duration::from_millis(500);
/// How often the harness looks whether the user stops the run.
const LOOK: Duration = Duration::from_millis(50);

/// One pinned thread for each participant.
#[derive(Debug)]
pub struct Crew {
    /// The CPU of each thread; `None` leaves it to the system.
    cpus: Vec<Option<CpuId>>,
    patience: Patience,
    limit: Duration,
    threads: Vec<Sender<Order>>,
}

/// The bodies and the stamps that a block leaves behind when all participants did their part, by rank.
pub struct Block {
    /// The bodies, by rank.
    pub bodies: Vec<Box<dyn Body>>,
    /// The stamps of each participant, by rank.
    pub timings: Vec<Stamps>,
}

struct Order {
    share: Share,
    board: Arc<Board>,
}

type Outcome = Result<(Box<dyn Body>, Stamps), Failure>;

impl Crew {
    /// A thread on each of `cpus`, several on one if it is named several times. A block may take as long as `limit`.
    ///
    /// # Errors
    /// If a thread could not be started or bound to its CPU.
    pub fn start(cpus: &[CpuId], oversubscribed: bool, limit: Duration) -> Result<Self, PinError> {
        Self::seated(cpus.iter().copied().map(Some).collect(), oversubscribed, limit)
    }

    /// As [`Crew::start`], with threads that the system may move where a CPU is `None`.
    ///
    /// # Errors
    /// As [`Crew::start`].
    pub fn seated(cpus: Vec<Option<CpuId>>, oversubscribed: bool, limit: Duration) -> Result<Self, PinError> {
        let patience = Patience::new(oversubscribed);
        let threads = spawn_all(&cpus)?;
        Ok(Self { cpus, patience, limit, threads })
    }

    /// How the participants wait for each other.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Runs one block: `bodies[rank]` on the thread of that rank.
    ///
    /// # Errors
    /// The first failure of a participant; the bodies are then gone.
    pub fn run(&mut self, bodies: Vec<Box<dyn Body>>, task: Task, abort: &Arc<Abort>) -> Result<Block, Failure> {
        assert_eq!(bodies.len(), self.cpus.len(), "a contender has a body for each participant");
        if self.threads.is_empty() {
            self.threads = spawn_all(&self.cpus).map_err(|error| Failure::NoCrew(error.to_string()))?;
        }
        let board = Arc::new(Board::new(bodies.len()));
        let start = Arc::new(Rendezvous::new(bodies.len(), self.patience));
        for ((rank, body), thread) in bodies.into_iter().enumerate().zip(&self.threads) {
            let (start, abort) = (Arc::clone(&start), Arc::clone(abort));
            let order = Order { share: Share { rank, task, body, start, abort }, board: Arc::clone(&board) };
            thread.send(order).map_err(|_| Failure::NoCrew(format!("the thread of member {rank} is gone")))?;
        }
        self.collect(&board, abort)
    }

    fn collect(&mut self, board: &Board, abort: &Abort) -> Result<Block, Failure> {
        let missing = board.wait(self.limit, Some(abort));
        // Ends that give up break others, whose failures say nothing then. Until here nobody but the user stops a block.
        let is_stopped = abort.check().is_err();
        if missing.is_empty() {
            return board.take().map_err(|failure| if is_stopped { Failure::Aborted } else { failure });
        }
        let failed = board.failure();
        abort.raise();
        let missing_still = board.wait(GRACE, None);
        if !missing_still.is_empty() {
            // Their threads end when they find that nobody can send them orders any more, if they ever look.
            self.threads.clear();
        }
        if is_stopped {
            return Err(Failure::Aborted);
        }
        // A participant that gave up because of another may have been seen before the other.
        let failed = if failed == Some(Failure::Aborted) { board.failure() } else { failed };
        Err(failed.unwrap_or(Failure::Hung { missing, limit_ms: self.limit.as_millis() }))
    }
}

fn spawn_all(cpus: &[Option<CpuId>]) -> Result<Vec<Sender<Order>>, PinError> {
    // Pinned inside the child: a thread inherits the mask of the one that spawns it.
    let started: Vec<_> = cpus.iter().map(|&cpu| spawn(cpu)).collect();
    started.into_iter().collect()
}

fn spawn(cpu: Option<CpuId>) -> Result<Sender<Order>, PinError> {
    let (orders, inbox) = channel::<Order>();
    let (report, pinned) = channel();
    let serve = move || {
        let outcome = cpu.map_or(Ok(()), |cpu| pin::pin(cpu).map(pin::Pinned::forever));
        let is_pinned = outcome.is_ok();
        if report.send(outcome).is_ok() && is_pinned {
            inbox.into_iter().for_each(Order::execute);
        }
    };
    let refused = |reason: String| PinError::Refused { cpu: cpu.unwrap_or(CpuId::new(0)), reason };
    let place = cpu.map_or_else(|| "any-cpu".to_owned(), |cpu| format!("cpu{cpu}"));
    thread::Builder::new()
        .name(format!("bench-{place}"))
        .spawn(serve)
        .map_err(|error| refused(format!("no thread could be started: {error}")))?;
    pinned.recv().map_err(|_| refused("its thread ended at once".to_owned()))??;
    Ok(orders)
}

impl Order {
    fn execute(self) {
        let rank = self.share.rank;
        // The body travels into the closure, so that a panic drops it while unwinding and its peers hear of it.
        let share = AssertUnwindSafe(self.share);
        let outcome = catch_unwind(move || {
            let share = share;
            share.0.execute()
        });
        let outcome = outcome.unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            Err(Failure::Panicked { rank, message: text.unwrap_or_else(|| "no message".to_owned()) })
        });
        self.board.put(rank, outcome);
    }
}

/// Where the participants of one block leave their outcomes; the last one, or one that failed, wakes the harness.
struct Board {
    outcomes: Mutex<Vec<Option<Outcome>>>,
    changed: Condvar,
}

impl Board {
    fn new(participants: usize) -> Self {
        Self { outcomes: Mutex::new((0..participants).map(|_| None).collect()), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<Outcome>>> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, rank: usize, outcome: Outcome) {
        let is_failure = outcome.is_err();
        let mut outcomes = self.lock();
        outcomes[rank] = Some(outcome);
        if is_failure || outcomes.iter().all(Option::is_some) {
            self.changed.notify_one();
        }
    }

    /// Waits until all have come or the time is over; with a flag also until one has failed or the flag is raised. Returns the
    /// ranks that are missing: none, only if all came and, with a flag, none failed.
    fn wait(&self, limit: Duration, abort: Option<&Abort>) -> Vec<usize> {
        let deadline = Instant::now() + limit;
        let mut outcomes = self.lock();
        loop {
            let missing: Vec<usize> = (0..outcomes.len()).filter(|&rank| outcomes[rank].is_none()).collect();
            let has_failed = abort.is_some() && outcomes.iter().flatten().any(Result::is_err);
            let is_stopped = abort.is_some_and(|abort| abort.check().is_err());
            let left = deadline.saturating_duration_since(Instant::now());
            if missing.is_empty() || has_failed || is_stopped || left.is_zero() {
                return missing;
            }
            outcomes = self.changed.wait_timeout(outcomes, left.min(LOOK)).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The failure that came first in rank order and is not the echo of another.
    fn failure(&self) -> Option<Failure> {
        let outcomes = self.lock();
        let mut failures = outcomes.iter().flatten().filter_map(|outcome| outcome.as_ref().err());
        let first = failures.clone().find(|failure| **failure != Failure::Aborted);
        first.or_else(|| failures.next()).cloned()
    }

    /// All outcomes, once everybody has come.
    fn take(&self) -> Result<Block, Failure> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let outcomes = std::mem::take(&mut *self.lock());
        let all: Result<Vec<_>, Failure> = outcomes.into_iter().flatten().collect();
        let (bodies, timings) = all?.into_iter().unzip();
        Ok(Block { bodies, timings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::Cancel;

    /// Does what the test says, by rank.
    struct Scripted(Box<dyn FnMut() -> Result<(), Failure> + Send>);

    impl Body for Scripted {
        fn run(&mut self, iterations: u64) -> Result<(), Failure> {
            (0..iterations).try_for_each(|_| (self.0)())
        }

        fn check(&mut self, rounds: u64) -> Result<(), Failure> {
            self.run(rounds)
        }
    }

    fn crew(members: usize, limit: Duration) -> Crew {
        let cpu = pin::affinity().expect("own mask").as_slice()[0];
        Crew::start(&vec![cpu; members], true, limit).expect("an allowed CPU")
    }

    fn body(f: impl FnMut() -> Result<(), Failure> + Send + 'static) -> Box<dyn Body> {
        Box::new(Scripted(Box::new(f)))
    }

    #[test]
    fn bodies_come_back_in_order_and_times_run_forward() {
        let mut crew = crew(3, Duration::from_secs(10));
        let abort = Arc::new(Abort::default());
        let bodies = (0..3).map(|_| body(|| Ok(()))).collect();
        let block = crew.run(bodies, Task::Batch { iterations: 5 }, &abort).expect("nothing fails");
        let block = crew.run(block.bodies, Task::Windows { count: 4, width: 1000 }, &abort).expect("nothing fails");
        for timing in block.timings {
            assert!(timing.end >= timing.start);
            assert_eq!(timing.windows.len(), 4);
        }
    }

    #[test]
    fn the_root_hears_an_echo_of_everybody_and_times_each() {
        let mut crew = crew(3, Duration::from_secs(10));
        let point = Arc::new(Rendezvous::new(3, Patience::new(true)));
        let meets = |_| {
            let point = Arc::clone(&point);
            body(move || point.meet(&Abort::default()))
        };
        let bodies = (0..3).map(meets).collect();
        let mut block = Block { bodies, timings: Vec::new() };
        for (operations, is_reversed) in [(4, false), (2, false), (3, true)] {
            let task = Task::Echoed { root: 1, is_reversed, operations };
            block = crew.run(block.bodies, task, &Arc::default()).expect("all answer");
            let times = block.timings.iter().map(|timing| timing.windows.len() as u64);
            assert_eq!(times.collect::<Vec<_>>(), [0, 2 * operations, 0]);
        }
    }

    #[test]
    fn a_panic_is_reported_and_frees_those_who_wait_for_it() {
        let mut crew = crew(2, Duration::from_secs(10));
        let abort = Arc::new(Abort::default());
        let theirs = Arc::clone(&abort);
        let waits = body(move || Patience::new(true).until(&theirs, || false));
        let outcome = crew.run(vec![waits, body(|| panic!("planted"))], Task::Check { rounds: 1 }, &abort);
        let expected = Failure::Panicked { rank: 1, message: "planted".to_owned() };
        assert_eq!(outcome.map(|_| ()), Err(expected));
        let bodies = vec![body(|| Ok(())), body(|| Ok(()))];
        crew.run(bodies, Task::Batch { iterations: 1 }, &Arc::default()).expect("the crew goes on");
    }

    #[test]
    fn the_cause_is_reported_even_if_its_echo_comes_first() {
        let mut crew = crew(2, Duration::from_secs(10));
        let abort = Arc::new(Abort::default());
        let theirs = Arc::clone(&abort);
        let cause = body(move || {
            let waited = Patience::new(true).until(&theirs, || false);
            waited.map_err(|_| Failure::Refused("the cause".to_owned()))
        });
        let bodies = vec![body(|| Err(Failure::Aborted)), cause];
        let outcome = crew.run(bodies, Task::Batch { iterations: 1 }, &abort);
        assert_eq!(outcome.map(|_| ()), Err(Failure::Refused("the cause".to_owned())));
    }

    #[test]
    fn the_user_stops_a_block_that_would_last_for_long() {
        let user = Cancel::new();
        let abort = Arc::new(Abort::heeding(&user));
        let mut crew = crew(2, Duration::from_secs(1000));
        let theirs = Arc::clone(&abort);
        let stops = body(move || {
            user.cancel();
            Ok(())
        });
        let breaks = body(move || {
            let waited = Patience::new(true).until(&theirs, || false);
            waited.map_err(|_| Failure::Refused("the other end is closed".to_owned()))
        });
        let outcome = crew.run(vec![breaks, stops], Task::Batch { iterations: 1 }, &abort);
        assert_eq!(outcome.map(|_| ()), Err(Failure::Aborted));
    }

    #[test]
    fn a_member_that_never_returns_is_given_up_and_replaced() {
        let mut crew = crew(2, Duration::from_millis(20));
        let (keep, never) = channel::<()>();
        let hangs = body(move || never.recv().map_err(Failure::refused));
        let outcome = crew.run(vec![body(|| Ok(())), hangs], Task::Batch { iterations: 1 }, &Arc::default());
        assert_eq!(outcome.map(|_| ()), Err(Failure::Hung { missing: vec![1], limit_ms: 20 }));
        let bodies = vec![body(|| Ok(())), body(|| Ok(()))];
        crew.limit = Duration::from_secs(10);
        crew.run(bodies, Task::Batch { iterations: 1 }, &Arc::default()).expect("fresh threads");
        drop(keep);
    }
}
