//! Every kind of acknowledged broadcast: an acknowledged event has been processed by all, in order, and once.

use std::sync::Barrier;
use std::time::Duration;

use corecast_base::sync::{AtomicBool, Ordering};
use corecast_base::wait::Wait;
use corecast_channel::Plain;
use corecast_collective::acknowledged::{
    AckConfig, AckError, AckFollower, AckOn, AckRoot, AckTuning, Discipline, Edges, Event, Variant,
};
use corecast_collective::{Error, Group, Loss, Member, RunError};

use crate::group;

const EVENTS: u64 = 80;

const ALL_EDGES: [Edges; 4] =
    [Edges::Counters, Edges::Messages, Edges::Tasks(Discipline::Fifo), Edges::Tasks(Discipline::Lifo)];

/// Every kind of ring and tree, over all edges.
fn kinds() -> impl Iterator<Item = AckTuning> {
    let graphs = [
        (Variant::Tree, false),
        (Variant::Ring, false),
        (Variant::Ring, true),
        (Variant::OrderedRing, false),
        (Variant::OrderedRing, true),
        (Variant::Auto, false),
    ];
    let usual = AckTuning::default();
    graphs.into_iter().flat_map(move |(variant, companion)| {
        let with_edges = move |edges| AckTuning { variant, companion, edges, ..usual };
        let acked = |tuning| [AckOn::Processed, AckOn::Received].map(|ack_on| AckTuning { ack_on, ..tuning });
        ALL_EDGES.into_iter().map(with_edges).flat_map(acked)
    })
}

fn keeps_order(tuning: &AckTuning) -> bool {
    tuning.edges != Edges::Tasks(Discipline::Lifo) || tuning.choice().0 == Variant::OrderedRing
}

/// A configuration, and the tuning that it was given.
#[derive(Clone, Copy, Debug)]
struct Case {
    config: AckConfig,
    tuning: AckTuning,
}

fn case(config: AckConfig, tuning: AckTuning) -> Case {
    Case { config: config.tuning(tuning), tuning }
}

/// The events that each member has processed.
type Processed = Vec<Vec<AtomicBool>>;

fn publish_all(mut root: AckRoot<'_, u64>, case: Case, processed: &Processed) -> Result<(), AckError> {
    let Case { config, tuning } = case;
    let mut random = fastrand::Rng::with_seed(1);
    let mut checked = 0;
    let mut number = 0;
    while number < EVENTS {
        if random.bool() {
            number += 1;
            assert_eq!(root.publish(&(number * 7))?, number);
        } else {
            // None, some, or more than the window.
            let count = random.u64(0..=(config.window as u64 + 2).min(20).min(EVENTS - number));
            let events: Vec<u64> = (number + 1..=number + count).map(|number| number * 7).collect();
            number += count;
            assert_eq!(root.publish_all(&events)?, number);
        }
        if random.u8(..) < 20 {
            std::thread::yield_now();
        }
        if random.u8(..) < 20 {
            root.wait(random.u64(0..=number))?;
        }
        let acked = root.acked()?;
        assert!(number - acked <= config.window as u64 && acked >= checked);
        for early in (checked + 1..=acked).filter(|_| tuning.ack_on == AckOn::Processed) {
            for (rank, events) in processed.iter().enumerate().filter(|(rank, _)| *rank != config.root) {
                // Relaxed on both sides: the acknowledgement itself must have carried it here.
                let is_done = events[early as usize].load(Ordering::Relaxed);
                assert!(is_done, "{early} is acknowledged, and member {rank} has not processed it: {config:?}");
            }
        }
        checked = acked;
    }
    root.close()
}

/// Takes the events in batches, or one by one.
fn follow(
    mut follower: AckFollower<'_, u64>,
    rank: usize,
    tuning: &AckTuning,
    own: &[AtomicBool],
) -> Result<(), AckError> {
    let mut random = fastrand::Rng::with_seed(rank as u64);
    let mut last = 0;
    let mut count = 0;
    let mut process = |event: Event<u64>| {
        assert_eq!(event.value, event.number * 7, "{tuning:?}");
        assert!(!keeps_order(tuning) || event.number == last + 1, "{} after {last}: {tuning:?}", event.number);
        last = event.number;
        count += 1;
        if random.u8(..) < 10 {
            std::thread::yield_now();
        }
        assert!(!own[event.number as usize].swap(true, Ordering::Relaxed), "once");
    };
    if rank % 3 == 0 {
        while let Some(event) = follower.recv()? {
            process(event);
        }
    } else if rank % 3 == 1 {
        follower.serve(process)?;
    } else {
        while follower.drain(&mut process)? > 0 || !follower.is_over() {
            follower.flush()?;
        }
    }
    assert_eq!(count, EVENTS, "all before the end: {tuning:?}");
    Ok(())
}

fn run(group: &Group, case: Case) {
    let Case { config, tuning } = case;
    let events = || (0..=EVENTS).map(|_| AtomicBool::new(false)).collect();
    let processed: Processed = (0..group.size()).map(|_| events()).collect();
    let results = group.run(|me| {
        let rank = me.rank();
        if rank == config.root {
            publish_all(me.ack_root(config)?, case, &processed)
        } else {
            follow(me.ack_follower(config)?, rank, &tuning, &processed[rank])
        }
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); group.size()], "{config:?}");
}

fn run_all(members: usize, arity: usize) {
    let group = group(members, |builder| builder);
    let root = members / 2;
    for tuning in kinds() {
        for window in [1, 2, 32] {
            run(&group, case(AckConfig::new(root).window(window), AckTuning { arity, ..tuning }));
        }
    }
}

#[test]
fn all_kinds_among_one_to_nine_members() {
    for members in [1, 2, 3, 6, 9] {
        run_all(members, 1 + members % 3);
    }
}

#[test]
fn all_kinds_among_twenty_three_members() {
    run_all(23, 2);
}

#[test]
fn all_ways_of_waiting() {
    for wait in [Wait::Yield, Wait::Park] {
        let group = group(4, |builder| builder.wait(wait));
        for tuning in kinds() {
            run(&group, case(AckConfig::default().window(2), tuning));
        }
    }
}

fn sizes_of_events<T: Plain + Send + Sync + PartialEq + std::fmt::Debug>(event: T) {
    let group = group(3, |builder| builder);
    for edges in ALL_EDGES {
        let config = AckConfig::default().window(3).tuning(AckTuning { edges, ..AckTuning::default() });
        let results = group.run(|me| {
            if me.rank() == 0 {
                let mut root = me.ack_root::<T>(config)?;
                (0..20).try_for_each(|_| root.publish(&event).map(drop))?;
                root.close()?;
                return Ok(20);
            }
            me.ack_follower::<T>(config)?.serve(|got| assert_eq!(got.value, event))
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok::<_, AckError>(20); 3]);
    }
}

#[test]
fn events_of_no_byte_to_many_lines() {
    sizes_of_events([0u8; 0]);
    sizes_of_events(7u8);
    sizes_of_events([3u64; 7]);
    sizes_of_events([9u8; 57]);
    sizes_of_events([1u32; 1024]);
}

/// The order in which the one follower gets three events that are all there before it looks.
fn order_of_three(variant: Variant, discipline: Discipline) -> Vec<u64> {
    let tuning = AckTuning { variant, edges: Edges::Tasks(discipline), ..AckTuning::default() };
    let config = AckConfig::default().tuning(tuning);
    let group = group(2, |builder| builder);
    let all_published = Barrier::new(2);
    let results = group.run(|me| {
        let mut order = Vec::new();
        if me.rank() == 0 {
            let mut root = me.ack_root::<u64>(config)?;
            (1..=3).try_for_each(|event| root.publish(&event).map(drop))?;
            all_published.wait();
            root.close()?;
        } else {
            let mut follower = me.ack_follower::<u64>(config)?;
            all_published.wait();
            follower.serve(|event| order.push(event.number))?;
        }
        Ok::<_, AckError>(order)
    });
    results.expect("nobody panics").pop().expect("two members").expect("nobody is lost")
}

#[test]
fn last_in_first_out_reorders_the_ring_and_never_the_ordered_ring() {
    assert_eq!(order_of_three(Variant::Ring, Discipline::Fifo), [1, 2, 3]);
    // Whether the end is run before the events or after them makes no difference to them.
    assert_eq!(order_of_three(Variant::Ring, Discipline::Lifo), [3, 2, 1]);
    assert_eq!(order_of_three(Variant::OrderedRing, Discipline::Lifo), [1, 2, 3]);
}

#[test]
fn a_full_window_takes_no_more_and_a_late_acknowledgement_is_timed_out() {
    for edges in ALL_EDGES {
        let config = AckConfig::default().window(3).tuning(AckTuning { edges, ..AckTuning::default() });
        let group = group(2, |builder| builder);
        let gate = Barrier::new(2);
        let results = group.run(|me| {
            if me.rank() == 1 {
                let mut follower = me.ack_follower::<u64>(config)?;
                gate.wait();
                return follower.serve(drop).map(|_| ());
            }
            let mut root = me.ack_root::<u64>(config)?;
            (0..3).try_for_each(|event| root.try_publish(&event).map(drop))?;
            assert_eq!(root.try_publish(&3), Err(AckError::WindowFull { window: 3 }));
            assert_eq!(root.wait_timeout(1, Duration::from_millis(5)), Err(AckError::Timeout { acked: 0 }));
            gate.wait();
            root.wait_timeout(3, Duration::from_secs(100))?;
            assert_eq!((root.acked()?, root.published()), (3, 3));
            assert_eq!(root.try_publish(&3), Ok(4));
            root.close()
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); 2]);
    }
}

/// Opens with the configuration of `config_of` for each rank, as root where the configuration names it.
fn open(group: &Group, config_of: impl Fn(usize) -> AckConfig + Sync) -> Vec<Result<(), AckError>> {
    let body = |me: &mut Member| {
        let config = config_of(me.rank());
        match me.rank() {
            0 => me.ack_root::<u64>(config).and_then(AckRoot::close),
            _ => me.ack_follower::<u64>(config)?.serve(drop).map(drop),
        }
    };
    group.run(body).expect("nobody panics")
}

#[test]
fn disagreement_is_an_error_and_the_group_goes_on() {
    let group = group(3, |builder| builder);
    let usual = AckConfig::default();
    let differs = |odd: AckConfig| open(&group, |rank| if rank == 1 { odd } else { usual });
    let disagree = Err(AckError::Disagreement);
    assert_eq!(differs(usual.window(5)), vec![disagree; 3]);
    assert_eq!(
        differs(usual.tuning(AckTuning { arity: 0, ..AckTuning::default() }))[1],
        Err(AckError::Arity { arity: 0 })
    );
    assert_eq!(differs(AckConfig::new(1)), [disagree, Err(AckError::WrongPart { rank: 1, root: 1 }), disagree]);
    assert_eq!(open(&group, |_| usual), vec![Ok(()); 3], "once they agree");
}

#[test]
fn settings_that_do_not_fit_are_named() {
    let group = group(2, |builder| builder);
    let usual = AckConfig::default();
    let refused = |config| open(&group, |_| config)[0].expect_err("refused").to_string();
    assert!(refused(usual.tuning(AckTuning { arity: 5000, ..AckTuning::default() })).contains("not 5000"));
    assert!(refused(usual.window(0)).contains("1 to 4096 events, not 0"));
    let tree_with_companion = AckTuning { companion: true, variant: Variant::Tree, ..AckTuning::default() };
    assert!(refused(usual.tuning(tree_with_companion)).contains("a tree has none"));
    assert!(refused(AckConfig::new(2)).contains("rank 2 is outside"));
    let too_large = group.run(|me| match me.rank() {
        0 => me.ack_root::<[u64; 513]>(usual).map(drop),
        _ => me.ack_follower::<[u64; 513]>(usual).map(drop),
    });
    assert_eq!(too_large.expect("nobody panics"), vec![Err(AckError::TooLarge { bytes: 4104 }); 2]);
}

/// Five members, one of which, `lost`, ends as `end` says after some events.
fn lose(lost: usize, edges: Edges, end: impl Fn() + Sync) -> Vec<Result<(), AckError>> {
    let config = AckConfig::default().window(4).tuning(AckTuning { edges, ..AckTuning::default() });
    let group = group(5, |builder| builder);
    let results = std::sync::Mutex::new(Vec::new());
    let outcome = group.run(|me| {
        let rank = me.rank();
        let mut body = || {
            if rank == 0 {
                let mut root = me.ack_root::<u64>(config)?;
                for event in 0.. {
                    if rank == lost && event == 20 {
                        end();
                        return Ok(());
                    }
                    root.publish(&event)?;
                }
            }
            let mut follower = me.ack_follower::<u64>(config)?;
            while let Some(event) = follower.recv()? {
                if rank == lost && event.number == 20 {
                    end();
                    return Ok(());
                }
            }
            Ok(())
        };
        let result = body();
        if rank != lost {
            results.lock().expect("nobody panics with the lock").push(result);
        }
    });
    if let Err(error) = outcome {
        assert!(matches!(error, RunError::Panicked { .. }), "{error}");
    }
    results.into_inner().expect("nobody panics with the lock")
}

#[test]
fn a_member_that_leaves_or_panics_is_named_to_all() {
    for edges in ALL_EDGES {
        for lost in [0, 1, 4] {
            let told = |loss| vec![Err(AckError::Group(Error::MemberLost { rank: lost, loss })); 4];
            assert_eq!(lose(lost, edges, || ()), told(Loss::Left), "{edges:?}");
            assert_eq!(lose(lost, edges, || panic!("planted")), told(Loss::Panicked), "{edges:?}");
        }
    }
}

#[test]
fn a_member_that_does_not_take_part_is_named() {
    let group = group(3, |builder| builder);
    let results = group.run(|me| match me.rank() {
        0 => me.ack_root::<u64>(AckConfig::default()).and_then(AckRoot::close),
        1 => Ok(()),
        _ => me.ack_follower::<u64>(AckConfig::default())?.serve(drop).map(drop),
    });
    let left = Err(AckError::Group(Error::MemberLost { rank: 1, loss: Loss::Left }));
    assert_eq!(results.expect("nobody panics"), [left, Ok(()), left]);
}

#[test]
fn broadcasts_follow_each_other_and_other_operations() {
    let group = group(4, |builder| builder);
    let results = group.run(|me| {
        for round in 0..4 {
            let config = AckConfig::new(round);
            let sum = if me.rank() == round {
                let mut root = me.ack_root::<u64>(config)?;
                (0..10).try_for_each(|event| root.publish(&event).map(drop))?;
                root.close()?;
                45
            } else {
                let mut sum = 0;
                me.ack_follower::<u64>(config)?.serve(|event| sum += event.value)?;
                sum
            };
            assert_eq!(me.allreduce(sum, |a, b| a + b)?, 4 * 45);
            me.barrier()?;
        }
        Ok::<_, AckError>(())
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); 4]);
}
