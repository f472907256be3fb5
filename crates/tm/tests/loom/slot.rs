//! Models of the shared form: a bucket for each variable.

use corecast_base::sync::{AtomicU64, Mutex};
use corecast_tm::Manager;
use corecast_tm::rule::{Claim, Reply, Request, Rule, Statuses};
use corecast_tm::slot::{Met, Slot};
use corecast_tm::status::ClientId;

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
        if if is_write { slot.try_write() } else { slot.try_read() } {
            return Reply::Granted;
        }
        let mut met = Met::default();
        // The other one's key: theirs differ.
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
