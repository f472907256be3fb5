//! Tasks of one member: an inbox that others fill, and a deque of its own from which it runs them.
//!
//! A task lies in memory of its own and is known by a number. A sender pushes the number into the inbox of the member that
//! is to run the task, a bounded queue of many producers. The owner of an inbox moves its tasks to the deque when that is
//! empty. It also does so, without running anything, when it wants to push into another inbox and finds it full: as every
//! member that waits for room thus makes room, members cannot all wait for each other in a circle. The deque never grows
//! beyond the number of all tasks.
//!
//! Last in, first out is the paper's discipline. It runs what is in the cache, and reorders.
//!
//! **Progress:** pushing is lock-free among producers, taking is wait-free. **Memory ordering:** what a producer wrote before it
//! pushed is seen by the owner when it runs the task.
//!
//! Source: the paper on diamond rings, section 5; the queue is a bounded ring of stamped words.

use std::collections::VecDeque;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, CacheLine, PlaceSlice};

/// Tasks that fit into an inbox.
const INBOX_TASKS: usize = 64;

/// The order in which a member runs its tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Discipline {
    /// As they came.
    #[default]
    Fifo,
    /// The last first.
    Lifo,
}

/// The inboxes of all members.
///
/// The word for the task at position p, in lap l = p div [`INBOX_TASKS`]: `2l` in the upper half if it may be written, `2l +
/// 1` there and the task in the lower half once it has been. Zeroes are an empty inbox.
#[derive(Debug, Clone)]
pub(super) struct Inboxes {
    /// Tasks pushed so far, for each inbox. Written by the producers that claim positions.
    pushed: PlaceSlice<CacheLine<AtomicU64>>,
    /// The words of all inboxes. Filled by the producer that has claimed the position, emptied by the owner.
    words: PlaceSlice<AtomicU64>,
}

/// The error of a full inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InboxFull;

/// One member's inbox and deque.
#[derive(Debug)]
pub(super) struct Scheduler {
    inboxes: Inboxes,
    rank: usize,
    discipline: Discipline,
    /// Tasks taken from the inbox so far.
    taken: u64,
    deque: VecDeque<u32>,
}

impl Inboxes {
    /// One for each member.
    pub(super) fn lay_out(arena: &mut Arena, members: usize) -> Result<Self, ArenaError> {
        Ok(Self { pushed: arena.slice(members)?, words: arena.slice(members * INBOX_TASKS)? })
    }

    /// Pushes a task into a member's inbox. The caller then wakes that member.
    pub(super) fn push(&self, rank: usize, task: u32) -> Result<(), InboxFull> {
        let mut position = self.pushed(rank);
        loop {
            let (word, lap) = self.word(rank, position);
            let is_free = stamp(word) == lap;
            let now = self.pushed(rank);
            if now != position {
                position = now;
            } else if !is_free {
                return Err(InboxFull);
            } else if self.claim(rank, position) {
                let full = u64::from(lap + 1) << 32 | u64::from(task);
                // ORDERING: Release, pairs with the Acquire in pop: the task is there [inbox]
                word.store(full, Ordering::Release);
                return Ok(());
            }
        }
    }

    /// Whether a push into a member's inbox would find room, if no other member pushed.
    pub(super) fn has_room(&self, rank: usize) -> bool {
        let (word, lap) = self.word(rank, self.pushed(rank));
        stamp(word) == lap
    }

    fn pushed(&self, rank: usize) -> u64 {
        // ORDERING: Relaxed, a count of claims, which say nothing but themselves; the words carry the tasks
        self.pushed[rank].load(Ordering::Relaxed)
    }

    /// Claims the position for the caller, unless another producer has it already.
    fn claim(&self, rank: usize, position: u64) -> bool {
        let pushed = &self.pushed[rank];
        // ORDERING: Relaxed, a claim says nothing but itself
        pushed.compare_exchange(position, position + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The word of a position, and the stamp that it has while it may be written: even.
    fn word(&self, rank: usize, position: u64) -> (&AtomicU64, u32) {
        const TASKS: u64 = INBOX_TASKS as u64;
        let lap = ((position / TASKS) as u32).wrapping_mul(2);
        (&self.words[rank * INBOX_TASKS + (position % TASKS) as usize], lap)
    }

    /// Takes the task at this position, if it is there, and frees its word.
    fn pop(&self, rank: usize, position: u64) -> Option<u32> {
        let (word, lap) = self.word(rank, position);
        // ORDERING: Acquire, pairs with the Release in push [inbox]
        let found = word.load(Ordering::Acquire);
        if (found >> 32) as u32 != lap + 1 {
            return None;
        }
        // ORDERING: Relaxed, the task's number has been read from the word itself
        word.store(u64::from(lap.wrapping_add(2)) << 32, Ordering::Relaxed);
        Some(found as u32)
    }
}

impl Scheduler {
    /// The scheduler of this member, which never has more than `most` tasks.
    pub(super) fn new(inboxes: Inboxes, rank: usize, discipline: Discipline, most: usize) -> Self {
        Self { inboxes, rank, discipline, taken: 0, deque: VecDeque::with_capacity(most) }
    }

    /// All members' inboxes.
    pub(super) fn inboxes(&self) -> &Inboxes {
        &self.inboxes
    }

    /// Moves all tasks from the inbox to the deque; returns their number.
    pub(super) fn drain_inbox(&mut self) -> usize {
        let before = self.deque.len();
        while let Some(task) = self.inboxes.pop(self.rank, self.taken) {
            self.taken += 1;
            self.deque.push_back(task);
        }
        self.deque.len() - before
    }

    /// The next task to run.
    pub(super) fn next(&mut self) -> Option<u32> {
        match self.discipline {
            Discipline::Fifo => self.deque.pop_front(),
            Discipline::Lifo => self.deque.pop_back(),
        }
    }

    /// Whether there is a task in the deque or the inbox.
    pub(super) fn has_tasks(&self) -> bool {
        let (word, lap) = self.inboxes.word(self.rank, self.taken);
        !self.deque.is_empty() || stamp(word) == lap + 1
    }

    /// Whether the deque is empty.
    pub(super) fn is_idle(&self) -> bool {
        self.deque.is_empty()
    }
}

/// The stamp in a word, for a guess at what the word holds.
fn stamp(word: &AtomicU64) -> u32 {
    // ORDERING: Relaxed, a free word holds nothing that was to be read, and a thread that takes a task reads the word anew
    (word.load(Ordering::Relaxed) >> 32) as u32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn inboxes(members: usize) -> Inboxes {
        Inboxes::lay_out(&mut Arena::heap(), members).expect("the heap has room")
    }

    fn run(discipline: Discipline) -> Vec<u32> {
        let mut scheduler = Scheduler::new(inboxes(2), 1, discipline, 8);
        let push = |scheduler: &Scheduler, task| scheduler.inboxes().push(1, task).expect("there is room");
        (0..3).for_each(|task| push(&scheduler, task));
        scheduler.drain_inbox();
        let first = scheduler.next();
        push(&scheduler, 3);
        let rest = std::iter::from_fn(|| {
            if scheduler.is_idle() {
                scheduler.drain_inbox();
            }
            scheduler.next()
        });
        first.into_iter().chain(rest).collect()
    }

    #[test]
    fn tasks_run_as_the_discipline_says() {
        assert_eq!(run(Discipline::Fifo), [0, 1, 2, 3]);
        assert_eq!(run(Discipline::Lifo), [2, 1, 0, 3], "the inbox is looked at when the deque is empty");
    }

    #[test]
    fn a_full_inbox_takes_no_more_until_it_is_drained() {
        let mut scheduler = Scheduler::new(inboxes(1), 0, Discipline::Fifo, 2 * INBOX_TASKS);
        for lap in 0..5 {
            let base = lap * INBOX_TASKS as u32;
            for task in 0..INBOX_TASKS as u32 {
                assert!(scheduler.inboxes().has_room(0));
                scheduler.inboxes().push(0, base + task).expect("there is room");
            }
            assert!(!scheduler.inboxes().has_room(0));
            assert_eq!(scheduler.inboxes().push(0, 0), Err(InboxFull));
            assert_eq!(scheduler.drain_inbox(), INBOX_TASKS);
            let run: Vec<u32> = std::iter::from_fn(|| scheduler.next()).collect();
            assert_eq!(run, (base..base + INBOX_TASKS as u32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_producers_lose_and_double_nothing() {
        let shared = inboxes(1);
        let mut scheduler = Scheduler::new(shared.clone(), 0, Discipline::Lifo, 4000);
        let mut found = std::thread::scope(|scope| {
            for producer in 0..4 {
                let shared = &shared;
                scope.spawn(move || {
                    for task in producer * 1000..(producer + 1) * 1000 {
                        while shared.push(0, task).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let mut found = Vec::new();
            while found.len() < 4000 {
                if scheduler.drain_inbox() == 0 {
                    std::thread::yield_now();
                }
                found.extend(std::iter::from_fn(|| scheduler.next()));
            }
            found
        });
        found.sort_unstable();
        assert_eq!(found, (0..4000).collect::<Vec<_>>());
    }
}
