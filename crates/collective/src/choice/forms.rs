//! The ways in which an allreduce can go, and the one that is taken for each size.
//!
//! Before anybody has raced, the number of members decides. A race asks each size class for itself.

use std::fmt;
use std::str::FromStr;

use corecast_plan::{Operation, Plan, Problem};

use super::Races;
use super::clusters::{Clusters, read_lines};
use crate::operation::{all_read, slice_exchange};

/// A way in which an allreduce goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AllreduceForm {
    /// Every member shows its values to all others, which read them in place.
    Direct,
    /// Members that share a cache show a leader their values, leaders exchange theirs by recursive doubling, and each shows its
    /// members the result. For single values only.
    Clusters,
    /// The values are reduced up one tree, and the result is broadcast down another.
    Trees,
}

impl AllreduceForm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Direct, Self::Clusters, Self::Trees];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Clusters => "clusters",
            Self::Trees => "trees",
        }
    }

    /// Whether it carries an allreduce of this many bytes: of a single value up to 512, of a slice beyond.
    #[must_use]
    pub fn carries(self, bytes: usize) -> bool {
        self != Self::Clusters || SizeClass::of(bytes).is_of_values()
    }

    /// The steps of it, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Direct => "every member shows its values, and all others read them in place",
            Self::Clusters => {
                "leaders of clusters read their members' values, exchange by recursive doubling, and show the result"
            }
            Self::Trees => "a reduction up one tree and a broadcast down another",
        }
    }

    /// Its predicted cost for values of one line among the members of `problem`, by the machine model: that of the member
    /// that ends last. `reduce` and `broadcast` are the trees. `None` if there are no clusters for it.
    pub(crate) fn predicted(
        self,
        problem: &Problem,
        [reduce, broadcast]: [&Plan; 2],
        clusters: Option<&Clusters>,
    ) -> Option<f64> {
        match self {
            Self::Direct => Some((0..problem.len()).map(|reader| read_all(problem, reader)).fold(0.0, f64::max)),
            Self::Clusters => clusters.map(|clusters| clusters.predicted),
            Self::Trees => {
                // The broadcast begins where the reduction ends: trees that were searched for have one root.
                let up = Operation::Reduce.cost(problem, reduce.up());
                Some(up + Operation::Broadcast.cost(problem, &broadcast.tree))
            }
        }
    }
}

/// The forms of an allreduce that some members could take, before any race.
pub(crate) struct AllreduceForms {
    pub(crate) predicted: Vec<(AllreduceForm, f64)>,
    pub(crate) clusters: Option<Clusters>,
    pub(crate) direct: DirectSizes,
}

impl AllreduceForms {
    /// For the members of `problem` with these trees, the one of reductions first.
    pub(crate) fn of(problem: &Problem, trees: [&Plan; 2], is_crowded: bool, are_trees_asked_for: bool) -> Self {
        let may_use = !is_crowded && !are_trees_asked_for;
        let clusters = may_use.then(|| Clusters::of(problem)).flatten();
        let cost = |form: AllreduceForm| Some((form, form.predicted(problem, trees, clusters.as_ref())?));
        let predicted: Vec<_> = AllreduceForm::ALL.into_iter().filter_map(cost).collect();
        let direct = DirectSizes::unraced(problem.len(), is_crowded, are_trees_asked_for, &predicted);
        Self { predicted, clusters, direct }
    }
}

/// One member reads a line of each other.
fn read_all(problem: &Problem, reader: usize) -> f64 {
    let others: Vec<usize> = (0..problem.len()).filter(|&other| other != reader).collect();
    read_lines(problem, reader, &others)
}

impl fmt::Display for AllreduceForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for AllreduceForm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|form| form.name() == name).ok_or_else(|| format!("'{name}' is no allreduce form"))
    }
}

/// Sizes of values that are raced as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(u8);

impl SizeClass {
    /// The most bytes of each class but the last.
    const MOST: [usize; 7] = [0, 8, 56, 512, 4 << 10, 32 << 10, 256 << 10];
    /// The number of classes.
    pub const COUNT: usize = Self::MOST.len() + 1;

    /// The class of values of this many bytes.
    #[inline]
    #[must_use]
    pub const fn of(bytes: usize) -> Self {
        let (mut class, mut at) = (0, 0);
        while at < Self::MOST.len() {
            class += (bytes > Self::MOST[at]) as u8;
            at += 1;
        }
        Self(class)
    }

    /// Every class, the smallest sizes first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u8).map(Self)
    }

    /// The most bytes of a value in this class; `None` for the last one, which has no end.
    #[must_use]
    pub fn most_bytes(self) -> Option<usize> {
        Self::MOST.get(usize::from(self.0)).copied()
    }
}

impl fmt::Display for SizeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most_bytes() {
            Some(bytes) => write!(f, "up to {bytes} bytes"),
            None => write!(f, "more than {} bytes", Self::MOST[Self::MOST.len() - 1]),
        }
    }
}

/// For each size class whether values and slices are shown to others, and how values are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectSizes {
    /// One bit each. Members whose values are of other types find out in the slots in which values are shown, so all that are
    /// shown go one way.
    values: u8,
    slices: u8,
    /// True if values that are shown go by clusters.
    is_by_clusters: bool,
}

/// Few members do not read each other's values where that is predicted to cost more than this multiple of what trees or
/// clusters do: lines that all read at once take longer than is predicted. On twelve simulated machines 8 members were up to 1.9
/// times as fast otherwise from a ratio of 1.5 on. From 0.9 to 1.4 trees were up to 1.4 times as fast, too, for which no
/// measurement of a machine speaks yet.
const DIRECT_AT_MOST: f64 = 1.4;

impl DirectSizes {
    /// By the number of members, and by the predicted costs of the forms that are to be had; values take the trees that were
    /// asked for, if any.
    pub(crate) fn unraced(
        members: usize,
        is_crowded: bool,
        are_trees_asked_for: bool,
        predicted: &[(AllreduceForm, f64)],
    ) -> Self {
        let all = |is_so| if is_so { u8::MAX } else { 0 };
        let cost = |asked| predicted.iter().find(|(form, _)| *form == asked).map_or(f64::INFINITY, |found| found.1);
        let otherwise = cost(AllreduceForm::Clusters).min(cost(AllreduceForm::Trees));
        let is_dear = !is_crowded && cost(AllreduceForm::Direct) > DIRECT_AT_MOST * otherwise;
        let is_few = all_read::suits(members, is_crowded) && !is_dear;
        let is_by_clusters = !is_few && cost(AllreduceForm::Clusters) < cost(AllreduceForm::Trees);
        let values = !are_trees_asked_for && (is_few || is_by_clusters);
        let slices = all(slice_exchange::suits(members, is_crowded));
        Self { values: all(values), slices, is_by_clusters }
    }

    /// The same where all slices go the direct way.
    pub(crate) fn with_all_slices(self) -> Self {
        Self { slices: u8::MAX, ..self }
    }

    /// The same after races.
    pub(crate) fn raced(mut self, races: &Races) -> Self {
        for (class, race) in &races.allreduce {
            self.set(*class, race.winner);
        }
        self
    }

    /// A race is about the values that its class has: single ones up to 512 bytes, and slices beyond.
    pub(crate) fn set(&mut self, class: SizeClass, form: AllreduceForm) {
        let (is_of_values, bit) = (class.is_of_values(), 1 << class.0);
        let bits = if is_of_values { &mut self.values } else { &mut self.slices };
        *bits = if form == AllreduceForm::Trees { *bits & !bit } else { *bits | bit };
        if is_of_values && form != AllreduceForm::Trees {
            self.is_by_clusters = form == AllreduceForm::Clusters;
        }
    }

    /// Sets how the values go that are shown.
    pub(crate) fn show(&mut self, form: AllreduceForm) {
        self.is_by_clusters = form == AllreduceForm::Clusters;
    }

    /// The form of the values that are shown.
    #[inline(always)]
    pub(crate) const fn shown(self) -> AllreduceForm {
        if self.is_by_clusters { AllreduceForm::Clusters } else { AllreduceForm::Direct }
    }

    #[inline(always)]
    pub(crate) const fn has_value(self, bytes: usize) -> bool {
        self.values >> SizeClass::of(bytes).0 & 1 == 1
    }

    #[inline(always)]
    pub(crate) const fn has_slice(self, bytes: usize) -> bool {
        self.slices >> SizeClass::of(bytes).0 & 1 == 1
    }

    /// True if values of some size are shown.
    pub(crate) const fn has_values(self) -> bool {
        self.values != 0
    }

    /// True if slices of some size go the direct way.
    pub(crate) const fn has_slices(self) -> bool {
        self.slices != 0
    }

    /// The form for values of this class: of single ones where it has such, of slices beyond.
    pub(crate) fn form_of(self, class: SizeClass) -> AllreduceForm {
        let (bits, shown) =
            if class.is_of_values() { (self.values, self.shown()) } else { (self.slices, AllreduceForm::Direct) };
        if bits >> class.0 & 1 == 1 { shown } else { AllreduceForm::Trees }
    }

    /// The form for values of this many bytes.
    pub(crate) fn form(self, bytes: usize) -> AllreduceForm {
        self.form_of(SizeClass::of(bytes))
    }
}

impl SizeClass {
    /// True if what is raced are single values, which fit into a message.
    pub(crate) fn is_of_values(self) -> bool {
        self.most_bytes().is_some_and(|most| most <= 512)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::choice::Trees;
    use crate::choice::tests::chosen;

    #[test]
    fn classes_end_at_their_sizes() {
        let of = [0, 1, 8, 9, 56, 57, 512, 513, 4096, 4097, 32 << 10, 32769, 256 << 10, 262_145, usize::MAX];
        let classes = of.map(|bytes| SizeClass::of(bytes).0);
        assert_eq!(classes, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]);
        assert_eq!(SizeClass::all().count(), SizeClass::COUNT);
        assert!(SizeClass::all().all(|class| class.most_bytes().is_none_or(|most| SizeClass::of(most) == class)));
        assert_eq!(SizeClass::of(usize::MAX).to_string(), "more than 262144 bytes");
    }

    #[test]
    fn few_members_go_the_direct_way_until_a_race_says_otherwise() {
        let unraced = |members, is_crowded| DirectSizes::unraced(members, is_crowded, false, &[]);
        let mut sizes = unraced(8, false);
        assert!([8, 4096, 1 << 20].iter().all(|&bytes| sizes.form(bytes) == AllreduceForm::Direct));
        assert_eq!(unraced(9, false), DirectSizes::default());
        assert_eq!(unraced(1, false), DirectSizes::default());
        let costs =
            |direct| [(AllreduceForm::Direct, direct), (AllreduceForm::Clusters, 9.0), (AllreduceForm::Trees, 10.0)];
        let form = |direct, is_crowded| DirectSizes::unraced(8, is_crowded, false, &costs(direct)).form(8);
        assert_eq!([12.0, 13.0].map(|direct| form(direct, false)), [AllreduceForm::Direct, AllreduceForm::Clusters]);
        assert_eq!(form(13.0, true), AllreduceForm::Direct, "members that share CPUs");
        let crowd = unraced(8, true);
        assert!(crowd.has_value(8) && !crowd.has_slices() && crowd.form(4096) == AllreduceForm::Trees);
        sizes.set(SizeClass::of(4096), AllreduceForm::Trees);
        sizes.set(SizeClass::of(8), AllreduceForm::Trees);
        assert_eq!(
            [8, 9, 512, 513, 4096, 4097].map(|bytes| sizes.form(bytes).name()),
            ["trees", "direct", "direct", "trees", "trees", "direct"]
        );
        assert!(sizes.has_slice(8) && sizes.has_value(4096), "a small slice and a long value were not raced");
    }

    #[test]
    fn all_forms_have_a_predicted_cost_that_decides_for_many() {
        let choice = chosen(12, &Trees::Cheapest, false);
        let costs = &choice.allreduce_predicted;
        assert_eq!(costs.iter().map(|(form, _)| *form).collect::<Vec<_>>(), AllreduceForm::ALL);
        assert!(costs.iter().all(|(_, cost)| *cost > 0.0), "{costs:?}");
        let least = choice.reduce.predicted + choice.broadcast.predicted;
        assert!(costs[2].1 >= least - 1e-9, "{costs:?}");
        let expected = if costs[1].1 < costs[2].1 { AllreduceForm::Clusters } else { AllreduceForm::Trees };
        assert_eq!((choice.allreduce(8), choice.allreduce(1 << 20)), (expected, AllreduceForm::Trees));
        let asked = chosen(12, &Trees::Shape("binary".to_owned()), false);
        assert_eq!(asked.allreduce(8), AllreduceForm::Trees);
        let crowd = chosen(12, &Trees::Cheapest, true).allreduce_predicted;
        assert!(crowd.iter().all(|(form, _)| *form != AllreduceForm::Clusters), "they would switch threads");
    }

    #[test]
    fn clusters_win_for_many_by_cost_or_by_a_race() {
        let predicted = [(AllreduceForm::Clusters, 2.0), (AllreduceForm::Trees, 3.0)];
        let mut sizes = DirectSizes::unraced(40, false, false, &predicted);
        assert_eq!([8, 504].map(|bytes| sizes.form(bytes)), [AllreduceForm::Clusters; 2]);
        assert_eq!(sizes.form(4096), AllreduceForm::Trees, "a slice");
        sizes.set(SizeClass::of(504), AllreduceForm::Trees);
        assert_eq!([8, 504].map(|bytes| sizes.form(bytes).name()), ["clusters", "trees"]);
        sizes.set(SizeClass::of(8), AllreduceForm::Direct);
        assert_eq!(
            [8, 56].map(|bytes| sizes.form(bytes)),
            [AllreduceForm::Direct; 2],
            "all that is shown goes one way"
        );
    }
}
