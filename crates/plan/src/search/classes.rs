//! The best tree among members that fall into few classes of equal ones: a programme over counts.
//!
//! Members of a class are taken to be alike: what a message costs depends on the classes of its two ends only. So it
//! does not matter which members have been informed, only how many of each class. f(a, x) is the least time in which a
//! member of class a informs x others, a count for each class. Its first child is of some class c and takes z of the x
//! with it, itself included:
//!
//! ```text
//! f(a, x) = min over z <= x, c with z[c] > 0 of max(send + receive + f(c, z - c), send + f(a, x - z)), costs a to c
//! ```
//!
//! All splits are looked at, so on a machine whose classes are what they are taken for the tree is optimal, whatever
//! its size. On others the costs of a class are their medians, and the tree is a good one to start a search from. The
//! classes are those of each level of clusters, and all members as one.
//!
//! The work is one step for each pair z <= x and each class: the product of (g + 1)(g + 2) / 2 over the classes with g
//! members each. Two classes of 64 take 9 million steps; six of 6 would take too many and are left to the hierarchy.

use super::costs::Costs;
use super::order::Ordered;
use super::sketch::{Room, Sketch, median, nearest_roots};

/// The most steps of one programme where there is time: about 50 ms.
pub(crate) const MOST_STEPS: u64 = 10_000_000;
/// The cost of a star in ticks: rounding loses less than a millionth of the cost of any tree found.
const TICKS_OF_A_STAR: f64 = (1_u64 << 40) as f64;
/// The ticks for each member that a proof needs, so that rounding may hide 10^-6 of the cost.
const TICKS_OF_A_PROOF: u64 = 1 << 20;
/// Later than any tree; a few of them still fit.
const NEVER: u64 = 1 << 44;

/// A tree to start a search from.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    /// The tree by real costs, in the best order.
    pub(crate) best: Ordered,
    /// True if no tree from this root (from any if none was given) costs less.
    pub(crate) is_optimal: bool,
}

/// The best tree of the programme for any level of clusters that takes at most `most_steps` steps; `None` if there are
/// too many classes at all of them.
///
/// It does not know of costs beyond pairs, nor of limits.
pub(crate) fn classes(costs: &Costs, root: Option<usize>, levels: &[Vec<u32>], most_steps: u64) -> Option<Seed> {
    let all = vec![0; costs.len()];
    let partitions = levels.iter().chain([&all]);
    partitions.filter_map(|level| of_partition(costs, root, level, most_steps)).reduce(|best, other| {
        let is_optimal = best.is_optimal || other.is_optimal;
        Seed { is_optimal, ..if other.best.cost < best.best.cost { other } else { best } }
    })
}

fn of_partition(costs: &Costs, root: Option<usize>, class_of: &[u32], most_steps: u64) -> Option<Seed> {
    let classes = Classes::of(costs, class_of);
    if classes.steps() > most_steps {
        return None;
    }
    let of_root = root.map(|root| classes.of_member[root]);
    let tables = CountTables::solved(&classes, of_root);
    let (class, time) = tables.best_root(of_root);
    let roots = match root {
        Some(root) => vec![root],
        None => nearest_roots(costs, classes.members[class].iter().copied()),
    };
    let best = tables.sketch(class).fill(costs, &roots, &classes.room());
    let is_best_sketch = classes.are_exact && costs.undrained().is_empty() && is_proof(time, costs.len());
    let is_optimal = is_best_sketch || best.cost == 0.0;
    Some(Seed { best, is_optimal })
}

/// True if rounding cannot have hidden anything worth speaking of in a tree that costs this many ticks.
fn is_proof(time: u64, members: usize) -> bool {
    (TICKS_OF_A_PROOF.saturating_mul(members as u64)..NEVER).contains(&time)
}

/// The members of each class, largest class first, and the costs of messages between classes.
struct Classes {
    members: Vec<Vec<usize>>,
    of_member: Vec<usize>,
    /// `[send, receive]` from class a to class b at `a * members.len() + b`.
    pairs: Vec<[f64; 2]>,
    /// True if all costs are those of their classes.
    are_exact: bool,
}

impl Classes {
    fn of(costs: &Costs, class_of: &[u32]) -> Self {
        let count = class_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members = vec![Vec::new(); count];
        class_of.iter().enumerate().for_each(|(member, &class)| members[class as usize].push(member));
        members.sort_by_key(|members| std::cmp::Reverse(members.len()));
        let mut of_member = vec![0; costs.len()];
        for (class, members) in members.iter().enumerate() {
            members.iter().for_each(|&member| of_member[member] = class);
        }
        let mut are_exact = true;
        let mut pairs = Vec::with_capacity(count * count);
        for (from, to) in members.iter().flat_map(|from| members.iter().map(move |to| (from, to))) {
            let ends = from.iter().flat_map(|&a| to.iter().filter(move |&&b| a != b).map(move |&b| (a, b)));
            let ends: Vec<(usize, usize)> = ends.collect();
            let mut typical = |cost: &dyn Fn(usize, usize) -> f64| {
                let all: Vec<f64> = ends.iter().map(|&(a, b)| cost(a, b)).collect();
                are_exact &= all.iter().all(|&cost| cost == all[0]);
                median(all)
            };
            pairs.push([typical(&|a, b| costs.send(a, b)), typical(&|a, b| costs.receive(a, b))]);
        }
        Self { members, of_member, pairs, are_exact }
    }

    /// How many steps the programme takes.
    fn steps(&self) -> u64 {
        let pairs = |members: &Vec<usize>| (members.len() as u64 + 1) * (members.len() as u64 + 2) / 2;
        let splits = self.members.iter().map(pairs).try_fold(1_u64, u64::checked_mul);
        splits.map_or(u64::MAX, |splits| splits.saturating_mul(self.members.len() as u64))
    }

    /// The cheapest star by classes, from a member of the class `root` if there is one.
    fn star(&self, root: Option<usize>) -> f64 {
        let row = |class: usize| &self.pairs[class * self.members.len()..(class + 1) * self.members.len()];
        let sends = |class: usize| {
            let to = self.members.iter().enumerate().map(move |(to, members)| members.len() - usize::from(to == class));
            row(class).iter().zip(to).map(|([send, _], members)| if members > 0 { send * members as f64 } else { 0.0 })
        };
        let last = |class: usize| row(class).iter().map(|[_, receive]| *receive).fold(0.0, f64::max);
        let roots = root.map_or(0..self.members.len(), |class| class..class + 1);
        roots.map(|class| sends(class).sum::<f64>() + last(class)).fold(f64::INFINITY, f64::min)
    }

    fn room(&self) -> RoomByClass<'_> {
        RoomByClass { of_member: &self.of_member }
    }
}

#[derive(Clone)]
struct RoomByClass<'a> {
    of_member: &'a [usize],
}

impl Room for RoomByClass<'_> {
    fn has_place_for(&self, member: usize, kind: usize, _parent: usize) -> bool {
        self.of_member[member] == kind
    }

    fn place(&mut self, _member: usize) {}
}

/// The tables. Counts are one number: the first class counts by ones, each further one by its stride.
struct CountTables {
    sizes: Vec<usize>,
    strides: Vec<usize>,
    send: Vec<u64>,
    edge: Vec<u64>,
    /// The cheapest send of each class.
    least_send: Vec<u64>,
    /// `inform[a][x]` is f(a, x).
    inform: Vec<Vec<u64>>,
    /// `first[a][z]`: the least over c of send + receive + f(c, z - c).
    first: Vec<Vec<u64>>,
}

impl CountTables {
    /// The tables for trees from a member of the class `root`, or from any.
    fn solved(classes: &Classes, root: Option<usize>) -> Self {
        let count = classes.members.len();
        let sizes: Vec<usize> = classes.members.iter().map(Vec::len).collect();
        let mut strides = vec![1; count];
        for class in 1..count {
            strides[class] = strides[class - 1] * (sizes[class - 1] + 1);
        }
        let states = strides[count - 1] * (sizes[count - 1] + 1);
        let star = classes.star(root);
        let scale = if star > 0.0 && star.is_finite() { TICKS_OF_A_STAR / star } else { 1.0 };
        let ticks = |cost: f64| (cost * scale).round().min(NEVER as f64) as u64;
        let send: Vec<u64> = classes.pairs.iter().map(|&[send, _]| ticks(send)).collect();
        let edge = classes.pairs.iter().map(|&[send, receive]| ticks(send) + ticks(receive)).collect();
        let least = |row: &[u64]| row.iter().copied().min().unwrap_or(0);
        let least_send = send.chunks(count).map(least).collect();
        let mut table = vec![NEVER; states];
        table[0] = 0;
        let inform = vec![table; count];
        let mut tables = Self { sizes, strides, send, edge, least_send, first: inform.clone(), inform };
        tables.solve(states);
        tables
    }

    fn solve(&mut self, states: usize) {
        let classes = self.sizes.len();
        let mut count = vec![0; classes];
        for state in 1..states {
            self.next(&mut count);
            for class in (0..classes).filter(|&class| count[class] < self.sizes[class]).collect::<Vec<_>>() {
                self.first[class][state] = self.first_child(class, &count, state);
                self.inform[class][state] = self.best_split(class, &count, state).0;
            }
        }
    }

    /// The counts of the next state.
    fn next(&self, count: &mut [usize]) {
        for (count, &size) in count.iter_mut().zip(&self.sizes) {
            if *count < size {
                *count += 1;
                return;
            }
            *count = 0;
        }
    }

    fn first_child(&self, class: usize, count: &[usize], state: usize) -> u64 {
        let there = (0..count.len()).filter(|&child| count[child] > 0);
        let time =
            |child: usize| self.edge[class * count.len() + child] + self.inform[child][state - self.strides[child]];
        there.map(time).min().unwrap_or(0).min(NEVER)
    }

    /// f(a, x), with the class of the first child and the counts that it takes, itself included: the first of equals.
    fn best_split(&self, class: usize, count: &[usize], state: usize) -> (u64, usize, usize) {
        let (first, inform) = (&self.first[class], &self.inform[class]);
        let least_send = self.least_send[class];
        let mut best = (u64::MAX, 0, 0);
        let mut outer = vec![0; count.len()];
        let mut base = 0;
        loop {
            for taken in base.max(1)..=base + count[0] {
                let at_least = first[taken].max(least_send + inform[state - taken]);
                if at_least < best.0 {
                    best = self.better_child(class, taken, state - taken, best);
                }
            }
            // The next counts of the other classes.
            let Some(grown) = (1..count.len()).find(|&other| outer[other] < count[other]) else { return best };
            for (outer, stride) in outer[1..grown].iter_mut().zip(&self.strides[1..]) {
                base -= std::mem::take(outer) * stride;
            }
            outer[grown] += 1;
            base += self.strides[grown];
        }
    }

    #[inline(never)]
    fn better_child(
        &self,
        class: usize,
        taken: usize,
        rest: usize,
        mut best: (u64, usize, usize),
    ) -> (u64, usize, usize) {
        let classes = self.sizes.len();
        for child in 0..classes {
            if taken / self.strides[child] % (self.sizes[child] + 1) == 0 {
                continue;
            }
            let pair = class * classes + child;
            let below = self.edge[pair] + self.inform[child][taken - self.strides[child]];
            let time = below.max(self.send[pair] + self.inform[class][rest]).min(NEVER);
            if time < best.0 {
                best = (time, child, taken);
            }
        }
        best
    }

    /// The state with all but one member of this class left.
    fn everybody(&self, class: usize) -> usize {
        self.inform[class].len() - 1 - self.strides[class]
    }

    /// The class of the best root, or the one given, and the time.
    fn best_root(&self, given: Option<usize>) -> (usize, u64) {
        let classes = given.map_or(0..self.sizes.len(), |class| class..class + 1);
        let times = classes.map(|class| (class, self.inform[class][self.everybody(class)]));
        times.min_by_key(|&(_, time)| time).expect("there is a class")
    }

    /// The best tree from a root of this class; the kind of a place is its class.
    fn sketch(&self, class: usize) -> Sketch {
        let mut sketch = Sketch::default();
        let root = sketch.add(0, class, 0);
        let mut open = vec![(root, class, self.everybody(class))];
        while let Some((place, class, mut state)) = open.pop() {
            let mut now = sketch.arrival(place);
            while state > 0 {
                let count: Vec<usize> =
                    self.strides.iter().zip(&self.sizes).map(|(stride, size)| state / stride % (size + 1)).collect();
                let (_, child, taken) = self.best_split(class, &count, state);
                let pair = class * self.sizes.len() + child;
                let below = sketch.add(place, child, now + self.edge[pair]);
                now += self.send[pair];
                open.push((below, child, taken - self.strides[child]));
                state -= taken;
            }
        }
        sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::exact::exact;
    use proptest::prelude::*;

    /// Costs by the classes of both ends, and the classes.
    fn symmetric(sizes: &[usize], send: &[f64], receive: &[f64]) -> (Costs, Vec<u32>) {
        let class: Vec<u32> = (0..).zip(sizes).flat_map(|(class, &size)| vec![class; size]).collect();
        let at = |p: usize, c: usize| class[p] as usize * sizes.len() + class[c] as usize;
        (Costs::of_fn(class.len(), |p, c| send[at(p, c)], |p, c| receive[at(p, c)]), class)
    }

    /// The least time in which sends of `send` and receives of `receive` reach this many: Bar-Noy and Kipnis.
    fn postal(members: u64, send: usize, receive: usize) -> usize {
        let mut reached = vec![1_u64];
        while reached[reached.len() - 1] < members {
            let before = |time: usize| reached.len().checked_sub(time).map(|at| reached[at]);
            let own = before(send).unwrap_or(1);
            reached.push(own + before(send + receive).unwrap_or(0));
        }
        reached.len() - 1
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn classes_of_equals_are_planned_as_well_as_can_be(
            sizes in prop_oneof![Just(vec![3, 5]), Just(vec![2, 2, 4]), Just(vec![1, 6]), Just(vec![2, 2, 2, 2])],
            costs in prop::collection::vec((0..40_u32, 1..90_u32), 16),
            root in prop::option::of(0..7_usize),
        ) {
            let of = |cost: fn(&(u32, u32)) -> u32| costs.iter().map(|pair| f64::from(cost(pair))).collect::<Vec<_>>();
            let (costs, class) = symmetric(&sizes, &of(|pair| pair.0), &of(|pair| pair.1));
            let found = classes(&costs, root, &[class], MOST_STEPS).expect("few classes");
            prop_assert!(found.is_optimal);
            prop_assert!(root.is_none_or(|root| found.best.tree.root() == root));
            let least = exact(&costs, root, found.best.cost, &|| false).expect("not stopped").cost;
            prop_assert!((found.best.cost - least).abs() <= 1e-6 * least, "{} instead of {least}", found.best.cost);
        }
    }

    #[test]
    fn a_root_that_is_far_from_all_gets_the_best_tree() {
        // The other class could inform all for a sixteenth of the cost.
        let (costs, class) = symmetric(&[1, 6], &[0.0; 4], &[1.0, 1.0, 15.0, 16.0]);
        let found = classes(&costs, Some(1), &[class], MOST_STEPS).expect("few classes");
        assert!(found.is_optimal && found.best.tree.root() == 1);
        assert_eq!(found.best.cost, 16.0);
    }

    #[test]
    fn members_that_are_all_alike_get_the_postal_tree() {
        for (members, send, receive) in [(1, 1, 1), (2, 3, 5), (13, 1, 1), (64, 2, 7), (100, 5, 1), (300, 1, 40)] {
            let costs = Costs::of_fn(members, |_, _| send as f64, |_, _| receive as f64);
            let found = classes(&costs, None, &[], MOST_STEPS).expect("one class");
            assert_eq!(found.best.cost, postal(members as u64, send, receive) as f64, "{members} {send} {receive}");
            assert!(found.is_optimal);
        }
    }

    #[test]
    fn nothing_is_claimed_of_members_that_differ_a_little() {
        let costs = Costs::of_fn(6, |_, _| 1.0, |p, c| if (p, c) == (4, 5) { 9.0 } else { 10.0 });
        let found = classes(&costs, None, &[], MOST_STEPS).expect("one class");
        assert!(!found.is_optimal && found.best.tree.len() == 6);
    }

    #[test]
    fn levels_of_too_many_classes_are_left_out() {
        let costs = Costs::of_fn(64, |_, _| 1.0, |p, c| if p / 4 == c / 4 { 5.0 } else { 20.0 });
        let level: Vec<u32> = (0..64).map(|member| member / 4).collect();
        let found = classes(&costs, Some(9), &[level], MOST_STEPS).expect("all as one class are few");
        assert!(!found.is_optimal && found.best.tree.root() == 9);
        assert!(
            classes(&Costs::of_fn(5000, |_, _| 1.0, |_, _| 1.0), Some(0), &[], MOST_STEPS).is_none(),
            "12.5 million steps"
        );
    }

    #[test]
    fn hostile_costs_end_in_a_tree_without_false_claims() {
        for (cost, rare) in [(0.0, 0.0), (5e-324, 1e308), (1.0, 1e15), (1.0, f64::INFINITY)] {
            let (costs, class) = symmetric(&[3, 3], &[cost, rare, rare, cost], &[cost, rare, cost, cost]);
            let found = classes(&costs, None, &[class], MOST_STEPS).expect("few classes");
            assert_eq!(found.best.tree.len(), 6);
            let least = exact(&costs, None, found.best.cost, &|| false).expect("not stopped").cost;
            assert!(!found.is_optimal || found.best.cost <= least * (1.0 + 1e-6), "{cost} beside {rare}");
        }
    }
}
