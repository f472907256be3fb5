//! Finds the parts of a tree that may belong to one better than the known tree.
//!
//! A part is a member and the members that it will yet inform, by itself and by others. Prices split what a tree earns
//! between a part and the rest of the tree. The part earns at most what the member can earn in the time it has left:
//!
//! ```text
//! going(a, t)    = max(going(a, t - 1), max over c of price + informed(c, t - edge) + going(a, t - send))
//! informed(a, t) = going(a, t) + what a earns by the messages that cost it nothing, each sent once, at once
//! ```
//!
//! and the rest at most what these moves, followed from the root, leave to others until a has t left. A part that is
//! worth more in every time, or leaves more to the rest, is in no better tree.
//!
//! `docs/design/bounds.md` has the proof.

use super::super::costs::Costs;
use super::budgets::Budgets;
use super::grid::Grid;
use super::part_prices::{PartPrices, STEPS};

/// The number of steps that the worth of a part is rounded down to.
const WORTHS: usize = 1 << 13;
/// Sums are cut off here: far above what any part is worth, far below where `f64` skips whole numbers.
const PLENTY: f64 = 1e13;

/// Limits on the parts of trees from one root, if the tree costs less than the known one.
pub(crate) struct Potential {
    /// The worth of one step.
    step: f64,
    /// `outside[a][worth]`: the most that all others earn if a's part has this worth.
    outside: Vec<Vec<f64>>,
    /// `left[a][worth]`: the most ticks that a has left if all others earn this much, plus one; 0 for never.
    left: Vec<Vec<u32>>,
}

impl Potential {
    /// True if the potential exists: some tree costs something, and no message takes nearly no time, as those have no
    /// order.
    pub(crate) fn has_order(costs: &Costs, upper: f64) -> bool {
        upper > 0.0 && upper.is_finite() && Grid::new(costs, upper, STEPS).lag > 0
    }

    /// For trees from `root` that cost less than `upper`, at any prices.
    ///
    /// # Panics
    ///
    /// If there is no order ([`Self::has_order`]).
    pub(crate) fn new(costs: &Costs, root: usize, upper: f64, prices: &PartPrices) -> Self {
        assert!(Self::has_order(costs, upper), "messages that take no time have no order");
        let grid = Grid::new(costs, upper, STEPS);
        let moves = Moves::new(&grid, root, Budgets::of(costs), prices);
        let inside = Inside::new(&moves);
        let outside = inside.outside(&moves, root);
        let most = prices.members.iter().map(|price| price.max(0.0)).chain(prices.sets.iter().map(|set| set.1));
        let step = (most.sum::<f64>() / WORTHS as f64).max(1.0);
        let mut potential = Self {
            step,
            outside: vec![vec![f64::NEG_INFINITY; WORTHS + 1]; grid.len],
            left: vec![vec![0; WORTHS + 1]; grid.len],
        };
        for a in 0..grid.len {
            potential.enter(a, &moves, &inside, &outside);
        }
        potential
    }

    fn enter(&mut self, a: usize, moves: &Moves, inside: &Inside, outside: &[f64]) {
        for at in moves.budgets.rows(a).flat_map(|state| state * STEPS..(state + 1) * STEPS) {
            let rest = outside[at];
            if rest == f64::NEG_INFINITY {
                continue;
            }
            let most = self.place(inside.informed[at]);
            self.outside[a][most] = self.outside[a][most].max(rest);
            let latest = self.place(rest);
            self.left[a][latest] = self.left[a][latest].max((at % STEPS) as u32 + 1);
        }
        for worth in (0..WORTHS).rev() {
            self.outside[a][worth] = self.outside[a][worth].max(self.outside[a][worth + 1]);
            self.left[a][worth] = self.left[a][worth].max(self.left[a][worth + 1]);
        }
    }

    fn place(&self, worth: f64) -> usize {
        ((worth / self.step).max(0.0) as usize).min(WORTHS)
    }

    /// How much of the known tree's time `a` has left at most, as a part of 1, if its part earns at least `part` and
    /// the rest of the tree at least `rest`; `None` if that is in no better tree.
    pub(crate) fn left(&self, a: usize, part: f64, rest: f64) -> Option<f64> {
        let left = self.left[a][self.place(rest)];
        (left > 0 && self.outside[a][self.place(part)] >= rest).then(|| f64::from(left) / STEPS as f64)
    }
}

/// The messages of one member, with what they earn.
struct Arc {
    child: usize,
    send: usize,
    edge: usize,
    price: f64,
    uses: Vec<Use>,
}

/// The states of a sender before and after a message, and of the child.
type Use = (usize, usize, usize);

struct Moves {
    budgets: Budgets,
    busy: Vec<Vec<Arc>>,
    /// Messages that cost their sender nothing.
    free: Vec<Vec<Arc>>,
}

impl Moves {
    fn new(grid: &Grid, root: usize, budgets: Budgets, prices: &PartPrices) -> Self {
        let of = |a: usize, is_free: bool| {
            let usable = (0..grid.len).filter(move |&child| child != a && child != root);
            let arc = |child: usize| {
                let (send, edge) = (grid.send[a * grid.len + child] as usize, grid.edge[a * grid.len + child] as usize);
                let is_meant = edge < STEPS && (send == 0) == is_free;
                is_meant.then(|| Arc {
                    child,
                    send,
                    edge,
                    price: prices.message(a, child),
                    uses: uses(&budgets, a, child),
                })
            };
            usable.filter_map(arc).collect()
        };
        let busy = (0..grid.len).map(|a| of(a, false)).collect();
        let free = (0..grid.len).map(|a| of(a, true)).collect();
        Self { budgets, busy, free }
    }
}

/// All uses of the message from a to the child.
fn uses(budgets: &Budgets, a: usize, child: usize) -> Vec<Use> {
    let kind = budgets.kind(a, child);
    let of = |given: usize| {
        let after = move |before: usize| budgets.after(a, before, kind, given);
        let below = budgets.below(child, kind, given);
        budgets.rows(a).filter_map(move |before| Some((before, after(before)?, below)))
    };
    budgets.given(a, kind).flat_map(of).collect()
}

/// The earnings of every member in 0 to `STEPS - 1` ticks: by state and time.
struct Inside {
    going: Vec<f64>,
    informed: Vec<f64>,
    /// The earnings of messages that cost their sender nothing, by member and time.
    free: Vec<f64>,
}

impl Inside {
    fn new(moves: &Moves) -> Self {
        let zeros = vec![0.0; moves.budgets.total() * STEPS];
        let free = vec![0.0; moves.busy.len() * STEPS];
        let mut inside = Self { going: zeros.clone(), informed: zeros, free };
        for t in 0..STEPS {
            for a in 0..moves.busy.len() {
                inside.earn(moves, a, t);
            }
        }
        inside
    }

    fn earn(&mut self, moves: &Moves, a: usize, t: usize) {
        let states = || moves.budgets.rows(a).map(|state| state * STEPS + t);
        if t > 0 {
            states().for_each(|at| self.going[at] = self.going[at - 1]);
        }
        for arc in moves.busy[a].iter().filter(|arc| arc.edge <= t) {
            for &(before, after, below) in &arc.uses {
                let go_on = self.going[after * STEPS + t - arc.send];
                let sum = arc.price + go_on + self.informed[below * STEPS + t - arc.edge];
                let most = &mut self.going[before * STEPS + t];
                *most = most.max(sum).min(PLENTY);
            }
        }
        let free = moves.free[a].iter().map(|arc| self.by_free(arc, &moves.budgets, t)).sum::<f64>();
        self.free[a * STEPS + t] = free;
        states().for_each(|at| self.informed[at] = (self.going[at] + free).min(PLENTY));
    }

    fn by_free(&self, arc: &Arc, budgets: &Budgets, t: usize) -> f64 {
        if arc.edge > t {
            return 0.0;
        }
        (arc.price + self.informed[budgets.full(arc.child) * STEPS + t - arc.edge]).max(0.0)
    }

    /// The most that all others earn until a member in a state has this much time left and goes on, by state and time;
    /// what it earns by messages that cost it nothing counts among the others'.
    fn outside(&self, moves: &Moves, root: usize) -> Vec<f64> {
        let never = vec![f64::NEG_INFINITY; self.going.len()];
        let mut outside = Outside { going: never.clone(), informed: never };
        outside.informed[moves.budgets.full(root) * STEPS + STEPS - 1] = 0.0;
        for t in (0..STEPS).rev() {
            for a in 0..moves.busy.len() {
                outside.hand_on(self, moves, a, t);
            }
        }
        outside.going
    }
}

/// The earnings of all others until a member is informed, and until it goes on.
struct Outside {
    informed: Vec<f64>,
    going: Vec<f64>,
}

impl Outside {
    fn hand_on(&mut self, inside: &Inside, moves: &Moves, a: usize, t: usize) {
        for at in moves.budgets.rows(a).map(|state| state * STEPS + t) {
            let others = self.informed[at] + inside.free[a * STEPS + t];
            raise(&mut self.going[at], others);
            for arc in moves.free[a].iter().filter(|arc| arc.edge <= t) {
                let all_but = others + inside.going[at] - inside.by_free(arc, &moves.budgets, t);
                raise(&mut self.informed[moves.budgets.full(arc.child) * STEPS + t - arc.edge], all_but + arc.price);
            }
        }
        for arc in moves.busy[a].iter().filter(|arc| arc.edge <= t) {
            for &(before, after, below) in &arc.uses {
                let others = self.going[before * STEPS + t] + arc.price;
                let (after, below) = (after * STEPS + t - arc.send, below * STEPS + t - arc.edge);
                raise(&mut self.going[after], others + inside.informed[below]);
                raise(&mut self.informed[below], others + inside.going[after]);
            }
        }
    }
}

fn raise(most: &mut f64, sum: f64) {
    *most = most.max(sum).min(PLENTY);
}
