//! The place where one member's part of a group is built.

use corecast_base::Arena;
use corecast_base::sync::Arc;

use super::MemberTable;

/// A member's place: all members lay out the same, in the same order.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) rank: usize,
    pub(crate) table: Arc<MemberTable>,
    /// The memory behind the table, at first.
    pub(crate) arena: Arena,
}

#[cfg(all(test, not(loom)))]
pub(crate) mod tests {
    use super::*;
    use corecast_base::wait::{Wait, WakeWord};

    /// The sites of the members of a group of threads.
    pub(crate) fn sites(members: usize) -> impl Iterator<Item = Site> {
        let mut arena = Arena::heap();
        let table = MemberTable::lay_out(&mut arena, members, |cell| WakeWord::of_threads(Wait::Adaptive, cell));
        let table = Arc::new(table.expect("the heap has room"));
        (0..members).map(move |rank| Site { rank, table: Arc::clone(&table), arena: arena.clone() })
    }
}
