//! The ways in which an allreduce can go, and the one that is taken for each size.
//!
//! Before anybody has raced, the number of members decides. A race asks each size class for itself.

use std::fmt;
use std::str::FromStr;

use corecast_plan::{Operation, Plan, Problem};

use super::Races;
use crate::operation::{all_read, slice_exchange};

/// A way in which an allreduce goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AllreduceForm {
    /// Every member shows its values to all others, which read them in place.
    Direct,
    /// The values are reduced up one tree, and the result is broadcast down another.
    Trees,
}

impl AllreduceForm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Direct, Self::Trees];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Trees => "trees",
        }
    }

    /// The steps of it, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Direct => "every member shows its values, and all others read them in place",
            Self::Trees => "a reduction up one tree and a broadcast down another",
        }
    }

    /// Its predicted cost for values of one line among the members of `problem`, by the machine model: that of the member
    /// that ends last. `reduce` and `broadcast` are the trees.
    pub(crate) fn predicted(self, problem: &Problem, reduce: &Plan, broadcast: &Plan) -> f64 {
        match self {
            Self::Direct => (0..problem.len()).map(|reader| read_all(problem, reader)).fold(0.0, f64::max),
            Self::Trees => {
                let up = Operation::Reduce.cost(problem, reduce.up());
                // The broadcast begins where the reduction ends, over edges planned from another root perhaps.
                up + Operation::Broadcast.cost(problem, &broadcast.tree)
            }
        }
    }
}

/// One member reads a line of each other: the dearest message, and for each further one as long as it keeps the reader busy.
fn read_all(problem: &Problem, reader: usize) -> f64 {
    let others = || (0..problem.len()).filter(move |&other| other != reader);
    let Some(last) = others().max_by(|&a, &b| problem.message(a, reader).total_cmp(&problem.message(b, reader))) else {
        return 0.0;
    };
    let busy: f64 = others().filter(|&other| other != last).map(|other| problem.occupancy(other, reader)).sum();
    problem.message(last, reader) + busy
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

/// For each size class whether values and slices go the direct way: one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectSizes {
    values: u8,
    slices: u8,
}

impl DirectSizes {
    /// By the number of members alone; values take the trees that were asked for, if any.
    pub(crate) fn unraced(members: usize, is_crowded: bool, are_trees_asked_for: bool) -> Self {
        let all = |is_so| if is_so { u8::MAX } else { 0 };
        let values = !are_trees_asked_for && all_read::suits(members, is_crowded);
        Self { values: all(values), slices: all(slice_exchange::suits(members, is_crowded)) }
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
        let (bits, bit) = (if class.is_of_values() { &mut self.values } else { &mut self.slices }, 1 << class.0);
        *bits = if form == AllreduceForm::Direct { *bits | bit } else { *bits & !bit };
    }

    #[inline(always)]
    pub(crate) const fn has_value(self, bytes: usize) -> bool {
        self.values >> SizeClass::of(bytes).0 & 1 == 1
    }

    #[inline(always)]
    pub(crate) const fn has_slice(self, bytes: usize) -> bool {
        self.slices >> SizeClass::of(bytes).0 & 1 == 1
    }

    /// True if values of some size go the direct way.
    pub(crate) const fn has_values(self) -> bool {
        self.values != 0
    }

    /// True if slices of some size go the direct way.
    pub(crate) const fn has_slices(self) -> bool {
        self.slices != 0
    }

    /// The form for values of this class: of single ones where it has such, of slices beyond.
    pub(crate) fn form_of(self, class: SizeClass) -> AllreduceForm {
        let bits = if class.is_of_values() { self.values } else { self.slices };
        if bits >> class.0 & 1 == 1 { AllreduceForm::Direct } else { AllreduceForm::Trees }
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
        let mut sizes = DirectSizes::unraced(8, false, false);
        assert!([8, 4096, 1 << 20].iter().all(|&bytes| sizes.form(bytes) == AllreduceForm::Direct));
        assert_eq!(DirectSizes::unraced(9, false, false), DirectSizes::default());
        assert_eq!(DirectSizes::unraced(1, false, false), DirectSizes::default());
        let crowd = DirectSizes::unraced(8, true, false);
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
    fn both_forms_have_a_predicted_cost() {
        let choice = chosen(8, &Trees::Cheapest, false);
        let (problem, reduce, broadcast) = (crate::choice::tests::problem(8), &choice.reduce, &choice.broadcast);
        let [direct, trees] = AllreduceForm::ALL.map(|form| form.predicted(&problem, reduce, broadcast));
        assert!(direct > 0.0 && trees >= reduce.predicted + broadcast.predicted - 1e-9, "{direct} {trees}");
    }
}
