//! How evenly threads were served, from what each of them did.

/// 1 if all counts are equal, 1 / n if one has them all; `None` if there are none.
/// R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, 1984.
pub(crate) fn jain(counts: &[u64]) -> Option<f64> {
    let (sum, squares) = counts.iter().fold((0.0, 0.0), |(sum, squares), &count| {
        let count = count as f64;
        (sum + count, squares + count * count)
    });
    (squares > 0.0).then(|| sum * sum / (counts.len() as f64 * squares))
}

/// Infinity would not be JSON: nothing where a thread had none.
pub(crate) fn most_to_fewest(counts: &[u64]) -> Option<f64> {
    let (most, fewest) = (counts.iter().max()?, counts.iter().min()?);
    (*fewest > 0).then(|| *most as f64 / *fewest as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_for_all_and_a_share_for_one() {
        assert_eq!((jain(&[5, 5]), most_to_fewest(&[5, 5])), (Some(1.0), Some(1.0)));
        assert_eq!((jain(&[8, 0]), most_to_fewest(&[8, 0])), (Some(0.5), None));
        assert_eq!((jain(&[0, 0]), most_to_fewest(&[])), (None, None));
    }
}
