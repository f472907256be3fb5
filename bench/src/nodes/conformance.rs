//! Random operations over several nodes, each compared with a model that every member computes by itself.

use corecast::collective::nodes::Member;
use corecast::collective::{Order, op};
use corecast_race::failure::Failure;
use fastrand::Rng;

/// The longest slices, of most and of some operations, in values.
const LEN: usize = 300;
const LONG: usize = 40_000;

/// A 2 by 2 matrix, row by row.
type Matrix = [u64; 4];

/// This number of operations.
pub(super) fn check(me: &mut Member, rounds: u64, seed: u64) -> Result<(), Failure> {
    let mut random = Rng::with_seed(seed);
    for round in 0..rounds {
        let trial = Trial {
            round,
            root: random.usize(..me.size()),
            len: if random.u32(..200) == 0 { random.usize(..LONG) } else { random.usize(..LEN) },
        };
        let name = match random.u32(..9) {
            0 => ("barrier", me.barrier().map(|()| true).map_err(Failure::refused)),
            1 => ("broadcast", trial.broadcast(me)),
            2 => ("reduce", trial.reduce(me)),
            3 => ("allreduce", trial.allreduce(me)),
            4 => ("gather", trial.gather(me)),
            5 => ("allreduce of matrices by rank", trial.matrices(me)),
            6 => ("allreduce of floats", trial.floats(me)),
            7 => ("broadcast of a slice", trial.broadcast_slice(me)),
            _ => ("allreduce of a slice", trial.allreduce_slice(me)),
        };
        let (name, outcome) = name;
        if !outcome? {
            let Trial { root, len, .. } = trial;
            let words = format!("round {round} of seed {seed}, {name}, root {root}, {len} values, rank {}", me.rank());
            return Err(Failure::Wrong(words));
        }
    }
    Ok(())
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
        let least = me.reduce_with(self.root, own, op::Min).map_err(Failure::refused)?;
        let expected = self.all(me.size()).min().filter(|_| me.rank() == self.root);
        Ok(least == expected)
    }

    fn allreduce(&self, me: &mut Member) -> Result<bool, Failure> {
        let own = self.of(me.rank(), 0);
        let sum = me.allreduce_with(own, op::Sum).map_err(Failure::refused)?;
        let most = me.allreduce(own, u64::max).map_err(Failure::refused)?;
        let expected = self.all(me.size()).fold(0, u64::wrapping_add);
        Ok(sum == expected && Some(most) == self.all(me.size()).max())
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

    fn broadcast_slice(&self, me: &mut Member) -> Result<bool, Failure> {
        let rank = me.rank();
        let mut values: Vec<u64> = (0..self.len).map(|place| self.of(rank, place)).collect();
        me.broadcast_slice(self.root, &mut values).map_err(Failure::refused)?;
        Ok(values.iter().enumerate().all(|(place, &value)| value == self.of(self.root, place)))
    }

    fn allreduce_slice(&self, me: &mut Member) -> Result<bool, Failure> {
        let (rank, size) = (me.rank(), me.size());
        let mut values: Vec<u64> = (0..self.len).map(|place| self.of(rank, place)).collect();
        me.allreduce_slice_with(&mut values, op::Sum).map_err(Failure::refused)?;
        let expected = |place: usize| (0..size).map(|rank| self.of(rank, place)).fold(0, u64::wrapping_add);
        Ok(values.iter().enumerate().all(|(place, &value)| value == expected(place)))
    }
}

/// The product of two matrices; it depends on their order.
fn multiply([a, b, c, d]: Matrix, [e, f, g, h]: Matrix) -> Matrix {
    let sum = |w: u64, x: u64, y: u64, z: u64| w.wrapping_mul(x).wrapping_add(y.wrapping_mul(z));
    [sum(a, e, b, g), sum(a, f, b, h), sum(c, e, d, g), sum(c, f, d, h)]
}
