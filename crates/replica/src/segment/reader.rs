//! A reader's end of a segment: the owner's own, or that of another node, dead or alive.

use std::ops::Range;

use corecast_base::CpuId;
use corecast_base::sync::{Ordering, fence};

use super::body::Body;
use super::cell::{self, CellRead};
use super::error::LayoutError;
use super::held::{self, Held};
use super::layout::{self, CELLS, Ring, SegmentLayout};
use super::record::{self, Found};
use super::slot::SlotRead;
use super::state::NodeState;
use super::words::ReadWords;
use super::{header, ring};
use crate::{Command, Epoch, Index, NodeId};

/// A reader of a segment. The words may be anything at any time: all that is returned was checked, and nothing here waits.
/// A clone reads the same segment.
#[derive(Debug, Clone)]
pub struct SegmentReader {
    words: ReadWords,
    layout: SegmentLayout,
    node: NodeId,
}

/// How far a run of commands was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunRead {
    /// The index after the last command that was read.
    pub end: Index,
    /// Why the next one was not read: never [`SlotRead::Command`]. `None` if the whole range was read.
    pub gap: Option<SlotRead>,
}

impl SegmentReader {
    /// A reader of the segment of `node`.
    ///
    /// # Errors
    /// [`LayoutError`] if the words are not this segment.
    pub fn new(layout: SegmentLayout, node: NodeId, words: ReadWords) -> Result<Self, LayoutError> {
        header::check(&words, layout, node)?;
        Ok(Self::trusted(layout, node, words))
    }

    /// The same for words that are known to be this segment.
    pub(super) fn trusted(layout: SegmentLayout, node: NodeId, words: ReadWords) -> Self {
        Self { words, layout, node }
    }

    /// The node whose segment it is.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Its sizes.
    #[must_use]
    pub fn layout(&self) -> &SegmentLayout {
        &self.layout
    }

    pub(super) fn words(&self) -> &ReadWords {
        &self.words
    }

    /// The slot of the proposal with this index.
    #[inline]
    #[must_use]
    pub fn proposal(&self, index: Index) -> SlotRead {
        ring::read(&self.words, self.layout.proposals(), index)
    }

    /// The slot of the accepted command with this index.
    #[inline]
    #[must_use]
    pub fn accepted(&self, index: Index) -> SlotRead {
        ring::read(&self.words, self.layout.accepted(), index)
    }

    /// Appends the proposals of this range to `to`, up to the first that cannot be read.
    pub fn proposals(&self, indexes: Range<Index>, to: &mut Vec<(Index, Epoch, Command<Body>)>) -> RunRead {
        self.run(self.layout.proposals(), indexes, to)
    }

    /// Appends the accepted commands of this range to `to`, up to the first that cannot be read.
    pub fn accepted_run(&self, indexes: Range<Index>, to: &mut Vec<(Index, Epoch, Command<Body>)>) -> RunRead {
        self.run(self.layout.accepted(), indexes, to)
    }

    fn run(&self, ring: Ring, indexes: Range<Index>, to: &mut Vec<(Index, Epoch, Command<Body>)>) -> RunRead {
        let end = indexes.end;
        for index in indexes {
            match ring::read(&self.words, ring, index) {
                SlotRead::Command { epoch, command } => to.push((index, epoch, command)),
                gap => return RunRead { end: index, gap: Some(gap) },
            }
        }
        RunRead { end, gap: None }
    }

    /// The index after the last proposal that the leader published. The proposals below are there, or lapped.
    #[must_use]
    pub fn proposal_tail(&self) -> Index {
        let tail = self.words.load(layout::PROPOSAL_TAIL);
        // ORDERING: Acquire, pairs with the store in set_proposal_tail: the tail brings the proposals below [proposal-tail]
        fence(Ordering::Acquire);
        tail
    }

    /// The leader's count of commands that all members have applied. It is at least as new as a tail that was read before, and
    /// above a proposal that was found lapped before.
    #[must_use]
    pub fn proposal_stable(&self) -> Index {
        self.stable_at(layout::PROPOSAL_STABLE)
    }

    /// The acceptor's count of committed commands. They are there, or lapped.
    #[inline]
    #[must_use]
    pub fn commit(&self) -> Index {
        let commit = self.words.load(layout::COMMIT);
        // ORDERING: Acquire, pairs with the store in commit of the writer: the count brings the commands below [commit]
        fence(Ordering::Acquire);
        commit
    }

    /// The acceptor's count of commands that all members have applied. It is at least as new as a commit that was read before,
    /// and above a command that was found lapped before.
    #[must_use]
    pub fn stable(&self) -> Index {
        self.stable_at(layout::STABLE)
    }

    fn stable_at(&self, word: usize) -> Index {
        // ORDERING: Acquire, pairs with the fence in set_stable_at: a slot that is written anew brings the count [stable]
        fence(Ordering::Acquire);
        self.words.load(word)
    }

    /// The acceptor's newest epoch.
    #[must_use]
    pub fn promised(&self) -> Epoch {
        self.words.load(layout::PROMISED) as Epoch
    }

    /// The configuration of `epoch` in the cell with this number.
    #[must_use]
    pub fn cell(&self, number: usize, epoch: Epoch) -> CellRead {
        if number < CELLS { cell::read(&self.words, self.layout.cell(number), epoch) } else { CellRead::Corrupt }
    }

    /// The count of commands that this node, as a relay, has seen committed.
    #[must_use]
    pub fn relayed(&self) -> Index {
        let relayed = self.words.load(layout::RELAYED);
        // ORDERING: Acquire, pairs with the store in set_relayed: the count brings what the relay saw [relayed]
        fence(Ordering::Acquire);
        relayed
    }

    /// The count of commands that this node has applied.
    #[must_use]
    pub fn applied(&self) -> Index {
        let applied = self.words.load(layout::APPLIED);
        // ORDERING: Acquire, pairs with the store in set_applied: slots that are written anew because of this count are not
        // read any more [applied]
        fence(Ordering::Acquire);
        applied
    }

    /// A count of commands and the hash of them all, as this node published it last; `None` if it publishes none, or is at it.
    #[must_use]
    pub fn applied_hash(&self) -> Option<(Index, u128)> {
        match record::read::<2>(&self.words, layout::HASH) {
            Found::Whole { number, body: [low, high] } => {
                Some((number.checked_sub(1)?, u128::from(high) << 64 | u128::from(low)))
            }
            _ => None,
        }
    }

    /// A number that changes while the node is running.
    #[must_use]
    pub fn beat(&self) -> u64 {
        self.words.load(layout::BEAT)
    }

    /// The state that the node says it has; `None` for nonsense.
    #[must_use]
    pub fn state(&self) -> Option<NodeState> {
        NodeState::from_number(self.words.load(layout::STATE))
    }

    /// The CPU that the node is bound to, as it says; `None` if it may run on several.
    #[must_use]
    pub fn cpu(&self) -> Option<CpuId> {
        let cpu = self.words.load(layout::CPU).checked_sub(1)?;
        u32::try_from(cpu).ok().map(CpuId::new)
    }

    /// Appends the requests of this node's sessions from position `from` on to `to`, and returns the position after the last
    /// one. Positions that were released meanwhile, and requests that are damaged, are passed over.
    #[must_use]
    pub fn requests(&self, from: u64, to: &mut Vec<Command<Body>>) -> u64 {
        let tail = self.words.load(layout::REQUEST_TAIL);
        // ORDERING: Acquire, pairs with the store in push_request: the tail brings the requests below [request-tail]
        fence(Ordering::Acquire);
        // A tail far away, from a wild write, must not keep the reader here.
        let oldest = tail.saturating_sub(self.layout.requests()).max(self.words.load(layout::REQUEST_HEAD).min(tail));
        let ring = self.layout.request_ring();
        for position in from.max(oldest)..tail {
            if let SlotRead::Command { command, .. } = ring::read(&self.words, ring, position) {
                to.push(command);
            }
        }
        tail.max(from)
    }

    /// The segment of the node in `slot` that this node's process holds; `None` if it holds none.
    #[must_use]
    pub fn held(&self, slot: usize) -> Option<Held> {
        if slot < self.layout.slots() { held::read(&self.words, self.layout.held(slot)) } else { None }
    }
}
