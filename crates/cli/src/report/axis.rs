//! A straight axis: from values to pixels, and where to put its ticks.

/// From `low` at pixel `start` to `high` at pixel `start + length`.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    start: f64,
    length: f64,
    is_logarithmic: bool,
}

impl Axis {
    /// An axis from zero to `high`, evenly divided.
    pub fn linear(high: f64, start: f64, length: f64) -> Self {
        Self { low: 0.0, high: if high > 0.0 { high } else { 1.0 }, start, length, is_logarithmic: false }
    }

    /// An axis on which equal ratios are equally far, rounded outwards to a tick at both ends.
    ///
    /// # Panics
    ///
    /// If `low` is not above zero.
    pub fn logarithmic(low: f64, high: f64, start: f64, length: f64) -> Self {
        assert!(low > 0.0, "{low} has no logarithm");
        let (low, high) = (round_down(low), round_up(high.max(low)));
        let high = if high > low { high } else { 10.0 * low };
        Self { low, high, start, length, is_logarithmic: true }
    }

    /// True if each step is a factor.
    pub fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }

    /// Where it begins, in pixels.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// Where it ends, in pixels.
    pub fn end(&self) -> f64 {
        self.start + self.length
    }

    /// The pixel of a value; values outside are put at the nearer end.
    pub fn pixel(&self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            value / self.high
        };
        self.start + self.length * share.clamp(0.0, 1.0)
    }

    /// Values worth a tick, ascending: between two and about a dozen.
    pub fn ticks(&self) -> Vec<f64> {
        if !self.is_logarithmic {
            let step = round_up(self.high / 8.0);
            return (0..=8).map(|i| f64::from(i) * step).take_while(|&tick| tick <= self.high * 1.0001).collect();
        }
        let decades = (self.high / self.low).log10();
        let digits: &[f64] = if decades > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let first = self.low.log10().floor() as i32;
        let powers = (first..=first + decades.ceil() as i32 + 1).map(|power| 10_f64.powi(power));
        let ticks = powers.flat_map(|power| digits.iter().map(move |digit| digit * power));
        ticks.filter(|&tick| tick > self.low * 0.999 && tick < self.high * 1.001).collect()
    }
}

/// The largest of 1, 2 and 5 times a power of ten that does not exceed `value`.
fn round_down(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let digit = [5.0, 2.0, 1.0].into_iter().find(|digit| digit * power <= value * 1.0001).unwrap_or(1.0);
    digit * power
}

/// The smallest of 1, 2, 5 and 10 times a power of ten that reaches `value`.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= value * 0.9999).unwrap_or(10.0);
    digit * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_inside() {
        let axis = Axis::linear(1426.0, 100.0, 500.0);
        assert_eq!(axis.ticks(), [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0, 1200.0, 1400.0]);
        assert_eq!((axis.pixel(0.0), axis.pixel(713.0), axis.pixel(1426.0)), (100.0, 350.0, 600.0));
        assert_eq!(Axis::linear(0.0, 0.0, 1.0).pixel(0.0), 0.0, "a group of one takes no time");
    }

    #[test]
    fn logarithmic_axes_end_in_ticks() {
        let axis = Axis::logarithmic(96.0, 21_000.0, 0.0, 100.0);
        let ticks = axis.ticks();
        assert_eq!((ticks.first(), ticks.last()), (Some(&50.0), Some(&50_000.0)));
        assert_eq!((axis.pixel(50.0), axis.pixel(1.0), axis.pixel(1e9)), (0.0, 0.0, 100.0));
        let wide = Axis::logarithmic(1.0, 1e6, 0.0, 100.0);
        assert_eq!(wide.ticks().len(), 7);
        assert!((wide.pixel(1e3) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn every_axis_has_ticks_in_order() {
        for high in [0.3, 1.0, 7.0, 99.0, 1e4, 3.7e8] {
            for axis in [Axis::linear(high, 0.0, 1.0), Axis::logarithmic(high / 40.0, high, 0.0, 1.0)] {
                let ticks = axis.ticks();
                assert!((2..=13).contains(&ticks.len()), "{high}: {ticks:?}");
                assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{high}: {ticks:?}");
            }
        }
    }
}
