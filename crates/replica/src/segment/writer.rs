//! The end of the node that owns a segment: the only one that writes there.

use std::ops::Range;

use corecast_base::sync::{AtomicU64, Ordering, fence};
use corecast_base::{CpuId, PlaceSlice};

use super::body::Body;
use super::bulk::BulkWriter;
use super::error::LayoutError;
use super::header;
use super::held::{self, Held};
use super::layout::{self, CELLS, SegmentLayout};
use super::reader::SegmentReader;
use super::state::NodeState;
use super::words::ReadWords;
use super::{cell, record, ring};
use crate::{Command, Configuration, Epoch, Index, NodeId};

/// The owner's end of a segment. Its methods write what the protocol decided, and decide nothing; each is wait-free.
#[derive(Debug)]
pub struct SegmentWriter {
    words: PlaceSlice<AtomicU64>,
    layout: SegmentLayout,
    node: NodeId,
    /// Own configurations proposed so far.
    proposed: usize,
    /// Own requests written so far.
    requests: u64,
    /// Own requests whose slots may be written anew.
    released: u64,
    beat: u64,
    has_bulk: bool,
}

impl SegmentWriter {
    /// A fresh segment of `node` in zeroed words, which nobody else writes: of sealed memory, or
    /// [`on_heap`](Self::on_heap).
    ///
    /// # Errors
    /// [`LayoutError::Size`] if there are too few words.
    pub fn new(layout: SegmentLayout, node: NodeId, words: PlaceSlice<AtomicU64>) -> Result<Self, LayoutError> {
        if words.len() < layout.words() {
            return Err(LayoutError::Size { words: words.len(), expected: layout.words() });
        }
        header::write(&words, layout, node);
        Ok(Self { words, layout, node, proposed: 0, requests: 0, released: 0, beat: 0, has_bulk: true })
    }

    /// A fresh segment for a group among the threads of this process.
    #[must_use]
    pub fn on_heap(layout: SegmentLayout, node: NodeId) -> Self {
        Self::new(layout, node, PlaceSlice::zeroed(layout.words())).expect("as many words as the layout has")
    }

    /// The node that owns it.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Its sizes.
    #[must_use]
    pub fn layout(&self) -> &SegmentLayout {
        &self.layout
    }

    /// A reader of this segment, for this thread or others of this process.
    #[must_use]
    pub fn reader(&self) -> SegmentReader {
        SegmentReader::trusted(self.layout, self.node, ReadWords::from(&self.words))
    }

    /// The words, for the other parts of this module.
    pub(super) fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    /// The owner's end of the arena for long bodies, which may belong to another thread. `None` after the first time.
    #[must_use]
    pub fn take_bulk(&mut self) -> Option<BulkWriter> {
        let is_here = std::mem::take(&mut self.has_bulk);
        is_here.then(|| BulkWriter::new(self.words.clone(), &self.layout, self.node))
    }

    /// Leader: writes the proposals of `epoch` from index `first` on. The acceptor finds them when
    /// [`set_proposal_tail`](Self::set_proposal_tail) covers them. A command that is there already gets the epoch in place,
    /// without being absent for a moment. The caller keeps `first + commands.len()` at most L above `stable`.
    pub fn write_proposals(&mut self, epoch: Epoch, first: Index, commands: &[Command<Body>]) {
        for (index, command) in (first..).zip(commands) {
            ring::write(&self.words, self.layout.proposals(), index, epoch, command);
        }
    }

    /// Leader: publishes its count `stable` of commands that all members have applied. It does so before it writes over a
    /// slot below: a reader that finds a proposal lapped finds a `stable` above it.
    pub fn set_proposal_stable(&mut self, stable: Index) {
        self.set_stable_at(layout::PROPOSAL_STABLE, stable);
    }

    /// Leader: publishes the proposals below `tail`, and its count `stable` of commands that all members have applied.
    pub fn set_proposal_tail(&mut self, tail: Index, stable: Index) {
        // ORDERING: Relaxed, released by the tail
        self.words[layout::PROPOSAL_STABLE].store(stable, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in proposal_tail: the tail brings the proposals below [proposal-tail]
        self.words[layout::PROPOSAL_TAIL].store(tail, Ordering::Release);
    }

    /// Acceptor: writes accepted commands of `epoch` from index `first` on. They count when the configuration was found to be
    /// still this one ([`Control::is_newest_after_fence`](super::Control::is_newest_after_fence)), and then
    /// [`commit`](Self::commit) says so. A command that is there already gets the epoch in place.
    pub fn write_accepted(&mut self, epoch: Epoch, first: Index, commands: &[Command<Body>]) {
        self.set_if_new(layout::PROMISED, u64::from(epoch));
        for (index, command) in (first..).zip(commands) {
            ring::write(&self.words, self.layout.accepted(), index, epoch, command);
        }
    }

    /// Acceptor: publishes the count of commands that all members have applied. It does so before it writes over a slot below:
    /// a reader that finds a command lapped finds a `stable` above it.
    pub fn set_stable(&mut self, stable: Index) {
        self.set_stable_at(layout::STABLE, stable);
    }

    fn set_stable_at(&mut self, word: usize, stable: Index) {
        self.set_if_new(word, stable);
        // ORDERING: Release, pairs with the fence in stable_at: a slot that is written anew brings the count [stable]
        fence(Ordering::Release);
    }

    /// Leaves a word alone that has the value already: others poll for another word of its line, and each store takes the line
    /// from them.
    fn set_if_new(&mut self, word: usize, value: u64) {
        // ORDERING: Relaxed, only this thread writes it
        if self.words[word].load(Ordering::Relaxed) != value {
            // ORDERING: Relaxed, a fence of the caller orders it where that matters
            self.words[word].store(value, Ordering::Relaxed);
        }
    }

    /// Acceptor: takes back the commands in this range that were written and not committed. Those below the count that
    /// [`commit`](Self::commit) published stay.
    pub fn erase(&mut self, indexes: Range<Index>) {
        // ORDERING: Relaxed, only this thread writes it
        let committed = self.words[layout::COMMIT].load(Ordering::Relaxed);
        for index in indexes.start.max(committed)..indexes.end {
            ring::erase(&self.words, self.layout.accepted(), index);
        }
    }

    /// Acceptor: publishes that all commands below `end` are committed, and the count `stable` of commands that all members
    /// have applied.
    pub fn commit(&mut self, end: Index, stable: Index) {
        // ORDERING: Relaxed, released by the commit
        self.words[layout::STABLE].store(stable, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in commit of the reader: the count brings the commands below [commit]
        self.words[layout::COMMIT].store(end, Ordering::Release);
    }

    /// Writes an own proposal of a configuration, and returns the number of the cell for
    /// [`ConfigurationWord::new`](super::ConfigurationWord::new). The next [`CELLS`] proposals go to other cells.
    pub fn write_cell(&mut self, configuration: &Configuration) -> usize {
        let number = self.proposed % CELLS;
        self.proposed += 1;
        cell::write(&self.words, self.layout.cell(number), configuration);
        number
    }

    /// Says which CPU this node is bound to, if it is.
    pub fn set_cpu(&mut self, cpu: Option<CpuId>) {
        // ORDERING: Relaxed, the word says everything
        self.words[layout::CPU].store(cpu.map_or(0, |cpu| u64::from(cpu.get()) + 1), Ordering::Relaxed);
    }

    /// Relay: publishes that this node has seen the commands below `tail` committed.
    pub fn set_relayed(&mut self, tail: Index) {
        // ORDERING: Release, pairs with the Acquire in relayed: the count brings what this node read of the commands
        // [relayed]
        self.words[layout::RELAYED].store(tail, Ordering::Release);
    }

    /// Publishes that this node has applied the commands below `count`, and the 128-bit hash of them, if it has one.
    pub fn set_applied(&mut self, count: Index, hash: Option<u128>) {
        if let Some(hash) = hash {
            let body = [hash as u64, (hash >> 64) as u64];
            record::write(&self.words[layout::HASH..][..3], count + 1, &body);
        }
        // ORDERING: Release, pairs with the Acquire in applied: this node's reads of the log come before the slots, once they
        // are below `stable`, are written anew [applied]
        self.words[layout::APPLIED].store(count, Ordering::Release);
    }

    /// Shows that this node is running.
    pub fn beat(&mut self) {
        self.beat += 1;
        // ORDERING: Relaxed, a number to compare
        self.words[layout::BEAT].store(self.beat, Ordering::Relaxed);
    }

    /// Says whether this node is a member.
    pub fn set_state(&mut self, state: NodeState) {
        // ORDERING: Relaxed, a hint: membership is decided by the log
        self.words[layout::STATE].store(state as u64, Ordering::Relaxed);
    }

    /// Writes a request of an own session for the leader. Returns its position, which counts from 0; `None` if the ring is full:
    /// [release](Self::release_requests) some.
    #[must_use = "a request that did not fit has to be written again"]
    pub fn push_request(&mut self, command: &Command<Body>) -> Option<u64> {
        if self.requests - self.released == self.layout.requests() {
            return None;
        }
        let position = self.requests;
        ring::write(&self.words, self.layout.request_ring(), position, 0, command);
        self.requests += 1;
        // ORDERING: Release, pairs with the Acquire in requests: the tail brings the requests below [request-tail]
        self.words[layout::REQUEST_TAIL].store(self.requests, Ordering::Release);
        Some(position)
    }

    /// Lets the slots of the requests below this position be written anew: they were applied, or given up.
    ///
    /// # Panics
    /// If there are fewer requests.
    #[track_caller]
    pub fn release_requests(&mut self, below: u64) {
        assert!(below <= self.requests, "only requests that were written are released");
        self.released = self.released.max(below);
        // ORDERING: Relaxed, a reader that misses it reads requests that are done, which the leader notices
        self.words[layout::REQUEST_HEAD].store(self.released, Ordering::Relaxed);
    }

    /// Says which segment of the node in `slot` this process holds, so that others can open it here when that node is dead.
    ///
    /// # Panics
    /// If the group has no such slot.
    #[track_caller]
    pub fn set_held(&mut self, slot: usize, held: Option<Held>) {
        assert!(slot < self.layout.slots(), "the group has {} slots", self.layout.slots());
        held::write(&self.words, self.layout.held(slot), held);
    }
}
