//! Simulated annealing: a walk that also takes moves for the worse, more rarely as the temperature falls.
//!
//! Work is counted in moves: the same seed gives the same tree on every machine, on one thread or many.
//!
//! Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, 1983.

use fastrand::Rng;

use super::cooling::{exponential, temperature};
use super::moves::{Moves, Nearest};
use super::moving_tree::MovingTree;
use super::ticks::Ticks;
use crate::limits::Limits;

/// The first temperature, as a part of the makespan. Hotter was worse, as it forgets the tree that it started from.
const HOT: f64 = 0.005;
/// How often the temperature is halved: down to 0.03 %.
const HALVINGS: f64 = 4.0;
/// Moves between two temperatures, and between two checks whether to stop.
const MOVES_AT_ONCE: u64 = 256;

/// A tree by the parents of its members (the root's is itself), and what it costs in ticks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parents {
    pub(super) cost: u64,
    pub(super) parents: Vec<u32>,
}

/// The inputs that all walks over one problem share.
#[derive(Clone, Copy)]
pub(super) struct Walks<'a> {
    pub(super) ticks: &'a Ticks,
    pub(super) nearest: &'a Nearest,
    pub(super) is_root_fixed: bool,
    pub(super) limits: Limits,
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
}

impl Walks<'_> {
    /// One walk from a tree, of at most `moves` moves; returns the best tree seen, and the moves made until it was
    /// stopped.
    pub(super) fn walk(&self, start: &[u32], moves: u64, seed: u64) -> (Parents, u64) {
        let mut tree = MovingTree::new(self.ticks);
        tree.set(start);
        let mut best = Parents { cost: tree.cost(), parents: start.to_vec() };
        if tree.len() < 3 {
            return (best, 0);
        }
        let mut rng = Rng::with_seed(seed);
        let mut chance = rng.fork();
        let mut picks = Moves::new(self.nearest, self.is_root_fixed, self.limits, &mut rng);
        let makespan = best.cost as f64;
        let mut done = 0;
        while done < moves && !(self.stop)() {
            let temperature = makespan * temperature(HOT, HALVINGS, done as f64 / moves as f64);
            let now = MOVES_AT_ONCE.min(moves - done);
            for _ in 0..now {
                let worse = (temperature * exponential(&mut chance)) as u64;
                let most = tree.cost() + worse;
                if picks.make_one(&mut tree, most) && tree.cost() < best.cost {
                    best = Parents { cost: tree.cost(), parents: tree.parents() };
                }
            }
            done += now;
        }
        (best, done)
    }
}
