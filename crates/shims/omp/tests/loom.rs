//! Every interleaving of the words of a team among two and three members. Run by `ci/loom.sh`.
//!
//! The runtime is modelled by a barrier that runs the tasks that are queued, and counts its callers.
#![cfg(loom)]

use corecast_base::sync::{Arc, AtomicU64, Mutex, Ordering, spin_hint};
use corecast_base::wait::{CpuSharing, Wait, Waiter};
use corecast_omp::lines::{Crossing, Position, Shape, TeamLines};
use loom::thread;

/// The tasks that were created and not run, and the runtime's own barrier.
struct Runtime {
    size: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tasks: usize,
    ran: usize,
    arrivals: usize,
}

impl Runtime {
    fn create_task(&self) {
        self.state.lock().expect("no member panics while it holds the state").tasks += 1;
    }

    /// Waits for all members and until no task is left. A model has no more than one barrier of the runtime.
    fn barrier(&self) {
        let mut state = self.state.lock().expect("no member panics while it holds the state");
        state.arrivals += 1;
        state.ran += std::mem::take(&mut state.tasks);
        drop(state);
        while self.state.lock().expect("no member panics while it holds the state").arrivals < self.size {
            spin_hint();
        }
    }

    fn ran(&self) -> usize {
        self.state.lock().expect("no member panics while it holds the state").ran
    }
}

/// The words that the members of a model share.
struct Shared {
    lines: TeamLines,
    runtime: Runtime,
    words: Vec<AtomicU64>,
    size: usize,
    policy: Wait,
}

/// A member between barriers.
struct Member {
    shared: Arc<Shared>,
    me: Position,
    interval: u64,
    waiter: Waiter,
}

impl Member {
    fn new(shared: &Arc<Shared>, tid: usize) -> Self {
        let size = shared.size;
        let waiter = Waiter::new(shared.policy, CpuSharing::unpinned(size), None);
        Self { shared: Arc::clone(shared), me: Position { tid, size }, interval: 1, waiter }
    }

    fn create_task(&self) {
        self.shared.lines.announce_task(self.interval, self.me.size);
        self.shared.runtime.create_task();
    }

    /// Writes its word with the weakest ordering, ends its interval, and sees what all others have written.
    fn end_interval(&mut self) -> Crossing {
        let shared = Arc::clone(&self.shared);
        // ORDERING: Relaxed, the barrier under test orders it
        shared.words[self.me.tid].store(self.interval, Ordering::Relaxed);
        let crossing = shared.lines.cross(self.me, self.interval, &mut self.waiter);
        if crossing == Crossing::Diverted {
            shared.runtime.barrier();
        }
        for word in &shared.words {
            // ORDERING: Relaxed, the barrier under test orders it
            let seen = word.load(Ordering::Relaxed);
            assert!(seen == self.interval || seen == self.interval + 1, "{seen} in interval {}", self.interval);
        }
        self.interval += 1;
        crossing
    }
}

/// Runs `body` as every member, on a thread each.
fn model(size: usize, shape: Shape, policy: Wait, body: impl Fn(&mut Member) + Copy + Send + Sync + 'static) {
    loom::model(move || {
        let lines = TeamLines::new(size, shape, policy);
        let words = (0..size).map(|_| AtomicU64::new(0)).collect();
        let runtime = Runtime { size, state: Mutex::new(State::default()) };
        let shared = Arc::new(Shared { lines, runtime, words, size, policy });
        let others: Vec<_> = (1..size)
            .map(|tid| {
                let mut member = Member::new(&shared, tid);
                thread::spawn(move || body(&mut member))
            })
            .collect();
        body(&mut Member::new(&shared, 0));
        others.into_iter().for_each(|thread| thread.join().expect("a member ends"));
    });
}

const EXCHANGE: Shape = Shape { exchange_up_to: 8, radix: 8 };
/// Small enough that two members are a tree, and three a tree of two levels.
const TREE: Shape = Shape { exchange_up_to: 1, radix: 2 };

fn fast(member: &mut Member) {
    assert_eq!(member.end_interval(), Crossing::Fast);
    assert_eq!(member.end_interval(), Crossing::Fast);
}

/// A task in the first interval, none in the second.
fn diverted_once(member: &mut Member) {
    if member.me.tid == 1 {
        member.create_task();
    }
    assert_eq!(member.end_interval(), Crossing::Diverted);
    assert_eq!(member.shared.runtime.ran(), 1);
    assert_eq!(member.end_interval(), Crossing::Fast);
}

/// No task in the first interval, one in the second.
fn diverted_later(member: &mut Member) {
    assert_eq!(member.end_interval(), Crossing::Fast);
    if member.me.tid == 0 {
        member.create_task();
    }
    assert_eq!(member.end_interval(), Crossing::Diverted);
    assert_eq!(member.shared.runtime.ran(), 1);
}

/// A task in one interval, which sleepers may miss.
fn one_diversion(member: &mut Member) {
    if member.me.tid == 1 {
        member.create_task();
    }
    assert_eq!(member.end_interval(), Crossing::Diverted);
}

fn one_crossing(member: &mut Member) {
    assert_eq!(member.end_interval(), Crossing::Fast);
}

#[test]
fn lines_exchanged_by_two() {
    model(2, EXCHANGE, Wait::Spin, fast);
}

#[test]
fn lines_exchanged_by_two_and_a_task_before() {
    model(2, EXCHANGE, Wait::Spin, diverted_once);
}

#[test]
fn lines_exchanged_by_two_and_a_task_later() {
    model(2, EXCHANGE, Wait::Spin, diverted_later);
}

#[test]
fn lines_exchanged_by_sleepers() {
    model(2, EXCHANGE, Wait::Park, one_crossing);
}

#[test]
fn lines_exchanged_by_sleepers_and_a_task() {
    model(2, EXCHANGE, Wait::Park, one_diversion);
}

#[test]
fn lines_exchanged_by_three() {
    model(3, EXCHANGE, Wait::Spin, one_crossing);
}

#[test]
fn tree_of_two() {
    model(2, TREE, Wait::Spin, fast);
}

#[test]
fn tree_of_two_and_a_task_before() {
    model(2, TREE, Wait::Spin, diverted_once);
}

#[test]
fn tree_of_sleepers() {
    model(2, TREE, Wait::Park, one_crossing);
}

#[test]
fn tree_of_sleepers_and_a_task() {
    model(2, TREE, Wait::Park, one_diversion);
}

#[test]
fn tree_of_three() {
    model(3, TREE, Wait::Spin, one_crossing);
}

#[test]
fn tree_of_three_and_a_task() {
    model(3, TREE, Wait::Spin, one_diversion);
}
