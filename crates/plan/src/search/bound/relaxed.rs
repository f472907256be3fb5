//! The most that a broadcast earns in a given time, if every message earns its price and members may be informed more
//! than once, within budgets.
//!
//! ```text
//! going(a, t)    = max(going(a, t - 1), max over c of price + informed(c, t - edge) + going(a, t - send))
//! informed(a, t) = going(a, t) + what a earns by the messages that cost it nothing, each sent once, at once
//! ```
//!
//! where a has t ticks left; a stands for a member in a state. Prices are whole numbers and sums that count stay below
//! 2^24, so that `f32` is exact.

use std::ops::Range;

use super::budgets::{Budgets, Move};
use super::grid::Grid;

/// The largest sum that may appear; `f32` holds all whole numbers up to it.
pub(super) const LARGEST: f32 = (1 << 24) as f32;
/// At most so many times at once.
const LANES: usize = 32;

/// A message of which a sender may make use.
struct Arc {
    child: usize,
    send: usize,
    edge: usize,
    moves: Vec<Move>,
}

/// Who may inform whom, at which cost in time.
pub(super) struct Network {
    times: usize,
    /// So many times are computed at once.
    lanes: usize,
    /// And so many of them, where near messages matter.
    few_lanes: usize,
    budgets: Budgets,
    /// The messages of each member that keep the sender busy for all lanes.
    far: Vec<Vec<Arc>>,
    /// Those that keep it busy for a shorter time.
    near: Vec<Vec<Arc>>,
    /// Those that cost the sender nothing.
    free: Vec<Vec<Arc>>,
}

impl Network {
    /// A fixed root is never a child.
    pub(super) fn new(grid: &Grid, root: Option<usize>, budgets: Budgets) -> Self {
        let lanes = grid.usual_send().clamp(grid.lag.min(LANES), LANES);
        let usable = |is_meant: &dyn Fn(usize) -> bool| -> Vec<Vec<Arc>> {
            let of = |a: usize, child: usize| {
                let at = a * grid.len + child;
                let (send, edge) = (grid.send[at] as usize, grid.edge[at] as usize);
                let is_usable = child != a && Some(child) != root && edge < grid.steps && is_meant(send);
                is_usable.then(|| Arc { child, send, edge, moves: budgets.moves(a, child) })
            };
            (0..grid.len).map(|a| (0..grid.len).filter_map(|child| of(a, child)).collect()).collect()
        };
        let far = usable(&|send| send >= lanes);
        let near = usable(&|send| (1..lanes).contains(&send));
        let free = usable(&|send| send == 0);
        Self { times: grid.steps, lanes, few_lanes: grid.lag.min(lanes), budgets, far, near, free }
    }

    fn len(&self) -> usize {
        self.far.len()
    }
}

/// What everybody earns in 0 to `steps - 1` ticks.
pub(super) struct Relaxed<'a> {
    network: &'a Network,
    /// `prices[parent * len + child]`.
    prices: &'a [f32],
    /// `informed[state * times + t]`: not decreasing in t.
    informed: Vec<f32>,
    going: Vec<f32>,
}

impl<'a> Relaxed<'a> {
    /// `prices[parent * len + child]` are whole numbers from -2^22.
    pub(super) fn new(network: &'a Network, prices: &'a [f32]) -> Self {
        let zeros = vec![0.0; network.budgets.total() * network.times];
        let mut relaxed = Self { network, prices, informed: zeros.clone(), going: zeros };
        let mut blocks = vec![0.0; network.budgets.total() * network.lanes];
        for begin in (1..network.times).step_by(network.lanes) {
            let end = (begin + network.lanes).min(network.times);
            blocks.fill(0.0);
            for a in 0..network.len() {
                relaxed.earn(&network.far[a], a, (begin, begin..end), &mut blocks);
            }
            for some in (begin..end).step_by(network.few_lanes) {
                let some = some..(some + network.few_lanes).min(end);
                for a in 0..network.len() {
                    relaxed.earn(&network.near[a], a, (begin, some.clone()), &mut blocks);
                    relaxed.settle(a, (begin, some.clone()), &mut blocks);
                }
            }
        }
        relaxed
    }

    /// What `a`, informed from outside its cluster, earns in `ticks`.
    fn informed(&self, a: usize, ticks: usize) -> f32 {
        self.row(a)[ticks]
    }

    /// The least time in which `a` earns so much; `None` if there is none below the known tree's.
    pub(super) fn first(&self, a: usize, goal: f32) -> Option<usize> {
        let first = self.row(a).partition_point(|&sum| sum < goal);
        (first < self.network.times).then_some(first)
    }

    fn row(&self, a: usize) -> &[f32] {
        &self.informed[self.network.budgets.full(a) * self.network.times..][..self.network.times]
    }

    /// From so many ticks on sums are too large to be exact, if member `a` is informed after `delay[a]` ticks at best.
    pub(super) fn exact_until(&self, delays: &[usize]) -> usize {
        let until = |a: usize| delays[a] + self.row(a).partition_point(|&sum| sum <= LARGEST);
        (0..delays.len()).map(until).min().unwrap_or(0)
    }

    /// What `a` earns by these messages in the times of a block that begins at the first number: as if it had
    /// as long as that.
    fn earn(&self, arcs: &[Arc], a: usize, (begin, times): (usize, Range<usize>), blocks: &mut [f32]) {
        let network = self.network;
        for arc in arcs.iter().filter(|arc| arc.edge < times.end) {
            let times = times.start.max(arc.edge)..times.end;
            let price = self.prices[a * network.len() + arc.child];
            for used in &arc.moves {
                let go_on = used.after as usize * network.times;
                let go_on = &self.going[go_on + times.start - arc.send..go_on + times.end - arc.send];
                let below = used.below as usize * network.times;
                let below = &self.informed[below + times.start - arc.edge..below + times.end - arc.edge];
                let row = used.before as usize * network.lanes;
                let sums = &mut blocks[row + times.start - begin..row + times.end - begin];
                for ((sum, go_on), below) in sums.iter_mut().zip(go_on).zip(below) {
                    let earned = price + *go_on + *below;
                    *sum = if earned > *sum { earned } else { *sum };
                }
            }
        }
    }

    /// Enters into the tables what `a` has earned in these times.
    fn settle(&mut self, a: usize, (begin, times): (usize, Range<usize>), blocks: &mut [f32]) {
        let network = self.network;
        for state in network.budgets.rows(a) {
            let row = state * network.times;
            let block = &mut blocks[state * network.lanes..];
            let mut most = self.going[row + times.start - 1];
            for t in times.clone() {
                most = most.max(block[t - begin]);
                self.going[row + t] = most;
                self.informed[row + t] = most;
            }
            for arc in &network.free[a] {
                let price = self.prices[a * network.len() + arc.child];
                for t in times.start.max(arc.edge)..times.end {
                    self.informed[row + t] += (price + self.informed(arc.child, t - arc.edge)).max(0.0);
                }
            }
        }
    }

    /// Tells the messages by which `a` earns the most in `ticks`.
    pub(super) fn trace(&self, a: usize, ticks: usize, visit: &mut dyn FnMut(usize, usize)) {
        let network = self.network;
        let times = network.times;
        let mut open = vec![(a, network.budgets.full(a), ticks)];
        let mut left_over = 64 * network.len();
        while let Some((a, mut state, ticks)) = open.pop() {
            let price = |arc: &Arc| self.prices[a * network.len() + arc.child];
            for arc in network.free[a].iter().filter(|arc| arc.edge <= ticks) {
                if price(arc) + self.informed(arc.child, ticks - arc.edge) > 0.0 {
                    visit(a, arc.child);
                    open.push((arc.child, network.budgets.full(arc.child), ticks - arc.edge));
                }
            }
            let mut left = ticks;
            while self.going[state * times + left] > 0.0 && left_over > 0 {
                left_over -= 1;
                let sum = self.going[state * times + left];
                left = self.going[state * times..][..times].partition_point(|&earlier| earlier < sum);
                let uses =
                    network.far[a].iter().chain(&network.near[a]).filter(|arc| arc.edge <= left).flat_map(|arc| {
                        arc.moves.iter().filter(|use_| use_.before as usize == state).map(move |use_| (arc, use_))
                    });
                let (arc, use_) = uses
                    .into_iter()
                    .find(|(arc, use_)| {
                        let go_on = self.going[use_.after as usize * times + left - arc.send];
                        price(arc) + go_on + self.informed[use_.below as usize * times + left - arc.edge] == sum
                    })
                    .expect("some message has earned it");
                visit(a, arc.child);
                open.push((arc.child, use_.below as usize, left - arc.edge));
                state = use_.after as usize;
                left -= arc.send;
            }
        }
    }
}
