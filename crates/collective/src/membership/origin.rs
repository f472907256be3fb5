//! The origin of a part of a group, kept while some of its members may not have come.
//!
//! Members agree on a part in the whole group, and each comes to it by itself. A member that gives up on the way is not in
//! the part to be missed there, so the others look at its seat in the whole group. The seat tells in either case: it is one
//! word that only its member writes, so nothing has to be ordered.

use corecast_base::sync::Arc;

use super::table::{COUNT, GAVE_UP, LEFT, MemberTable, SUCCEEDED};

/// The group that a part was made from.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) table: Arc<MemberTable>,
    /// The rank in that group of each member of the part.
    pub(crate) ranks: Vec<usize>,
    pub(crate) step: Step,
}

/// The operation by which the part was made.
#[derive(Debug)]
pub(crate) enum Step {
    /// By a split. A member that has come counts up this operation of the whole group.
    Split { operation: u64 },
    /// From the survivors of a failed group. A member that has come marks its seat.
    Shrink,
}

impl Step {
    /// Whether a member of the whole group says in this word of its seat that it will not come.
    fn is_given_up(&self, word: u64) -> bool {
        match self {
            Self::Split { operation } => word & (LEFT | GAVE_UP) != 0 && word & COUNT < *operation,
            Self::Shrink => word & LEFT != 0 && word & SUCCEEDED == 0,
        }
    }
}

impl Origin {
    /// A member that will not come.
    pub(crate) fn first_absent(&self) -> Option<usize> {
        (0..self.ranks.len()).find(|&rank| self.is_absent(rank))
    }

    /// Whether a member will not come.
    pub(crate) fn is_absent(&self, rank: usize) -> bool {
        self.step.is_given_up(self.table.seat_word(self.ranks[rank]))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::error::{Error, Loss};
    use crate::membership::tests::sites;
    use corecast_base::Arena;
    use corecast_base::wait::{Wait, WakeWord};
    use std::time::Duration;

    #[test]
    fn only_a_member_that_gave_up_before_it_came_is_absent() {
        let whole = sites(3).next().expect("one of three").table;
        let wake_word = |cell| WakeWord::of_threads(Wait::Adaptive, cell);
        let part = MemberTable::lay_out(&mut Arena::heap(), 2, wake_word).expect("the heap has room");
        let part =
            part.part_of(Origin { table: Arc::clone(&whole), ranks: vec![2, 0], step: Step::Split { operation: 5 } });
        let check = || part.check(1, 1, Duration::from_secs(1)).map(drop);
        whole.say(0, 4);
        whole.say(2, 5);
        assert_eq!(check(), Ok(()), "member 0 is on its way");
        whole.leave(2, 5);
        whole.say(1, GAVE_UP | 4);
        assert_eq!(check(), Ok(()), "one has come, and one is in no need to");
        whole.say(0, GAVE_UP | 4);
        assert_eq!(check(), Err(Error::MemberLost { rank: 1, loss: Loss::Left }));
    }

    #[test]
    fn a_member_that_leaves_the_whole_on_the_way_is_absent() {
        let whole = sites(1).next().expect("one of one").table;
        let origin = Origin { table: Arc::clone(&whole), ranks: vec![0], step: Step::Split { operation: 5 } };
        assert_eq!(origin.first_absent(), None);
        whole.leave(0, 4);
        assert_eq!(origin.first_absent(), Some(0));
        whole.leave(0, 5);
        assert_eq!(origin.first_absent(), None);
    }

    #[test]
    fn a_survivor_that_leaves_is_absent_until_it_has_come() {
        let whole = sites(1).next().expect("one of one").table;
        let origin = Origin { table: Arc::clone(&whole), ranks: vec![0], step: Step::Shrink };
        whole.say(0, GAVE_UP | 4);
        assert_eq!(origin.first_absent(), None, "it gave up something else");
        whole.leave(0, SUCCEEDED | 4);
        assert_eq!(origin.first_absent(), None);
        whole.leave(0, 4);
        assert_eq!(origin.first_absent(), Some(0));
    }
}
