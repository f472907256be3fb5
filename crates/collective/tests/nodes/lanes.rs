//! Members of a node that share the messages of long slices. Members join by an invitation, as processes do; here they are
//! threads that attach to the same region.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use corecast_collective::nodes::local::Network;
use corecast_collective::nodes::{Connection, Engine, Error, Lanes, Late, Member, SetupError};
use corecast_collective::op;
use corecast_collective::processes::Invitation;
use corecast_collective::{Group, Loss};

use crate::cluster::machine;
use crate::losses::seeds;

const PATIENCE: Duration = Duration::from_secs(60);

/// Slices of any length go by this number of lanes.
fn always(lanes: usize) -> Lanes {
    Lanes::of(lanes).from_bytes(0)
}

/// Networks of this many nodes, one for each lane, whose delays follow from a seed.
fn networks(nodes: usize, lanes: usize, seed: u64) -> Vec<Network> {
    (0..lanes as u64).map(|lane| Network::of(nodes).seed(seed + lane).delays(5)).collect()
}

/// Runs `body` as every member of nodes with these numbers of members, whose lanes go over these networks, with what it got when
/// it joined. The results by rank; `None` for a member that panicked.
fn joined<R: Send>(
    networks: Vec<Network>,
    members: &[usize],
    lanes_of: impl Fn(usize, usize) -> Lanes + Sync,
    body: impl Fn(Result<Member, SetupError>) -> R + Sync,
) -> Vec<Option<R>> {
    let mut engines: Vec<Vec<Option<Box<dyn Engine>>>> =
        networks.into_iter().map(|network| network.engines().into_iter().map(Some).collect()).collect();
    let most = members.iter().copied().max().expect("a node");
    let machine = machine(most);
    let found = |members: usize| {
        let builder = Group::builder(&machine).members(members).pin(false).plan_folder(None).race_folder(None);
        builder.room_bytes(16 << 20).found().expect("founded")
    };
    let foundings: Vec<_> = members.iter().map(|&members| found(members)).collect();
    let (body, lanes_of) = (&body, &lanes_of);
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (node, founding) in foundings.iter().enumerate() {
            for local in 0..members[node] {
                let engine = engines.get_mut(local).and_then(|of_lane| of_lane[node].take());
                threads.push(scope.spawn(move || {
                    let connection = Connection::from(engine).lanes(lanes_of(node, local)).timeout(PATIENCE);
                    let fd = founding.share().expect("a descriptor");
                    let invitation = Invitation::of_fd(fd).expect("attached").rank(local);
                    catch_unwind(AssertUnwindSafe(|| body(invitation.over(connection).join()))).ok()
                }));
            }
        }
        threads.into_iter().map(|thread| thread.join().expect("it catches panics")).collect()
    })
}

/// The same with these lanes everywhere, for members that all join and end well.
fn all<R: Send>(members: &[usize], lanes: Lanes, seed: u64, body: impl Fn(&mut Member) -> R + Sync) -> Vec<R> {
    let networks = networks(members.len(), lanes.count(), seed);
    let outcomes = joined(networks, members, |_, _| lanes, |me| body(&mut me.expect("all have joined")));
    outcomes.into_iter().map(|outcome| outcome.expect("no member panics")).collect()
}

/// The values of a member: no two of them are equal.
fn numbers(rank: usize, len: usize) -> Vec<u64> {
    (0..len).map(|place| (rank * 1_000_003 + place) as u64).collect()
}

#[test]
fn all_members_get_the_sums_in_every_cell() {
    let cells: [(&[usize], usize); 7] =
        [(&[2], 2), (&[2, 2], 2), (&[4, 4], 2), (&[3, 5], 3), (&[2, 3, 4], 2), (&[4, 4, 4], 4), (&[2, 2, 2, 2], 2)];
    for (seed, (members, lanes)) in cells.into_iter().enumerate() {
        let size: usize = members.iter().sum();
        let outcomes = all(members, always(lanes), 100 * seed as u64, |me| {
            assert_eq!(me.lanes(), always(lanes));
            for len in [0, 1, 2, 7, 1000, 20_000, 70_000] {
                let expected = |place: usize| (0..size).map(|rank| (rank * 1_000_003 + place) as u64).sum::<u64>();
                let (mut by_closure, mut by_name) = (numbers(me.rank(), len), numbers(me.rank(), len));
                me.allreduce_slice(&mut by_closure, |a, b| a + b)?;
                me.allreduce_slice_with(&mut by_name, op::Sum)?;
                assert!((0..len).all(|place| by_closure[place] == expected(place)), "{len} of {members:?}");
                assert_eq!(by_closure, by_name);
                // Other operations go on beside the lanes.
                assert_eq!(me.allreduce(1, |a, b| a + b)?, size);
            }
            me.barrier()
        });
        assert_eq!(outcomes, vec![Ok(()); size], "{members:?} by {lanes} lanes");
    }
}

/// The bits of a sum of floats at all members.
fn bits(members: &[usize], lanes: Lanes, seed: u64) -> Vec<Vec<u64>> {
    all(members, lanes, seed, |me| {
        let mut floats: Vec<f64> = (0..30_000).map(|place| 1.0 / (3 + me.rank() * 31 + place) as f64).collect();
        me.allreduce_slice(&mut floats, |a, b| a + b).expect("a sum");
        floats.into_iter().map(f64::to_bits).collect()
    })
}

#[test]
fn floats_have_the_same_bits_everywhere_and_in_every_run() {
    for members in [&[3, 4][..], &[2, 3, 4, 2]] {
        let first = bits(members, Lanes::of(2), 1);
        assert!(first.windows(2).all(|pair| pair[0] == pair[1]), "{members:?}");
        assert_eq!(bits(members, Lanes::of(2), 2), first, "{members:?}");
    }
}

#[test]
fn a_limit_may_pass_any_number_of_times() {
    let outcomes = all(&[3, 3], always(2), 7, |me| {
        let mut values = numbers(me.rank(), 40_000);
        let mut sum = me.start().allreduce_slice(&mut values, |a, b| a + b)?;
        while !sum.try_finish()? {
            thread::yield_now();
        }
        drop(sum);
        assert!(values.iter().enumerate().all(|(place, &sum)| sum == (15 * 1_000_003 + 6 * place) as u64));
        me.barrier()
    });
    assert_eq!(outcomes, vec![Ok(()); 6]);
}

#[test]
fn a_member_whose_time_is_over_names_the_node_that_its_lane_waits_for() {
    let is_over = &Barrier::new(6);
    let outcomes = all(&[3, 3], always(2), 3, |me| {
        let mut values = numbers(me.rank(), 1000);
        if me.node() == 1 {
            is_over.wait();
            return me.allreduce_slice(&mut values, |a, b| a + b).map(|()| Late::default());
        }
        let mut sum = me.start().allreduce_slice(&mut values, |a, b| a + b)?;
        let late = sum.finish_timeout(Duration::from_millis(50));
        is_over.wait();
        sum.finish()?;
        match late {
            Err(Error::Timeout { late }) => Ok(late),
            other => panic!("{other:?} before node 1 has begun"),
        }
    });
    for (rank, outcome) in outcomes.into_iter().enumerate() {
        let Late { members, nodes, .. } = outcome.expect("nobody is lost");
        assert_eq!((members, nodes), (vec![], if rank < 3 { vec![1] } else { vec![] }), "member {rank}");
    }
}

/// Sums until one fails; the error. A member that waits for ever gives up.
fn sum_until_it_fails(me: &mut Member) -> Error {
    loop {
        let mut values = numbers(me.rank(), 100);
        let done =
            me.start().allreduce_slice(&mut values, |a, b| a + b).and_then(|mut sum| sum.finish_timeout(PATIENCE));
        if let Err(error) = done {
            return error;
        }
    }
}

/// A group of the survivors, in which a sum of ones shows their number.
fn goes_on(me: &mut Member, gone: &[usize], size: usize) {
    let mut shrunk = me.shrink_timeout(PATIENCE).expect("the others live");
    assert_eq!((shrunk.gone.as_slice(), shrunk.me.lanes()), (gone, Lanes::ONE));
    let mut ones = vec![1_usize; 20_000];
    shrunk.me.allreduce_slice(&mut ones, |a, b| a + b).expect("nobody is lost any more");
    assert!(ones.iter().all(|&sum| sum == size - gone.len()), "{}", ones[0]);
}

#[test]
fn all_hear_of_a_lost_member_in_any_schedule_with_lanes() {
    for seed in seeds(12) {
        let mut random = fastrand::Rng::with_seed(seed);
        let members: Vec<usize> = (0..random.usize(2..4)).map(|_| random.usize(2..5)).collect();
        let lanes = random.usize(2..=members.iter().copied().min().expect("a node"));
        let size: usize = members.iter().sum();
        let node = random.usize(0..members.len());
        let local = random.usize(1..members[node]);
        let victim = members[..node].iter().sum::<usize>() + local;
        let (sums, tries) = (random.usize(0..3), random.usize(0..20));
        // A fault that a node told before another one has met all would end that one's set-up.
        let have_met = &Barrier::new(size);
        let outcomes = joined(
            networks(members.len(), lanes, seed),
            &members,
            |_, _| always(lanes),
            |me| {
                let mut me = me.expect("all have joined");
                have_met.wait();
                if me.rank() == victim {
                    for _ in 0..sums {
                        me.allreduce_slice(&mut numbers(victim, 100), |a, b| a + b).expect("nobody is lost yet");
                    }
                    let mut values = numbers(victim, 100);
                    let mut sum = me.start().allreduce_slice(&mut values, |a, b| a + b).expect("nobody is lost yet");
                    for _ in 0..tries {
                        sum.try_finish().expect("nobody is lost yet");
                    }
                    resume_unwind(Box::new("as the test says"));
                }
                let error = sum_until_it_fails(&mut me);
                assert_eq!(error, Error::MemberLost { rank: victim, node, loss: Loss::Panicked }, "seed {seed}");
                goes_on(&mut me, &[victim], size);
            },
        );
        let lost: Vec<usize> = (0..size).filter(|&rank| outcomes[rank].is_none()).collect();
        assert_eq!(lost, [victim], "seed {seed}: {members:?}, {lanes} lanes");
    }
}

#[test]
fn all_hear_of_a_fault_of_one_lane_in_any_schedule() {
    for seed in seeds(12) {
        let mut random = fastrand::Rng::with_seed(seed);
        let (nodes, members, lanes) = (random.usize(2..4), random.usize(2..4), 2);
        let (node, lane, step) = (random.usize(0..nodes), random.usize(0..lanes), random.u64(2..20));
        let mut networks = networks(nodes, lanes, seed);
        // Messages that come long before the word of the fault take leaders of other nodes back to their nodes, where they hear
        // no word.
        networks[lane] = networks[lane].clone().delays(random.u64(..300)).error(node, step);
        // A fault that a node told before another one has met all would end that one's set-up.
        let have_met = &Barrier::new(nodes * members);
        let outcomes = joined(
            networks,
            &vec![members; nodes],
            |_, _| always(lanes),
            |me| {
                let mut me = me.expect("all have joined");
                have_met.wait();
                let error = sum_until_it_fails(&mut me);
                assert!(
                    matches!(error, Error::Engine { node: at, class: 17, .. } if at == node),
                    "seed {seed}: {error}"
                );
                goes_on(&mut me, &[], nodes * members);
            },
        );
        assert!(outcomes.iter().all(Option::is_some), "seed {seed}: lane {lane} at node {node}, step {step}");
    }
}

#[test]
fn the_end_of_a_lane_is_the_loss_of_its_leader_in_any_schedule() {
    for seed in seeds(6) {
        let step = fastrand::Rng::with_seed(seed).u64(1..20);
        let mut networks = networks(3, 2, seed);
        networks[1] = networks[1].clone().death(2, step);
        // A fault that a node told before another one has met all would end that one's set-up.
        let have_met = &Barrier::new(6);
        let outcomes = joined(
            networks,
            &[2, 2, 2],
            |_, _| always(2),
            |me| {
                let mut me = me.expect("all have joined");
                have_met.wait();
                match sum_until_it_fails(&mut me) {
                    // As its peers have found it, or as it has found it itself.
                    Error::MemberLost { rank: 5, node: 2, loss: Loss::Died } => {}
                    Error::Engine { node: 2, .. } => {}
                    other => panic!("seed {seed}: {other}"),
                }
            },
        );
        assert!(outcomes.iter().all(Option::is_some), "seed {seed}: step {step}");
    }
}

#[test]
fn nodes_with_other_lanes_are_named() {
    let refused = |lanes_of: &(dyn Fn(usize, usize) -> Lanes + Sync), members: &[usize]| {
        let outcomes = joined(networks(2, 2, 0), members, lanes_of, |me| me.map(drop));
        outcomes
            .into_iter()
            .map(|outcome| outcome.expect("no panic").expect_err("no group").to_string())
            .collect::<Vec<_>>()
    };
    let told = refused(&|node, _| Lanes::of(1 + node), &[2, 2]);
    assert_eq!(told[0], "node 1 has 2 lanes from 61441 bytes on, and this node 1 lane: all nodes need the same");
    assert_eq!(told[2], "node 0 has 1 lane, and this node 2 lanes from 61441 bytes on: all nodes need the same");
    let told = refused(&|node, _| Lanes::of(2).from_bytes(node), &[2, 2]);
    assert_eq!(
        told[0],
        "node 1 has 2 lanes from 1 bytes on, and this node 2 lanes from 0 bytes on: all nodes need the same"
    );
    let told = refused(&|_, local| Lanes::of(1 + local), &[2, 2]);
    assert_eq!(told[1], "the members of this node have asked for different lanes: all members need the same");
    let told = refused(&|_, _| Lanes::of(2), &[2, 1]);
    assert_eq!([&told[0], &told[2]], ["node 1 has 1 members, and 2 lanes need as many"; 2].each_ref());
    let told = refused(&|_, _| Lanes::of(3), &[3, 3]);
    assert_eq!(told[0], "member 2 of a node leads one of 3 lanes and needs an engine's end of its own");
}

#[test]
fn threads_of_one_process_have_no_lanes() {
    let machine = machine(2);
    let group = Group::builder(&machine).members(2).pin(false).plan_folder(None).race_folder(None);
    let connection = Connection::from(Network::of(1).engines().remove(0)).lanes(Lanes::of(2));
    assert!(matches!(group.over(connection).build(), Err(SetupError::NoLane { member: 1, lanes: 2 })));
}
