//! The common parts of every annealing: temperatures, and the chance of accepting a worse state.
//!
//! Made of additions, multiplications and divisions only: logarithms differ in their last bit between mathematical
//! libraries, and one bit is another walk.

use fastrand::Rng;

/// The temperature after a part of a walk, from 0 to 1: halved `halvings` times from `hot`, straight in between.
pub(crate) fn temperature(hot: f64, halvings: f64, part: f64) -> f64 {
    let halved = part * halvings;
    let whole = halved as u32;
    hot / f64::from(1 << whole) * (1.0 - 0.5 * (halved - f64::from(whole)))
}

/// An exponentially distributed number with mean 1: the negative logarithm of an evenly distributed one.
pub(crate) fn exponential(rng: &mut Rng) -> f64 {
    // A number of 52 bits is 2^exponent times one in [1, 2), whose logarithm is a short series.
    let number = rng.u64(1..1 << 52);
    let exponent = 63 - number.leading_zeros();
    let part = number as f64 / (1_u64 << exponent) as f64;
    let z = (part - 1.0) / (part + 1.0);
    let square = z * z;
    let series = 2.0 * z * (1.0 + square * (1.0 / 3.0 + square * (0.2 + square / 7.0)));
    f64::from(52 - exponent) * std::f64::consts::LN_2 - series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_numbers_have_mean_and_deviation_one() {
        let mut rng = Rng::with_seed(1);
        let numbers: Vec<f64> = (0..100_000).map(|_| exponential(&mut rng)).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let square = numbers.iter().map(|x| x * x).sum::<f64>() / numbers.len() as f64;
        assert!((mean - 1.0).abs() < 0.01 && (square - 2.0).abs() < 0.05, "{mean} {square}");
        assert!(numbers.iter().all(|&x| x >= 0.0));
    }

    #[test]
    fn it_cools_from_hot_to_cold_without_a_jump() {
        let steps: Vec<f64> = (0..=100).map(|percent| temperature(0.005, 4.0, f64::from(percent) / 100.0)).collect();
        assert_eq!((steps[0], steps[100]), (0.005, 0.005 / 16.0));
        assert!(steps.windows(2).all(|pair| pair[1] < pair[0] && pair[1] > 0.9 * pair[0]));
    }
}
