//! A good tree for a regular hierarchy, such as threads in cores in chiplets in packages, in very little time, by
//! dynamic programming over the units left to inform at each level.
//!
//! A unit of level 0 is a member; a unit of level l is made of equally many units of level l - 1, and a message costs
//! the amount of the level at which its ends separate. Every unit is entered once; the member that enters it is
//! responsible for all of it. So the remaining work of a member is the number of untouched units of each level, beside
//! its own, that it has to inform: u. It sends to one of level l, which takes all below that level in its own unit, and
//! part of what is left at levels l and above:
//!
//! ```text
//! f(u) = min over l with u[l] > 0, y <= u - l of max(send + receive + f(all below l, y from l on), send + f(u - l - y))
//! ```
//!
//! There are as many states as members, and for each no more splits than states: 20 thousand steps for 240 members.
//! Entering a unit once is not always best where messages to far away cost as little as to near by; every choice of
//! levels is tried, down to none, where all members are alike.
//!
//! Costs of a level are medians, and units that have fewer parts than others are taken for full ones: the sketch then
//! has places that no member takes.

use super::costs::Costs;
use super::order::Ordered;
use super::sketch::{Room, Sketch, median, nearest_roots};
use crate::parallel;

/// The most states of one programme; nearly regular hierarchies have more than members.
const MOST_STATES: usize = 2048;
/// The most levels, of which all subsets are tried: the coarsest ones.
const MOST_LEVELS: usize = 3;
/// The cost of a star in ticks.
const TICKS_OF_A_STAR: f64 = (1_u64 << 40) as f64;
/// The most expensive message.
const NEVER: u64 = 1 << 44;

/// The best tree of the programme over any of the levels, finest first; `None` if the levels are too irregular.
///
/// It does not know of costs beyond pairs, nor of limits.
pub(crate) fn hierarchy(costs: &Costs, root: Option<usize>, levels: &[Vec<u32>]) -> Option<Ordered> {
    let roots = root.map_or_else(|| nearest_roots(costs, 0..costs.len()), |root| vec![root]);
    let levels = &levels[levels.len().saturating_sub(MOST_LEVELS)..];
    let tried = parallel::map(1 << levels.len(), |subset| {
        let chosen = levels.iter().enumerate().filter(|(level, _)| subset >> level & 1 == 1);
        let chosen = chosen.map(|(_, level)| level.as_slice()).collect::<Vec<&[u32]>>();
        let units = Units::of(costs.len(), &chosen);
        let sketch = StateTable::solved(costs, &units)?.sketch();
        let cost = sketch.fill(costs, &roots[..1], &RoomByUnit::of(&units)).cost;
        Some((cost, sketch, units))
    });
    let (_, sketch, units) = tried.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(sketch.fill(costs, &roots, &RoomByUnit::of(&units)))
}

/// The unit of each member at each level: at level 0 itself, at the last one the only one.
struct Units {
    of_member: Vec<Vec<u32>>,
    /// By level but the last: of how many units of that level one of the next is made at most.
    parts: Vec<usize>,
}

impl Units {
    fn of(members: usize, levels: &[&[u32]]) -> Self {
        let mut of_member = vec![(0..members as u32).collect::<Vec<u32>>()];
        of_member.extend(levels.iter().map(|level| level.to_vec()));
        of_member.push(vec![0; members]);
        let parts = of_member.windows(2).map(|pair| most_parts(&pair[0], &pair[1])).collect();
        Self { of_member, parts }
    }

    fn levels(&self) -> usize {
        self.parts.len()
    }

    /// The level at which two members separate: that of the units beside each other that they are in.
    fn parting(&self, a: usize, b: usize) -> usize {
        let apart = self.of_member.iter().rposition(|unit| unit[a] != unit[b]);
        apart.expect("different members are different units of level 0")
    }
}

/// The most units of the finer level that are in one of the coarser.
fn most_parts(finer: &[u32], coarser: &[u32]) -> usize {
    let mut pairs: Vec<(u32, u32)> = coarser.iter().copied().zip(finer.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(1)
}

/// The table over all states; a state is one number, in which what is left at a level counts by its stride.
struct StateTable {
    parts: Vec<usize>,
    strides: Vec<usize>,
    /// `[send, edge]` by level.
    costs: Vec<[u64; 2]>,
    inform: Vec<u64>,
    /// By state: the level of the first child, and what it takes at that level and above.
    choice: Vec<(usize, usize)>,
}

impl StateTable {
    fn solved(costs: &Costs, units: &Units) -> Option<Self> {
        let parts = units.parts.clone();
        let mut strides = Vec::with_capacity(parts.len());
        let mut states = 1_usize;
        for &part in &parts {
            strides.push(states);
            states = states.checked_mul(part).filter(|&states| states <= MOST_STATES)?;
        }
        let costs = costs_of_levels(costs, units);
        let mut table = Self { parts, strides, costs, inform: vec![0; states], choice: vec![(0, 0); states] };
        for state in 1..states {
            (table.inform[state], table.choice[state]) = table.best_split(state);
        }
        Some(table)
    }

    /// The units left at a level.
    fn left(&self, state: usize, level: usize) -> usize {
        state / self.strides[level] % self.parts[level]
    }

    fn best_split(&self, state: usize) -> (u64, (usize, usize)) {
        let mut best = (u64::MAX, (0, 0));
        for level in (0..self.parts.len()).filter(|&level| self.left(state, level) > 0) {
            let [send, edge] = self.costs[level];
            let stride = self.strides[level];
            let rest = state - stride;
            self.each_share(rest - rest % stride, level, &mut |taken| {
                // All below the level is the stride, less one: as many of each as possible.
                let time = (edge + self.inform[stride - 1 + taken]).max(send + self.inform[rest - taken]);
                if time < best.0 {
                    best = (time, (level, taken));
                }
            });
        }
        best
    }

    /// Every part of what is left at this level and above.
    fn each_share(&self, left: usize, level: usize, each: &mut impl FnMut(usize)) {
        let mut taken = 0;
        loop {
            each(taken);
            let Some(grown) = (level..self.parts.len()).find(|&at| self.left(taken, at) < self.left(left, at)) else {
                return;
            };
            taken -= taken % self.strides[grown];
            taken += self.strides[grown];
        }
    }

    /// The best tree; the kind of a place is the level at which it parts from its parent.
    fn sketch(&self) -> Sketch {
        let mut sketch = Sketch::default();
        let mut open = vec![(sketch.add(0, 0, 0), self.inform.len() - 1)];
        while let Some((place, mut state)) = open.pop() {
            let mut now = sketch.arrival(place);
            while state > 0 {
                let (level, taken) = self.choice[state];
                let [send, edge] = self.costs[level];
                let stride = self.strides[level];
                open.push((sketch.add(place, level, now + edge), stride - 1 + taken));
                now += send;
                state -= stride + taken;
            }
        }
        sketch
    }
}

/// `[send, edge]` of each level in ticks.
fn costs_of_levels(costs: &Costs, units: &Units) -> Vec<[u64; 2]> {
    let mut at_level = vec![[Vec::new(), Vec::new()]; units.levels()];
    for (a, b) in (0..costs.len()).flat_map(|a| (0..costs.len()).filter(move |&b| a != b).map(move |b| (a, b))) {
        let [send, receive] = &mut at_level[units.parting(a, b)];
        send.push(costs.send(a, b));
        receive.push(costs.receive(a, b));
    }
    let medians: Vec<[f64; 2]> = at_level.into_iter().map(|costs| costs.map(median)).collect();
    let star: f64 = medians.iter().map(|[send, receive]| send * costs.len() as f64 + receive).fold(0.0, f64::max);
    let scale = if star > 0.0 && star.is_finite() { TICKS_OF_A_STAR / star } else { 1.0 };
    let ticks = |cost: f64| (cost * scale).round().min(NEVER as f64) as u64;
    medians.into_iter().map(|[send, receive]| [ticks(send), ticks(send) + ticks(receive)]).collect()
}

/// The units that have a member already.
#[derive(Clone)]
struct RoomByUnit<'a> {
    units: &'a Units,
    is_touched: Vec<Vec<bool>>,
}

impl<'a> RoomByUnit<'a> {
    fn of(units: &'a Units) -> Self {
        let none = |level: &Vec<u32>| vec![false; level.iter().max().map_or(0, |&last| last as usize + 1)];
        Self { units, is_touched: units.of_member.iter().map(none).collect() }
    }
}

impl Room for RoomByUnit<'_> {
    /// In an untouched unit of that level beside the parent's.
    fn has_place_for(&self, member: usize, level: usize, parent: usize) -> bool {
        let units = &self.units.of_member;
        !self.is_touched[level][units[level][member] as usize] && units[level + 1][member] == units[level + 1][parent]
    }

    fn place(&mut self, member: usize) {
        for (touched, unit) in self.is_touched.iter_mut().zip(&self.units.of_member) {
            touched[unit[member] as usize] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::exact::exact;
    use crate::tree::Tree;
    use proptest::prelude::*;

    fn blocks(members: usize, of: usize) -> Vec<u32> {
        (0..members).map(|member| (member / of) as u32).collect()
    }

    /// Costs by the level at which two members part.
    fn by_level(members: usize, levels: &[Vec<u32>], send: &[f64], receive: &[f64]) -> Costs {
        let parting = |p: usize, c: usize| levels.iter().rposition(|level| level[p] != level[c]).map_or(0, |at| at + 1);
        Costs::of_fn(members, |p, c| send[parting(p, c)], |p, c| receive[parting(p, c)])
    }

    /// The number of units of a level that are entered from outside.
    fn entries(tree: &Tree, level: &[u32]) -> usize {
        let is_entry = |&member: &usize| tree.parent(member).is_some_and(|parent| level[parent] != level[member]);
        (0..tree.len()).filter(is_entry).count()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn two_units_that_are_far_apart_are_planned_as_well_as_can_be(
            (units, of) in prop_oneof![Just((2, 3)), Just((2, 4)), Just((2, 5)), Just((1, 8))],
            (send, receive) in (1..20_u32, 1..90_u32),
            further in 0..90_u32,
        ) {
            // A second message into a unit takes longer to send than the first one takes to get round inside.
            let (send, receive, further) = (f64::from(send), f64::from(receive), f64::from(further));
            let inside = of as f64 * (send + receive);
            let levels = [blocks(units * of, of)];
            let costs = by_level(units * of, &levels, &[send, inside], &[receive, receive + further]);
            let found = hierarchy(&costs, None, &levels).expect("a regular hierarchy");
            let least = exact(&costs, None, found.cost, &|| false).expect("not stopped").cost;
            prop_assert!((found.cost - least).abs() <= 1e-6 * least, "{} instead of {least}", found.cost);
        }

        #[test]
        fn any_levels_make_a_tree_from_the_root(
            members in 1..40_usize,
            labels in prop::collection::vec(0..5_u32, 40),
            root in 0..40_usize,
        ) {
            let levels = [labels[..members].to_vec(), blocks(members, members)];
            let costs = by_level(members, &levels, &[3.0, 4.0, 5.0], &[20.0, 30.0, 70.0]);
            let root = root % members;
            let found = hierarchy(&costs, Some(root), &levels).expect("few units");
            prop_assert_eq!((found.tree.root(), found.tree.len()), (root, members));
        }
    }

    #[test]
    fn each_unit_of_a_large_machine_is_entered_once() {
        // Two packages of 4 chiplets with 15 cores of 2 threads each.
        let levels = [blocks(240, 2), blocks(240, 30), blocks(240, 120)];
        let costs = by_level(240, &levels, &[10.0, 20.0, 100.0, 400.0], &[10.0, 50.0, 200.0, 900.0]);
        let units = Units::of(240, &levels.each_ref().map(Vec::as_slice));
        let table = StateTable::solved(&costs, &units).expect("a regular hierarchy");
        assert_eq!(table.inform.len(), 240);
        let found = table.sketch().fill(&costs, &[17], &RoomByUnit::of(&units));
        assert_eq!(levels.each_ref().map(|level| entries(&found.tree, level)), [119, 7, 1]);
    }

    #[test]
    fn costs_without_an_order_are_refused() {
        let levels = [(0..3000).map(|member| member % 2999).collect::<Vec<u32>>()];
        let costs = Costs::of_fn(3000, |_, _| 1.0, |_, _| 1.0);
        assert!(hierarchy(&costs, Some(0), &levels).is_none());
    }
}
