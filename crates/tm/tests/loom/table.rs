//! Models of the form of messages: a server for each variable.

use corecast_base::sync::Mutex;
use corecast_tm::Manager;
use corecast_tm::lock_table::LockTable;
use corecast_tm::rule::{Reply, Request, Rule};
use corecast_tm::status::ClientId;

use super::world::{self, Board, Form};

struct Servers([Mutex<LockTable>; 2]);

impl Form for Servers {
    fn new() -> Self {
        Self([0, 1].map(|_| Mutex::new(LockTable::with_slots(2, 2))))
    }

    fn ask(&self, board: &Board, by: Request, var: u32, is_write: bool) -> Reply {
        let (rule, mut table) = (Rule::new(Manager::FairCm), self.0[var as usize].lock().expect("nobody panics here"));
        if is_write { rule.store(&mut *table, board, by, var) } else { rule.load(&mut *table, board, by, var) }
    }

    fn release(&self, client: ClientId, epoch: u64, var: u32, _is_write: bool) {
        self.0[var as usize].lock().expect("nobody panics here").release_all(client, epoch);
    }

    /// Its status ends them.
    fn release_stored(&self, _client: ClientId, _var: u32) {}
}

#[test]
fn a_reader_gives_way() {
    world::a_reader_gives_way::<Servers>();
}

#[test]
fn a_writer_gives_way() {
    world::a_writer_gives_way::<Servers>();
}

#[test]
fn two_add() {
    world::two_add::<Servers>();
}

#[test]
fn a_late_release() {
    world::a_late_release::<Servers>();
}
