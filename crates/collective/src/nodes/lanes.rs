//! Lanes: several members of each node that share the messages of a long allreduction.
//!
//! **When to take it:** slices of some hundred kilobytes, nodes with CPUs to spare, and a network that one member cannot fill.
//! **When not:** otherwise; one leader copies and combines all values between the nodes, and nobody waits for a second one. On
//! two CPUs that two hosts of two or four members share, two lanes took 1.0 to 1.1 times as long as one.
//!
//! Lane l is led by the member of local rank l of each node, which holds an end of an engine of its own: the leaders of a lane
//! speak to each other only. The chunks of a slice are dealt to the lanes in turn. Each chunk is reduced to its lane's leader
//! within each node, combined between the leaders of that lane, and broadcast by them within their nodes: together that is a
//! reduce-scatter among the members of a node, one allreduction for each lane, and an allgather. Lanes are between the nodes at
//! the same time, and each has two chunks there.
//!
//! **Order:** within a node the values of a chunk are combined along the tree for reductions, taken from the leader of the
//! chunk's lane, and then between the nodes as in a group of one lane. So all members of all nodes get the same bits, and so do
//! all runs with the same lanes. Groups with other lanes may get other bits for floating-point numbers.
//!
//! **Agreement:** the number of lanes and the shortest slice that goes by them are the same at all members of all nodes, which
//! compare them when they meet. Whether an operation goes by lanes follows from these and from its length.
//!
//! **Faults:** a leader that learns of a fault, from its engine or from its node, tells the leaders of its lane. So every
//! leader that waits between the nodes is told by its own lane, whichever member has found the fault. A group that has shrunk has
//! one lane.
//!
//! Source: Traff and Hunold, Decomposing MPI collectives for exploiting multi-lane communication, CLUSTER 2020; Bayatpour et al.,
//! Scalable reduction collectives with data partitioning-based multi-leader design, SC 2017.

use std::fmt;

use corecast_plan::cluster::{GROUP_LANES, GROUP_PIECE_BYTES, Nic};

use super::error::SetupError;
use super::leader::Leader;
use crate::error::Error as NearError;
use crate::member::Member as NearMember;

/// The number of lanes of a group, and the shortest slice that goes by them.
///
/// ```
/// use corecast_collective::nodes::Lanes;
/// assert_eq!(Lanes::of(2).to_string(), "2 lanes from 61441 bytes on");
/// assert_eq!(Lanes::default(), Lanes::ONE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    count: usize,
    least_bytes: usize,
}

impl Lanes {
    /// The leader of each node alone.
    pub const ONE: Self = Self { count: 1, least_bytes: Self::LEAST_BYTES };

    /// The most lanes of a group.
    pub const MOST: usize = GROUP_LANES as usize;

    /// The shortest slice that goes by lanes unless another one is asked for, in bytes: one that does not travel in one piece.
    pub const LEAST_BYTES: usize = GROUP_PIECE_BYTES as usize + 1;

    /// The share of one lane's time for a byte that more lanes may take.
    const CLEARLY: f64 = 0.9;

    /// This number of lanes.
    ///
    /// # Panics
    /// If it is 0 or above [`MOST`](Self::MOST).
    #[must_use]
    #[track_caller]
    pub const fn of(count: usize) -> Self {
        assert!(count > 0 && count <= Self::MOST, "a group has 1 to 16 lanes");
        Self { count, ..Self::ONE }
    }

    /// The number of lanes that a measured network asks for, at most `most`: the one with which a byte takes the least time, if
    /// that is at most 0.9 of the time with one lane. One lane if the curve has no other point.
    ///
    /// ```
    /// # use corecast_collective::nodes::Lanes;
    /// # use corecast_plan::cluster::{Nic, Parameter};
    /// let curve = [(1, 1000.0), (2, 1100.0), (4, 3900.0)].map(|(lanes, ns)| (lanes, Parameter::assumed(ns)));
    /// let nic = Nic { bytes: 65536, curve: curve.to_vec(), other: Default::default() };
    /// assert_eq!(Lanes::of_nic(&nic, 4).count(), 2);
    /// assert_eq!(Lanes::of_nic(&nic, 1).count(), 1);
    /// ```
    #[must_use]
    pub fn of_nic(nic: &Nic, most: usize) -> Self {
        let one_ns = nic.curve.iter().find(|(lanes, _)| *lanes == 1).map_or(f64::NAN, |(_, cost)| cost.value);
        let share = |lanes: usize, cost_ns: f64| cost_ns / one_ns / lanes as f64;
        let points = nic.curve.iter().map(|(lanes, cost)| (*lanes as usize, cost.value));
        let useful = points.filter(|&(lanes, cost_ns)| {
            (2..=most.min(Self::MOST)).contains(&lanes) && share(lanes, cost_ns) <= Self::CLEARLY
        });
        let best = useful.min_by(|&(few, few_ns), &(many, many_ns)| {
            share(few, few_ns).total_cmp(&share(many, many_ns)).then(few.cmp(&many))
        });
        best.map_or(Self::ONE, |(lanes, _)| Self::of(lanes))
    }

    /// Slices from this number of bytes on go by the lanes.
    #[must_use]
    pub const fn from_bytes(self, least_bytes: usize) -> Self {
        Self { least_bytes, ..self }
    }

    /// The number of lanes.
    #[must_use]
    pub const fn count(self) -> usize {
        self.count
    }

    /// The shortest slice that goes by them, in bytes.
    #[must_use]
    pub const fn least_bytes(self) -> usize {
        self.least_bytes
    }

    /// The lanes that a slice of this many bytes takes.
    pub(super) fn of_slice(self, bytes: usize) -> usize {
        if self.count > 1 && bytes >= self.least_bytes { self.count } else { 1 }
    }

    pub(super) fn words(self) -> [u64; 2] {
        [self.count as u64, self.least_bytes as u64]
    }

    pub(super) fn of_words([count, least_bytes]: [u64; 2]) -> Self {
        Self { count: count as usize, least_bytes: least_bytes as usize }
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Self::ONE
    }
}

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => f.write_str("1 lane"),
            count => write!(f, "{count} lanes from {} bytes on", self.least_bytes),
        }
    }
}

/// The most bytes of the chunks of a slice of this many bytes, where chunks have at most `most`: every lane has a chunk.
pub(super) fn chunk_bytes(bytes: usize, lanes: usize, most: usize) -> usize {
    if lanes == 1 { most } else { bytes.div_ceil(lanes).min(most) }
}

/// A member's part in the lanes of its group.
#[derive(Debug, Default)]
pub(super) struct LaneEnd {
    pub(super) lanes: Lanes,
    /// The end of its lane's engine, at a member that leads a lane and not the node.
    pub(super) leader: Option<Leader>,
}

/// A member's part in an operation whose chunks are dealt to lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) lanes: usize,
    /// The lane that the member leads.
    pub(super) own: Option<usize>,
}

/// Finds out whether all members of a node have asked for the same lanes, and whether those that lead a lane have an end of
/// an engine. All members of the node call it.
pub(super) fn agree(near: &mut NearMember, lanes: Lanes, has_engine: bool) -> Result<(), SetupError> {
    let (rank, members) = (near.rank(), near.size());
    let [count, least_bytes] = lanes.words();
    let missing = if rank > 0 && rank < lanes.count && !has_engine { rank as u64 } else { u64::MAX };
    let own = [count, !count, least_bytes, !least_bytes, missing];
    let least = |a: [u64; 5], b: [u64; 5]| std::array::from_fn(|place| a[place].min(b[place]));
    let said = near.allreduce(own, least).map_err(|error: NearError| SetupError::Operation(error.into()))?;
    if said[0] != !said[1] || said[2] != !said[3] {
        return Err(SetupError::MixedLanes);
    }
    match usize::try_from(said[4]).ok().filter(|&missing| missing < members) {
        Some(member) => Err(SetupError::NoLane { member, lanes: lanes.count }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use corecast_plan::cluster::Parameter;

    use super::*;

    fn nic(curve: &[(u32, f64)]) -> Nic {
        let curve = curve.iter().map(|&(lanes, ns)| (lanes, Parameter::assumed(ns))).collect();
        Nic { bytes: 64 << 10, curve, other: Default::default() }
    }

    #[test]
    fn lanes_are_taken_where_a_byte_takes_clearly_less_time() {
        let chosen = |curve: &[(u32, f64)], most| Lanes::of_nic(&nic(curve), most).count();
        assert_eq!(chosen(&[], 8), 1, "nothing is known");
        assert_eq!(chosen(&[(1, 1000.0), (2, 2000.0), (4, 4100.0)], 8), 1, "one lane fills the network");
        assert_eq!(chosen(&[(1, 1000.0), (2, 1900.0)], 8), 1, "within the noise");
        assert_eq!(chosen(&[(1, 1000.0), (2, 1000.0), (4, 1000.0), (8, 2000.0)], 8), 4, "fewer of equally good ones");
        assert_eq!(chosen(&[(1, 1000.0), (2, 1000.0), (4, 1000.0)], 3), 2);
        assert_eq!(chosen(&[(1, 1000.0), (64, 1000.0)], 64), 1, "more than groups have");
    }

    #[test]
    fn short_slices_have_one_lane() {
        let lanes = Lanes::of(3).from_bytes(1000);
        assert_eq!([0, 999, 1000, 1 << 30].map(|bytes| lanes.of_slice(bytes)), [1, 1, 3, 3]);
        assert_eq!(Lanes::ONE.from_bytes(0).of_slice(1 << 30), 1);
        assert_eq!(Lanes::of_words(lanes.words()), lanes);
    }

    #[test]
    fn every_lane_has_a_chunk() {
        assert_eq!(chunk_bytes(1 << 20, 1, 61_440), 61_440);
        assert_eq!(chunk_bytes(1 << 20, 4, 61_440), 61_440);
        assert_eq!(chunk_bytes(61_441, 4, 61_440), 15_361);
    }
}
