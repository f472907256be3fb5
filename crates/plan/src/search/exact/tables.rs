//! The tables of the subset programme, filled in layer by layer.

use super::super::costs::Costs;
use super::super::order::{Ordered, ordered};
use super::super::stop::Stop;
use super::WHOLE;
use super::sets::{handed, member, ones, subsets};
use crate::parallel;

/// The cost of the known tree in ticks.
pub(super) const TICKS: f64 = (1 << 26) as f64;

/// The most that rounding moves a time: half a tick for every message.
pub(super) const ROUNDING: u32 = 64;

/// A tree with a time above this one is worse than the known one.
pub(super) const IN_TIME: u32 = (1 << 26) + ROUNDING;

/// The largest cost of a message, and the time of a set that is informed too late: the sum of three still fits.
pub(super) const NEVER: u32 = 1 << 29;

/// With fewer members than this, one thread fills the tables.
const ALONE: usize = 11;

/// The tables of all members; sets are bits, without the member itself.
pub(super) struct Tables {
    /// The member's number in the problem; the fixed root comes last.
    pub(super) names: Vec<usize>,
    is_root_fixed: bool,
    send: Vec<u32>,
    pub(super) edge: Vec<u32>,
    /// The cheapest send of each member.
    least_send: Vec<u32>,
    /// `inform[v][X]` is f(v, X).
    pub(super) inform: Vec<Vec<u32>>,
    /// `first[v][Z]` is A(v, Z).
    pub(super) first: Vec<Vec<u32>>,
}

/// The layer's f of one member, in the order of [`subsets`].
type Layer = Option<Vec<u32>>;

impl Tables {
    /// All sets of all members; `None` if it is stopped.
    pub(super) fn filled(costs: &Costs, root: Option<usize>, known: f64, stop: Stop) -> Option<Self> {
        assert!(costs.len() <= WHOLE, "whole tables are for at most {WHOLE} members");
        let mut tables = Self::new(costs, root, known);
        (1..costs.len()).try_for_each(|members| tables.fill_layer(members, stop))?;
        Some(tables)
    }

    /// The best tree from the member with this number in the tables.
    pub(super) fn tree(&self, costs: &Costs, root: usize) -> Ordered {
        let mut children = vec![Vec::new(); costs.len()];
        self.unfold(root, self.others(root), &mut children);
        ordered(costs, self.names[root], self.renamed(children))
    }

    /// Tables with nothing in them. Costs are of pairs only.
    pub(super) fn new(costs: &Costs, root: Option<usize>, known: f64) -> Self {
        assert!(costs.undrained().is_empty(), "the subset programme knows costs of pairs only");
        let n = costs.len();
        let names: Vec<usize> = (0..n).filter(|&v| Some(v) != root).chain(root).collect();
        let dense = |cost: &dyn Fn(usize, usize) -> f64| {
            (0..n * n).map(|at| ticks(cost(names[at / n], names[at % n]), known)).collect::<Vec<u32>>()
        };
        let send = dense(&|p, c| costs.send(p, c));
        let edge = dense(&|p, c| costs.edge(p, c));
        let least = |v: usize| (0..n).filter(|&c| c != v).map(|c| send[v * n + c]).min().unwrap_or(0);
        let least_send = (0..n).map(least).collect();
        let bits = |v: usize| if root.is_some() && v + 1 < n { n - 2 } else { n - 1 };
        let table = |v: usize| {
            let mut table = vec![NEVER; 1 << bits(v)];
            table[0] = 0;
            table
        };
        let inform: Vec<Vec<u32>> = (0..n).map(table).collect();
        Self { names, is_root_fixed: root.is_some(), send, edge, least_send, first: inform.clone(), inform }
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Fills in all sets of this many members; the smaller ones are there.
    fn fill_layer(&mut self, members: usize, stop: Stop) -> Option<()> {
        let first = |v: usize| -> Vec<u32> {
            subsets(self.first[v].len(), members).map(|set| self.first_child(v, set)).collect()
        };
        for (v, times) in self.for_each_member(first).into_iter().enumerate() {
            let first = &mut self.first[v];
            subsets(first.len(), members).zip(times).for_each(|(set, time)| first[set] = time);
        }
        let layers: Vec<Layer> = self.for_each_member(|v| self.layer(v, members, stop));
        for (inform, layer) in self.inform.iter_mut().zip(layers) {
            for (set, value) in subsets(inform.len(), members).zip(layer?) {
                inform[set] = value;
            }
        }
        Some(())
    }

    /// `of(v)` for every member v. Small tables are filled in less time than it takes to start a thread.
    fn for_each_member<T: Send>(&self, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
        if self.len() < ALONE { (0..self.len()).map(of).collect() } else { parallel::map(self.len(), of) }
    }

    /// A(v, Z).
    fn first_child(&self, v: usize, set: usize) -> u32 {
        let times = ones(set).map(|at| {
            let child = member(v, at);
            self.edge[v * self.len() + child] + self.inform[child][handed(v, child, set)]
        });
        times.min().unwrap_or(0).min(NEVER)
    }

    fn layer(&self, v: usize, members: usize, stop: Stop) -> Layer {
        let mut values = Vec::new();
        for (count, set) in subsets(self.inform[v].len(), members).enumerate() {
            if count % 64 == 0 && stop() {
                return None;
            }
            values.push(self.best_split(v, set, IN_TIME).0);
        }
        Some(values)
    }

    /// f(v, X), with the child and the set that it takes: the first of equals. [`NEVER`] if it is not below the limit.
    pub(super) fn best_split(&self, v: usize, set: usize, limit: u32) -> (u32, usize, usize) {
        let (first, inform, least_send) = (&self.first[v], &self.inform[v], self.least_send[v]);
        let mut best = (limit, 0, 0);
        let mut taken = set;
        while taken != 0 {
            let at_least = first[taken].max(least_send + inform[set ^ taken]);
            if at_least < best.0 {
                best = self.better_child(v, taken, inform[set ^ taken], best);
            }
            taken = (taken - 1) & set;
        }
        if best.0 < limit { best } else { (NEVER, 0, 0) }
    }

    #[inline(never)]
    fn better_child(&self, v: usize, taken: usize, rest: u32, mut best: (u32, usize, usize)) -> (u32, usize, usize) {
        for at in ones(taken) {
            let child = member(v, at);
            let edge = v * self.len() + child;
            let below = self.edge[edge] + self.inform[child][handed(v, child, taken)];
            let time = below.max(self.send[edge] + rest);
            if time < best.0 {
                best = (time, child, taken);
            }
        }
        best
    }

    /// All but v, as a set of v's.
    pub(super) fn others(&self, v: usize) -> usize {
        self.inform[v].len() - 1
    }

    pub(super) fn best_root(&self) -> usize {
        let last = self.len() - 1;
        let roots = if self.is_root_fixed { last..=last } else { 0..=last };
        roots.min_by_key(|&v| self.inform[v][self.others(v)]).expect("there is a member")
    }

    /// The children of v and below that inform `set` in the least time.
    fn unfold(&self, v: usize, mut set: usize, children: &mut [Vec<usize>]) {
        while set != 0 {
            let (_, child, taken) = match self.best_split(v, set, IN_TIME) {
                // The known tree has no finite cost: one child after the other.
                (NEVER, ..) => (NEVER, member(v, set.trailing_zeros() as usize), set & set.wrapping_neg()),
                split => split,
            };
            children[v].push(child);
            self.unfold(child, handed(v, child, taken), children);
            set ^= taken;
        }
    }

    fn renamed(&self, children: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let mut renamed = vec![Vec::new(); children.len()];
        for (v, children) in children.into_iter().enumerate() {
            renamed[self.names[v]] = children.into_iter().map(|child| self.names[child]).collect();
        }
        renamed
    }
}

/// A cost in whole ticks. Dividing by the known cost first keeps the smallest and the largest numbers apart.
fn ticks(cost: f64, known: f64) -> u32 {
    match cost {
        0.0 => 0,
        _ => (cost / known.min(f64::MAX) * TICKS).round().min(f64::from(NEVER)) as u32,
    }
}
