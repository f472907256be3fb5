//! The scale of a heat map: which cost has which colour.

use corecast::machine::{CostMatrix, Unit};

use super::number::significant;
use super::ramp;
use super::svg::{Area, Paint, Point, Svg};

/// From this ratio of the largest to the least cost on the scale is logarithmic, or near pairs would look alike.
const LOGARITHMIC_RATIO: f64 = 10.0;

/// From costs to shares of the colour ramp.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    least: f64,
    most: f64,
    is_logarithmic: bool,
}

impl Scale {
    /// The scale of a matrix; what a CPU costs to itself does not count.
    pub fn of(matrix: &CostMatrix) -> Self {
        Self::over(
            matrix
                .rows()
                .enumerate()
                .flat_map(|(i, row)| row.iter().enumerate().filter(move |&(j, _)| i != j).map(|(_, &cost)| cost)),
        )
    }

    /// The scale on which all of these costs lie.
    pub fn over(costs: impl Iterator<Item = f64>) -> Self {
        let (least, most) =
            costs.fold((f64::INFINITY, 0.0_f64), |(least, most), cost| (least.min(cost), most.max(cost)));
        // At least a factor of two, or noise alone would show as light and dark.
        let least = least.min(most / 2.0);
        Self { least, most, is_logarithmic: least > 0.0 && most > LOGARITHMIC_RATIO * least }
    }

    /// Where a cost lies between the least (0) and the most (1).
    pub fn share(&self, cost: f64) -> f64 {
        if self.most <= self.least {
            0.5
        } else if self.is_logarithmic {
            (cost / self.least).ln() / (self.most / self.least).ln()
        } else {
            (cost - self.least) / (self.most - self.least)
        }
    }

    /// The cost at a share of the way from the least to the most.
    pub fn cost_at(&self, share: f64) -> f64 {
        if self.is_logarithmic {
            self.least * (self.most / self.least).powf(share)
        } else {
            self.least + share * (self.most - self.least)
        }
    }

    /// The lowest cost that has a colour of its own.
    pub fn least(&self) -> f64 {
        self.least
    }

    /// The highest cost that has a colour of its own.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// Draws the colours with the costs that they stand for.
    pub fn legend(&self, svg: &mut Svg, (x, y): Point, width: f64, unit: Unit) {
        const BARS: usize = 40;
        let bar = width / BARS as f64;
        for step in 0..BARS {
            let heat = ramp::step((step as f64 + 0.5) / BARS as f64);
            // A little too wide, or gaps would show between them.
            let area = Area { x: x + step as f64 * bar, y, width: bar + 0.3, height: 10.0 };
            svg.rect(area, Paint::Heat(heat), "");
        }
        for (share, class) in [(0.0, "small digits"), (0.5, "small digits middle"), (1.0, "small digits end")] {
            svg.text((x + share * width, y + 23.0), class, &significant(self.cost_at(share)));
        }
        let kind = if self.is_logarithmic { ", logarithmic" } else { "" };
        svg.text((x, y + 36.0), "small quiet", &format!("{unit}{kind}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_logarithmic_where_costs_are_far_apart() {
        let scale = |rows: Vec<Vec<f64>>| Scale::of(&CostMatrix::from_rows(rows).expect("costs"));
        let wide = scale(vec![vec![0.0, 10.0], vec![1000.0, 0.0]]);
        assert!(wide.is_logarithmic);
        assert!((wide.share(100.0) - 0.5).abs() < 1e-9 && (wide.cost_at(0.5) - 100.0).abs() < 1e-9);
        let narrow = scale(vec![vec![0.0, 10.0], vec![30.0, 0.0]]);
        assert!(!narrow.is_logarithmic);
        assert_eq!(narrow.share(20.0), 0.5);
        let noise = scale(vec![vec![0.0, 30.0], vec![32.0, 0.0]]);
        assert!(noise.share(30.0) > 0.85, "near costs have near colours");
        let free = scale(vec![vec![0.0, 0.0], vec![1000.0, 0.0]]);
        assert_eq!((free.is_logarithmic, free.share(0.0)), (false, 0.0), "zero has no logarithm");
        assert_eq!(scale(vec![vec![0.0]]).share(0.0), 0.5, "one CPU has no pairs");
    }
}
