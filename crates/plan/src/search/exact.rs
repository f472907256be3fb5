//! The best tree of few members, with proof: a programme over all subsets.
//!
//! f(v, X) is the least time in which v, informed at 0, informs the set X. v's first child c takes a subset Z of X for
//! itself and those below it, and v goes on with the rest:
//!
//! ```text
//! f(v, X) = min over Z in X, c in Z of max(send + receive + f(c, Z - c), send + f(v, X - Z)),  costs from v to c
//! ```
//!
//! Every tree and every order of children is among these, so the least is the optimum; and all roots come out of the
//! same table. There are 3^n pairs (X, Z) per member. Few of them need the loop over c: A(v, Z), the least of the first term
//! over c, stands in a second table, and a split that cannot beat the best one known by A and by the
//! cheapest send of v is skipped. f is not monotone in X (a member may be a useful relay), so supersets of what
//! is dear must not be skipped.
//!
//! Costs are whole ticks, 2^26 to the cost of a tree that is known: ties are ties, and costs that are far above
//! that tree's saturate. So the tree is the optimum up to n / 2^26.

use rayon::prelude::*;

use super::costs::Costs;
use super::order::{Ordered, ordered};

/// The most members that the programme is offered for.
pub(crate) const LARGEST: usize = 20;

/// What the cost of the known tree is in ticks.
const TICKS: f64 = (1 << 26) as f64;

/// Times above this one are those of no tree that is as good as the known one; rounding may move a time by a tick for
/// every message.
const IN_TIME: u32 = (1 << 26) + 64;

/// The largest cost of a message, and what informs a set too late: three of them still fit.
const NEVER: u32 = 1 << 29;

/// The best tree from `root`, or from the best root; `None` if `stop` says so first. Takes [`exact_bytes`] of memory.
///
/// `upper` is the cost of a tree that is known; costs that are much dearer count as endless.
///
/// # Panics
///
/// With more than [`LARGEST`] members, or with costs beyond pairs.
pub(crate) fn exact(costs: &Costs, root: Option<usize>, upper: f64, stop: Stop) -> Option<Ordered> {
    let tables = Tables::filled(costs, root, upper, stop)?;
    Some(tables.tree(costs, tables.best_root()))
}

/// The best tree from each root, by root, out of one table: as [`exact`], and in its time from the best root.
///
/// `upper` is the cost of a tree that is known from some root; from a root whose best tree costs more, the tree told may
/// be a worse one.
///
/// # Panics
///
/// As [`exact`].
pub(crate) fn exact_from_each(costs: &Costs, upper: f64, stop: Stop) -> Option<Vec<Ordered>> {
    let tables = Tables::filled(costs, None, upper, stop)?;
    Some((0..costs.len()).map(|root| tables.tree(costs, root)).collect())
}

/// The memory that [`exact`] takes for n members, in bytes.
pub(crate) fn exact_bytes(n: usize) -> u64 {
    let sets = 1_u64 << n.saturating_sub(1).min(57);
    // Two tables of 4 bytes, and up to half of one again for a layer on its way into them.
    (n as u64).saturating_mul(sets).saturating_mul(10)
}

/// Asked from time to time, from many threads.
pub(crate) type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// The tables of one member; sets are bits, without the member itself.
struct Tables {
    /// The member's number in the problem; the fixed root comes last.
    names: Vec<usize>,
    is_root_fixed: bool,
    send: Vec<u32>,
    edge: Vec<u32>,
    /// The cheapest send of each member.
    least_send: Vec<u32>,
    /// `inform[v][X]` is f(v, X).
    inform: Vec<Vec<u32>>,
    /// `first[v][Z]` is A(v, Z).
    first: Vec<Vec<u32>>,
}

/// The layer's f of one member, in the order of [`subsets`].
type Layer = Option<Vec<u32>>;

impl Tables {
    fn filled(costs: &Costs, root: Option<usize>, known: f64, stop: Stop) -> Option<Self> {
        assert!(costs.len() <= LARGEST, "the subset programme is for at most {LARGEST} members");
        assert!(costs.undrained().is_empty(), "the subset programme knows costs of pairs only");
        let mut tables = Self::new(costs, root, known);
        (1..costs.len()).try_for_each(|members| tables.fill_layer(members, stop))?;
        Some(tables)
    }

    /// The best tree from the member that the tables number so.
    fn tree(&self, costs: &Costs, root: usize) -> Ordered {
        let mut children = vec![Vec::new(); costs.len()];
        self.unfold(root, self.others(root), &mut children);
        ordered(costs, self.names[root], self.renamed(children))
    }

    fn new(costs: &Costs, root: Option<usize>, known: f64) -> Self {
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

    fn len(&self) -> usize {
        self.names.len()
    }

    /// Fills in all sets of this many members; the smaller ones are there.
    fn fill_layer(&mut self, members: usize, stop: Stop) -> Option<()> {
        let mut first = std::mem::take(&mut self.first);
        first.par_iter_mut().enumerate().for_each(|(v, first)| {
            for set in subsets(first.len(), members) {
                first[set] = self.first_child(v, set);
            }
        });
        self.first = first;
        let layers: Vec<Layer> = (0..self.len()).into_par_iter().map(|v| self.layer(v, members, stop)).collect();
        for (inform, layer) in self.inform.iter_mut().zip(layers) {
            for (set, value) in subsets(inform.len(), members).zip(layer?) {
                inform[set] = value;
            }
        }
        Some(())
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
            values.push(self.best_split(v, set).0);
        }
        Some(values)
    }

    /// f(v, X), with the child and the set that it takes: the first of equals.
    fn best_split(&self, v: usize, set: usize) -> (u32, usize, usize) {
        let (first, inform, least_send) = (&self.first[v], &self.inform[v], self.least_send[v]);
        let mut best = (IN_TIME, 0, 0);
        let mut taken = set;
        while taken != 0 {
            let at_least = first[taken].max(least_send + inform[set ^ taken]);
            if at_least < best.0 {
                best = self.better_child(v, taken, inform[set ^ taken], best);
            }
            taken = (taken - 1) & set;
        }
        if best.0 < IN_TIME { best } else { (NEVER, 0, 0) }
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
    fn others(&self, v: usize) -> usize {
        self.inform[v].len() - 1
    }

    fn best_root(&self) -> usize {
        let last = self.len() - 1;
        let roots = if self.is_root_fixed { last..=last } else { 0..=last };
        roots.min_by_key(|&v| self.inform[v][self.others(v)]).expect("there is a member")
    }

    /// The children of v and below that inform `set` in the least time.
    fn unfold(&self, v: usize, mut set: usize, children: &mut [Vec<usize>]) {
        while set != 0 {
            let (_, child, taken) = match self.best_split(v, set) {
                // The known tree was none: one child after the other.
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

/// All sets of `members` bits below `sets`, ascending.
fn subsets(sets: usize, members: usize) -> impl Iterator<Item = usize> {
    let first = (members < usize::BITS as usize).then(|| (1 << members) - 1);
    let next = |&set: &usize| {
        let lowest = set & set.wrapping_neg();
        let carried = set + lowest;
        Some(carried | (((set ^ carried) >> 2) / lowest))
    };
    std::iter::successors(first, next).take_while(move |&set| set < sets)
}

/// The places of the bits of a set, ascending.
fn ones(set: usize) -> impl Iterator<Item = usize> {
    let rest = |&set: &usize| Some(set & (set - 1)).filter(|&rest| rest != 0);
    std::iter::successors(Some(set).filter(|&set| set != 0), rest).map(|set| set.trailing_zeros() as usize)
}

/// The member behind a bit of v's sets.
fn member(v: usize, at: usize) -> usize {
    at + usize::from(at >= v)
}

/// What is left for `child` below itself of the set of v's that it takes: a set of the child's.
fn handed(v: usize, child: usize, set: usize) -> usize {
    let low = |bits: usize| (1 << bits) - 1;
    let all = (set & low(v)) | ((set & !low(v)) << 1);
    (all & low(child)) | ((all >> 1) & !low(child))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GO_ON: Stop = &|| false;

    /// The least cost over every way to let informed members send to others, one message after the other.
    fn brute_force(costs: &Costs, free: &mut [f64], end: f64) -> f64 {
        let mut best = f64::INFINITY;
        let mut is_done = true;
        for child in 0..free.len() {
            if free[child] != f64::INFINITY {
                continue;
            }
            is_done = false;
            for parent in (0..free.len()).filter(|&parent| free[parent] != f64::INFINITY).collect::<Vec<_>>() {
                let before = free[parent];
                free[child] = before + costs.edge(parent, child);
                free[parent] = before + costs.send(parent, child);
                best = best.min(brute_force(costs, free, end.max(free[child])));
                (free[child], free[parent]) = (f64::INFINITY, before);
            }
        }
        if is_done { end } else { best }
    }

    fn optimum(costs: &Costs, root: usize) -> f64 {
        let mut free = vec![f64::INFINITY; costs.len()];
        free[root] = 0.0;
        brute_force(costs, &mut free, 0.0)
    }

    fn star(costs: &Costs, root: usize) -> f64 {
        let children = |v: usize| if v == root { (0..costs.len()).filter(|&c| c != root).collect() } else { vec![] };
        ordered(costs, root, (0..costs.len()).map(children).collect()).cost
    }

    /// Few different costs make ties, zeros and free messages likely; the others differ by 100 times.
    fn some_costs(largest: usize) -> impl Strategy<Value = Costs> {
        let cost = prop_oneof![2 => (0_u32..4).prop_map(f64::from), 1 => 0.01..1.0_f64, 1 => 1.0..100.0_f64];
        (1..=largest).prop_flat_map(move |n| {
            prop::collection::vec((cost.clone(), cost.clone()), n * n)
                .prop_map(move |all| Costs::of_fn(n, |p, c| all[p * n + c].0, |p, c| all[p * n + c].1))
        })
    }

    #[test]
    fn the_best_tree_from_each_root_comes_from_one_table() {
        let costs = Costs::of_fn(6, |p, c| (1 + (3 * p + 5 * c) % 7) as f64, |p, c| (2 + (5 * p + 2 * c) % 9) as f64);
        for (root, best) in exact_from_each(&costs, 100.0, GO_ON).expect("not stopped").into_iter().enumerate() {
            assert_eq!(best.tree.root(), root);
            assert_eq!(best.cost, exact(&costs, Some(root), 100.0, GO_ON).expect("not stopped").cost);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn no_sequence_of_messages_is_better(costs in some_costs(5)) {
            let optima: Vec<f64> = (0..costs.len()).map(|root| optimum(&costs, root)).collect();
            for (root, &least) in optima.iter().enumerate() {
                let found = exact(&costs, Some(root), star(&costs, root), GO_ON).expect("not stopped");
                prop_assert_eq!(found.tree.root(), root);
                prop_assert!((found.cost - least).abs() <= 1e-6 * least, "{} instead of {least}", found.cost);
            }
            let least = optima.into_iter().fold(f64::INFINITY, f64::min);
            let found = exact(&costs, None, least, GO_ON).expect("not stopped");
            prop_assert!((found.cost - least).abs() <= 1e-6 * least, "{} instead of {least}", found.cost);
        }
    }

    #[test]
    fn six_members_agree_with_every_sequence() {
        let send = |p: usize, c: usize| [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0][(p * 5 + c * 3) % 7];
        let receive = |p: usize, c: usize| [2.0, 7.0, 1.0, 8.0, 2.0][(p * 3 + c * 2) % 5];
        let costs = Costs::of_fn(6, send, receive);
        let found = exact(&costs, Some(2), star(&costs, 2), GO_ON).expect("not stopped");
        assert_eq!(found.cost, optimum(&costs, 2));
    }

    #[test]
    fn equal_costs_give_the_postal_tree() {
        // Send 1 and receive 1: F(t) = F(t - 1) + F(t - 2) members are informed by then, 1, 1, 2, 3, 5, 8, 13.
        let costs = Costs::of_fn(13, |_, _| 1.0, |_, _| 1.0);
        assert_eq!(exact(&costs, None, star(&costs, 0), GO_ON).expect("not stopped").cost, 6.0);
    }

    #[test]
    fn hostile_costs_end_in_a_tree() {
        for (cost, rare) in [(0.0, 0.0), (5e-324, 1e308), (1.0, 1e15), (1.0, f64::INFINITY), (f64::MAX, f64::INFINITY)]
        {
            let send = |p: usize, c: usize| if (p, c) == (1, 2) { rare } else { cost };
            let costs = Costs::of_fn(5, send, |_, _| cost);
            let upper = star(&costs, 0);
            let found = exact(&costs, None, upper, GO_ON).expect("not stopped");
            assert!(found.cost <= upper, "{cost} {rare}: {}", found.cost);
        }
    }

    #[test]
    fn a_stop_is_heard() {
        let costs = Costs::of_fn(9, |_, _| 1.0, |_, _| 1.0);
        assert!(exact(&costs, None, star(&costs, 0), &|| true).is_none());
    }
}
