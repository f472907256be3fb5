//! Results of all operations are those of a sequential model, in all cells of nodes and members.

use std::thread;

use corecast_collective::nodes::local::Network;
use corecast_collective::nodes::{Error, Member};
use corecast_collective::op::{self, Max, Min, Sum, Xor};
use corecast_collective::{Group, Order};
use corecast_plan::cluster::{ClusterModel, MachineKind, MachineSource, NodeRun, Tier};

use crate::cluster::{CELLS, all, machine, run};

const PRIME: u64 = 1_000_003;
/// A matrix of two rows.
type Matrix = [u64; 4];

fn product([a, b, c, d]: Matrix, [e, f, g, h]: Matrix) -> Matrix {
    [a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h].map(|value| value % PRIME)
}

fn matrix(rank: usize, round: u64) -> Matrix {
    let rank = rank as u64 + 1;
    [rank, round + 2, 3 * rank + round, 7]
}

/// A float whose sums depend on the order.
fn float(rank: usize, round: u64) -> f64 {
    1.0 / (3.0 + rank as f64) * 10f64.powi((rank as i32 * 7 + round as i32) % 30 - 15)
}

/// The bits that all members got, by round.
type Bits = Vec<u64>;

fn check_values(me: &mut Member, bits: &mut Bits) -> Result<(), Error> {
    let (rank, size) = (me.rank(), me.size());
    let multiply = op::in_order(Order::Rank, product);
    for round in 0..3u64 {
        me.barrier()?;
        let sum = |add: u64| (0..size as u64).map(|rank| rank + add).sum::<u64>();
        assert_eq!(me.allreduce(rank as u64 + round, |a, b| a + b)?, sum(round));
        assert_eq!(me.allreduce_with(rank as i32, Max)?, size as i32 - 1);
        assert_eq!(me.allreduce_with(rank as u8, Xor)?, (0..size).fold(0, |a, b| a ^ b as u8));
        assert_eq!(me.allreduce([rank as u32; 100], |a, b| a.map(|a| a.max(b[99])))?, [size as u32 - 1; 100]);
        let expected = (0..size).map(|rank| matrix(rank, round)).reduce(product);
        assert_eq!(Some(me.allreduce_with(matrix(rank, round), multiply)?), expected);
        bits.push(me.allreduce(float(rank, round), |a, b| a + b)?.to_bits());
        for root in 0..size {
            let is_root = rank == root;
            let mut value = if is_root { [round, root as u64] } else { [0; 2] };
            me.broadcast(root, &mut value)?;
            assert_eq!(value, [round, root as u64]);
            assert_eq!(me.reduce(root, rank as u64, |a, b| a + b)?, is_root.then_some(sum(0)));
            assert_eq!(me.reduce_with(root, rank as u16, Min)?, is_root.then_some(0));
            assert_eq!(me.reduce_with(root, matrix(rank, round), multiply)?, expected.filter(|_| is_root));
            let gathered = me.gather(root, [rank as u16, round as u16])?;
            assert_eq!(gathered, is_root.then(|| (0..size as u16).map(|rank| [rank, round as u16]).collect()));
        }
    }
    Ok(())
}

fn check_slices(me: &mut Member, bits: &mut Bits) -> Result<(), Error> {
    let (rank, size) = (me.rank(), me.size());
    for len in [0, 1, 100, 8 * 1024, 8 * 1024 + 1, 30_000] {
        let root = len % size;
        let own = |rank: usize| (0..len).map(move |place| (rank * 31 + place) as u64);
        let expected: Vec<u64> = (0..len).map(|place| (0..size).map(|rank| (rank * 31 + place) as u64).sum()).collect();
        let mut values: Vec<u64> = own(rank).collect();
        me.allreduce_slice(&mut values, |a, b| a + b)?;
        assert_eq!(values, expected);
        let mut values: Vec<u64> = own(rank).collect();
        me.allreduce_slice_with(&mut values, Sum)?;
        assert_eq!(values, expected);
        let mut values: Vec<u64> = own(rank).collect();
        me.reduce_slice(root, &mut values, |a, b| a + b)?;
        assert!(rank != root || values == expected);
        me.broadcast_slice(root, &mut values)?;
        assert_eq!(values, expected);
        let mut floats: Vec<f32> = (0..len).map(|place| float(rank, place as u64) as f32).collect();
        me.allreduce_slice(&mut floats, |a, b| a + b)?;
        bits.extend(floats.iter().map(|float| u64::from(float.to_bits())));
        let mine: Vec<u16> = (0..len * rank / 3).map(|place| place as u16).collect();
        let gathered = me.gather_slice(root, &mine)?;
        let expected = |rank: usize| (0..len * rank / 3).map(|place| place as u16).collect::<Vec<u16>>();
        assert_eq!(gathered, (rank == root).then(|| (0..size).map(expected).collect()));
    }
    Ok(())
}

fn check_cells(most_delay: u64, check: impl Fn(&mut Member, &mut Bits) -> Result<(), Error> + Sync) {
    for (number, members) in CELLS.into_iter().enumerate() {
        let bits = || {
            let network = Network::of(members.len()).seed(number as u64).delays(most_delay);
            all(run(network, members, |me| {
                let mut bits = Bits::new();
                check(me, &mut bits).map(|()| bits)
            }))
        };
        let (first, second) = (bits(), bits());
        assert!(first[0].is_ok(), "{members:?}: {:?}", first[0]);
        assert!(first.iter().all(|bits| *bits == first[0]), "{members:?}: all members of all nodes get the same bits");
        assert_eq!(first, second, "{members:?}: in every run");
    }
}

#[test]
fn values_are_combined_as_by_one_after_the_other() {
    check_cells(0, check_values);
    check_cells(40, check_values);
}

#[test]
fn slices_are_combined_as_by_one_after_the_other() {
    check_cells(20, check_slices);
}

/// Slices of more than 1 MiB go up and down within a node at once in all operations, whether or not members share CPUs.
#[test]
fn the_longest_slices_of_threads_are_combined_in_place() {
    const LEN: usize = (1 << 17) + 5;
    let outcomes = all(run(Network::of(2).delays(10), &[2, 3], |me| {
        let (rank, size) = (me.rank(), me.size());
        let is_sum = |values: &[u64]| values.iter().zip(0..).all(|(value, place)| *value == 10 + place * size as u64);
        for root in 0..size {
            let mut values: Vec<u64> = (rank as u64..).take(LEN).collect();
            me.reduce_slice(root, &mut values, |a, b| a + b)?;
            assert!(rank != root || is_sum(&values), "to {root}");
            me.broadcast_slice(root, &mut values)?;
            assert!(is_sum(&values), "from {root} at {rank}");
        }
        let mut values: Vec<u64> = (rank as u64..).take(LEN).collect();
        let mut sum = me.start().allreduce_slice(&mut values, |a, b| a + b)?;
        while !sum.try_finish()? {
            thread::yield_now();
        }
        sum.finish()?;
        assert!(is_sum(&values), "at {rank}");
        Ok::<_, Error>(())
    }));
    assert_eq!(outcomes, vec![Ok(()); 5]);
}

#[test]
fn members_know_their_place() {
    let told = all(run(Network::of(3), &[1, 3, 2], |me| {
        let near = me.near().rank();
        (me.rank(), me.node(), near, me.is_leader(), me.size(), me.nodes(), me.place_of(me.rank()).ok())
    }));
    let places = [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)];
    let expected: Vec<_> = (0..6)
        .map(|rank| {
            let (node, near) = places[rank];
            (rank, node, near, near == 0, 6, 3, Some((node, near)))
        })
        .collect();
    assert_eq!(told, expected);
}

#[test]
fn nodes_have_groups_of_their_own() {
    let sums = all(run(Network::of(2).delays(10), &[3, 2], |me| {
        let mut part = me.split_by_node()?;
        let in_part = part.allreduce(me.rank(), |a, b| a + b)?;
        let near = me.near().allreduce(1, |a, b| a + b)?;
        Ok::<_, Error>((in_part, near, me.allreduce(1, |a, b| a + b)?))
    }));
    assert_eq!(sums, [Ok((3, 3, 5)), Ok((3, 3, 5)), Ok((3, 3, 5)), Ok((7, 2, 5)), Ok((7, 2, 5))]);
}

#[test]
fn a_group_runs_again() {
    let engines = Network::of(2).engines();
    let sums: Vec<_> = std::thread::scope(|scope| {
        let one = |engine| {
            let machine = machine(2);
            let group = Group::builder(&machine).members(2).pin(false).over(engine).build().expect("the nodes meet");
            [0, 1, 2].map(|round| group.run(|me| me.allreduce(round, |a, b| a + b)).expect("no member panics"))
        };
        let threads: Vec<_> = engines.into_iter().map(|engine| scope.spawn(move || one(engine))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no node panics")).collect()
    });
    assert_eq!(sums, vec![[0, 1, 2].map(|round| vec![Ok(4 * round); 2]); 2]);
}

#[test]
fn forms_race_and_the_result_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let raced = || {
        all(run(Network::of(3).delays(5), &[1, 2, 1], |me| {
            let races = me.race(Some(folder.path()))?;
            let mut bits = Bits::new();
            check_values(me, &mut bits)?;
            check_slices(me, &mut bits)?;
            let winners = [races.known, races.allreduce, races.broadcast].map(|races| {
                assert!(races.iter().all(|race| me.rank() > 0 || !race.medians_ns.is_empty()));
                races.iter().map(|race| race.winner).collect::<Vec<_>>()
            });
            Ok::<_, Error>((races.is_kept, winners))
        }))
    };
    let first: Vec<_> = raced().into_iter().map(|outcome| outcome.expect("all is well")).collect();
    assert!(first.iter().all(|outcome| *outcome == (false, first[0].1.clone())), "{first:?}");
    let second: Vec<_> = raced().into_iter().map(|outcome| outcome.expect("all is well")).collect();
    assert!(second.iter().all(|outcome| *outcome == (true, first[0].1.clone())), "{second:?}");
}

/// A cluster of this number of nodes, two behind each switch, or all behind one.
fn model(nodes: usize, is_flat: bool) -> ClusterModel {
    let tier = |name, size, latency_ns| Tier::assumed(name, size, latency_ns, 200.0, 0.1);
    let run = NodeRun { kind: "node".to_owned(), count: nodes as u64, place: None, other: Default::default() };
    let kind = MachineKind::of(MachineSource::Synthetic("core:1 pu:1".to_owned()));
    let switches = vec![tier("switch", Some(2), 1000.0), tier("system", None, 9000.0)];
    ClusterModel {
        name: "planned".to_owned(),
        machines: [("node".to_owned(), kind)].into(),
        nodes: vec![run],
        tiers: if is_flat { vec![tier("system", None, 9000.0)] } else { switches },
        nic: None,
        arrival: None,
        other: Default::default(),
    }
}

#[test]
fn planned_trees_carry_the_same_values() {
    // The last one takes trees for allreductions: each message costs little beside its way, and doubling has four rounds.
    for (members, is_flat) in [(&[1, 3, 2, 1][..], false), (&[1; 5], false), (&[1, 2, 1, 1, 1], true)] {
        let bits = all(run(Network::of(members.len()).delays(5), members, |me| {
            let other = model(members.len() + 1, is_flat);
            assert!(matches!(me.plan_between_nodes(Some(&other)), Err(Error::NoPlan { .. })));
            let model = (me.rank() == 0).then(|| model(members.len(), is_flat));
            me.plan_between_nodes(model.as_ref())?;
            let mut bits = Bits::new();
            check_values(me, &mut bits)?;
            check_slices(me, &mut bits).map(|()| bits)
        }));
        assert!(bits[0].is_ok() && bits.iter().all(|other| *other == bits[0]), "{members:?}");
    }
}
