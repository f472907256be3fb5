//! Prices at which all broadcasts known so far earn less than a tree must: the shortest vector in their convex hull.
//!
//! Each relaxed broadcast that is in time is a point: its excess, constraint by constraint. If the hull
//! of the points does not hold the origin, the shortest vector to it is the normal of a plane that has all of
//! the points on one side, and its negative are the prices sought. If it does, no prices can tell these broadcasts from
//! a tree: the bound is as good as it gets. A set may be entered more than once: its component counts
//! only if negative.
//!
//! Pairs of points swap weight until every point is on the right side by half of the distance. Plain subgradient
//! steps were tried first: after 5000 of them they were up to 20 % short of what 100 planes give.
//!
//! Source: P. Wolfe, Finding the nearest point in a polytope, 1976; S. Lacoste-Julien, M. Jaggi, On the global linear
//! convergence of Frank-Wolfe optimization variants, 2015.

/// Points and the vector in their hull.
pub(super) struct Hull {
    /// Components from here on count only if negative.
    members: usize,
    points: Vec<Vec<f64>>,
    /// How much of each point is in the vector.
    weights: Vec<f64>,
    vector: Vec<f64>,
}

/// The number of looks at all points in one search: more only refine a result that the next point changes anyway.
const LOOKS: usize = 8;
/// Swaps of weight after each look, among those points that have some or are on the wrong side.
const SWAPS: usize = 50;
/// A point is on the wrong side that is nearer to the origin than this part of the vector.
const LOW: f64 = 0.5;
/// The number of points for each constraint above which points without weight are forgotten, oldest first.
const POINTS_PER_CONSTRAINT: usize = 3;
/// A vector shorter than this counts as zero.
const NOTHING: f64 = 1e-7;

impl Hull {
    pub(super) fn new(members: usize, point: Vec<f64>) -> Self {
        Self { members, vector: point.clone(), points: vec![point], weights: vec![1.0] }
    }

    pub(super) fn add(&mut self, point: Vec<f64>) {
        if self.points.len() >= POINTS_PER_CONSTRAINT * point.len() + 100 {
            self.forget(point.len());
        }
        self.points.push(point);
        self.weights.push(0.0);
    }

    /// Keeps the points with weight and the latest ones.
    fn forget(&mut self, latest: usize) {
        let old = self.points.len().saturating_sub(latest);
        let both = std::mem::take(&mut self.points).into_iter().zip(std::mem::take(&mut self.weights));
        let kept = both.enumerate().filter(|&(at, (_, weight))| at >= old || weight > 0.0);
        (self.points, self.weights) = kept.map(|(_, both)| both).unzip();
    }

    /// The shortest vector, roughly, turned round: prices. `None` if it is nearly zero.
    pub(super) fn prices(&mut self) -> Option<Vec<f64>> {
        for _ in 0..LOOKS {
            let normal = self.normal();
            let length = dot(&normal, &normal);
            if length < NOTHING {
                return None;
            }
            let is_low = |point: &Vec<f64>| dot(point, &normal) < LOW * length;
            let both = self.points.iter().zip(&self.weights).enumerate();
            let open = both.filter(|(_, (point, weight))| **weight > 0.0 || is_low(point)).map(|(at, _)| at);
            let open: Vec<usize> = open.collect();
            if !self.shorten(&open) {
                break;
            }
        }
        let normal = self.normal();
        (dot(&normal, &normal) >= NOTHING).then(|| normal.into_iter().map(|side| -side).collect())
    }

    /// Swaps weight among these points; false if they are all on the right side already.
    fn shorten(&mut self, open: &[usize]) -> bool {
        for swaps in 0..SWAPS {
            let normal = self.normal();
            let length = dot(&normal, &normal);
            let sides: Vec<(f64, usize)> = open.iter().map(|&at| (dot(&self.points[at], &normal), at)).collect();
            let (low, to) = sides.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a point");
            let used = sides.into_iter().filter(|&(_, at)| self.weights[at] > 0.0);
            let (high, from) = used.max_by(|a, b| a.0.total_cmp(&b.0)).expect("weights add up to 1");
            if length < NOTHING || low >= LOW * length || !self.swap(from, to, high - low) {
                return swaps > 0;
            }
        }
        true
    }

    fn normal(&self) -> Vec<f64> {
        let counting = |(at, &side): (usize, &f64)| if at < self.members { side } else { side.min(0.0) };
        self.vector.iter().enumerate().map(counting).collect()
    }

    /// Moves weight as far as the vector gets shorter; false if it does not.
    fn swap(&mut self, from: usize, to: usize, slope: f64) -> bool {
        let change: Vec<f64> = self.points[to].iter().zip(&self.points[from]).map(|(to, from)| to - from).collect();
        let weight = (slope / dot(&change, &change)).min(self.weights[from]);
        if weight.is_nan() || weight <= 0.0 {
            return false;
        }
        self.weights[to] += weight;
        self.weights[from] -= weight;
        self.vector.iter_mut().zip(&change).for_each(|(side, change)| *side += weight * change);
        true
    }
}

/// In four sums, which the compiler can keep side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; 4];
    for (a, b) in a.zip(b) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_points_are_on_the_unpaid_side() {
        let mut hull = Hull::new(3, vec![-1.0, -1.0, -1.0]);
        let points = [[4.0, -1.0, -1.0], [-1.0, 3.0, -1.0], [2.0, 1.0, -1.0]];
        points.iter().for_each(|point| hull.add(point.to_vec()));
        let prices = hull.prices().expect("nobody informs the last member");
        for point in points {
            assert!(dot(&point, &prices) < 0.0, "{point:?} earns enough at {prices:?}");
        }
    }

    #[test]
    fn no_prices_where_points_make_a_tree_on_average() {
        let mut hull = Hull::new(2, vec![-1.0, -1.0]);
        hull.add(vec![1.0, -1.0]);
        hull.add(vec![-1.0, 1.0]);
        assert_eq!(hull.prices(), None);
    }

    #[test]
    fn entering_a_set_too_often_makes_up_for_nothing_else() {
        let mut hull = Hull::new(1, vec![-1.0, 5.0]);
        assert_eq!(hull.prices(), Some(vec![1.0, 0.0]));
    }

    #[test]
    fn forgetting_keeps_the_vector() {
        let mut hull = Hull::new(2, vec![-1.0, -1.0]);
        for at in 0..400 {
            hull.add(vec![f64::from(at % 7) - 1.0, -1.0]);
            hull.prices().expect("the second member is never informed");
        }
        assert!(hull.points.len() <= 107, "{}", hull.points.len());
        assert!((hull.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
