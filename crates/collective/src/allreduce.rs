//! From all members to all.
//!
//! In a small group members show each other their values ([`AllRead`](crate::all_read::AllRead)). Larger groups, and those
//! with given trees, reduce and broadcast the result, which is computed once, at the root of the tree planned for
//! reductions. Either way all members get the same bits.

use corecast_channel::Plain;

use crate::all_read::Reading;
use crate::broadcast::{Progress, broadcast};
use crate::error::Error;
use crate::member::Ends;
use crate::reduce::{Order, Reduction, reduce};

/// The progress of an allreduce at one member.
#[derive(Debug)]
pub(crate) struct Allreduction<T> {
    value: T,
    reading: Reading,
    reduction: Reduction<T>,
    /// The value to broadcast, once this member's part of the reduction is done.
    result: Option<T>,
    progress: Progress,
}

impl<T: Plain> Allreduction<T> {
    /// An allreduce that has not begun, of a member with this value.
    pub(crate) fn of(value: T) -> Self {
        let (reading, reduction, progress) = (Reading::default(), Reduction::of(value), Progress::default());
        Self { value, reading, reduction, result: None, progress }
    }

    /// The combination of all members' values. If a wait ends at a limit, another call goes on where it ended.
    #[inline]
    pub(crate) fn go_on(
        &mut self,
        ends: &mut Ends,
        order: Order,
        mut combine: impl FnMut(T, T) -> T,
    ) -> Result<T, Error> {
        let Ends { core, all_read, broadcast: down, reduce: up, reduce_root: root, .. } = ends;
        if let (Some(all_read), None) = (all_read, &self.result) {
            if let Some(result) = all_read.go_on(core, &self.value, &mut self.reading, &mut combine)? {
                return Ok(result);
            }
        }
        let result = match &mut self.result {
            Some(result) => result,
            None => {
                let combined = reduce(core, up, *root, order, &mut self.reduction, combine)?;
                self.result.insert(combined.unwrap_or(self.value))
            }
        };
        broadcast(core, down, *root, result, &mut self.progress)?;
        Ok(*result)
    }
}
