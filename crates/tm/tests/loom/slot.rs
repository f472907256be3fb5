//! Models of the shared form: a bucket for each variable.

use corecast_base::sync::{Arc, AtomicU64, Mutex, UnsafeCell};
use corecast_tm::Manager;
use corecast_tm::rule::{Claim, Reply, Request, Rule, Statuses};
use corecast_tm::slot::{Met, Slot};
use corecast_tm::status::ClientId;
use loom::thread;

use super::world::{self, Board, Form};

struct Buckets([(Mutex<()>, [AtomicU64; 2]); 2]);

impl Form for Buckets {
    fn new() -> Self {
        Self([0, 1].map(|_| (Mutex::new(()), [0, 0].map(AtomicU64::new))))
    }

    fn ask(&self, board: &Board, by: Request, var: u32, is_write: bool) -> Reply {
        let (bucket, words) = &self.0[var as usize];
        let (rule, slot) = (Rule::new(Manager::FairCm), Slot::of(words, by.client));
        let _bucket = bucket.lock().expect("nobody panics here");
        let is_free = if is_write { slot.try_write() } else { slot.try_read() };
        if is_free {
            return Reply::Granted;
        }
        let mut met = Met::default();
        met.look(&slot, |client| {
            Some(Claim { epoch: board.get(client).0, key: if client == by.client { by.key } else { 1 - by.key } })
        });
        slot.decide(
            &met,
            |entry| {
                if is_write { entry.store(rule, &met, board, by) } else { entry.load(rule, &met, board, by) }
            },
        )
    }

    fn release(&self, client: ClientId, _epoch: u64, var: u32, is_write: bool) {
        Slot::of(&self.0[var as usize].1, client).release(is_write);
    }
}

#[test]
fn a_reader_gives_way() {
    world::a_reader_gives_way::<Buckets>();
}

#[test]
fn a_writer_gives_way() {
    world::a_writer_gives_way::<Buckets>();
}

#[test]
fn two_add() {
    world::two_add::<Buckets>();
}

/// A bucket, and something that is read and written under its variable's locks without any check afterwards.
struct Guarded {
    buckets: Buckets,
    board: Board,
    value: UnsafeCell<u64>,
}

// SAFETY: the models find every access that is not ordered with the others
unsafe impl Sync for Guarded {}

/// A reader gives its lock back while its attempt goes on. The next writer, whom it would not give way to, comes behind its
/// reads.
#[test]
fn reads_come_before_those_of_the_next_writer() {
    loom::model(|| {
        let guarded = Arc::new(Guarded { buckets: Form::new(), board: Board::new(), value: UnsafeCell::new(0) });
        let by = |client, key| Request { client: ClientId(client), epoch: 1, key };
        [0, 1].into_iter().for_each(|client| guarded.board.of(ClientId(client)).begin(1));
        assert_eq!(guarded.buckets.ask(&guarded.board, by(0, 0), 0, false), Reply::Granted);
        let other = Arc::clone(&guarded);
        let other = thread::spawn(move || {
            if other.buckets.ask(&other.board, by(1, 1), 0, true) == Reply::Granted {
                // SAFETY: the models find a read that is not ordered with this
                other.value.with_mut(|value| unsafe { *value = 1 });
            }
        });
        // SAFETY: the models find a write that is not ordered with this
        guarded.value.with(|value| unsafe { *value });
        guarded.buckets.release(ClientId(0), 1, 0, false);
        other.join().expect("it ends");
    });
}
