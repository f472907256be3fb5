//! From all members to one: values combined on the way up the planned tree.
//!
//! Every member combines its own value with those of its neighbours away from the root and passes the result on. A
//! reduction is no barrier: leaves return as soon as their value is on its way.

use corecast_channel::Plain;

use crate::core::Core;
use crate::error::Error;
use crate::web::Web;

/// The order in which values are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// As the plan says: the same plan gives the same bits. The operation must be associative and commutative, up to
    /// rounding.
    #[default]
    Plan,
    /// As values arrive: never waits for a late child while another one's value is there. The operation must be
    /// associative and commutative; results of floating-point sums may differ from call to call.
    Arrival,
    /// By rank, in one fixed bracketing: every plan gives the same bits, and the operation needs to be associative only.
    /// All values travel to the root, which combines them alone; members allocate room for what passes through them.
    Rank,
}

/// The combination of all members' values, at `root`; `None` elsewhere.
#[inline]
pub(crate) fn reduce<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    root: usize,
    value: T,
    order: Order,
    combine: impl FnMut(T, T) -> T,
) -> Result<Option<T>, Error> {
    let sink = web.towards(root);
    match order {
        Order::Plan => in_plan_order(core, web, sink, value, combine),
        Order::Arrival => in_arrival_order(core, web, sink, value, combine),
        Order::Rank => in_rank_order(core, web, sink, value, combine),
    }
}

#[inline]
fn in_plan_order<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    sink: Option<usize>,
    value: T,
    mut combine: impl FnMut(T, T) -> T,
) -> Result<Option<T>, Error> {
    let mut combined = value;
    for (i, link) in web.links.iter_mut().enumerate() {
        if Some(i) != sink {
            combined = combine(combined, core.recv(link)?);
        }
    }
    pass_on(core, web, sink, combined)
}

fn in_arrival_order<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    sink: Option<usize>,
    value: T,
    mut combine: impl FnMut(T, T) -> T,
) -> Result<Option<T>, Error> {
    let mut combined = value;
    let Web { links, missing, .. } = &mut *web;
    missing.clear();
    missing.extend((0..links.len()).filter(|&i| Some(i) != sink));
    while !missing.is_empty() {
        let found = core.wait_at_own_bell(|| missing.iter().position(|&i| links[i].rx.is_ready()))?;
        let arrived = missing.swap_remove(found);
        combined = combine(combined, core.recv(&mut links[arrived])?);
    }
    pass_on(core, web, sink, combined)
}

fn pass_on<T: Plain>(core: &mut Core, web: &mut Web, sink: Option<usize>, combined: T) -> Result<Option<T>, Error> {
    match sink {
        Some(sink) => core.send(&mut web.links[sink], &combined).map(|()| None),
        None => Ok(Some(combined)),
    }
}

/// Values travel in the depth-first order of their members, so that ranks need not travel with them.
fn in_rank_order<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    sink: Option<usize>,
    value: T,
    mut combine: impl FnMut(T, T) -> T,
) -> Result<Option<T>, Error> {
    let mut values: Vec<(usize, T)> = vec![(core.rank, value)];
    for i in (0..web.links.len()).filter(|&i| Some(i) != sink) {
        for n in 0..web.members_behind(i) {
            values.push((web.rank_behind(i, n), core.recv(&mut web.links[i])?));
        }
    }
    match sink {
        Some(sink) => {
            values.sort_unstable_by_key(|&(rank, _)| web.place(rank));
            values.iter().try_for_each(|(_, value)| core.send(&mut web.links[sink], value))?;
            Ok(None)
        }
        None => {
            values.sort_unstable_by_key(|&(rank, _)| rank);
            Ok(Some(bracketed(&values, &mut combine)))
        }
    }
}

/// Combines left half with right half, each combined the same way.
fn bracketed<T: Plain>(values: &[(usize, T)], combine: &mut impl FnMut(T, T) -> T) -> T {
    match values {
        [(_, value)] => *value,
        _ => {
            let (left, right) = values.split_at(values.len() / 2);
            let (left, right) = (bracketed(left, combine), bracketed(right, combine));
            combine(left, right)
        }
    }
}
