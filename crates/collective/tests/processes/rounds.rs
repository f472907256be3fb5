//! Every operation except the plain three, again and again: actors run these until they are told to stop, or one is lost.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use corecast_collective::acknowledged::{AckConfig, AckError, AckTuning, Discipline, Edges, Variant};
use corecast_collective::op::{MaxLoc, Sum};
use corecast_collective::{AtomicStream, Error, Member, Order};

use crate::PATIENCE;
use crate::commits;

/// The rounds by name. `after` is called after each, and returns whether this member would go on; all end after the same
/// round.
pub(crate) type Rounds = fn(&mut Member, &mut dyn FnMut() -> bool) -> Result<(), Error>;

pub(crate) const ALL: &[(&str, Rounds)] = &[
    ("slices", slices),
    ("gather", gather),
    ("scatter", scatter),
    ("records", records),
    ("started", started),
    ("limits", limits),
    ("commit", commit),
    ("commit of any length", |me, after| commits::counted_long_commit(me, &mut 0, after)),
    ("stream", stream),
    ("acknowledged by counters", |me, after| acknowledged(me, COUNTERS, after)),
    ("acknowledged by messages", |me, after| acknowledged(me, by_edges(Edges::Messages), after)),
    ("acknowledged by tasks", |me, after| acknowledged(me, by_edges(Edges::Tasks(Discipline::Lifo)), after)),
    ("acknowledged along a tree", |me, after| {
        let tuning = AckTuning { variant: Variant::Tree, ..AckTuning::default() };
        acknowledged(me, COUNTERS.tuning(tuning), after)
    }),
];

/// The rounds in which members wait only by polling.
pub(crate) const ASKING: &[(&str, Rounds)] = &[
    ("meetings asked for", meetings_asked_for),
    ("commits with short limits", |me, after| counted_commit(me, Duration::from_micros(100), &mut 0, after)),
    ("a stream asked for", |me, after| stream_by(me, publish_by_asking, after)),
    ("acknowledgements asked for", acknowledgements_asked_for),
];

/// The rounds of this name.
pub(crate) fn of(name: &str) -> Rounds {
    ALL.iter().chain(ASKING).find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no rounds of {name}")).1
}

/// Runs this until one member would not go on.
fn agreed(
    me: &mut Member,
    after: &mut dyn FnMut() -> bool,
    mut round: impl FnMut(&mut Member, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    for number in 1.. {
        round(me, number)?;
        let goes_on = after();
        if me.allreduce(u8::from(goes_on), u8::min)? == 0 {
            break;
        }
    }
    Ok(())
}

fn slices(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    agreed(me, after, |me, number| {
        let (root, members) = (number as usize % me.size(), me.size() as u64);
        for len in [0, 1, 63, 64, 3000, 10_000] {
            let sent: Vec<u64> = (0..len).map(|i| i * number).collect();
            let mut values = if me.rank() == root { sent.clone() } else { vec![u64::MAX; sent.len()] };
            me.broadcast_slice(root, &mut values)?;
            assert!(values == sent);
            me.reduce_slice(root, &mut values, |a, b| a + b)?;
            assert!(me.rank() != root || values.iter().zip(&sent).all(|(sum, one)| *sum == members * one));
            let mut most = vec![me.rank() as u16; sent.len()];
            me.allreduce_slice(&mut most, u16::max)?;
            assert!(most.iter().all(|&most| u64::from(most) == members - 1));
        }
        let last = members - 1;
        assert_eq!(me.allreduce_with([number, me.rank() as u64], MaxLoc)?, [number, 0]);
        let sum = me.reduce_with(root, me.rank() as u64, Sum)?;
        assert_eq!(sum, (me.rank() == root).then_some(last * members / 2));
        Ok(())
    })
}

fn gather(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    agreed(me, after, |me, number| {
        let root = number as usize % me.size();
        let all: Vec<u64> = (0..me.size() as u64).map(|rank| 100 * rank + number).collect();
        let is_root = me.rank() == root;
        assert_eq!(me.gather(root, all[me.rank()])?, is_root.then(|| all.clone()));
        let slices: Vec<Vec<u64>> = all.iter().enumerate().map(|(rank, &value)| vec![value; 150 * rank]).collect();
        assert_eq!(me.gather_slice(root, &slices[me.rank()])?, is_root.then_some(slices));
        let mut values = vec![0; me.size()];
        me.allgather(all[me.rank()], &mut values)?;
        assert_eq!(values, all);
        for len in [1, 7, 20_000] {
            let mut gathered = vec![0; len * me.size()];
            me.allgather_slice(&vec![all[me.rank()]; len], &mut gathered)?;
            assert!(gathered == all.iter().flat_map(|&value| vec![value; len]).collect::<Vec<_>>(), "{len} values");
        }
        Ok(())
    })
}

fn scatter(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    agreed(me, after, |me, number| {
        let root = number as usize % me.size();
        let all: Vec<u64> = (0..me.size() as u64).map(|rank| 100 * rank + number).collect();
        let own = me.scatter(root, (me.rank() == root).then_some(&all[..]))?;
        assert_eq!(own, all[me.rank()]);
        let parts: Vec<u64> = all.iter().flat_map(|&value| vec![value; 300]).collect();
        let mut part = vec![0; 300];
        me.scatter_slice(root, (me.rank() == root).then_some(&parts[..]), &mut part)?;
        assert!(part == vec![own; 300]);
        Ok(())
    })
}

/// Bytes of no type: added up on their way, and put in the order of ranks.
fn records(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    agreed(me, after, |me, number| {
        let (root, members) = (number as usize % me.size(), me.size());
        let add = |own: &mut [u8], their: &[u8]| {
            own.iter_mut().zip(their).for_each(|(own, their)| *own = own.wrapping_add(*their));
        };
        // The least and greatest of neighbours: any other order would be noticed.
        let join = |own: &mut [u8], their: &[u8]| {
            assert_eq!(own[1] + 1, their[0], "neighbours by rank");
            own[1] = their[1];
        };
        for count in [1, 200, 2000] {
            let mut sums = vec![number as u8; 12 * count];
            me.allreduce_records(Order::Plan, &mut sums, 12, add)?;
            assert!(sums == vec![(number as u8).wrapping_mul(members as u8); 12 * count]);
            let mut ranges = vec![me.rank() as u8; 2 * count];
            me.start().reduce_records(Order::Rank, root, &mut ranges, 2, join)?.finish()?;
            assert!(me.rank() != root || ranges == [0, members as u8 - 1].repeat(count));
        }
        Ok(())
    })
}

fn started(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    agreed(me, after, |me, number| {
        let (root, members) = (number as usize % me.size(), me.size() as u64);
        let mut meeting = me.start().barrier()?;
        while !meeting.try_finish()? {
            std::thread::yield_now();
        }
        meeting.finish()?;
        let mut value = if me.rank() == root { [number; 40] } else { [0; 40] };
        me.start().broadcast(root, &mut value)?.finish()?;
        assert_eq!(value, [number; 40]);
        let is_root = me.rank() == root;
        let sum = me.start().reduce(root, number, |a, b| a + b)?.finish()?;
        assert_eq!(sum, is_root.then_some(number * members));
        let mut all = me.start().allreduce(number, |a, b| a + b)?;
        while !all.try_finish()? {
            std::thread::yield_now();
        }
        assert_eq!(all.finish()?, number * members);
        let own = vec![me.rank() as u64; 300];
        let mut gathering = me.start().gather_slice(root, &own)?;
        while !gathering.try_finish()? {
            std::thread::yield_now();
        }
        let gathered = gathering.finish()?.map(|slices| slices.concat());
        assert!(gathered.as_ref().is_none_or(|all| all.chunks(300).zip(0..).all(|(part, rank)| part == [rank; 300])));
        let mut part = vec![u64::MAX; 300];
        me.start().scatter_slice(root, gathered.as_deref(), &mut part)?.finish()?;
        assert!(part == own, "what was gathered goes back");
        Ok(())
    })
}

fn limits(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    agreed(me, after, |me, number| {
        let (root, members) = (number as usize % me.size(), me.size() as u64);
        me.start().barrier()?.finish_timeout(PATIENCE)?;
        let mut value = if me.rank() == root { number } else { 0 };
        me.start().broadcast(root, &mut value)?.finish_timeout(PATIENCE)?;
        assert_eq!(value, number);
        let is_root = me.rank() == root;
        assert_eq!(me.start().reduce(root, 1, |a, b| a + b)?.finish_timeout(PATIENCE)?, is_root.then_some(members));
        assert_eq!(me.start().allreduce(1, |a, b| a + b)?.finish_timeout(PATIENCE)?, members);
        Ok(())
    })
}

/// Member 1 proposes numbers, of which member 0 refuses every third one.
fn commit(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    counted_commit(me, PATIENCE, &mut 0, after)
}

/// The same, and counts what is committed.
pub(crate) fn counted_commit(
    me: &mut Member,
    limit: Duration,
    committed: &mut u64,
    after: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    const COORDINATOR: usize = 1;
    /// Ends the rounds.
    const LAST: u64 = u64::MAX;
    /// Votes against every third one.
    const REFUSER: usize = 0;
    let is_wanted = move |proposal: u64| proposal == LAST || proposal % 3 != 0;
    if me.rank() != COORDINATOR {
        let votes_for = |rank: usize, proposal: u64| rank != REFUSER || is_wanted(proposal);
        let rank = me.rank();
        let mut participant = me.participant::<[u64; 5]>(COORDINATOR)?;
        let mut is_over = false;
        while !is_over {
            let vote = |proposal: &[u64; 5]| votes_for(rank, proposal[4]);
            let goes_on = participant.serve(vote, |proposal, is_commit| {
                assert!(!is_commit || is_wanted(proposal[4]), "nobody applies what one has refused");
                *committed += u64::from(is_commit);
                is_over = is_commit && proposal[4] == LAST;
                after();
            })?;
            is_over |= !goes_on;
        }
        return Ok(());
    }
    let mut coordinator = me.coordinator::<[u64; 5]>()?;
    for number in 1.. {
        let is_commit = coordinator.commit(&[number; 5], limit)?;
        assert!(!is_commit || is_wanted(number));
        *committed += u64::from(is_commit);
        if !after() {
            break;
        }
    }
    while !coordinator.commit(&[LAST; 5], PATIENCE)? {}
    Ok(())
}

/// All publish, and compare the delivered events.
fn stream(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    stream_by(me, |stream, bytes, deliver| stream.publish(bytes, deliver), after)
}

fn publish_by_asking(stream: &mut AtomicStream<'_>, bytes: &[u8], deliver: &mut Deliver<'_>) -> Result<(), Error> {
    while !stream.try_publish(bytes)? {
        if stream.deliver(&mut *deliver)? == 0 {
            std::thread::yield_now();
        }
    }
    Ok(())
}

type Deliver<'a> = dyn FnMut(u64, usize, &[u8]) + 'a;

/// The same, published by `publish`.
fn stream_by(
    me: &mut Member,
    publish: impl Fn(&mut AtomicStream<'_>, &[u8], &mut Deliver<'_>) -> Result<(), Error>,
    after: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let (rank, members) = (me.rank(), me.size());
    let (mut order, mut next) = (DefaultHasher::new(), vec![0; members]);
    let mut deliver = |number: u64, origin: usize, bytes: &[u8]| {
        (number, origin).hash(&mut order);
        assert_eq!(bytes, event(origin, next[origin]), "events of one member come in the order of publishing");
        next[origin] += 1;
    };
    let mut stream = me.atomic_stream()?;
    for number in 0.. {
        publish(&mut stream, &event(rank, number), &mut deliver)?;
        if !after() {
            break;
        }
    }
    stream.finish(&mut deliver)?;
    let own = order.finish();
    let same = me.allreduce([own, own], |a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
    assert_eq!(same, [own, own], "all deliver in one order");
    Ok(())
}

/// The event that a member publishes under a number.
fn event(origin: usize, number: u64) -> Vec<u8> {
    vec![(origin as u64 + number) as u8; (number % 7) as usize * 80]
}

const COUNTERS: AckConfig = AckConfig::new(1).window(8);

fn by_edges(edges: Edges) -> AckConfig {
    COUNTERS.tuning(AckTuning { edges, ..AckTuning::default() })
}

/// The root publishes, and all members have processed every acknowledged event.
fn acknowledged(me: &mut Member, config: AckConfig, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    let outcome = if me.rank() == config.root { publish(me, config, after) } else { process(me, config, after) };
    outcome.map_err(of_group)
}

#[track_caller]
fn of_group(error: AckError) -> Error {
    match error {
        AckError::Group(error) => error,
        other => panic!("{other}"),
    }
}

fn acknowledgements_asked_for(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    if me.rank() != COUNTERS.root {
        let mut follower = me.ack_follower::<[u64; 4]>(COUNTERS).map_err(of_group)?;
        while !follower.is_over() {
            if follower.try_drain(|_| ()).map_err(of_group)? == 0 {
                after();
                std::thread::yield_now();
            }
        }
        return Ok(());
    }
    let mut root = me.ack_root::<[u64; 4]>(COUNTERS).map_err(of_group)?;
    while after() {
        match root.try_publish(&[0; 4]) {
            Err(AckError::WindowFull { .. }) => std::thread::yield_now(),
            other => drop(other.map_err(of_group)?),
        }
    }
    root.close().map_err(of_group)
}

fn meetings_asked_for(me: &mut Member, after: &mut dyn FnMut() -> bool) -> Result<(), Error> {
    while after() {
        let mut meeting = me.start().barrier()?;
        while !meeting.try_finish()? {
            std::thread::yield_now();
        }
        meeting.finish()?;
    }
    Ok(())
}

fn publish(me: &mut Member, config: AckConfig, after: &mut dyn FnMut() -> bool) -> Result<(), AckError> {
    let mut root = me.ack_root::<[u64; 4]>(config)?;
    for number in 1.. {
        assert_eq!(root.publish(&[number; 4])?, number);
        match number % 5 {
            0 => root.wait(number)?,
            1 => while matches!(root.wait_timeout(number, Duration::from_millis(1)), Err(AckError::Timeout { .. })) {},
            _ => assert!(root.acked()? <= number),
        }
        if !after() {
            break;
        }
    }
    root.close()
}

fn process(me: &mut Member, config: AckConfig, after: &mut dyn FnMut() -> bool) -> Result<(), AckError> {
    let mut seen = 0;
    me.ack_follower::<[u64; 4]>(config)?.serve(|event| {
        seen += 1;
        assert_eq!((event.number, event.value), (seen, [seen; 4]));
        after();
    })?;
    Ok(())
}
