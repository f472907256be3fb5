//! One call of every operation, with a checked result: the calls of members that do not agree on the operation.

use std::time::Duration;

use corecast_collective::acknowledged::{AckConfig, AckError};
use corecast_collective::op::in_order;
use corecast_collective::{Error, Member, Order};

/// A call by its name, which says the root behind the operation.
pub(crate) type Call = (&'static str, fn(&mut Member) -> Result<(), Error>);

/// Every operation, with two roots where it has one.
pub(crate) const ALL: &[Call] = &[
    ("barrier", Member::barrier),
    ("broadcast 0", |me| broadcast(me, 0)),
    ("broadcast 1", |me| broadcast(me, 1)),
    ("broadcast_slice 0", |me| broadcast_slice(me, 0, 5)),
    ("broadcast_slice 1", |me| broadcast_slice(me, 1, 5000)),
    ("reduce 0", |me| reduce(me, Order::Plan, 0)),
    ("reduce 1", |me| reduce(me, Order::Arrival, 1)),
    ("reduce by rank 0", |me| reduce(me, Order::Rank, 0)),
    ("reduce_slice 0", |me| reduce_slice(me, 0)),
    ("reduce_slice 1", |me| reduce_slice(me, 1)),
    ("reduce_records 0", |me| reduce_records(me, Order::Plan, 0)),
    ("reduce_records by rank 1", |me| reduce_records(me, Order::Rank, 1)),
    ("allreduce", |me| allreduce(me, Order::Plan)),
    ("allreduce by rank", |me| allreduce(me, Order::Rank)),
    ("allreduce_slice", allreduce_slice),
    ("allreduce_records", |me| allreduce_records(me, Order::Plan)),
    ("allreduce_records by rank", |me| allreduce_records(me, Order::Rank)),
    ("gather 0", |me| gather(me, 0)),
    ("gather 1", |me| gather(me, 1)),
    ("gather_slice 0", |me| gather_slice(me, 0)),
    ("scatter 0", |me| scatter(me, 0)),
    ("scatter 1", |me| scatter(me, 1)),
    ("scatter_slice 0", |me| scatter_slice(me, 0)),
    ("allgather", allgather),
    ("allgather_slice", allgather_slice),
    ("two-phase commit 0", |me| commit(me, 0)),
    ("two-phase commit 1", |me| commit(me, 1)),
    ("atomic_stream", atomic_stream),
    ("acknowledged broadcast", acknowledged_broadcast),
    ("split", split),
];

/// Pairs of calls that are one operation to all others, so that each may be called in the place of the other.
/// Started operations run the same steps and only wait in another way; the orders of the plan and of arrivals use the same
/// messages.
pub(crate) const SAME: &[[Call; 2]] = &[
    [("barrier", Member::barrier), ("a started barrier", |me| me.start().barrier()?.finish())],
    [("barrier", Member::barrier), ("a barrier with a limit", |me| me.start().barrier()?.finish_timeout(PATIENCE))],
    [("broadcast 0", |me| broadcast(me, 0)), ("a started broadcast 0", start_broadcast)],
    [("reduce 0", |me| reduce(me, Order::Plan, 0)), ("a started reduce 0", start_reduce)],
    [("reduce 0", |me| reduce(me, Order::Plan, 0)), ("reduce by arrival 0", |me| reduce(me, Order::Arrival, 0))],
    [("allreduce", |me| allreduce(me, Order::Plan)), ("a started allreduce", start_allreduce)],
    [("allreduce_slice", allreduce_slice), ("a started allreduce_slice", start_allreduce_slice)],
    [("gather 0", |me| gather(me, 0)), ("a started gather 0", start_gather)],
];

const PATIENCE: Duration = Duration::from_secs(60);

fn broadcast(me: &mut Member, root: usize) -> Result<(), Error> {
    let mut value = if me.rank() == root { 100 + root } else { 0 };
    me.broadcast(root, &mut value)?;
    assert_eq!(value, 100 + root, "a wrong value");
    Ok(())
}

fn start_broadcast(me: &mut Member) -> Result<(), Error> {
    let mut value = if me.rank() == 0 { 100_usize } else { 0 };
    me.start().broadcast(0, &mut value)?.finish()?;
    assert_eq!(value, 100, "a wrong value");
    Ok(())
}

fn broadcast_slice(me: &mut Member, root: usize, len: usize) -> Result<(), Error> {
    let mut values = vec![if me.rank() == root { 100 + root } else { 0 }; len];
    me.broadcast_slice(root, &mut values)?;
    assert_eq!(values, vec![100 + root; len], "a wrong value");
    Ok(())
}

/// The sum of all members' numbers, from 1.
fn sum(me: &Member) -> usize {
    (1..=me.size()).sum()
}

fn number(me: &Member) -> usize {
    me.rank() + 1
}

fn reduce(me: &mut Member, order: Order, root: usize) -> Result<(), Error> {
    let own = number(me);
    let reduced = me.reduce_with(root, own, in_order(order, |a, b| a + b))?;
    assert_eq!(reduced, (me.rank() == root).then_some(sum(me)), "a wrong value");
    Ok(())
}

fn start_reduce(me: &mut Member) -> Result<(), Error> {
    let own = number(me);
    let reduced = me.start().reduce(0, own, |a, b| a + b)?.finish()?;
    assert_eq!(reduced, (me.rank() == 0).then_some(sum(me)), "a wrong value");
    Ok(())
}

fn reduce_slice(me: &mut Member, root: usize) -> Result<(), Error> {
    let mut values = [number(me); 3];
    me.reduce_slice(root, &mut values, |a, b| a + b)?;
    assert!(me.rank() != root || values == [sum(me); 3], "a wrong value");
    Ok(())
}

fn add(own: &mut [u8], theirs: &[u8]) {
    own.iter_mut().zip(theirs).for_each(|(own, their)| *own += their);
}

fn reduce_records(me: &mut Member, order: Order, root: usize) -> Result<(), Error> {
    let mut records = [number(me) as u8; 6];
    me.reduce_records(order, root, &mut records, 2, add)?;
    assert!(me.rank() != root || records == [sum(me) as u8; 6], "a wrong value");
    Ok(())
}

fn allreduce(me: &mut Member, order: Order) -> Result<(), Error> {
    let own = number(me);
    assert_eq!(me.allreduce_with(own, in_order(order, |a, b| a + b))?, sum(me), "a wrong value");
    Ok(())
}

fn start_allreduce(me: &mut Member) -> Result<(), Error> {
    let own = number(me);
    let combined = me.start().allreduce(own, |a, b| a + b)?.finish()?;
    assert_eq!(combined, sum(me), "a wrong value");
    Ok(())
}

fn allreduce_slice(me: &mut Member) -> Result<(), Error> {
    let mut values = [number(me); 3];
    me.allreduce_slice(&mut values, |a, b| a + b)?;
    assert_eq!(values, [sum(me); 3], "a wrong value");
    Ok(())
}

fn start_allreduce_slice(me: &mut Member) -> Result<(), Error> {
    let mut values = [number(me); 3];
    me.start().allreduce_slice(&mut values, |a, b| a + b)?.finish()?;
    assert_eq!(values, [sum(me); 3], "a wrong value");
    Ok(())
}

fn allreduce_records(me: &mut Member, order: Order) -> Result<(), Error> {
    let mut records = [number(me) as u8; 6];
    me.allreduce_records(order, &mut records, 2, add)?;
    assert_eq!(records, [sum(me) as u8; 6], "a wrong value");
    Ok(())
}

fn gather(me: &mut Member, root: usize) -> Result<(), Error> {
    let own = number(me);
    let gathered = me.gather(root, own)?;
    assert_eq!(gathered, (me.rank() == root).then(|| (1..=me.size()).collect()), "a wrong value");
    Ok(())
}

fn start_gather(me: &mut Member) -> Result<(), Error> {
    let own = number(me);
    let gathered = me.start().gather(0, own)?.finish()?;
    assert_eq!(gathered, (me.rank() == 0).then(|| (1..=me.size()).collect()), "a wrong value");
    Ok(())
}

fn gather_slice(me: &mut Member, root: usize) -> Result<(), Error> {
    let own = vec![number(me); number(me)];
    let gathered = me.gather_slice(root, &own)?;
    let all = (1..=me.size()).map(|number| vec![number; number]).collect();
    assert_eq!(gathered, (me.rank() == root).then_some(all), "a wrong value");
    Ok(())
}

fn scatter(me: &mut Member, root: usize) -> Result<(), Error> {
    let all: Vec<usize> = (1..=me.size()).collect();
    let given = (me.rank() == root).then_some(all.as_slice());
    assert_eq!(me.scatter(root, given)?, number(me), "a wrong value");
    Ok(())
}

fn scatter_slice(me: &mut Member, root: usize) -> Result<(), Error> {
    let all: Vec<usize> = (1..=me.size()).flat_map(|number| [number; 3]).collect();
    let given = (me.rank() == root).then_some(all.as_slice());
    let mut own = [0; 3];
    me.scatter_slice(root, given, &mut own)?;
    assert_eq!(own, [number(me); 3], "a wrong value");
    Ok(())
}

fn allgather(me: &mut Member) -> Result<(), Error> {
    let mut all = vec![0; me.size()];
    me.allgather(number(me), &mut all)?;
    assert_eq!(all, (1..=me.size()).collect::<Vec<_>>(), "a wrong value");
    Ok(())
}

fn allgather_slice(me: &mut Member) -> Result<(), Error> {
    let mut all = vec![0; 3 * me.size()];
    me.allgather_slice(&[number(me); 3], &mut all)?;
    assert_eq!(all, (1..=me.size()).flat_map(|number| [number; 3]).collect::<Vec<_>>(), "a wrong value");
    Ok(())
}

/// A coordinator that was refused gets the reason from its next call, as does a participant that has seen an abort.
fn commit(me: &mut Member, coordinator: usize) -> Result<(), Error> {
    if me.rank() == coordinator {
        let mut coordinator = me.coordinator::<u64>()?;
        while !coordinator.commit(&7, PATIENCE)? {}
        return Ok(());
    }
    let mut participant = me.participant::<u64>(coordinator)?;
    let mut is_applied = false;
    while !is_applied {
        let is_open = participant.serve(|_| true, |value, is_commit| is_applied = is_commit && *value == 7)?;
        assert!(is_open || is_applied, "the coordinator ends after a commit");
    }
    Ok(())
}

fn atomic_stream(me: &mut Member) -> Result<(), Error> {
    let (own, members) = ([me.rank() as u8], me.size());
    let mut seen = Vec::new();
    let mut stream = me.atomic_stream()?;
    stream.publish(&own, |_, origin, bytes| seen.push((origin, bytes.to_vec())))?;
    stream.finish(|_, origin, bytes| seen.push((origin, bytes.to_vec())))?;
    seen.sort_unstable();
    assert_eq!(seen, (0..members).map(|rank| (rank, vec![rank as u8])).collect::<Vec<_>>(), "a wrong value");
    Ok(())
}

fn acknowledged_broadcast(me: &mut Member) -> Result<(), Error> {
    let config = AckConfig::default();
    let outcome = if me.rank() == config.root {
        me.ack_root(config).and_then(|mut root| root.publish(&7_u64).and_then(|_| root.close()))
    } else {
        let serve = |mut follower: corecast_collective::acknowledged::AckFollower<'_, u64>| {
            follower.serve(|event| assert_eq!(event.value, 7, "a wrong value"))
        };
        me.ack_follower(config).and_then(serve).map(drop)
    };
    outcome.map_err(|error| match error {
        AckError::Group(error) => error,
        other => panic!("all members have the same settings: {other}"),
    })
}

fn split(me: &mut Member) -> Result<(), Error> {
    let part = me.split(0, 0)?.expect("all named a color");
    assert_eq!((part.rank(), part.size()), (me.rank(), me.size()));
    Ok(())
}
