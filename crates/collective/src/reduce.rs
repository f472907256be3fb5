//! From all members to one: values combined on the way up the planned tree.
//!
//! Every member combines its own value with those of its neighbours away from the root and passes the result on. A
//! reduction is no barrier: leaves return as soon as their value is on its way.

use corecast_channel::Plain;

use crate::call::{Call, Operation};
use crate::core::Core;
use crate::error::Error;
use crate::gather::Gathering;
use crate::web::Web;

/// The order in which values are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// As the plan says: the same plan gives the same bits. The operation must be associative and commutative, up to
    /// rounding.
    #[default]
    Plan,
    /// As values arrive: never waits for a late child while the value of another one is there. The operation must be
    /// associative and commutative; results of floating-point sums may differ from call to call.
    Arrival,
    /// By rank, in one fixed bracketing: every plan gives the same bits, and the operation only has to be associative. All
    /// values travel to the root, which combines them alone; members allocate room for the values that pass through them.
    Rank,
}

impl Order {
    /// The call of a reduction to `root` in this order. The orders of the plan and of arrivals use the same messages.
    pub(crate) fn reduce(self, root: usize) -> Call {
        Call::rooted(self.either(Operation::Reduce, Operation::ReduceByRank), root)
    }

    pub(crate) fn allreduce(self) -> Call {
        Call::of(self.either(Operation::Allreduce, Operation::AllreduceByRank))
    }

    pub(crate) fn reduce_records(self, root: usize) -> Call {
        Call::rooted(self.either(Operation::ReduceRecords, Operation::ReduceRecordsByRank), root)
    }

    pub(crate) fn allreduce_records(self) -> Call {
        Call::of(self.either(Operation::AllreduceRecords, Operation::AllreduceRecordsByRank))
    }

    fn either(self, in_place: Operation, by_rank: Operation) -> Operation {
        match self {
            Self::Plan | Self::Arrival => in_place,
            Self::Rank => by_rank,
        }
    }
}

/// The progress of a reduction at one member.
#[derive(Debug)]
pub(crate) struct Reduction<T> {
    /// Its own value and those combined with it so far.
    combined: T,
    /// Links handled; not 0 once begun, where links are not taken in turn.
    passed: usize,
    /// By rank: the values waiting to be combined.
    gathering: Gathering<T>,
}

impl<T> Reduction<T> {
    /// A reduction that has not begun, of a member with this value.
    pub(crate) fn of(value: T) -> Self {
        Self { combined: value, passed: 0, gathering: Gathering::default() }
    }
}

/// The combination of all members' values, at `root`; `None` elsewhere. If a wait ends at a limit, another call goes on
/// where it ended.
#[inline]
pub(crate) fn reduce<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    root: usize,
    order: Order,
    reduction: &mut Reduction<T>,
    combine: impl FnMut(T, T) -> T,
) -> Result<Option<T>, Error> {
    let sink = web.towards(root);
    match order {
        Order::Plan => in_plan_order(core, web, sink, reduction, combine),
        Order::Arrival => in_arrival_order(core, web, sink, reduction, combine),
        Order::Rank => in_rank_order(core, web, sink, reduction, combine),
    }
}

#[inline]
fn in_plan_order<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    sink: Option<usize>,
    reduction: &mut Reduction<T>,
    mut combine: impl FnMut(T, T) -> T,
) -> Result<Option<T>, Error> {
    let Reduction { combined, passed, .. } = reduction;
    while let Some(link) = web.links.get_mut(*passed) {
        if Some(*passed) != sink {
            *combined = combine(*combined, core.recv(link)?);
        }
        *passed += 1;
    }
    pass_on(core, web, sink, *combined)
}

fn in_arrival_order<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    sink: Option<usize>,
    reduction: &mut Reduction<T>,
    mut combine: impl FnMut(T, T) -> T,
) -> Result<Option<T>, Error> {
    let Reduction { combined, passed, .. } = reduction;
    let Web { links, missing, .. } = &mut *web;
    if *passed == 0 {
        missing.clear();
        missing.extend((0..links.len()).filter(|&i| Some(i) != sink));
        *passed = 1;
    }
    while !missing.is_empty() {
        let found = core.wait_at_own_bell(|| missing.iter().position(|&i| links[i].rx.is_ready()))?;
        let value = core.recv(&mut links[missing[found]])?;
        missing.swap_remove(found);
        *combined = combine(*combined, value);
    }
    pass_on(core, web, sink, *combined)
}

fn pass_on<T: Plain>(core: &mut Core, web: &mut Web, sink: Option<usize>, combined: T) -> Result<Option<T>, Error> {
    match sink {
        Some(sink) => core.send(&mut web.links[sink], &combined).map(|()| None),
        None => Ok(Some(combined)),
    }
}

fn in_rank_order<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    sink: Option<usize>,
    reduction: &mut Reduction<T>,
    mut combine: impl FnMut(T, T) -> T,
) -> Result<Option<T>, Error> {
    let values = reduction.gathering.go_on(core, web, sink, reduction.combined)?;
    Ok(values.map(|values| {
        bracketed(values, &mut |(_, left), (_, right)| *left = combine(*left, *right));
        values[0].1
    }))
}

/// Combines left half with right half, each combined the same way, and leaves the result in the first of the values.
pub(crate) fn bracketed<T>(values: &mut [T], combine: &mut impl FnMut(&mut T, &T)) {
    if values.len() > 1 {
        let (left, right) = values.split_at_mut(values.len() / 2);
        bracketed(left, combine);
        bracketed(right, combine);
        combine(&mut left[0], &right[0]);
    }
}
