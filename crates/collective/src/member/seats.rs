//! The seats of a group of threads.

use corecast_base::sync::{Arc, Mutex};

use super::Ends;
use crate::membership::MemberTable;

const UNPOISONED: &str = "nobody panics while holding the seats";

/// The place where members' ends wait to be taken, and to which they return.
#[derive(Debug)]
pub(crate) struct Seats {
    pub(crate) table: Arc<MemberTable>,
    /// The ends of each member that is not joined. Locked at joining and leaving only.
    ends: Mutex<Vec<Option<Ends>>>,
}

impl Seats {
    pub(crate) fn of(table: Arc<MemberTable>, ends: Vec<Ends>) -> Self {
        Self { table, ends: Mutex::new(ends.into_iter().map(Some).collect()) }
    }

    pub(crate) fn take(&self, rank: usize) -> Option<Ends> {
        self.ends.lock().expect(UNPOISONED)[rank].take()
    }

    pub(crate) fn leave(&self, ends: Ends) {
        let rank = ends.core.rank;
        // In this order: as soon as the ends lie here another thread may join, and must not be taken for one that has left.
        self.table.leave(rank, ends.core.seat_word());
        self.ends.lock().expect(UNPOISONED)[rank] = Some(ends);
    }
}
