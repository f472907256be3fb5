//! Simulated annealing: a walk that also takes moves for the worse, the rarer the colder it gets.
//!
//! Work is counted in moves, and temperatures are made of additions and multiplications only: the same seed gives the
//! same tree on every machine, on one thread or many.
//!
//! Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, 1983.

use fastrand::Rng;

use super::moves::{Moves, Nearest};
use super::moving_tree::MovingTree;
use super::ticks::Ticks;
use crate::limits::Limits;

/// The first temperature, as a part of the makespan. Hotter was worse, as it forgets the tree that it started from.
const HOT: f64 = 0.005;
/// How often the temperature is halved: down to three hundredths of a percent.
const HALVINGS: f64 = 4.0;
/// Moves between two temperatures, and between two questions whether to stop.
const MOVES_AT_ONCE: u64 = 256;

/// A tree by the parents of its members (the root's is itself), and what it costs in ticks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parents {
    pub(super) cost: u64,
    pub(super) parents: Vec<u32>,
}

/// What all walks over one problem share.
#[derive(Clone, Copy)]
pub(super) struct Walks<'a> {
    pub(super) ticks: &'a Ticks,
    pub(super) nearest: &'a Nearest,
    pub(super) is_root_fixed: bool,
    pub(super) limits: Limits,
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
}

impl Walks<'_> {
    /// One walk from a tree, of so many moves; returns the best tree seen.
    pub(super) fn walk(&self, start: &[u32], moves: u64, seed: u64) -> Parents {
        let mut tree = MovingTree::new(self.ticks);
        tree.set(start);
        let mut best = Parents { cost: tree.cost(), parents: start.to_vec() };
        if tree.len() < 3 {
            return best;
        }
        let mut rng = Rng::with_seed(seed);
        let mut chance = rng.fork();
        let mut picks = Moves::new(self.nearest, self.is_root_fixed, self.limits, &mut rng);
        let makespan = best.cost as f64;
        let mut done = 0;
        while done < moves && !(self.stop)() {
            let temperature = makespan * temperature(done as f64 / moves as f64);
            for _ in 0..MOVES_AT_ONCE.min(moves - done) {
                let worse = (temperature * exponential(&mut chance)) as u64;
                let most = tree.cost() + worse;
                if picks.make_one(&mut tree, most) && tree.cost() < best.cost {
                    best = Parents { cost: tree.cost(), parents: tree.parents() };
                }
            }
            done += MOVES_AT_ONCE;
        }
        best
    }
}

/// The temperature after a part of the walk, from 0 to 1, as a part of the makespan: halved again and again, straight
/// in between.
fn temperature(part: f64) -> f64 {
    let halved = part * HALVINGS;
    let whole = halved as u32;
    HOT / f64::from(1 << whole) * (1.0 - 0.5 * (halved - f64::from(whole)))
}

/// An exponentially distributed number with mean 1: the negative logarithm of an evenly distributed one.
fn exponential(rng: &mut Rng) -> f64 {
    // A number of 52 bits is 2^exponent times one in [1, 2), whose logarithm is a short series.
    let number = rng.u64(1..1 << 52);
    let exponent = 63 - number.leading_zeros();
    let part = number as f64 / (1_u64 << exponent) as f64;
    let z = (part - 1.0) / (part + 1.0);
    let square = z * z;
    let series = 2.0 * z * (1.0 + square * (1.0 / 3.0 + square * (0.2 + square / 7.0)));
    f64::from(52 - exponent) * std::f64::consts::LN_2 - series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_numbers_have_mean_and_deviation_one() {
        let mut rng = Rng::with_seed(1);
        let numbers: Vec<f64> = (0..100_000).map(|_| exponential(&mut rng)).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let square = numbers.iter().map(|x| x * x).sum::<f64>() / numbers.len() as f64;
        assert!((mean - 1.0).abs() < 0.01 && (square - 2.0).abs() < 0.05, "{mean} {square}");
        assert!(numbers.iter().all(|&x| x >= 0.0));
    }

    #[test]
    fn it_cools_from_hot_to_cold_without_a_jump() {
        let steps: Vec<f64> = (0..=100).map(|percent| temperature(f64::from(percent) / 100.0)).collect();
        assert_eq!((steps[0], steps[100]), (0.005, 0.005 / 16.0));
        assert!(steps.windows(2).all(|pair| pair[1] < pair[0] && pair[1] > 0.9 * pair[0]));
    }
}
