//! Clusters inferred from costs: which CPUs are near each other, level by level, where the system does not say.
//!
//! Take it when the system tells of no nodes, packages or caches, as in a virtual machine, or reports nonsense; and
//! when the classes of equal cost matter more than packages and caches. Where costs rise evenly, as across a mesh, it
//! finds no level, and that is the answer.
//!
//! Single linkage: CPUs are joined by the cheapest pair first, and a level is the set of clusters just before the cost
//! of the next joining jumps. It jumps if it is 1.3 times the last one and stands out from how far the costs joined at
//! this level differ among themselves. Joining looks at the cheapest pairs only, so expensive outliers move nothing. A
//! level all of whose clusters are clusters of the next coarser level as well is left out: it says nothing more, and
//! one slow pair of hyperthreads would make one. Time is O(n^2), for any unit of cost.
//!
//! Source: J. C. Gower, G. J. S. Ross, Minimum Spanning Trees and Single Linkage Cluster Analysis, 1969.

use crate::assumed::ASSUMED;
use crate::machine::Machine;

/// The next joining costs at least this much more than the last one of a level.
///
/// On captured machines real levels jump by 1.69 and more; lone CPUs that are slow with all others, and the many
/// distances of a mesh, by up to 1.26.
const LEAST_JUMP: f64 = 1.3;
/// The jump is at least this power of the spread of the costs joined at the level: last by median.
const JUMP_PER_SPREAD: f64 = 2.0;
/// Clusters of this many CPUs or fewer may be hyperthreads of a core.
const SIBLINGS: usize = 2;

/// The levels of clusters of `n` things, finest first: for each level the cluster of each thing.
///
/// `cost(i, j)` is any cost from i to j; the two directions are added up. Clusters are numbered in the order of their
/// first members. Each level is a partition that joins clusters of the one before; neither all things apart nor all
/// things together counts as a level, so there may be none. A cost that is not a number counts as infinitely far.
///
/// ```
/// use corecast_machine::clusters::levels;
/// let cost = |i: usize, j: usize| if i / 2 == j / 2 { 10.0 } else if i / 4 == j / 4 { 40.0 } else { 100.0 };
/// assert_eq!(levels(8, &cost), [[0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1]]);
/// assert!(levels(8, &|_, _| 40.0).is_empty());
/// ```
#[must_use]
pub fn levels(n: usize, cost: &dyn Fn(usize, usize) -> f64) -> Vec<Vec<u32>> {
    let joinings = joinings(n, cost);
    let mut forest: Vec<usize> = (0..n).collect();
    let (mut found, mut begin) = (Vec::new(), 0);
    for at in 1..joinings.len() {
        let last = &joinings[at - 1];
        join(&mut forest, last.a, last.b);
        let median = joinings[begin + (at - 1 - begin) / 2].cost;
        if is_jump(median, last.cost, joinings[at].cost) {
            found.push(numbered(&mut forest));
            begin = at;
        }
    }
    without_repetitions(found)
}

impl Machine {
    /// The [`levels`] of its CPUs by position, finest first, by the cost of a message to sender and receiver together.
    #[must_use]
    pub fn cost_levels(&self) -> Vec<Vec<u32>> {
        levels(self.cpus.len(), &|i, j| self.send.get(i, j) + self.receive.get(i, j))
    }

    /// The coarsest level of measured costs that may stand in for NUMA nodes.
    ///
    /// `None` if the costs are assumed, as they add nothing to the topology, or if the CPUs only fall into many
    /// pairs, which will be hyperthreads.
    pub(crate) fn measured_nodes(&self) -> Option<Vec<u32>> {
        let is_assumed = self.provenance.kind == ASSUMED;
        let coarsest = if is_assumed { None } else { self.cost_levels().pop() };
        coarsest.filter(|level| {
            let sizes = sizes(level);
            let clusters = sizes.iter().filter(|&&members| members > 0).count();
            clusters <= 2 || sizes.iter().any(|&members| members > SIBLINGS)
        })
    }
}

/// Two clusters become one at this cost.
struct Joining {
    cost: f64,
    a: usize,
    b: usize,
}

/// The edges of a least spanning tree (Prim's), cheapest first: the order in which single linkage joins.
fn joinings(n: usize, cost: &dyn Fn(usize, usize) -> f64) -> Vec<Joining> {
    let both_ways = |i, j| Some(cost(i, j) + cost(j, i)).filter(|cost| !cost.is_nan()).unwrap_or(f64::INFINITY);
    let mut apart: Vec<usize> = (1..n).collect();
    let mut nearest: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); n];
    let (mut joined, mut newest) = (Vec::with_capacity(n), 0);
    while !apart.is_empty() {
        for &outside in &apart {
            let cost = both_ways(newest, outside);
            if cost < nearest[outside].0 {
                nearest[outside] = (cost, newest);
            }
        }
        let next = (0..apart.len()).min_by(|&i, &j| nearest[apart[i]].0.total_cmp(&nearest[apart[j]].0));
        newest = apart.swap_remove(next.expect("one is apart"));
        joined.push(Joining { cost: nearest[newest].0, a: nearest[newest].1, b: newest });
    }
    joined.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    joined
}

/// True if `next` stands out from the costs of one level, which end at `last`.
fn is_jump(median: f64, last: f64, next: f64) -> bool {
    if last <= 0.0 {
        return next > 0.0;
    }
    let jump = next / last;
    jump >= LEAST_JUMP && (median <= 0.0 || jump >= (last / median).powf(JUMP_PER_SPREAD))
}

fn root(forest: &mut [usize], mut of: usize) -> usize {
    while forest[of] != of {
        forest[of] = forest[forest[of]];
        of = forest[of];
    }
    of
}

fn join(forest: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(forest, a), root(forest, b));
    forest[a] = b;
}

/// The cluster of each thing, numbered in the order of first members.
fn numbered(forest: &mut [usize]) -> Vec<u32> {
    let things = forest.len();
    let mut numbers = vec![None; things];
    let mut next = 0;
    let number = |of: usize| {
        *numbers[root(forest, of)].get_or_insert_with(|| {
            next += 1;
            next - 1
        })
    };
    (0..things).map(number).collect()
}

/// Leaves out each level whose clusters of several things are all clusters of the next level kept, too.
fn without_repetitions(found: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let mut kept: Vec<Vec<u32>> = Vec::with_capacity(found.len());
    for level in found.into_iter().rev() {
        if kept.last().is_none_or(|coarser| grows(&level, coarser)) {
            kept.push(level);
        }
    }
    kept.reverse();
    kept
}

/// True if a cluster of several things of `level` is only a part of its cluster in `coarser`.
fn grows(level: &[u32], coarser: &[u32]) -> bool {
    let (sizes, coarser_sizes) = (sizes(level), sizes(coarser));
    level.iter().zip(coarser).any(|(&cluster, &whole)| {
        let members = sizes[cluster as usize];
        members > 1 && members < coarser_sizes[whole as usize]
    })
}

/// The members of each cluster.
fn sizes(level: &[u32]) -> Vec<usize> {
    let mut sizes = vec![0; level.len()];
    level.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight sockets' worth of nested distances with noise of up to `noise` on every ordered pair.
    fn nested(n: usize, noise: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let level = |i: usize, j: usize| match i ^ j {
            0 => 0.0,
            1 => 15.0,
            2..8 => 30.0,
            8..32 => 90.0,
            _ => 180.0,
        };
        (0..n).map(|i| (0..n).map(|j| level(i, j) * (1.0 + noise * (2.0 * rng.f64() - 1.0))).collect()).collect()
    }

    fn levels_of(costs: &[Vec<f64>]) -> Vec<Vec<u32>> {
        levels(costs.len(), &|i, j| costs[i][j])
    }

    fn blocks(n: u32, len: u32) -> Vec<u32> {
        (0..n).map(|i| i / len).collect()
    }

    #[test]
    fn nested_levels_are_found_through_noise_in_any_unit() {
        for seed in 0..20 {
            for scale in [1e-9, 1.0, 1e9] {
                let mut costs = nested(64, 0.08, seed);
                costs.iter_mut().flatten().for_each(|cost| *cost *= scale);
                assert_eq!(levels_of(&costs), [blocks(64, 2), blocks(64, 8), blocks(64, 32)], "seed {seed}, {scale}");
            }
        }
    }

    #[test]
    fn noise_alone_is_no_level() {
        for seed in 0..50 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let costs: Vec<Vec<f64>> = (0..24).map(|_| (0..24).map(|_| 40.0 + 4.0 * rng.f64()).collect()).collect();
            assert!(levels_of(&costs).is_empty(), "seed {seed}");
        }
        let mesh =
            |i: usize, j: usize| 40.0 + 5.0 * (i % 8).abs_diff(j % 8) as f64 + 5.0 * (i / 8).abs_diff(j / 8) as f64;
        assert!(levels(64, &mesh).is_empty(), "a mesh has no clusters");
    }

    #[test]
    fn other_names_for_the_things_change_only_their_names() {
        let costs = nested(64, 0.05, 3);
        let mut names: Vec<usize> = (0..64).collect();
        fastrand::Rng::with_seed(4).shuffle(&mut names);
        let renamed = levels(64, &|i, j| costs[names[i]][names[j]]);
        let expected = levels_of(&costs);
        assert_eq!(renamed.len(), expected.len());
        for (renamed, expected) in renamed.iter().zip(&expected) {
            assert_eq!(renamed[0], 0);
            for (i, j) in (0..64).flat_map(|i| (0..64).map(move |j| (i, j))) {
                assert_eq!(renamed[i] == renamed[j], expected[names[i]] == expected[names[j]]);
            }
        }
    }

    #[test]
    fn one_slow_pair_makes_no_level_and_one_far_cpu_does() {
        let mut costs = nested(16, 0.0, 0);
        (costs[4][5], costs[5][4]) = (22.0, 22.0);
        assert_eq!(levels_of(&costs), [blocks(16, 2), blocks(16, 8)]);
        let subset = [0, 1, 2, 40];
        let costs = nested(64, 0.02, 1);
        let found = levels(4, &|i, j| costs[subset[i]][subset[j]]);
        assert_eq!(found, [[0, 0, 1, 2], [0, 0, 0, 1]]);
    }

    #[test]
    fn degenerate_costs_are_no_trouble() {
        assert!(levels(0, &|_, _| 1.0).is_empty() && levels(1, &|_, _| 1.0).is_empty());
        assert!(levels(2, &|_, _| 1.0).is_empty(), "all apart and all together are no levels");
        assert!(levels(9, &|_, _| 0.0).is_empty() && levels(9, &|_, _| f64::NAN).is_empty());
        assert!(levels(9, &|_, _| f64::INFINITY).is_empty());
        let absent = |i: usize, j: usize| if i / 3 == j / 3 { 5.0 } else { f64::INFINITY };
        assert_eq!(levels(6, &absent), [[0, 0, 0, 1, 1, 1]]);
        let free = |i: usize, j: usize| if i / 3 == j / 3 { 0.0 } else { 5.0 };
        assert_eq!(levels(6, &free), [[0, 0, 0, 1, 1, 1]]);
    }

    #[test]
    fn a_thousand_cpus_are_no_trouble() {
        let cost = |i: usize, j: usize| if i / 32 == j / 32 { 40.0 } else { 100.0 + (i ^ j) as f64 / 100.0 };
        assert_eq!(levels(1024, &cost), [blocks(1024, 32)]);
    }
}
