//! Where a part of a group comes from, for as long as some of its members may not have come.
//!
//! Members agree on a part in the whole group, and each comes to it by itself. One that gives up on the way is not in the
//! part to be missed there, so the others look at its seat in the whole, where it says either: one word that its member
//! alone writes, so nothing has to be ordered.

use corecast_base::sync::Arc;

use crate::roll::{COUNT, GAVE_UP, LEFT, Roll};

/// The group that a part was made from.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) roll: Arc<Roll>,
    /// The rank there of each member of the part.
    pub(crate) ranks: Vec<usize>,
    /// The operation there that a member counts up when it has come.
    pub(crate) operation: u64,
}

impl Origin {
    /// A member that will not come.
    pub(crate) fn first_absent(&self) -> Option<usize> {
        self.ranks.iter().position(|&rank| {
            let word = self.roll.seat_word(rank);
            word & (LEFT | GAVE_UP) != 0 && word & COUNT < self.operation
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::error::{Error, Loss};
    use crate::layout::tests::sites;
    use corecast_base::Arena;
    use corecast_base::wait::{Wait, WakeWord};
    use std::time::Duration;

    #[test]
    fn only_who_gave_up_before_it_came_is_absent() {
        let whole = sites(3).next().expect("one of three").roll;
        let bell = |cell| WakeWord::of_threads(Wait::Adaptive, cell);
        let part = Roll::lay_out(&mut Arena::heap(), 2, bell).expect("the heap has room");
        let part = part.part_of(Origin { roll: Arc::clone(&whole), ranks: vec![2, 0], operation: 5 });
        let check = || part.check(1, Duration::from_secs(1)).map(drop);
        whole.begin(0, 4);
        whole.begin(2, 5);
        assert_eq!(check(), Ok(()), "member 0 is on its way");
        whole.leave(2, 5);
        whole.give_up(1, 4);
        assert_eq!(check(), Ok(()), "one has come, and one is in no need to");
        whole.give_up(0, 4);
        assert_eq!(check(), Err(Error::MemberLost { rank: 1, loss: Loss::Left }));
    }

    #[test]
    fn who_leaves_the_whole_on_the_way_is_absent() {
        let whole = sites(1).next().expect("one of one").roll;
        let origin = Origin { roll: Arc::clone(&whole), ranks: vec![0], operation: 5 };
        assert_eq!(origin.first_absent(), None);
        whole.leave(0, 4);
        assert_eq!(origin.first_absent(), Some(0));
        whole.leave(0, 5);
        assert_eq!(origin.first_absent(), None);
    }
}
