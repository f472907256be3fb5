//! Barriers for linearizable reads, each of which waits for one that was asked for after the read began.
//!
//! One barrier is under way at a time, and serves all reads that had begun when it was asked for.

use crate::NodeId;
use crate::runtime::Reads;

/// Set in the number of a barrier that is a checkpoint. The upper half of the number is the node that asked.
pub(super) const CUT: u64 = 1 << 31;

/// The barriers of a node, held by the thread that has the driver.
#[derive(Debug)]
pub(super) struct Barriers {
    me: NodeId,
    /// The number of the last barrier, below [`CUT`].
    last: u64,
    /// The barrier under way, and the number of the last read that it serves.
    under_way: Option<(u64, u64)>,
}

impl Barriers {
    pub(super) fn new(me: NodeId) -> Self {
        Self { me, last: 0, under_way: None }
    }

    /// The barrier to ask for now, if reads wait and none is under way.
    pub(super) fn next(&mut self, reads: &Reads) -> Option<u64> {
        if self.under_way.is_some() || !reads.is_waiting() {
            return None;
        }
        self.last = (self.last + 1) % CUT;
        let id = u64::from(self.me.to_bits()) << 32 | self.last;
        self.under_way = Some((id, reads.begun()));
        Some(id)
    }

    /// The barrier that is under way.
    pub(super) fn under_way(&self) -> Option<u64> {
        self.under_way.map(|(id, _)| id)
    }

    /// A barrier was applied. True if it was the one under way: its reads are served.
    pub(super) fn applied(&mut self, id: u64, reads: &Reads) -> bool {
        let served = self.under_way.take_if(|(under_way, _)| *under_way == id);
        served.inspect(|&(_, number)| reads.serve(number)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Barriers;
    use crate::NodeId;
    use crate::runtime::Reads;

    #[test]
    fn a_barrier_serves_the_reads_before_it() {
        let (reads, mut barriers) = (Reads::default(), Barriers::new(NodeId::new(3, 1)));
        assert_eq!(barriers.next(&reads), None);
        let (first, second) = (reads.begin(), reads.begin());
        let id = barriers.next(&reads).expect("reads wait");
        let third = reads.begin();
        assert_eq!((barriers.next(&reads), barriers.under_way()), (None, Some(id)));
        assert!(!barriers.applied(id + 1, &reads) && !reads.is_served(first));
        assert!(barriers.applied(id, &reads) && reads.is_served(second) && !reads.is_served(third));
        assert!(!barriers.applied(id, &reads), "it was ordered twice");
        let id = barriers.next(&reads).expect("one waits still");
        assert!(barriers.applied(id, &reads) && reads.is_served(third) && !reads.is_waiting());
    }
}
