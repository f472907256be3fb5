//! The words of a node about itself on the control page.

use corecast_base::sync::AtomicU64;

use crate::segment::checksum::of_eight;
use crate::segment::record::{self, Found};
use crate::segment::words::ReadWords;

/// A node, and where its segment is found. Another process may have written anything: a segment that is opened by it is
/// checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeRecord {
    /// The incarnation, from 1.
    pub inc: u16,
    /// The participant of the region that the node is, as a word; 0 among threads.
    pub participant: u64,
    /// The process that holds the segment.
    pub pid: u32,
    /// The number of the descriptor there.
    pub fd: u32,
    /// The number that tells the segment's memory from all others.
    pub identity: u64,
    /// A number that only this process has.
    pub boot: u64,
}

const BODY_WORDS: usize = 5;
/// The words of a record, its stamp among them.
pub(super) const WORDS: usize = 1 + BODY_WORDS;

/// Writes the record. The caller has claimed the slot, and no living node has it: a node that was thought to be dead and writes
/// too damages the record, which the checksum shows.
pub(super) fn write(words: &[AtomicU64], node: &NodeRecord) {
    let place = u64::from(node.pid) << 32 | u64::from(node.fd);
    let body = [node.participant, place, node.identity, node.boot];
    let [a, b, c, d] = body;
    record::write(words, node.inc.into(), &[a, b, c, d, checksum(node.inc, body)]);
}

pub(super) fn read(words: &ReadWords, at: usize) -> Option<NodeRecord> {
    let Found::Whole { number, body } = record::read::<BODY_WORDS>(words, at) else { return None };
    let [participant, place, identity, boot, sum] = body;
    let inc = u16::try_from(number).ok().filter(|&inc| inc != 0)?;
    let is_sound = sum == checksum(inc, [participant, place, identity, boot]);
    let (pid, fd) = ((place >> 32) as u32, place as u32);
    is_sound.then_some(NodeRecord { inc, participant, pid, fd, identity, boot })
}

fn checksum(inc: u16, [a, b, c, d]: [u64; 4]) -> u64 {
    u64::from(of_eight([u64::from(inc), a, b, c, d, 0, 0, 0]))
}
