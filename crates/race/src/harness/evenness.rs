//! How evenly threads were served, from what each of them did.

use super::statistics::median;

/// 1 if all counts are equal, 1 / n if one has them all; `None` if there are none.
/// R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, 1984.
pub fn jain(counts: &[u64]) -> Option<f64> {
    let (sum, squares) = counts.iter().fold((0.0, 0.0), |(sum, squares), &count| {
        let count = count as f64;
        (sum + count, squares + count * count)
    });
    (squares > 0.0).then(|| sum * sum / (counts.len() as f64 * squares))
}

/// The most of a thread divided by the fewest, the median over rounds. A thread that got nothing is infinitely behind, and
/// infinity would not be JSON: `None` if that is so in half of the rounds or more, and if there are none.
pub fn most_to_fewest<'a>(rounds: impl Iterator<Item = &'a [u64]>) -> Option<f64> {
    let ratio = |counts: &[u64]| match (counts.iter().max(), counts.iter().min()) {
        (Some(&most), Some(&fewest)) if fewest > 0 => most as f64 / fewest as f64,
        _ => f64::INFINITY,
    };
    median(&rounds.map(ratio).collect::<Vec<_>>()).filter(|ratio| ratio.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_for_all_and_a_share_for_one() {
        assert_eq!([jain(&[5, 5]), jain(&[8, 0]), jain(&[0, 0])], [Some(1.0), Some(0.5), None]);
    }

    #[test]
    fn rounds_in_which_a_thread_got_nothing_count() {
        let told = |rounds: &[[u64; 2]]| most_to_fewest(rounds.iter().map(|counts| &counts[..]));
        assert_eq!([told(&[[5, 5]]), told(&[[4, 2], [9, 0], [3, 3]])], [Some(1.0), Some(2.0)]);
        assert_eq!([told(&[[4, 2], [9, 0]]), told(&[[9, 0], [0, 9], [3, 3]]), told(&[])], [None; 3]);
    }
}
