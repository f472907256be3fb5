//! How well simulated figures agree with measured ones of the same contenders on the same machine.
//!
//! Three questions: how far figures are off ([`Agreement::median_ratio`] and its like), whether the order of the contenders is
//! right ([`Agreement::rank_correlation`]), and what it costs to take the contender that is best in the simulation
//! ([`Agreement::choice_loss`]). [`PairsInOrder`] asks for the order of those only that the machine tells apart.
//! [`Repeated`] asks the same of one measurement and another one: where figures hardly differ, or
//! the machine has other guests, measurements disagree among themselves, and no simulation can agree better with one of them.
//!
//! Source: C. Spearman, "The proof and measurement of association between two things", 1904.

/// The figures of one contender.
#[derive(Clone, Debug, PartialEq)]
pub struct BothFigures {
    /// The contender.
    pub contender: String,
    /// Its figure on the simulated machine.
    pub simulated: f64,
    /// Its figure on the real one.
    pub measured: f64,
}

impl BothFigures {
    /// The simulated figure divided by the measured one.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.simulated / self.measured
    }
}

/// How well the figures of some contenders agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The contenders with both figures.
    pub contenders: usize,
    /// The median of simulated figures divided by measured ones.
    pub median_ratio: f64,
    /// The least of these ratios.
    pub least_ratio: f64,
    /// The greatest of these ratios.
    pub most_ratio: f64,
    /// Spearman's coefficient: 1 if the contenders have the same order in both, -1 if one is the reverse of the other. `None`
    /// where all are equal in one of them, or there is one contender only.
    pub rank_correlation: Option<f64>,
    /// By how much the measured figure of the contender that is best in the simulation is worse than the best measured one: 0.05
    /// is five percent.
    pub choice_loss: f64,
}

/// The least and the greatest median of ratios where simulated and measured figures agree.
pub const MEDIAN_RATIO: [f64; 2] = [0.8, 1.25];
/// The greatest factor by which a single figure may be off then.
pub const WORST_FACTOR: f64 = 2.0;

impl Agreement {
    /// Of figures of which the higher is better, or the lower. Pairs with a figure that is not above 0 are left out; `None` if
    /// nothing is left.
    #[must_use]
    pub fn of(pairs: &[BothFigures], higher_is_better: bool) -> Option<Self> {
        let is_one = |figure: f64| figure.is_finite() && figure > 0.0;
        let pairs: Vec<&BothFigures> =
            pairs.iter().filter(|pair| is_one(pair.simulated) && is_one(pair.measured)).collect();
        let mut ratios: Vec<f64> = pairs.iter().map(|pair| pair.ratio()).collect();
        ratios.sort_by(f64::total_cmp);
        let [simulated, measured] = [|pair: &&BothFigures| pair.simulated, |pair: &&BothFigures| pair.measured]
            .map(|figure| pairs.iter().map(figure).collect::<Vec<f64>>());
        Some(Self {
            contenders: pairs.len(),
            median_ratio: middle(&ratios)?,
            least_ratio: *ratios.first()?,
            most_ratio: *ratios.last()?,
            rank_correlation: rank_correlation(&simulated, &measured),
            choice_loss: choice_loss(&simulated, &measured, higher_is_better)?,
        })
    }

    /// Whether the median is within [`MEDIAN_RATIO`], and no figure off by more than [`WORST_FACTOR`].
    #[must_use]
    pub fn holds(&self) -> bool {
        let [least, most] = MEDIAN_RATIO;
        (least..=most).contains(&self.median_ratio)
            && self.least_ratio >= 1.0 / WORST_FACTOR
            && self.most_ratio <= WORST_FACTOR
    }
}

/// How well several measurements of the same contenders agree among themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// Spearman's coefficient of two of them: the mean of all pairs. `None` where no pair has one.
    pub rank_correlation: Option<f64>,
    /// By how much the contender that is best in one of them is worse than the best in another one: the mean of all pairs.
    pub choice_loss: f64,
}

impl Repeated {
    /// Of the figures of each measurement, the same contenders in the same order. `None` of fewer than two measurements, or
    /// without contenders.
    ///
    /// # Panics
    /// If one has more contenders than another.
    #[must_use]
    pub fn of(measurements: &[Vec<f64>], higher_is_better: bool) -> Option<Self> {
        let count = measurements.len();
        let apart =
            (0..count).flat_map(|one| (0..count).map(move |other| (one, other))).filter(|(one, other)| one != other);
        let both: Vec<[&[f64]; 2]> =
            apart.map(|(one, other)| [&measurements[one], &measurements[other]].map(Vec::as_slice)).collect();
        let ranked: Vec<f64> = both.iter().filter_map(|[one, other]| rank_correlation(one, other)).collect();
        let losses: Option<Vec<f64>> =
            both.iter().map(|[one, other]| choice_loss(one, other, higher_is_better)).collect();
        Some(Self { rank_correlation: mean(&ranked), choice_loss: mean(&losses?)? })
    }
}

/// The pairs of contenders that differ measurably: each measurement of the one is above each of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairsInOrder {
    /// All such pairs.
    pub differ: usize,
    /// Those whose simulated figures have the same order; equal ones have none.
    pub in_order: usize,
}

impl PairsInOrder {
    /// Of the simulated figure of each contender, and all that were measured of it.
    #[must_use]
    pub fn of(contenders: &[(f64, &[f64])]) -> Self {
        let pairs = || {
            contenders
                .iter()
                .enumerate()
                .flat_map(|(place, one)| contenders[..place].iter().map(move |other| (one, other)))
        };
        let is_above = |one: &[f64], other: &[f64]| one.iter().all(|one| other.iter().all(|other| one > other));
        let (mut differ, mut in_order) = (0, 0);
        for (one, other) in pairs() {
            let (above, below) = match () {
                () if is_above(one.1, other.1) => (one.0, other.0),
                () if is_above(other.1, one.1) => (other.0, one.0),
                () => continue,
            };
            differ += 1;
            in_order += usize::from(above > below);
        }
        Self { differ, in_order }
    }
}

fn mean(figures: &[f64]) -> Option<f64> {
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}

/// Spearman's coefficient of two lists of figures of the same things. `None` if all are equal in one of them.
///
/// # Panics
/// If the lists are not of the same length.
#[must_use]
pub fn rank_correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    assert_eq!(one.len(), other.len(), "a rank correlation is of pairs");
    let [one, other] = [one, other].map(ranks);
    let mean = (one.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum() };
    let spread = (product(&one, &one) * product(&other, &other)).sqrt();
    (spread > 0.0).then(|| product(&one, &other) / spread)
}

/// The place of each figure in ascending order, from 1; equal figures share the mean of their places.
fn ranks(figures: &[f64]) -> Vec<f64> {
    let below = |figure: f64| figures.iter().filter(|&&other| other < figure).count();
    let equal = |figure: f64| figures.iter().filter(|&&other| other == figure).count();
    figures.iter().map(|&figure| below(figure) as f64 + (equal(figure) as f64 + 1.0) / 2.0).collect()
}

/// By how much the contender that is best in `chosen_by` is worse in `judged_by` than the best there.
fn choice_loss(chosen_by: &[f64], judged_by: &[f64], higher_is_better: bool) -> Option<f64> {
    let best = |figures: &[f64]| {
        let order = |&one: &usize, &other: &usize| figures[one].total_cmp(&figures[other]);
        let all = 0..figures.len();
        if higher_is_better { all.max_by(order) } else { all.min_by(order) }
    };
    let (chosen, best) = (judged_by[best(chosen_by)?], judged_by[best(judged_by)?]);
    Some(if higher_is_better { best / chosen - 1.0 } else { chosen / best - 1.0 })
}

/// The median of ratios in ascending order: of an even number the geometric mean of both in the middle.
fn middle(ordered: &[f64]) -> Option<f64> {
    let after = ordered.len() / 2;
    match ordered.len() % 2 {
        1 => ordered.get(after).copied(),
        _ => Some((ordered.get(after.checked_sub(1)?)? * ordered.get(after)?).sqrt()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(figures: &[(f64, f64)]) -> Vec<BothFigures> {
        let pair = |&(simulated, measured): &(f64, f64)| BothFigures { contender: "x".to_owned(), simulated, measured };
        figures.iter().map(pair).collect()
    }

    #[test]
    fn ranks_are_compared_and_ties_share_theirs() {
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[10.0, 20.0, 90.0]), Some(1.0));
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 7.0]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(rank_correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(rank_correlation(&[1.0], &[1.0]), None);
        // A published example: ten pairs, coefficient -29/165.
        let one = [86.0, 97.0, 99.0, 100.0, 101.0, 103.0, 106.0, 110.0, 112.0, 113.0];
        let other = [2.0, 20.0, 28.0, 27.0, 50.0, 29.0, 7.0, 17.0, 6.0, 12.0];
        let found = rank_correlation(&one, &other).expect("they differ");
        assert!((found + 29.0 / 165.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn the_loss_is_that_of_taking_the_simulated_best() {
        let rates = pairs(&[(10.0, 8.0), (9.0, 10.0), (1.0, 1.0)]);
        assert_eq!(Agreement::of(&rates, true).expect("figures").choice_loss, 0.25);
        let times = pairs(&[(10.0, 12.0), (9.0, 15.0), (20.0, 30.0)]);
        assert_eq!(Agreement::of(&times, false).expect("figures").choice_loss, 0.25);
        assert_eq!(Agreement::of(&times[..1], false).expect("figures").choice_loss, 0.0);
    }

    #[test]
    fn measurements_are_compared_with_each_other() {
        let twice = [vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 3.0]];
        assert_eq!(Repeated::of(&twice, true), Some(Repeated { rank_correlation: Some(1.0), choice_loss: 0.0 }));
        let times = [vec![10.0, 12.0, 20.0], vec![15.0, 12.0, 20.0]];
        let found = Repeated::of(&times, false).expect("two");
        // The best of the first takes 15 instead of 12 in the second, and that of the second 12 instead of 10.
        assert!((found.choice_loss - (0.25 + 0.2) / 2.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.rank_correlation, Some(0.5));
        assert_eq!(Repeated::of(&times[..1], false), None);
        assert_eq!(Repeated::of(&[Vec::new(), Vec::new()], false), None);
    }

    #[test]
    fn pairs_count_whose_measurements_do_not_overlap() {
        let measured = [[1.0, 2.0], [3.0, 4.0], [2.0, 5.0], [6.0, 7.0]];
        let of = |simulated: [f64; 4]| {
            let contenders: Vec<(f64, &[f64])> =
                simulated.into_iter().zip(measured.iter().map(|all| &all[..])).collect();
            PairsInOrder::of(&contenders)
        };
        // The third one is neither above the first, nor above or below the second.
        assert_eq!(of([1.0, 2.0, 3.0, 4.0]), PairsInOrder { differ: 4, in_order: 4 });
        assert_eq!(of([1.0, 1.0, 9.0, 4.0]), PairsInOrder { differ: 4, in_order: 2 });
        assert_eq!(PairsInOrder::of(&[]), PairsInOrder { differ: 0, in_order: 0 });
    }

    #[test]
    fn figures_agree_if_the_median_is_near_and_none_is_far() {
        let agreement = |figures: &[(f64, f64)]| Agreement::of(&pairs(figures), true).expect("figures");
        assert!(agreement(&[(1.0, 1.0), (1.2, 1.0), (1.9, 1.0)]).holds());
        assert!(!agreement(&[(1.0, 1.0), (1.2, 1.0), (2.1, 1.0)]).holds(), "one is off by more than two");
        assert!(!agreement(&[(1.3, 1.0), (1.3, 1.0), (1.0, 1.0)]).holds(), "the median is off");
        assert!((agreement(&[(4.0, 1.0), (1.0, 4.0)]).median_ratio - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_has_no_figure_is_left_out() {
        let all = pairs(&[(1.0, 1.0), (0.0, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0)]);
        assert_eq!(Agreement::of(&all, true).map(|agreement| agreement.contenders), Some(1));
        assert_eq!(Agreement::of(&all[1..], true), None);
    }
}
