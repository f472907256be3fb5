//! Each operation once, ready to run: the call that the member notes, and its steps.
//!
//! [`Member`](super::Member) takes all steps in one call; a [`Started`](super::Started) operation takes them in several.

use corecast_channel::Plain;

use super::ends::Ends;
use crate::call::{Call, CallKind};
use crate::choice::AllreduceForm;
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::link::LONGEST_MESSAGE;
use crate::operation::all_read::Reading;
use crate::operation::allgather::Allgathering;
use crate::operation::cluster_read::Meeting;
use crate::operation::heading::Heading;
use crate::operation::in_place::{self, InPlaceProgress};
use crate::operation::reduce::{pairwise, record_by_record};
use crate::operation::slice_exchange::{self, Exchanging};
use crate::operation::{self, Gathering, Order, Progress, Reduction, Scattering, Slice, Value, reduce as combine_all};

/// The steps of one operation: called again after a limit, they go on where they ended.
pub(super) trait Steps<T>: FnMut(&mut Ends) -> Result<T, Error> {}

impl<T, S: FnMut(&mut Ends) -> Result<T, Error>> Steps<T> for S {}

/// An operation that has not begun.
pub(super) struct Prepared<S> {
    pub(super) call: Call,
    pub(super) steps: S,
}

/// A member's rank, and the number of members.
#[derive(Clone, Copy)]
pub(super) struct RankAndSize {
    pub(super) rank: usize,
    pub(super) members: usize,
}

impl RankAndSize {
    #[inline(always)]
    pub(super) fn check(self, rank: usize) -> Result<(), Error> {
        let members = self.members;
        if rank < members { Ok(()) } else { Err(Error::BadRank { rank, members }) }
    }

    /// Refuses room for another number of values than `len` of each member.
    #[inline(always)]
    fn check_room<T>(self, all: &[T], len: usize) -> Result<(), Error> {
        let (values, members) = (all.len(), self.members);
        if values == members.saturating_mul(len) { Ok(()) } else { Err(Error::WrongCount { values, members }) }
    }

    /// Refuses values to scatter, `len` for each member, that are not there or not of that number.
    fn check_given<T>(self, root: usize, values: Option<&[T]>, len: usize) -> Result<(), Error> {
        self.check(root)?;
        let (given, members) = (values.map_or(0, <[T]>::len), self.members);
        let is_right = values.is_some() && given == members.saturating_mul(len);
        if self.rank != root || is_right { Ok(()) } else { Err(Error::WrongCount { values: given, members }) }
    }
}

#[inline(always)]
pub(super) fn barrier() -> Prepared<impl Steps<()>> {
    Prepared { call: Call::of(CallKind::Barrier), steps: |ends: &mut Ends| ends.barrier.wait(&mut ends.core) }
}

#[inline(always)]
pub(super) fn broadcast<'a, T: Plain>(
    me: RankAndSize,
    root: usize,
    value: &'a mut T,
) -> Result<Prepared<impl Steps<()> + use<'a, T>>, Error> {
    me.check(root)?;
    let mut progress = Progress::default();
    let steps = move |ends: &mut Ends| {
        operation::broadcast(&mut ends.core, &mut ends.broadcast, root, &mut Value(value), &mut progress)
    };
    Ok(Prepared { call: Call::rooted(CallKind::Broadcast, root), steps })
}

#[inline(always)]
pub(super) fn reduce<T: Plain, F: FnMut(T, T) -> T>(
    me: RankAndSize,
    order: Order,
    root: usize,
    mut value: T,
    mut combine: F,
) -> Result<Prepared<impl Steps<Option<T>> + use<T, F>>, Error> {
    me.check(root)?;
    let mut reduction = Reduction::default();
    let steps = move |ends: &mut Ends| {
        let (core, edges) = (&mut ends.core, &mut ends.reduce);
        let message = &mut Value(&mut value);
        combine_all(core, edges, root, order, message, &mut reduction, pairwise(&mut combine))?;
        Ok((me.rank == root).then_some(value))
    };
    Ok(Prepared { call: order.reduce(root), steps })
}

/// In a small group members show each other their values, in some larger ones the leaders of clusters do, unless the order is
/// by rank. Other groups, and those with given trees, reduce and broadcast the result, which is computed once, at the root of
/// the tree planned for reductions. Every way all get the same bits.
#[inline(always)]
pub(super) fn allreduce<T: Plain, F: FnMut(T, T) -> T>(
    order: Order,
    value: T,
    mut combine: F,
) -> Prepared<impl Steps<T> + use<T, F>> {
    let (mut reading, mut meeting, mut is_too_long) = (Reading::default(), Meeting::of(value), false);
    let (mut combined, mut reduction, mut progress) = (value, Reduction::default(), Progress::default());
    let steps = move |ends: &mut Ends| {
        let Ends { core, direct, all_read, clusters, broadcast: down, reduce: up, reduce_root: root, .. } = ends;
        if !is_too_long && direct.has_values() {
            let is_shown = direct.has_value(size_of::<T>());
            let result = match direct.shown() {
                AllreduceForm::Clusters => match clusters.as_mut().filter(|_| order != Order::Rank) {
                    Some(clusters) => clusters.go_on(core, is_shown, &mut meeting, &mut combine)?,
                    None => None,
                },
                _ => match all_read {
                    Some(all_read) => all_read.go_on(core, &value, is_shown, &mut reading, &mut combine)?,
                    None => None,
                },
            };
            if let Some(result) = result {
                return Ok(result);
            }
            is_too_long = true;
        }
        let message = &mut Value(&mut combined);
        combine_all(core, up, *root, order, message, &mut reduction, pairwise(&mut combine))?;
        operation::broadcast(core, down, *root, message, &mut progress)?;
        Ok(combined)
    };
    Prepared { call: order.allreduce(), steps }
}

pub(super) fn gather<T: Plain>(
    me: RankAndSize,
    root: usize,
    value: T,
) -> Result<Prepared<impl Steps<Option<Vec<T>>> + use<T>>, Error> {
    me.check(root)?;
    let mut gathering = None;
    let steps = move |ends: &mut Ends| {
        let (core, edges) = (&mut ends.core, &mut ends.reduce);
        let gathering = gathering.get_or_insert_with(|| Gathering::of_value(core, edges, root, value));
        Ok(gathering.go_on(core, edges)?.map(|all| all.concat()))
    };
    Ok(Prepared { call: Call::rooted(CallKind::Gather, root), steps })
}

pub(super) fn scatter<T: Plain, V: AsRef<[T]>>(
    me: RankAndSize,
    root: usize,
    values: Option<V>,
) -> Result<Prepared<impl Steps<T> + use<T, V>>, Error> {
    me.check_given(root, values.as_ref().map(V::as_ref), 1)?;
    let given = values.filter(|_| me.rank == root);
    let (mut scattering, mut own) = (None, [corecast_channel::zeroed()]);
    let steps = move |ends: &mut Ends| {
        let (core, edges) = (&mut ends.core, &mut ends.broadcast);
        let scattering = scattering.get_or_insert_with(|| Scattering::of_values(core, edges, root));
        scattering.go_on(core, edges, given.as_ref().map(V::as_ref), &mut own)?;
        Ok(own[0])
    };
    Ok(Prepared { call: Call::rooted(CallKind::Scatter, root), steps })
}

pub(super) fn broadcast_slice<'a, T: Plain>(
    me: RankAndSize,
    root: usize,
    values: &'a mut [T],
) -> Result<Prepared<impl Steps<()> + use<'a, T>>, Error> {
    me.check(root)?;
    let (bytes, len) = (size_of_val(values), values.len());
    let (mut slice, mut progress, mut in_place_progress) =
        (Slice::of(values), Progress::default(), InPlaceProgress::default());
    let steps = move |ends: &mut Ends| {
        let Ends { core, broadcast: edges, in_place, .. } = ends;
        let Some(in_place) = in_place.as_mut().filter(|in_place| in_place.suits(bytes)) else {
            return operation::broadcast(core, edges, root, &mut slice, &mut progress);
        };
        let heading = &mut Heading { len, signature: edges.last.signature::<T>() };
        let agree = |core: &mut Core| operation::broadcast(core, edges, root, heading, &mut progress);
        in_place::broadcast(core, in_place, root, slice.values, agree, &mut in_place_progress)
    };
    Ok(Prepared { call: Call::rooted(CallKind::BroadcastSlice, root), steps })
}

pub(super) fn reduce_slice<'a, T: Plain, F: FnMut(T, T) -> T>(
    me: RankAndSize,
    root: usize,
    values: &'a mut [T],
    mut combine: F,
) -> Result<Prepared<impl Steps<()> + use<'a, T, F>>, Error> {
    me.check(root)?;
    let (bytes, len) = (size_of_val(values), values.len());
    let (mut slice, mut reduction) = (Slice::of(values), Reduction::default());
    let (mut agreeing, mut in_place_progress) = (Reduction::default(), InPlaceProgress::default());
    let steps = move |ends: &mut Ends| {
        let Ends { core, reduce: edges, in_place, .. } = ends;
        let Some(in_place) = in_place.as_mut().filter(|in_place| in_place.suits(bytes)) else {
            return combine_all(core, edges, root, Order::Plan, &mut slice, &mut reduction, pairwise(&mut combine));
        };
        let heading = &mut Heading { len, signature: edges.last.signature::<T>() };
        let agree = |core: &mut Core| combine_all(core, edges, root, Order::Plan, heading, &mut agreeing, |_, _| {});
        in_place::reduce(core, in_place, Some(root), slice.values, &mut combine, agree, &mut in_place_progress)
    };
    Ok(Prepared { call: Call::rooted(CallKind::ReduceSlice, root), steps })
}

/// Members show each other the values, if there are few members and there is room; otherwise a reduction, and a broadcast
/// of its result.
pub(super) fn allreduce_slice<'a, T: Plain, F: FnMut(T, T) -> T>(
    values: &'a mut [T],
    mut combine: F,
) -> Prepared<impl Steps<()> + use<'a, T, F>> {
    let (bytes, len) = (size_of_val(values), values.len());
    let (mut slice, mut exchanging) = (Slice::of(values), Exchanging::default());
    let (mut reduction, mut progress, mut in_place_progress) =
        (Reduction::default(), Progress::default(), InPlaceProgress::default());
    let steps = move |ends: &mut Ends| {
        ends.lay_out_exchange()?;
        let Ends { core, direct, broadcast: down, reduce: up, reduce_root: root, exchange, in_place, .. } = ends;
        if let Some(exchange) = exchange.as_mut().filter(|_| direct.has_slices()) {
            let is_shown = direct.has_slice(bytes);
            if let Some(in_place) = in_place.as_mut().filter(|in_place| is_shown && in_place.suits_allreduce(bytes)) {
                let agree = |core: &mut Core| exchanging.agree(core, exchange, len);
                let progress = &mut in_place_progress;
                return in_place::reduce(core, in_place, None, slice.values, &mut combine, agree, progress);
            }
            // No values where trees are faster: so members whose slices are of another size find out.
            let shown = if is_shown { &mut *slice.values } else { &mut [] };
            slice_exchange::allreduce(core, exchange, shown, &mut exchanging, &mut combine)?;
            if is_shown && slice_exchange::fits::<T>() {
                return Ok(());
            }
        }
        combine_all(core, up, *root, Order::Plan, &mut slice, &mut reduction, pairwise(&mut combine))?;
        operation::broadcast(core, down, *root, &mut slice, &mut progress)
    };
    Prepared { call: Call::of(CallKind::AllreduceSlice), steps }
}

pub(super) fn gather_slice<T: Plain>(
    me: RankAndSize,
    root: usize,
    values: &[T],
) -> Result<Prepared<impl Steps<Option<Vec<Vec<T>>>> + use<T>>, Error> {
    me.check(root)?;
    let (mut own, mut gathering) = (values.to_vec(), None);
    let steps = move |ends: &mut Ends| {
        let (core, edges) = (&mut ends.core, &mut ends.reduce);
        let gathering =
            gathering.get_or_insert_with(|| Gathering::of_slice(core, edges, root, std::mem::take(&mut own)));
        Ok(gathering.go_on(core, edges)?.map(|all| all.into_iter().map(<[T]>::to_vec).collect()))
    };
    Ok(Prepared { call: Call::rooted(CallKind::GatherSlice, root), steps })
}

pub(super) fn scatter_slice<'a, T: Plain, V: AsRef<[T]>>(
    me: RankAndSize,
    root: usize,
    values: Option<V>,
    own: &'a mut [T],
) -> Result<Prepared<impl Steps<()> + use<'a, T, V>>, Error> {
    me.check_given(root, values.as_ref().map(V::as_ref), own.len())?;
    let given = values.filter(|_| me.rank == root);
    let mut scattering = None;
    let steps = move |ends: &mut Ends| {
        let (core, edges) = (&mut ends.core, &mut ends.broadcast);
        let scattering = scattering.get_or_insert_with(|| Scattering::of_slices(core, edges, root));
        scattering.go_on(core, edges, given.as_ref().map(V::as_ref), own)
    };
    Ok(Prepared { call: Call::rooted(CallKind::ScatterSlice, root), steps })
}

/// Few members show each other the values; in other groups they go along trees.
#[inline(always)]
pub(super) fn allgather<'a, T: Plain>(
    me: RankAndSize,
    value: T,
    all: &'a mut [T],
) -> Result<Prepared<impl Steps<()> + use<'a, T>>, Error> {
    me.check_room(all, 1)?;
    let (mut reading, mut is_too_long) = (Reading::default(), false);
    let mut by_trees = GatherAndBroadcast::of(all);
    let steps = move |ends: &mut Ends| {
        let Ends { core, direct, all_read, .. } = ends;
        let is_shown = direct.has_value(size_of::<T>());
        if let Some(all_read) = all_read.as_mut().filter(|_| direct.has_values() && !is_too_long) {
            if all_read.gather(core, &value, is_shown, &mut reading, by_trees.all.values)? {
                return Ok(());
            }
            is_too_long = true;
        }
        by_trees.go_on(ends, &[value])
    };
    Ok(Prepared { call: Call::of(CallKind::Allgather), steps })
}

/// Members show each other their values, if there are few members and there is room; otherwise the values go along trees.
pub(super) fn allgather_slice<'a, T: Plain>(
    me: RankAndSize,
    own: &'a [T],
    all: &'a mut [T],
) -> Result<Prepared<impl Steps<()> + use<'a, T>>, Error> {
    me.check_room(all, own.len())?;
    let (mut allgathering, mut by_trees) = (Allgathering::default(), GatherAndBroadcast::of(all));
    let steps = move |ends: &mut Ends| {
        ends.lay_out_exchange()?;
        let Ends { core, direct, exchange, .. } = ends;
        if let Some(exchange) = exchange.as_mut().filter(|_| direct.has_slices() && slice_exchange::fits::<T>()) {
            return allgathering.go_on(core, exchange, own, by_trees.all.values);
        }
        by_trees.go_on(ends, own)
    };
    Ok(Prepared { call: Call::of(CallKind::AllgatherSlice), steps })
}

/// An allgather in which the values go to the root of the tree for reductions, and from there to all.
struct GatherAndBroadcast<'a, T> {
    gathering: Option<Gathering<T>>,
    all: Slice<'a, T>,
    progress: Progress,
}

impl<'a, T: Plain> GatherAndBroadcast<'a, T> {
    fn of(all: &'a mut [T]) -> Self {
        Self { gathering: None, all: Slice::of(all), progress: Progress::default() }
    }

    fn go_on(&mut self, ends: &mut Ends, own: &[T]) -> Result<(), Error> {
        let Ends { core, broadcast: down, reduce: up, reduce_root: root, .. } = ends;
        let Self { gathering, all, progress } = self;
        let gathering = gathering.get_or_insert_with(|| Gathering::of_slice(core, up, *root, own.to_vec()));
        for (rank, theirs) in gathering.go_on(core, up)?.into_iter().flatten().enumerate() {
            if theirs.len() != own.len() {
                return Err(core.fail(rank, Loss::OtherLength));
            }
            all.values[rank * own.len()..][..own.len()].copy_from_slice(theirs);
        }
        operation::broadcast(core, down, *root, all, progress)
    }
}

#[track_caller]
pub(super) fn reduce_records<'a, F: FnMut(&mut [u8], &[u8])>(
    me: RankAndSize,
    order: Order,
    root: usize,
    records: &'a mut [u8],
    record_bytes: usize,
    combine: F,
) -> Result<Prepared<impl Steps<()> + use<'a, F>>, Error> {
    me.check(root)?;
    check_records(records, record_bytes)?;
    let (mut slice, mut reduction) = (Slice::in_runs(records, record_bytes), Reduction::default());
    let mut each = record_by_record(record_bytes, combine);
    let steps = move |ends: &mut Ends| {
        let (core, edges) = (&mut ends.core, &mut ends.reduce);
        combine_all(core, edges, root, order, &mut slice, &mut reduction, &mut each)
    };
    Ok(Prepared { call: order.reduce_records(root), steps })
}

#[track_caller]
pub(super) fn allreduce_records<'a, F: FnMut(&mut [u8], &[u8])>(
    order: Order,
    records: &'a mut [u8],
    record_bytes: usize,
    combine: F,
) -> Result<Prepared<impl Steps<()> + use<'a, F>>, Error> {
    check_records(records, record_bytes)?;
    let (mut slice, mut each) = (Slice::in_runs(records, record_bytes), record_by_record(record_bytes, combine));
    let (mut reduction, mut progress) = (Reduction::default(), Progress::default());
    let steps = move |ends: &mut Ends| {
        let Ends { core, broadcast: down, reduce: up, reduce_root: root, .. } = ends;
        combine_all(core, up, *root, order, &mut slice, &mut reduction, &mut each)?;
        operation::broadcast(core, down, *root, &mut slice, &mut progress)
    };
    Ok(Prepared { call: order.allreduce_records(), steps })
}

/// Refuses bytes that are not a whole number of records.
#[track_caller]
fn check_records(records: &[u8], record_bytes: usize) -> Result<(), Error> {
    let (bytes, most) = (record_bytes, LONGEST_MESSAGE);
    assert!(bytes > 0, "a record of no bytes cannot be combined");
    assert!(records.len() % bytes == 0, "{} bytes are no whole number of records of {bytes}", records.len());
    if bytes <= most { Ok(()) } else { Err(Error::TooLarge { bytes, most }) }
}
