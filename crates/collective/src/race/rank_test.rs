//! Whether one sample is really the smaller one, whatever the shape of their distributions.
//!
//! Source: H. Mann, D. Whitney, On a Test of Whether One of Two Random Variables Is Stochastically Larger than the
//! Other, 1947; the normal approximation with the correction for ties, which from some 7 values on is good enough.

/// The probability that `smaller` is as small beside `larger` as it is, or smaller still, if both come from one
/// distribution: near 0 if it is really the smaller one. 1 if a sample is empty.
pub(super) fn p_value(smaller: &[f64], larger: &[f64]) -> f64 {
    let (m, n) = (smaller.len() as f64, larger.len() as f64);
    let mut values: Vec<(f64, bool)> = smaller.iter().map(|&value| (value, true)).collect();
    values.extend(larger.iter().map(|&value| (value, false)));
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut rank_sum, mut ties, mut before) = (0.0, 0.0, 0.0);
    for equal in values.chunk_by(|a, b| a.0 == b.0) {
        let count = equal.len() as f64;
        let ours = equal.iter().filter(|(_, is_ours)| *is_ours).count() as f64;
        rank_sum += ours * (before + (count + 1.0) / 2.0);
        ties += count * count * count - count;
        before += count;
    }
    let above_least = rank_sum - m * (m + 1.0) / 2.0;
    let all = m + n;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    // Not positive for samples without a difference, and no number for empty ones.
    if variance > 0.0 { normal((above_least - m * n / 2.0 + 0.5) / variance.sqrt()) } else { 1.0 }
}

/// The part of the standard normal distribution below `z`, to within 1e-7 (Abramowitz, Stegun, 26.2.17).
fn normal(z: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let polynomial = COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    let tail = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if z < 0.0 { tail } else { 1.0 - tail }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_is_that_of_the_tables() {
        for (z, below) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.644_853_6, 0.05), (2.326_347_9, 0.99), (-6.0, 0.0)] {
            assert!((normal(z) - below).abs() < 2e-7, "{z}");
        }
    }

    #[test]
    fn only_a_sample_that_is_really_smaller_is_called_so() {
        let low: Vec<f64> = (0..10).map(f64::from).collect();
        let high: Vec<f64> = (20..30).map(f64::from).collect();
        assert!(p_value(&low, &high) < 0.001 && p_value(&high, &low) > 0.999);
        assert!((0.3..0.7).contains(&p_value(&low, &low)));
        assert_eq!(p_value(&[1.0; 9], &[1.0; 9]), 1.0, "all are equal");
        assert_eq!(p_value(&[], &low), 1.0);
        // By hand: 1, 2, 3 before 4, 5, 6 is one of 20 ways; the approximation says 0.04.
        assert!((0.02..0.06).contains(&p_value(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0])));
    }
}
