//! Members and nodes that are lost: all others learn of it, and go on in a smaller group. No run hangs.

use std::panic::resume_unwind;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_collective::nodes::local::Network;
use corecast_collective::nodes::{Engine, Error, Member, Survival};
use corecast_collective::{Group, Loss};

use crate::cluster::{all, machine, run};

/// Much longer than any operation takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Operations of a phase: more than it takes for any fault to be known to all.
const ROUNDS: u64 = 12;

/// Operations in a group; their results are checked.
fn phase(me: &mut Member, mut before: impl FnMut(u64)) -> Result<(), Error> {
    let (rank, size) = (me.rank() as u64, me.size() as u64);
    for round in 0..ROUNDS {
        before(round);
        let sum = me.start().allreduce(rank + round, |a, b| a + b)?.finish_timeout(PATIENCE)?;
        assert_eq!(sum, size * (size - 1) / 2 + round * size);
        let root = (round % size) as usize;
        let mut values = vec![if rank == round % size { round } else { 99 }; 9000];
        me.start().broadcast_slice(root, &mut values)?.finish_timeout(PATIENCE)?;
        assert_eq!(values, vec![round; 9000]);
    }
    Ok(())
}

/// A member's view: the members that are gone, by their first ranks, the size of its last group, and how that ended.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    gone: Vec<usize>,
    size: usize,
    last: Result<(), Error>,
}

/// Works until all rounds of a phase have gone well.
fn work(me: &mut Member, before: impl FnMut(u64)) -> Seen {
    // The first rank of each member of the group at hand.
    let mut ranks: Vec<usize> = (0..me.size()).collect();
    let mut gone = Vec::new();
    let mut error = match phase(me, before) {
        Ok(()) => return Seen { gone, size: me.size(), last: Ok(()) },
        Err(error) => error,
    };
    assert!(!matches!(error, Error::Timeout { .. }), "{error}");
    let mut held = None;
    loop {
        let me = held.as_mut().unwrap_or(&mut *me);
        let shrunk = match me.shrink_timeout(PATIENCE) {
            Ok(shrunk) => shrunk,
            Err(last) => return Seen { gone, size: 0, last: Err(last) },
        };
        gone.extend(shrunk.gone.iter().map(|&rank| ranks[rank]));
        let is_there = |place: &usize| !shrunk.gone.contains(place);
        ranks = (0..ranks.len()).filter(is_there).map(|place| ranks[place]).collect();
        let mut me = shrunk.me;
        assert_eq!(me.size(), ranks.len());
        let size = me.size();
        match phase(&mut me, |_| {}) {
            Ok(()) => {
                gone.sort_unstable();
                return Seen { gone, size, last: Ok(()) };
            }
            Err(next) => {
                assert!(!matches!(next, Error::Timeout { .. }), "{next} behind {error}");
                (error, held) = (next, Some(me));
            }
        }
    }
}

/// A fault of a schedule.
#[derive(Debug, Clone, Copy)]
enum Mishap {
    Panic { rank: usize, round: u64 },
    Death { node: usize, step: u64 },
    Broken { node: usize, step: u64 },
}

/// Runs a schedule; what each member saw, `None` for one that panicked.
fn play(network: Network, members: &[usize], mishaps: &[Mishap]) -> Vec<Option<Seen>> {
    let network = mishaps.iter().fold(network, |network, mishap| match *mishap {
        Mishap::Panic { .. } => network,
        Mishap::Death { node, step } => network.death(node, step),
        Mishap::Broken { node, step } => network.error(node, step),
    });
    let seen = Mutex::new(vec![None; members.iter().sum()]);
    run(network, members, |me| {
        let rank = me.rank();
        let mine = work(me, |round| {
            let is_mine =
                |mishap: &Mishap| matches!(*mishap, Mishap::Panic { rank: r, round: at } if (r, at) == (rank, round));
            if mishaps.iter().any(is_mine) {
                // Without the message of a panic.
                resume_unwind(Box::new("as the schedule says"));
            }
        });
        seen.lock().expect("no member panics here")[rank] = Some(mine);
    });
    seen.into_inner().expect("as before")
}

/// The schedule of a seed.
fn schedule(seed: u64) -> (Network, Vec<usize>, Vec<Mishap>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let members: Vec<usize> = (0..random.usize(2..=4)).map(|_| random.usize(1..=3)).collect();
    let (nodes, size) = (members.len(), members.iter().sum::<usize>());
    let mut mishaps = Vec::new();
    for number in 0..random.u64(1..=2) {
        let (node, step) = (random.usize(0..nodes), random.u64(2..12) + 6 * number);
        mishaps.push(match random.u8(0..3) {
            0 => Mishap::Panic { rank: random.usize(0..size), round: random.u64(0..6) },
            1 => Mishap::Death { node, step },
            _ => Mishap::Broken { node, step: random.u64(2..8) },
        });
    }
    (Network::of(nodes).seed(seed).delays(random.u64(0..60)), members, mishaps)
}

/// Plays the schedule of a seed, and checks what the survivors saw.
fn check(seed: u64) {
    let (network, members, mishaps) = schedule(seed);
    let told = format!("seed {seed}: {members:?} {mishaps:?}");
    let node_of = |rank: usize| {
        let mut first = 0;
        members.iter().position(|members| {
            first += members;
            rank < first
        })
    };
    let seen = play(network, &members, &mishaps);
    let may_be_lost = |rank: usize| {
        mishaps.iter().any(|mishap| match *mishap {
            Mishap::Panic { rank: lost, .. } => lost == rank,
            Mishap::Death { node, .. } => node_of(rank) == Some(node),
            Mishap::Broken { .. } => false,
        })
    };
    let survivors: Vec<&Seen> = seen.iter().flatten().filter(|seen| seen.last.is_ok()).collect();
    for (rank, seen) in seen.iter().enumerate() {
        let is_well = seen.as_ref().is_some_and(|seen| seen.last.is_ok());
        assert!(is_well || may_be_lost(rank), "{told}: member {rank} saw {seen:?}");
    }
    for survivor in &survivors {
        assert_eq!(*survivor, survivors[0], "{told}");
        assert_eq!(survivor.gone.len() + survivor.size, members.iter().sum::<usize>(), "{told}");
        assert!(survivor.gone.iter().all(|&rank| may_be_lost(rank)), "{told}: {survivor:?}");
    }
}

/// Schedules from this number on, and how many, from the environment; this many by default.
pub(crate) fn seeds(by_default: u64) -> std::ops::Range<u64> {
    let number = |name: &str, by_default: u64| match std::env::var(name) {
        Ok(text) => text.parse().expect("a number of schedules"),
        Err(_) => by_default,
    };
    let first = number("CORECAST_FIRST_SCHEDULE", 0);
    first..first + number("CORECAST_SCHEDULES", by_default)
}

#[test]
fn survivors_of_any_schedule_go_on() {
    let seeds = seeds(200);
    let next = AtomicU64::new(seeds.start);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    // ORDERING: Relaxed, the number is all there is to take
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    check(seed);
                }
            });
        }
    });
}

#[test]
fn a_member_that_panics_is_named_to_all_nodes() {
    let seen = Mutex::new(Vec::new());
    run(Network::of(3).survival(Survival::Members).delays(20), &[2, 2, 2], |me| {
        // Others may learn of the panic before their last operation is over.
        let mut error = phase(me, |_| {});
        if me.rank() == 3 {
            resume_unwind(Box::new("as the test says"));
        }
        if error.is_ok() {
            error = me.start().barrier().and_then(|mut barrier| barrier.finish_timeout(PATIENCE));
        }
        let shrunk = me.shrink_timeout(PATIENCE).map(|shrunk| (shrunk.gone, shrunk.old_rank, shrunk.me.size()));
        seen.lock().expect("no member panics here").push((me.rank(), error, shrunk));
    });
    let mut seen = seen.into_inner().expect("as before");
    seen.sort_by_key(|&(rank, ..)| rank);
    let lost = Error::MemberLost { rank: 3, node: 1, loss: Loss::Panicked };
    let expected = [0, 1, 2, 4, 5].map(|rank| (rank, Err(lost.clone()), Ok((vec![3], rank, 5))));
    assert_eq!(seen, expected);
}

#[test]
fn shrinking_may_be_called_again_after_its_limit_when_the_next_group_is_lost_too() {
    // A member panics, and the engine fails in its next step, with which the leader meets the others: itself, on one node.
    let seen = Mutex::new(Vec::new());
    run(Network::of(1).error(0, 2), &[4], |me| {
        if me.rank() == 3 {
            resume_unwind(Box::new("as the test says"));
        }
        while me.barrier().is_ok() {}
        let sum = loop {
            match me.shrink_timeout(Duration::ZERO) {
                Err(Error::Timeout { .. }) => thread::yield_now(),
                shrunk => break shrunk.and_then(|mut shrunk| shrunk.me.allreduce(1, |a, b| a + b)),
            }
        };
        seen.lock().expect("no member panics here").push(sum);
    });
    assert_eq!(seen.into_inner().expect("as before"), vec![Ok(3); 3]);
}

#[test]
fn an_operation_that_has_failed_is_not_gone_on_with() {
    // The leader of node 0 waits for node 1, whose leader leaves in the midst of the operation, as the other member of node 0
    // does: the steps between the nodes are over, and the fault that stands is one within the node.
    let (have_met, has_given, has_tried, have_left) =
        (Barrier::new(2), Barrier::new(2), Barrier::new(3), Barrier::new(3));
    let leave = |mut me: Member, comes: bool| {
        if !comes {
            has_tried.wait();
        }
        let mut started = me.start().barrier().expect("nothing has failed");
        if comes {
            assert_eq!(started.try_finish(), Ok(false), "node 1 has not come");
            has_given.wait();
            has_tried.wait();
        }
        drop(started);
        drop(me);
        have_left.wait();
    };
    let machine = machine(2);
    let group = |engine: Box<dyn Engine>, members: usize| {
        let group = Group::builder(&machine).members(members).pin(false).plan_folder(None).race_folder(None);
        let group = group.over(engine).build().expect("the nodes meet");
        have_met.wait();
        group
    };
    let mut engines = Network::of(2).engines().into_iter();
    let mut engine = || engines.next().expect("one for each node");
    let (first, second) = (engine(), engine());
    thread::scope(|scope| {
        scope.spawn(|| leave(group(second, 1).join(0).expect("a place"), false));
        let group = group(first, 2);
        let other = group.join(1).expect("a place");
        scope.spawn(|| leave(other, true));
        let mut me = group.join(0).expect("a place");
        let mut started = me.start().barrier().expect("nothing has failed");
        has_given.wait();
        assert_eq!(started.try_finish(), Ok(false), "node 1 has not come");
        has_tried.wait();
        have_left.wait();
        let lost = Err(Error::MemberLost { rank: 1, node: 0, loss: Loss::Left });
        assert_eq!([(); 2].map(|()| started.finish_timeout(PATIENCE)), [lost.clone(), lost]);
    });
}

#[test]
fn a_lost_node_is_named_with_its_host() {
    let outcomes = all(run(Network::of(3).death(1, 4).delays(20), &[2, 1, 2], |me| phase(me, |_| {})));
    let lost = Error::NodeLost { node: 1, host: "host1".to_owned() };
    assert!(matches!(outcomes[2], Err(Error::Engine { node: 1, .. })), "{outcomes:?}");
    assert!([0, 1, 3, 4].iter().all(|&rank| outcomes[rank] == Err(lost.clone())), "{outcomes:?}");
}

#[test]
fn an_engine_that_survives_nothing_says_so() {
    let network = Network::of(2).survival(Survival::Nothing).error(1, 3);
    let outcomes = all(run(network, &[2, 1], |me| {
        let error = phase(me, |_| {});
        assert!(matches!(error, Err(Error::Engine { node: 1, class: 17, .. })), "{error:?}");
        me.shrink().map(drop)
    }));
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Error::CannotShrink { .. }))), "{outcomes:?}");
}
