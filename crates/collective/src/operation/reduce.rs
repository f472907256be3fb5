//! From all members to one: their values combined, on the way up a tree or at the root.

use std::iter;

use super::steps::{self, Message, Progress};
use super::{Gathering, Order};
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::tree::TreeEdges;

/// The progress of a reduction at one member.
#[derive(Debug)]
pub(crate) struct Reduction<T> {
    progress: Progress,
    by_rank: ByRank<T>,
}

/// By rank: the values that travel to the root, which combines them alone.
#[derive(Debug)]
enum ByRank<T> {
    NotBegun,
    Gathering(Gathering<T>),
    Done,
}

impl<T> Default for Reduction<T> {
    fn default() -> Self {
        Self { progress: Progress::default(), by_rank: ByRank::NotBegun }
    }
}

/// Combines all members' messages in that of the root. `each` combines some of the own values with those received for
/// them, and leaves the results in its first argument.
#[inline(always)]
pub(crate) fn reduce<M: Message>(
    core: &mut Core,
    edges: &mut TreeEdges,
    root: usize,
    order: Order,
    message: &mut M,
    reduction: &mut Reduction<M::Item>,
    mut each: impl FnMut(&mut [M::Item], &[M::Item]),
) -> Result<(), Error> {
    match order {
        Order::Plan | Order::Arrival => {
            steps::combine(core, edges, root, order, message, &mut reduction.progress, &mut each)
        }
        Order::Rank => by_rank(core, edges, root, message, &mut reduction.by_rank, &mut each),
    }
}

fn by_rank<M: Message>(
    core: &mut Core,
    edges: &mut TreeEdges,
    root: usize,
    message: &mut M,
    progress: &mut ByRank<M::Item>,
    each: &mut impl FnMut(&mut [M::Item], &[M::Item]),
) -> Result<(), Error> {
    if let ByRank::NotBegun = progress {
        *progress = ByRank::Gathering(if M::IS_ONE_STEP {
            Gathering::of_value(core, edges, root, message.values()[0])
        } else {
            Gathering::of_slice(core, edges, root, message.values().to_vec())
        });
    }
    let ByRank::Gathering(gathering) = progress else { return Ok(()) };
    if let Some(all) = gathering.go_on(core, edges)? {
        let own = message.values();
        if let Some(rank) = all.iter().position(|theirs| theirs.len() != own.len()) {
            return Err(core.fail(rank, Loss::OtherLength));
        }
        let mut all = all.concat();
        bracketed(&mut all, own.len(), each);
        own.copy_from_slice(&all[..own.len()]);
    }
    *progress = ByRank::Done;
    Ok(())
}

/// Combines left half with right half, each combined the same way, of the members' values, `len` of each; leaves the result
/// in the first member's.
pub(super) fn bracketed<T>(values: &mut [T], len: usize, each: &mut impl FnMut(&mut [T], &[T])) {
    if values.len() > len {
        let (left, right) = values.split_at_mut(values.len() / len / 2 * len);
        bracketed(left, len, each);
        bracketed(right, len, each);
        each(&mut left[..len], &right[..len]);
    }
}

/// The combinations of values in pairs, as [`reduce`] wants them.
#[inline(always)]
pub(crate) fn pairwise<T: Copy>(mut combine: impl FnMut(T, T) -> T) -> impl FnMut(&mut [T], &[T]) {
    move |own, theirs| iter::zip(own, theirs).for_each(|(own, their)| *own = combine(*own, *their))
}

/// The combinations of records of `bytes` each, as [`reduce`] wants them.
pub(crate) fn record_by_record(
    bytes: usize,
    mut combine: impl FnMut(&mut [u8], &[u8]),
) -> impl FnMut(&mut [u8], &[u8]) {
    move |own, theirs| {
        let pairs = iter::zip(own.chunks_exact_mut(bytes), theirs.chunks_exact(bytes));
        pairs.for_each(|(own, their)| combine(own, their));
    }
}
