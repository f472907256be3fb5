//! One of each plain operation, checked: the tests among threads and those among processes run these.

use corecast_collective::op::in_order;
use corecast_collective::{Error, Member, Order};

/// A barrier, a broadcast, a reduction and an allreduce, from another root in each round.
pub(crate) fn one_round(me: &mut Member, round: u64) -> Result<(), Error> {
    let (rank, members) = (me.rank(), me.size());
    let root = round as usize % members;
    me.barrier()?;
    let mut value = if rank == root { [round; 40] } else { [0; 40] };
    me.broadcast(root, &mut value)?;
    assert_eq!(value, [round; 40]);
    // A bit of its own for each member: lost and doubled values both show.
    let bits = me.reduce_with(root, 1u64 << rank, in_order(Order::Arrival, |a, b| a + b))?;
    assert_eq!(bits, (rank == root).then_some((1 << members) - 1));
    let sum = me.allreduce(round as f64, |a, b| a + b)?;
    assert_eq!(sum, round as f64 * members as f64);
    Ok(())
}
