//! The numbers of a diamond ring, from which every node computes its neighbours.
//!
//! ```text
//! k arity   n nodes   l level   K = k^l rings   G = k + .. + k^(l-1) (0 if l = 1)   c = n - (1 + 2G + K)
//! ids   0 root | 1..=G gather nodes, heap order | the centre nodes, ring by ring | scatter nodes, the mirror of n - id
//! ```
//! There is one level with `-K < c <= K`. Ring `r` of `0..K` leaves the scatter node whose mirror is `p(r) = (G + r)
//! div k` and enters the gather node `p(r)`, where 0 is the root. A ring has one centre node, and one more or one less
//! for `|c|` of them (with none, its scatter node sends straight to the gather node, around the centre: a bypass). The
//! longer rings are dealt round-robin over the `k` subtrees of the root and then over theirs, so that all are equally
//! long.

/// The numbers of one diamond ring with at least two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rings {
    pub(super) nodes: usize,
    pub(super) arity: usize,
    pub(super) level: u32,
    /// K: rings, and nodes of a full centre.
    pub(super) rings: usize,
    /// G: gather nodes, and as many scatter nodes.
    pub(super) gathers: usize,
    /// c: centre nodes beyond a full centre.
    pub(super) extra: isize,
}

/// Where a message from the root or a scatter node goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    /// To a scatter node.
    Scatter(usize),
    /// To the first centre node of a ring, or around the centre if it has none.
    Ring(usize),
}

impl Rings {
    /// # Panics
    /// With fewer than two nodes or an arity of 0.
    pub(super) fn new(nodes: usize, arity: usize) -> Self {
        assert!(nodes >= 2 && arity >= 1, "a ring has two nodes at least, and an arity of one at least");
        let (mut level, mut rings, mut gathers) = (1, arity, 0);
        // With an arity of 1 the level is half of the nodes.
        while nodes > 1 + 2 * gathers + 2 * rings {
            gathers += rings;
            rings *= arity;
            level += 1;
        }
        let full = 1 + 2 * gathers + rings;
        Self { nodes, arity, level, rings, gathers, extra: nodes as isize - full as isize }
    }

    /// Centre nodes.
    pub(super) fn centres(&self) -> usize {
        self.nodes - 1 - 2 * self.gathers
    }

    /// B: rings of each of the root's subtrees.
    fn rings_of_subtree(&self) -> usize {
        (self.rings / self.arity).max(1)
    }

    /// Whether a ring has one centre node more, or less, than one.
    fn is_special(&self, ring: usize) -> bool {
        (ring % self.arity) * self.rings_of_subtree() + ring / self.arity < self.extra.unsigned_abs()
    }

    /// Special rings before this one.
    fn special_before(&self, ring: usize) -> usize {
        let (turn, subtree) = (ring / self.arity, ring % self.arity);
        let (whole, rest) =
            (self.extra.unsigned_abs() / self.rings_of_subtree(), self.extra.unsigned_abs() % self.rings_of_subtree());
        whole * turn + whole.min(subtree) + rest.min(turn + usize::from(whole < subtree))
    }

    /// Centre nodes of a ring: 0, 1 or 2.
    pub(super) fn len(&self, ring: usize) -> usize {
        if self.is_special(ring) { (1 + self.extra.signum()) as usize } else { 1 }
    }

    /// The id of a ring's first centre node.
    pub(super) fn first(&self, ring: usize) -> usize {
        let shift = self.extra.signum() * self.special_before(ring) as isize;
        (self.gathers + 1 + ring)
            .checked_add_signed(shift)
            .expect("no more rings are without centre than there are before")
    }

    /// p(r): the gather node that a ring enters, 0 for the root, and the mirror of the scatter node that it leaves.
    pub(super) fn parent(&self, ring: usize) -> usize {
        (self.gathers + ring) / self.arity
    }

    /// The ring of a centre node, and its place there.
    pub(super) fn ring_of(&self, centre: usize) -> (usize, usize) {
        let (mut low, mut high) = (0, self.rings);
        // The last ring that begins at or before the node; an empty one begins where the next does.
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if self.first(middle) <= centre { low = middle } else { high = middle }
        }
        (low, centre - self.first(low))
    }

    /// The part below the root (0) or the scatter node with this mirror.
    pub(super) fn below(&self, mirror: usize) -> impl Iterator<Item = Below> + '_ {
        (1..=self.arity).map(move |child| {
            let heap = self.arity * mirror + child;
            if heap <= self.gathers { Below::Scatter(self.nodes - heap) } else { Below::Ring(heap - self.gathers - 1) }
        })
    }

    /// The rings that enter a gather node, or the root; none if gather nodes do.
    pub(super) fn rings_into(&self, gather: usize) -> std::ops::Range<usize> {
        let first = (self.arity * gather).saturating_sub(self.gathers);
        if self.arity * gather < self.gathers { 0..0 } else { first..first + self.arity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_tile_all_numbers_of_nodes() {
        for arity in 1..=7 {
            for nodes in 2..=299 {
                let rings = Rings::new(nodes, arity);
                let (full, extra) = (rings.rings as isize, rings.extra);
                assert!(-full < extra && extra <= full, "{nodes} nodes of arity {arity}: {rings:?}");
                assert_eq!(rings.rings, arity.pow(rings.level));
                assert_eq!((1..rings.level).map(|level| arity.pow(level)).sum::<usize>(), rings.gathers);
            }
        }
    }

    #[test]
    fn rings_share_the_centre_without_gap() {
        for arity in 1..=7 {
            for nodes in 2..=299 {
                let rings = Rings::new(nodes, arity);
                let mut next = rings.gathers + 1;
                for ring in 0..rings.rings {
                    assert_eq!(rings.special_before(ring), (0..ring).filter(|&ring| rings.is_special(ring)).count());
                    assert_eq!(rings.first(ring), next);
                    for place in 0..rings.len(ring) {
                        assert_eq!(rings.ring_of(next + place), (ring, place));
                    }
                    next += rings.len(ring);
                }
                assert_eq!(next, rings.nodes - rings.gathers);
                assert_eq!(rings.centres(), next - rings.gathers - 1);
            }
        }
    }
}
