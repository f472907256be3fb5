//! Costs as whole numbers, so that sums and comparisons are exact, and equal trees cost the same.

use super::costs::Costs;

/// A known tree costs about this many ticks: what rounding loses on a path is far below any measured cost.
const TICKS_OF_A_TREE: f64 = (1_u64 << 30) as f64;

/// Costs of a [`Costs`] in ticks.
#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    len: usize,
    /// `[send, receive]` at `parent * len + child`.
    pairs: Vec<[u32; 2]>,
    /// The extra cost of the i-th send.
    undrained: Vec<i64>,
}

impl Ticks {
    /// Scales so that `upper`, the cost of some tree, is about 2^30 ticks. A cost more than twice as high is of no use
    /// to anybody and counts as that: a cost of 1e15 beside one of 1 so leaves the 1 its resolution.
    pub(crate) fn of(costs: &Costs, upper: f64) -> Self {
        let len = costs.len();
        let scale = if upper > 0.0 { TICKS_OF_A_TREE / upper } else { 1.0 };
        let scale = if scale.is_finite() { scale } else { 1.0 };
        let ticks = |cost: f64| (cost * scale).min(2.0 * TICKS_OF_A_TREE).round() as u32;
        let pair = |at: usize| [ticks(costs.send(at / len, at % len)), ticks(costs.receive(at / len, at % len))];
        Self {
            len,
            pairs: (0..len * len).map(pair).collect(),
            undrained: costs.undrained().iter().map(|more| (more * scale).round() as i64).collect(),
        }
    }

    /// The number of members.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// `[send, receive]` from this parent to every child.
    #[inline]
    pub(crate) fn row(&self, parent: usize) -> &[[u32; 2]] {
        &self.pairs[parent * self.len..(parent + 1) * self.len]
    }

    /// The extra costs of a parent's sends over the pairwise send, in order.
    #[inline]
    pub(crate) fn undrained(&self) -> &[i64] {
        &self.undrained
    }
}
