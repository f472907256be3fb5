//! From all members to all: a reduction, and a broadcast of its result.
//!
//! The result is made once, at the root of the tree planned for reductions, so that all members get the same bits.

use corecast_channel::Plain;

use crate::broadcast::{Progress, broadcast};
use crate::error::Error;
use crate::member::Ends;
use crate::reduce::{Order, Reduction, reduce};

/// How far an allreduce is at one member.
#[derive(Debug)]
pub(crate) struct Allreduction<T> {
    value: T,
    reduction: Reduction<T>,
    /// What is broadcast, once this member's part of the reduction is done.
    result: Option<T>,
    progress: Progress,
}

impl<T: Plain> Allreduction<T> {
    /// Not begun, of a member with this value.
    pub(crate) fn of(value: T) -> Self {
        Self { value, reduction: Reduction::of(value), result: None, progress: Progress::default() }
    }

    /// The combination of all members' values. If a wait fails for a limit, another call goes on where it ended.
    #[inline]
    pub(crate) fn go_on(&mut self, ends: &mut Ends, order: Order, combine: impl FnMut(T, T) -> T) -> Result<T, Error> {
        let Ends { core, broadcast: down, reduce: up, reduce_root: root, .. } = ends;
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
