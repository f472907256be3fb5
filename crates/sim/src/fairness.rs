//! How evenly threads got what they competed for.
//!
//! Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared
//! Computer Systems, 1984.

/// Jain's index: 1 if all threads have as many, and 1 / threads if one has all of them; `None` if there were none.
pub(crate) fn jain(numbers: &[u64]) -> Option<f64> {
    let squares: f64 = numbers.iter().map(|&number| (number as f64).powi(2)).sum();
    let sum: f64 = numbers.iter().map(|&number| number as f64).sum();
    (squares > 0.0).then(|| sum.powi(2) / squares / numbers.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_fair_and_the_share_of_one_thread_is_not() {
        assert_eq!([&[3, 3, 3][..], &[0, 5, 0, 0], &[0, 0]].map(jain), [Some(1.0), Some(0.25), None]);
    }
}
