//! The optimal tree of few members, with proof, by dynamic programming over all subsets.
//!
//! f(v, X) is the least time in which v, informed at 0, informs the set X. v's first child c takes a subset Z of X for
//! itself and those below it, and v goes on with the rest:
//!
//! ```text
//! f(v, X) = min over Z in X, c in Z of max(send + receive + f(c, Z - c), send + f(v, X - Z)),  costs from v to c
//! ```
//!
//! Every tree and every order of children is among these, so the least is the optimum; and all roots come out of the
//! same table. There are 3^n pairs (X, Z) per member. Few of them need the loop over c: A(v, Z), the least of the first
//! term over c, stands in a second table, and a split that cannot beat the best one known by A and by the cheapest send
//! of v is skipped. f is not monotone in X (a member may be a useful relay), so supersets of what is dear must not be
//! skipped.
//!
//! With more than some number of members it pays to prune: one root after the other, only the states (v, X) are
//! computed that the prices of the Lagrangian bound allow in a tree better than the known one. One of ten to one of a
//! thousand is left.
//!
//! Costs are whole ticks, 2^26 to the cost of a tree that is known: equal costs stay equal, and costs that are far
//! above that tree's saturate. So the tree is the optimum up to n / 2^26.

mod gate;
mod pruned;
mod sets;
mod tables;

use super::bound::Potential;
use super::costs::Costs;
use super::order::Ordered;
use super::stop::Stop;
use tables::Tables;

/// The most members that the programme is offered for.
pub(crate) const LARGEST: usize = 22;

/// The most members of whole tables: beyond, they take minutes.
const WHOLE: usize = 20;

/// Up to this many members whole tables take less time than prices do.
const UNPRICED: usize = 16;

/// The better one of `known` and the best tree from `root`, or from any. `None` if `stop` says so, or if messages of
/// more than 20 members take next to no time: then nothing can be pruned. Takes [`optimum_bytes`] of memory.
///
/// `known` has the root asked for; the better it is, the less time it takes.
///
/// # Panics
///
/// With more than [`LARGEST`] members, or with costs beyond pairs.
pub(crate) fn optimum(costs: &Costs, root: Option<usize>, known: &Ordered, stop: Stop) -> Option<Ordered> {
    assert!(costs.len() <= LARGEST, "the subset programme is for at most {LARGEST} members");
    let is_priced = costs.len() > UNPRICED && Potential::has_order(costs, known.cost);
    if is_priced {
        return pruned::optimum(costs, root, known, stop);
    }
    let best = if costs.len() <= WHOLE { exact(costs, root, known.cost, stop) } else { None };
    best.map(|best| if best.cost < known.cost { best } else { known.clone() })
}

/// The best tree from `root`, or from the best root, out of whole tables; `None` if `stop` says so first.
///
/// `upper` is the cost of a tree that is known; costs far above that count as infinite.
///
/// # Panics
///
/// With more than [`WHOLE`] members, or with costs beyond pairs.
pub(crate) fn exact(costs: &Costs, root: Option<usize>, upper: f64, stop: Stop) -> Option<Ordered> {
    let tables = Tables::filled(costs, root, upper, stop)?;
    Some(tables.tree(costs, tables.best_root()))
}

/// The best tree from each root, by root, out of one table: as [`exact`], and in its time from the best root.
///
/// `upper` is the cost of a tree that is known from some root; from a root whose best tree costs more, the tree told
/// may be a worse one.
///
/// # Panics
///
/// As [`exact`].
pub(crate) fn exact_from_each(costs: &Costs, upper: f64, stop: Stop) -> Option<Vec<Ordered>> {
    let tables = Tables::filled(costs, None, upper, stop)?;
    Some((0..costs.len()).map(|root| tables.tree(costs, root)).collect())
}

/// The most memory that [`optimum`] takes for n members, in bytes.
pub(crate) fn optimum_bytes(n: usize) -> u64 {
    let n = n as u64;
    let sets = |members: u64| 1_u64 << members.min(57);
    if n <= WHOLE as u64 {
        // Two tables of 4 bytes, and up to half of one again for a layer on its way into them.
        return n.saturating_mul(sets(n.saturating_sub(1))).saturating_mul(10);
    }
    // Those of a fixed root, with layers of 8 bytes for each of a fifth of the states at most, two of them at once;
    // what each set earns, twice; and some MB for the prices.
    n.saturating_mul(sets(n - 2)).saturating_mul(12).saturating_add(12 * sets(n - 1)).saturating_add(50_000_000)
}

#[cfg(test)]
mod tests {
    use super::super::bound::PartPrices;
    use super::super::order::ordered;
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

    fn least(costs: &Costs, root: usize) -> f64 {
        let mut free = vec![f64::INFINITY; costs.len()];
        free[root] = 0.0;
        brute_force(costs, &mut free, 0.0)
    }

    fn star_tree(costs: &Costs, root: usize) -> Ordered {
        let children = |v: usize| if v == root { (0..costs.len()).filter(|&c| c != root).collect() } else { vec![] };
        ordered(costs, root, (0..costs.len()).map(children).collect())
    }

    fn star(costs: &Costs, root: usize) -> f64 {
        star_tree(costs, root).cost
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
        #![proptest_config(ProptestConfig::with_cases(80))]
        #[test]
        fn no_sequence_of_messages_is_better(costs in some_costs(5)) {
            let optima: Vec<f64> = (0..costs.len()).map(|root| least(&costs, root)).collect();
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

    /// Clusters of some size with noise, near members up to 30 times as near.
    fn clustered_costs(largest: usize) -> impl Strategy<Value = Costs> {
        let noise = prop::collection::vec(1.0..1.2_f64, largest * largest);
        (2..=largest, 2..=4_usize, 1.5..30.0_f64, 0.05..0.9_f64, noise).prop_map(
            move |(n, size, ratio, share, noise)| {
                let noise = move |p: usize, c: usize| 10.0 * noise[p * largest + c];
                let cost = move |p: usize, c: usize| noise(p, c) * if p / size == c / size { 1.0 } else { ratio };
                Costs::of_fn(n, |p, c| share * cost(p, c), |p, c| (1.0 - share) * cost(p, c))
            },
        )
    }

    /// Whatever the prices, whole numbers of any sign, those of sets not negative and the sets nested or apart.
    fn some_prices() -> impl Strategy<Value = PartPrices> {
        let price = prop_oneof![Just(0.0), (-100..300_i32).prop_map(f64::from), (-9999..99999_i32).prop_map(f64::from)];
        let sets = prop::collection::vec(price.clone().prop_map(f64::abs), 4);
        (prop::collection::vec(price, 9), sets).prop_map(|(members, prices)| {
            let sets = [0b11, 0b111, 0b11_0000, 0b111_0111].into_iter().zip(prices).collect();
            PartPrices { members, sets }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn pruned_tables_hold_the_optimum(
            costs in prop_oneof![some_costs(7), clustered_costs(9)],
            above in prop_oneof![Just(1.0), 1.0..1.02_f64, 1.0..1.5_f64],
            bad in some_prices(),
        ) {
            let dear = star(&costs, 0);
            let trees = exact_from_each(&costs, (0..costs.len()).map(|v| star(&costs, v)).fold(dear, f64::max), GO_ON);
            for (root, best) in trees.expect("not stopped").into_iter().enumerate() {
                let upper = best.cost * above;
                if !Potential::has_order(&costs, upper) {
                    continue;
                }
                let good = PartPrices::of(&costs, root, upper, GO_ON);
                prop_assert!(good.is_some() || best.cost >= upper * (1.0 - 1e-9), "{root}: ruled out");
                for prices in good.iter().chain([&bad]) {
                    let found = pruned::best_from(&costs, root, upper, prices, GO_ON).expect("not stopped");
                    let cost = found.map_or(upper, |found| found.cost);
                    prop_assert!(cost >= best.cost * (1.0 - 1e-6), "{root}: {cost}, {}", best.cost);
                    prop_assert!(cost <= best.cost * (1.0 + 1e-6), "{root}: {cost}, {}", best.cost);
                }
            }
        }

        #[test]
        fn pruned_tables_of_any_root_hold_the_optimum(costs in prop_oneof![some_costs(7), clustered_costs(9)]) {
            let known = star_tree(&costs, 0);
            if Potential::has_order(&costs, known.cost) {
                let best = exact(&costs, None, known.cost, GO_ON).expect("not stopped").cost;
                let found = pruned::optimum(&costs, None, &known, GO_ON).expect("not stopped").cost;
                prop_assert!((found - best).abs() <= 1e-6 * best, "{found}, {best}");
            }
        }
    }

    #[test]
    fn fifteen_members_are_pruned_to_the_optimum() {
        let near = |p: usize, c: usize| if p / 8 == c / 8 { 60.0 } else { 180.0 };
        let uneven = move |p: usize, c: usize| near(p, c) + ((p * 31 + c * 17) % 13) as f64 / 7.0;
        let costs = Costs::of_fn(15, move |p, c| 0.2 * uneven(p, c), move |p, c| 0.8 * uneven(p, c));
        for root in [3, 12] {
            let best = exact(&costs, Some(root), star(&costs, root), GO_ON).expect("not stopped");
            let prices = PartPrices::of(&costs, root, 1.01 * best.cost, GO_ON).expect("a tree is better");
            let found = pruned::best_from(&costs, root, 1.01 * best.cost, &prices, GO_ON).expect("not stopped");
            assert_eq!(found.expect("a tree is better").cost, best.cost);
        }
    }

    #[test]
    fn more_members_than_whole_tables_hold_need_an_order() {
        let costs = |near: f64| Costs::of_fn(22, move |p, c| if p / 2 == c / 2 { near } else { 1.0 }, |_, _| 0.0);
        let [ordered, free] = [costs(1.0), costs(0.0)];
        let (known, no_time) = (star_tree(&ordered, 5), star_tree(&free, 5));
        assert!(optimum(&free, Some(5), &no_time, GO_ON).is_none());
        assert_eq!(optimum(&ordered, Some(5), &known, &|| true), None);
        // In every unit of time each informed member informs another: 1, 2, 4, 8, 16, 22.
        assert_eq!(optimum(&ordered, Some(5), &halved(&ordered, 5), GO_ON).expect("not stopped").cost, 5.0);
    }

    /// A binomial tree: with k members informed, each informs the member k places away.
    fn halved(costs: &Costs, root: usize) -> Ordered {
        let n = costs.len();
        let member = |at: usize| (at + root) % n;
        let mut children = vec![Vec::new(); n];
        (1..n).for_each(|at| children[member(at - (1 << at.ilog2()))].push(member(at)));
        ordered(costs, root, children)
    }

    #[test]
    fn six_members_agree_with_every_sequence() {
        let send = |p: usize, c: usize| [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0][(p * 5 + c * 3) % 7];
        let receive = |p: usize, c: usize| [2.0, 7.0, 1.0, 8.0, 2.0][(p * 3 + c * 2) % 5];
        let costs = Costs::of_fn(6, send, receive);
        let found = exact(&costs, Some(2), star(&costs, 2), GO_ON).expect("not stopped");
        assert_eq!(found.cost, least(&costs, 2));
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
