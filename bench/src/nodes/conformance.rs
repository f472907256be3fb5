//! Random operations over several nodes, each compared with a model that every member computes by itself.
//!
//! Every operation of a member of a group over nodes is drawn, one as often as the others but for splits, which take memory for
//! good among processes; shrinking has its own launches. The first half of them takes the ways between nodes that a group takes
//! without further ado, the third quarter those that are planned from a model of the cluster, and the last one, if there are many
//! operations, those that have won a race.

use corecast::collective::nodes::{Error, Member, Started};
use corecast::collective::{Order, op};
use corecast::plan::cluster::{ClusterModel, MachineKind, MachineSource, NodeRun, Tier};
use corecast_race::failure::Failure;
use fastrand::Rng;

/// The longest slices, of most and of some operations, in values.
const LEN: usize = 300;
const LONG: usize = 40_000;

/// The least number of operations before the last quarter of which the ways race: a race is some thousand operations itself.
const LEAST_FOR_RACE: u64 = 500;

/// The splits of a launch. Among processes the memory of a part never comes back, and each split takes a quarter of what is left.
const SPLITS: usize = 4;

/// A 2 by 2 matrix, row by row.
type Matrix = [u64; 4];

/// An operation, and whether its outcome was right.
type Operation = fn(&Trial, &mut Member) -> Result<bool, Failure>;

/// The name of the operation that is drawn only [`SPLITS`] times.
const SPLIT: &str = "split by node";

/// All operations, by name.
const OPERATIONS: [(&str, Operation); 21] = [
    ("barrier", |_, me| me.barrier().map(|()| true).map_err(Failure::refused)),
    ("broadcast", Trial::broadcast),
    ("reduce", Trial::reduce),
    ("reduce of a known operation", Trial::reduce_known),
    ("allreduce", Trial::allreduce),
    ("allreduce of a known operation", Trial::allreduce_known),
    ("allreduce of matrices by rank", Trial::matrices),
    ("allreduce of floats", Trial::floats),
    ("gather", Trial::gather),
    ("broadcast of a slice", Trial::broadcast_slice),
    ("reduce of a slice", Trial::reduce_slice),
    ("allreduce of a slice", Trial::allreduce_slice),
    ("allreduce of a slice by a known operation", Trial::allreduce_slice_known),
    ("gather of slices", Trial::gather_slice),
    (SPLIT, Trial::split_by_node),
    ("started barrier", |_, me| started(me.start().barrier()).map(|()| true)),
    ("started broadcast", Trial::start_broadcast),
    ("started reduce and allreduce", Trial::start_reductions),
    ("started gathers", Trial::start_gathers),
    ("started broadcast of a slice", Trial::start_broadcast_slice),
    ("started reductions of slices", Trial::start_slices),
];

/// This number of operations.
pub(super) fn check(me: &mut Member, rounds: u64, seed: u64) -> Result<(), Failure> {
    let mut random = Rng::with_seed(seed);
    let mut deck = Deck::default();
    for round in 0..rounds {
        if round == rounds / 2 {
            let model = (me.rank() == 0).then(|| model(me.nodes()));
            me.plan_between_nodes(model.as_ref()).map_err(Failure::refused)?;
        }
        if rounds >= LEAST_FOR_RACE && round == rounds / 4 * 3 {
            me.race(None).map_err(Failure::refused)?;
        }
        let (name, operation) = OPERATIONS[deck.draw(&mut random)];
        let trial = Trial {
            round,
            root: random.usize(..me.size()),
            len: if random.u32(..200) == 0 { random.usize(..LONG) } else { random.usize(..LEN) },
        };
        if !operation(&trial, me)? {
            let Trial { root, len, .. } = trial;
            let words = format!("round {round} of seed {seed}, {name}, root {root}, {len} values, rank {}", me.rank());
            return Err(Failure::Wrong(words));
        }
    }
    Ok(())
}

/// The places of the operations that are left until all are drawn anew.
#[derive(Default)]
struct Deck {
    left: Vec<usize>,
    /// The times that it was filled.
    fills: usize,
}

impl Deck {
    /// The place of the next operation: each is drawn once before any is drawn again.
    fn draw(&mut self, random: &mut Rng) -> usize {
        if self.left.is_empty() {
            let may_split = self.fills < SPLITS;
            self.left.extend((0..OPERATIONS.len()).filter(|&place| may_split || OPERATIONS[place].0 != SPLIT));
            random.shuffle(&mut self.left);
            self.fills += 1;
        }
        self.left.pop().expect("it was filled")
    }
}

/// A cluster of this number of nodes, two behind each switch, where a message costs its sender little of its way.
fn model(nodes: usize) -> ClusterModel {
    let tier = |name, size, latency_ns| Tier::assumed(name, size, latency_ns, 200.0, 0.1);
    let kind = MachineKind::of(MachineSource::Synthetic("core:1 pu:1".to_owned()));
    ClusterModel {
        name: "hosts of one machine".to_owned(),
        machines: [("host".to_owned(), kind)].into(),
        nodes: vec![NodeRun { kind: "host".to_owned(), count: nodes as u64, place: None, other: Default::default() }],
        tiers: vec![tier("switch", Some(2), 1000.0), tier("system", None, 9000.0)],
        nic: None,
        arrival: None,
        other: Default::default(),
    }
}

/// The result of a started operation, for which the member asks before it waits.
fn started<T>(begun: Result<Started<'_, T>, Error>) -> Result<T, Failure> {
    let mut begun = begun.map_err(Failure::refused)?;
    begun.try_finish().map_err(Failure::refused)?;
    begun.finish().map_err(Failure::refused)
}

/// One operation.
struct Trial {
    round: u64,
    root: usize,
    len: usize,
}

impl Trial {
    /// The value of a member at a place.
    fn of(&self, rank: usize, place: usize) -> u64 {
        let mixed = (self.round << 20) ^ ((rank as u64) << 40) ^ place as u64;
        mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    }

    fn all(&self, members: usize) -> impl Iterator<Item = u64> + '_ {
        (0..members).map(|rank| self.of(rank, 0))
    }

    fn broadcast(&self, me: &mut Member) -> Result<bool, Failure> {
        let mut value = self.of(me.rank(), 0);
        me.broadcast(self.root, &mut value).map_err(Failure::refused)?;
        Ok(value == self.of(self.root, 0))
    }

    fn reduce(&self, me: &mut Member) -> Result<bool, Failure> {
        let own = self.of(me.rank(), 0);
        let most = me.reduce(self.root, own, u64::max).map_err(Failure::refused)?;
        Ok(most == self.all(me.size()).max().filter(|_| me.rank() == self.root))
    }

    fn reduce_known(&self, me: &mut Member) -> Result<bool, Failure> {
        let own = self.of(me.rank(), 0);
        let least = me.reduce_with(self.root, own, op::Min).map_err(Failure::refused)?;
        Ok(least == self.all(me.size()).min().filter(|_| me.rank() == self.root))
    }

    fn allreduce(&self, me: &mut Member) -> Result<bool, Failure> {
        let own = self.of(me.rank(), 0);
        let most = me.allreduce(own, u64::max).map_err(Failure::refused)?;
        Ok(Some(most) == self.all(me.size()).max())
    }

    fn allreduce_known(&self, me: &mut Member) -> Result<bool, Failure> {
        let own = self.of(me.rank(), 0);
        let sum = me.allreduce_with(own, op::Sum).map_err(Failure::refused)?;
        Ok(sum == self.all(me.size()).fold(0, u64::wrapping_add))
    }

    fn gather(&self, me: &mut Member) -> Result<bool, Failure> {
        let own = self.of(me.rank(), 0);
        let gathered = me.gather(self.root, own).map_err(Failure::refused)?;
        let expected = (me.rank() == self.root).then(|| self.all(me.size()).collect());
        Ok(gathered == expected)
    }

    fn matrices(&self, me: &mut Member) -> Result<bool, Failure> {
        let of = |rank: usize| -> Matrix { [0, 1, 2, 3].map(|place| self.of(rank, place)) };
        let times = op::in_order(Order::Rank, multiply);
        let product = me.allreduce_with(of(me.rank()), times).map_err(Failure::refused)?;
        Ok(Some(product) == (0..me.size()).map(of).reduce(multiply))
    }

    /// The sum need not be that of any model, but has the same bits at all members.
    fn floats(&self, me: &mut Member) -> Result<bool, Failure> {
        let own = (self.of(me.rank(), 0) >> 11) as f64 * 1e-10;
        let sum: f64 = me.allreduce_with(own, op::Sum).map_err(Failure::refused)?;
        let mut of_root = sum.to_bits();
        me.broadcast(self.root, &mut of_root).map_err(Failure::refused)?;
        Ok(of_root == sum.to_bits())
    }

    /// The values of a member.
    fn slice(&self, rank: usize) -> Vec<u64> {
        (0..self.len).map(|place| self.of(rank, place)).collect()
    }

    /// The sums of the values of all members.
    fn sums(&self, members: usize) -> Vec<u64> {
        let sum = |place: usize| (0..members).map(|rank| self.of(rank, place)).fold(0, u64::wrapping_add);
        (0..self.len).map(sum).collect()
    }

    fn broadcast_slice(&self, me: &mut Member) -> Result<bool, Failure> {
        let mut values = self.slice(me.rank());
        me.broadcast_slice(self.root, &mut values).map_err(Failure::refused)?;
        Ok(values == self.slice(self.root))
    }

    fn reduce_slice(&self, me: &mut Member) -> Result<bool, Failure> {
        let mut values = self.slice(me.rank());
        me.reduce_slice(self.root, &mut values, u64::wrapping_add).map_err(Failure::refused)?;
        Ok(me.rank() != self.root || values == self.sums(me.size()))
    }

    fn allreduce_slice(&self, me: &mut Member) -> Result<bool, Failure> {
        let mut values = self.slice(me.rank());
        me.allreduce_slice(&mut values, u64::wrapping_add).map_err(Failure::refused)?;
        Ok(values == self.sums(me.size()))
    }

    fn allreduce_slice_known(&self, me: &mut Member) -> Result<bool, Failure> {
        let mut values = self.slice(me.rank());
        me.allreduce_slice_with(&mut values, op::Sum).map_err(Failure::refused)?;
        Ok(values == self.sums(me.size()))
    }

    /// Slices of different lengths.
    fn gather_slice(&self, me: &mut Member) -> Result<bool, Failure> {
        let of = |rank: usize| self.slice(rank).into_iter().skip(rank).collect::<Vec<u64>>();
        let gathered = me.gather_slice(self.root, &of(me.rank())).map_err(Failure::refused)?;
        Ok(gathered == (me.rank() == self.root).then(|| (0..me.size()).map(of).collect()))
    }

    fn split_by_node(&self, me: &mut Member) -> Result<bool, Failure> {
        let members = me.members_of(me.node());
        let mut part = me.split_by_node().map_err(Failure::refused)?;
        let sum = part.allreduce(1, |a, b| a + b).map_err(Failure::refused)?;
        Ok((part.size(), sum) == (members, members))
    }

    fn start_broadcast(&self, me: &mut Member) -> Result<bool, Failure> {
        let mut value = self.of(me.rank(), 0);
        started(me.start().broadcast(self.root, &mut value))?;
        Ok(value == self.of(self.root, 0))
    }

    fn start_reductions(&self, me: &mut Member) -> Result<bool, Failure> {
        let (own, expected) = (self.of(me.rank(), 0), self.all(me.size()).min());
        let at_root = started(me.start().reduce(self.root, own, u64::min))?;
        let known_at_root = started(me.start().reduce_with(self.root, own, op::Min))?;
        let everywhere = started(me.start().allreduce(own, u64::min))?;
        let known_everywhere = started(me.start().allreduce_with(own, op::Min))?;
        let of_root = expected.filter(|_| me.rank() == self.root);
        Ok([at_root, known_at_root] == [of_root; 2] && [everywhere, known_everywhere].map(Some) == [expected; 2])
    }

    fn start_gathers(&self, me: &mut Member) -> Result<bool, Failure> {
        let (rank, size) = (me.rank(), me.size());
        let values = started(me.start().gather(self.root, self.of(rank, 0)))?;
        let of = |rank: usize| self.slice(rank).into_iter().skip(rank).collect::<Vec<u64>>();
        let slices = started(me.start().gather_slice(self.root, &of(rank)))?;
        let has_slices = slices == (rank == self.root).then(|| (0..size).map(of).collect());
        Ok(has_slices && values == (rank == self.root).then(|| self.all(size).collect()))
    }

    fn start_broadcast_slice(&self, me: &mut Member) -> Result<bool, Failure> {
        let mut values = self.slice(me.rank());
        started(me.start().broadcast_slice(self.root, &mut values))?;
        Ok(values == self.slice(self.root))
    }

    fn start_slices(&self, me: &mut Member) -> Result<bool, Failure> {
        let mut at_root = self.slice(me.rank());
        let (mut everywhere, mut known) = (at_root.clone(), at_root.clone());
        started(me.start().reduce_slice(self.root, &mut at_root, u64::wrapping_add))?;
        started(me.start().allreduce_slice(&mut everywhere, u64::wrapping_add))?;
        started(me.start().allreduce_slice_with(&mut known, op::Sum))?;
        let expected = self.sums(me.size());
        Ok((me.rank() != self.root || at_root == expected) && [everywhere, known].iter().all(|sums| *sums == expected))
    }
}

/// The product of two matrices; it depends on their order.
fn multiply([a, b, c, d]: Matrix, [e, f, g, h]: Matrix) -> Matrix {
    let sum = |w: u64, x: u64, y: u64, z: u64| w.wrapping_mul(x).wrapping_add(y.wrapping_mul(z));
    [sum(a, e, b, g), sum(a, f, b, h), sum(c, e, d, g), sum(c, f, d, h)]
}

#[cfg(test)]
mod tests {
    use std::thread;

    use corecast::collective::nodes::local::Network;
    use corecast::machine::{Cpu, Machine, Topology};
    use corecast::{CpuId, Group};

    use super::*;

    #[test]
    fn every_operation_is_drawn_once_before_any_is_drawn_again() {
        let mut random = Rng::with_seed(7);
        let mut deck = Deck::default();
        for _ in 0..3 {
            let mut places: Vec<usize> = OPERATIONS.iter().map(|_| deck.draw(&mut random)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..OPERATIONS.len()));
        }
    }

    #[test]
    fn a_long_launch_splits_as_seldom_as_its_memory_allows() {
        let mut random = Rng::with_seed(7);
        let mut deck = Deck::default();
        let mut counts = [0; OPERATIONS.len()];
        for _ in 0..10_000 {
            counts[deck.draw(&mut random)] += 1;
        }
        for ((name, _), count) in OPERATIONS.iter().zip(counts) {
            assert!(if *name == SPLIT { count == SPLITS } else { count > 490 }, "{name}: {count}");
        }
    }

    #[test]
    fn every_operation_is_right_over_threads_as_nodes() {
        let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let members = [1, 3, 2];
        let machine = &machine;
        thread::scope(|scope| {
            for (engine, members) in Network::of(members.len()).engines().into_iter().zip(members) {
                scope.spawn(move || {
                    let group = Group::builder(machine).members(members).pin(false).plan_folder(None);
                    let group = group.race_folder(None).over(engine).build().expect("a group");
                    let checked = group.run(|me| check(me, LEAST_FOR_RACE, 7)).expect("threads");
                    checked.into_iter().for_each(|checked| checked.expect("all is right"));
                });
            }
        });
    }
}
