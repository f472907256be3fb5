//! Each operation once, begun and ready to run. [`Member`](super::Member) takes all its steps in one call, a
//! [`Started`](super::Started) one in several.

use corecast_channel::Plain;
use corecast_channel::ump::any::signature;

use super::ends::Ends;
use super::error::Error;
use super::exchange::CHUNK_BYTES;
use super::forms::Known;
use super::gather::Gather;
use super::lanes::chunk_bytes;
use super::message::OwnValue;
use super::operation::{Course, Operation, Terms};
use super::parts::Parts;
use crate::call::CallKind;
use crate::operation::in_place::InPlace;
use crate::operation::reduce::pairwise;
use crate::operation::{Order, Slice, Value};

/// The steps of one operation: called again after a limit, they go on where they ended.
pub(super) trait Steps<T>: FnMut(&mut Ends) -> Result<T, Error> {}

impl<T, S: FnMut(&mut Ends) -> Result<T, Error>> Steps<T> for S {}

/// The parts of an operation whose result goes to all members.
const UP_AND_DOWN: Course = Course { goes_up: true, begins_at: None, goes_down: true };

#[inline(always)]
pub(super) fn barrier(ends: &mut Ends) -> Result<impl Steps<()> + use<>, Error> {
    ends.begin()?;
    let terms = Terms {
        kind: CallKind::Barrier,
        root: None,
        order: Order::Arrival,
        way: ends.allreduce_way(size_of::<u64>(), Order::Plan, None),
        course: UP_AND_DOWN,
        len: 1,
        signature: 0,
    };
    let mut operation = Operation::new(ends, terms, Parts::each([OwnValue(0_u64)]), |_: &mut [u64], _: &[u64]| {});
    Ok(move |ends: &mut Ends| operation.go_on(ends))
}

/// The parts of a broadcast at this node.
fn broadcast_course(ends: &Ends, root: usize) -> Course {
    let (node, local) = ends.numbering.place(root);
    let is_here = node == ends.numbering.node;
    Course { goes_up: false, begins_at: is_here.then_some(local), goes_down: !is_here }
}

fn broadcast_terms<T>(ends: &mut Ends, kind: CallKind, root: usize, len: usize) -> Result<Terms, Error> {
    ends.check_rank(root)?;
    ends.begin()?;
    Ok(Terms {
        kind,
        root: Some(root),
        order: Order::Plan,
        way: ends.broadcast_way(len * size_of::<T>(), ends.numbering.place(root).0),
        course: broadcast_course(ends, root),
        len,
        signature: signature::<T>(),
    })
}

#[inline(always)]
pub(super) fn broadcast<'a, T: Plain>(
    ends: &mut Ends,
    root: usize,
    value: &'a mut T,
) -> Result<impl Steps<()> + use<'a, T>, Error> {
    let terms = broadcast_terms::<T>(ends, CallKind::Broadcast, root, 1)?;
    let mut operation = Operation::new(ends, terms, Parts::each([Value(value)]), |_: &mut [T], _: &[T]| {});
    Ok(move |ends: &mut Ends| operation.go_on(ends))
}

#[inline(always)]
pub(super) fn broadcast_slice<'a, T: Plain>(
    ends: &mut Ends,
    root: usize,
    values: &'a mut [T],
) -> Result<impl Steps<()> + use<'a, T>, Error> {
    let terms = broadcast_terms::<T>(ends, CallKind::BroadcastSlice, root, values.len())?;
    let chunks = parts_of(ends, values, CHUNK_BYTES, InPlace::suits);
    let mut operation = Operation::new(ends, terms, chunks, |_: &mut [T], _: &[T]| {});
    Ok(move |ends: &mut Ends| operation.go_on(ends))
}

fn reduce_terms<T>(ends: &mut Ends, kind: CallKind, order: Order, root: usize, len: usize) -> Result<Terms, Error> {
    ends.check_rank(root)?;
    ends.begin()?;
    let (node, local) = ends.numbering.place(root);
    Ok(Terms {
        kind,
        root: Some(root),
        order,
        way: ends.reduce_way(len * size_of::<T>(), order, node),
        // The members of the root's node all get the result, unless the root is its leader.
        course: Course { goes_down: node == ends.numbering.node && local > 0, ..UP_AND_DOWN },
        len,
        signature: signature::<T>(),
    })
}

#[inline(always)]
pub(super) fn reduce<T: Plain, F: FnMut(T, T) -> T>(
    ends: &mut Ends,
    order: Order,
    root: usize,
    value: T,
    combine: F,
) -> Result<impl Steps<Option<T>> + use<T, F>, Error> {
    let kind = if order == Order::Rank { CallKind::ReduceByRank } else { CallKind::Reduce };
    let terms = reduce_terms::<T>(ends, kind, order, root, 1)?;
    let is_root = ends.rank() == root;
    let mut operation = Operation::new(ends, terms, Parts::each([OwnValue(value)]), pairwise(combine));
    Ok(move |ends: &mut Ends| {
        operation.go_on(ends)?;
        Ok(is_root.then(|| operation.first_chunk()[0]))
    })
}

#[inline(always)]
pub(super) fn reduce_slice<'a, T: Plain, F: FnMut(T, T) -> T>(
    ends: &mut Ends,
    root: usize,
    values: &'a mut [T],
    combine: F,
) -> Result<impl Steps<()> + use<'a, T, F>, Error> {
    let terms = reduce_terms::<T>(ends, CallKind::ReduceSlice, Order::Plan, root, values.len())?;
    let chunks = parts_of(ends, values, CHUNK_BYTES, InPlace::suits);
    let mut operation = Operation::new(ends, terms, chunks, pairwise(combine));
    Ok(move |ends: &mut Ends| operation.go_on(ends))
}

#[inline(always)]
pub(super) fn allreduce<T: Plain, F: FnMut(T, T) -> T>(
    ends: &mut Ends,
    order: Order,
    value: T,
    known: Option<Known>,
    combine: F,
) -> Result<impl Steps<T> + use<T, F>, Error> {
    ends.begin()?;
    let terms = Terms {
        kind: if order == Order::Rank { CallKind::AllreduceByRank } else { CallKind::Allreduce },
        root: None,
        order,
        way: ends.allreduce_way(size_of::<T>(), order, known),
        course: UP_AND_DOWN,
        len: 1,
        signature: signature::<T>(),
    };
    let mut operation = Operation::new(ends, terms, Parts::each([OwnValue(value)]), pairwise(combine));
    Ok(move |ends: &mut Ends| {
        operation.go_on(ends)?;
        Ok(operation.first_chunk()[0])
    })
}

#[inline(always)]
pub(super) fn allreduce_slice<'a, T: Plain, F: FnMut(T, T) -> T>(
    ends: &mut Ends,
    values: &'a mut [T],
    known: Option<Known>,
    combine: F,
) -> Result<impl Steps<()> + use<'a, T, F>, Error> {
    ends.begin()?;
    let bytes = size_of_val(values);
    let terms = Terms {
        kind: CallKind::AllreduceSlice,
        root: None,
        order: Order::Plan,
        way: ends.allreduce_way(bytes, Order::Plan, known),
        course: UP_AND_DOWN,
        len: values.len(),
        signature: signature::<T>(),
    };
    let lanes = ends.lane_end.lanes.of_slice(bytes);
    let most_bytes = chunk_bytes(bytes, lanes, ends.allreduce_chunk_bytes(bytes, known));
    // Several lanes share the messages of the slice, each with chunks that go up to its own leader.
    let suits = |in_place: &InPlace, bytes| lanes == 1 && in_place.suits_allreduce(bytes);
    let chunks = parts_of(ends, values, most_bytes, suits);
    let mut operation = Operation::new(ends, terms, chunks, pairwise(combine)).dealt_to(lanes);
    Ok(move |ends: &mut Ends| operation.go_on(ends))
}

pub(super) fn gather<T: Plain>(
    ends: &mut Ends,
    root: usize,
    value: T,
) -> Result<impl Steps<Option<Vec<T>>> + use<T>, Error> {
    let mut gather = Gather::new(ends, CallKind::Gather, root, vec![value])?;
    Ok(move |ends: &mut Ends| Ok(gather.go_on(ends)?.map(|all| all.concat())))
}

pub(super) fn gather_slice<T: Plain>(
    ends: &mut Ends,
    root: usize,
    values: &[T],
) -> Result<impl Steps<Option<Vec<Vec<T>>>> + use<T>, Error> {
    let mut gather = Gather::new(ends, CallKind::GatherSlice, root, values.to_vec())?;
    Ok(move |ends: &mut Ends| gather.go_on(ends))
}

/// Values in parts of this many bytes at most. The members of the node take them up and down at once where they can read each
/// other's slices in place, and slices of this length `suit` that.
fn parts_of<'a, T: Plain>(
    ends: &Ends,
    values: &'a mut [T],
    most_bytes: usize,
    suits: impl Fn(&InPlace, usize) -> bool,
) -> Parts<Slice<'a, T>> {
    let in_place = ends.near.ends().in_place.as_ref();
    match in_place.is_some_and(|in_place| suits(in_place, size_of_val(values))) {
        true => Parts::at_once(Slice::of(values), part_len::<T>(most_bytes)),
        false => Parts::each(chunks_of(values, most_bytes)),
    }
}

/// The number of values of a part.
fn part_len<T>(most_bytes: usize) -> usize {
    (most_bytes / size_of::<T>().max(1)).max(1)
}

/// The values in parts that travel on their own; one of no values if there are none, as all members exchange their number.
fn chunks_of<T: Plain>(values: &mut [T], most_bytes: usize) -> Vec<Slice<'_, T>> {
    if values.is_empty() {
        return vec![Slice::of(values)];
    }
    values.chunks_mut(part_len::<T>(most_bytes)).map(Slice::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Message;

    #[test]
    fn parts_have_at_most_the_bytes_that_are_asked_for() {
        let lens = |len: usize, most_bytes: usize| {
            let mut values = vec![0_u32; len];
            let parts = chunks_of(&mut values, most_bytes).into_iter();
            parts.map(|mut part| part.values().len()).collect::<Vec<_>>()
        };
        assert_eq!(lens(0, 8), [0]);
        assert_eq!(lens(5, 8), [2, 2, 1]);
        assert_eq!(lens(5, 1), [1; 5], "a value that is longer travels alone");
        assert_eq!(lens(5, 1 << 20), [5]);
    }
}
