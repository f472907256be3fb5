//! The table of nodes in the group's region: for each slot whether a node has come, its sign of life, and the word it
//! sleeps on.
//!
//! ```text
//! head           fences, then the parent of each node in the tree, and one
//! for each node  beat | applied | left | panicked at                   written by the node, read by all
//! slots          the node that has each slot, and the place of its channels: `runtime::Slots`
//! for each node  its wake word                                         written by all
//! ```
//! No rule of the protocol relies on it: it says where a later node is to be found and whom to suspect, and saves system calls.

use corecast_base::region::{Liveness, ParticipantId, Section, SharedRegion};
use corecast_base::sync::{AtomicU64, Fences, Ordering};
use corecast_base::wait::{Wait, WakeCell, WakeWord};
use corecast_base::{Arena, CacheLine, PlaceSlice};

use super::config::MAX_NODES;
use crate::error::OpenError;
use crate::runtime::Slots;
use crate::segment::Claim;
use crate::{Index, NodeId};

/// Words of a line.
const LINE: usize = 16;
/// The head: a line for the fences, then a word for each node.
const HEAD: usize = LINE + MAX_NODES;

/// A node that has done something with as many bytes says that it runs before it does more.
const LONG_BYTES: usize = 64 << 10;

/// Words of a node.
const BEAT: usize = 0;
const APPLIED: usize = 1;
/// The last incarnation that has said that it goes.
const LEFT: usize = 2;
const PANICKED: usize = 3;

/// The table, as one node holds it.
#[derive(Debug)]
pub(super) struct NodeTable {
    region: SharedRegion,
    nodes: usize,
    words: PlaceSlice<AtomicU64>,
    /// The node that has each slot.
    pub(super) slots: Slots,
    wake_words: Vec<WakeWord>,
}

impl NodeTable {
    /// The bytes of the table of a group.
    pub(super) fn bytes(nodes: usize) -> usize {
        8 * (HEAD + nodes * LINE + Slots::words(nodes)) + nodes * size_of::<CacheLine<WakeCell>>()
    }

    /// The table in a zeroed section, or one that others use already.
    pub(super) fn open(region: &SharedRegion, section: Section, nodes: usize, wait: Wait) -> Result<Self, OpenError> {
        let damaged = |error: &dyn std::fmt::Display| OpenError::Version(error.to_string());
        let mut memory = Arena::within(section);
        let words = memory.slice::<AtomicU64>(HEAD + nodes * LINE).map_err(|error| damaged(&error))?;
        let slots = memory.slice::<AtomicU64>(Slots::words(nodes)).map_err(|error| damaged(&error))?;
        let cells = memory.slice::<CacheLine<WakeCell>>(nodes).map_err(|error| damaged(&error))?;
        let fences = if wait.sleeps() { Some(agree(region, &words[0])?) } else { None };
        let wake_word = |node| {
            let cell = cells.place(node).expect("as many as there are nodes");
            WakeWord::within(cell, region.parkers(), region.me().index, fences)
        };
        let wake_words = (0..nodes).map(wake_word).collect();
        Ok(Self { region: region.clone(), nodes, words, slots: Slots::new(slots), wake_words })
    }

    /// Writes the tree, before others learn of the group.
    pub(super) fn set_parents(&self, parents: &[Option<usize>]) {
        for (node, parent) in parents.iter().enumerate() {
            // ORDERING: Relaxed, others learn of the group by a descriptor, which orders
            self.words[LINE + node].store(parent.map_or(0, |parent| parent as u64 + 1), Ordering::Relaxed);
        }
    }

    /// The tree that the maker of the group wrote.
    pub(super) fn parents(&self) -> Vec<Option<usize>> {
        // ORDERING: Relaxed, the descriptor of the group came after the tree
        let parent = |node: usize| self.words[LINE + node].load(Ordering::Relaxed);
        (0..self.nodes).map(|node| parent(node).checked_sub(1).map(|parent| parent as usize)).collect()
    }

    /// The number of slots.
    pub(super) fn len(&self) -> usize {
        self.nodes
    }

    /// The last claim of a slot.
    pub(super) fn claim_of(&self, slot: usize) -> Claim {
        self.slots.claim_of(slot)
    }

    /// Makes this participant the next incarnation in a slot, after the one of `before`; `None` if another was first, or
    /// the slot has had all its incarnations.
    pub(super) fn claim(&self, slot: usize, before: Claim) -> Option<NodeId> {
        let node = self.slots.claim(slot, before, self.region.me().to_word())?;
        self.store(slot, PANICKED, 0);
        self.store(slot, APPLIED, 0);
        Some(node)
    }

    /// True once a process was this node.
    pub(super) fn has_come(&self, node: NodeId) -> bool {
        self.claim_of(usize::from(node.slot)).inc >= node.inc
    }

    /// True if the process of the node is dead, or another has its slot.
    pub(super) fn is_dead(&self, node: NodeId) -> bool {
        let claim = self.claim_of(usize::from(node.slot));
        claim.inc > node.inc || (claim.inc == node.inc && !self.is_alive(claim))
    }

    /// True if the process of the node is stopped, as the system says.
    #[cold]
    pub(super) fn is_stopped(&self, node: NodeId) -> bool {
        let claim = self.claim_of(usize::from(node.slot));
        let who = ParticipantId::from_word(claim.participant).filter(|_| claim.inc == node.inc);
        who.is_some_and(|who| self.region.is_stopped(who))
    }

    /// True if the process that made this claim lives.
    fn is_alive(&self, claim: Claim) -> bool {
        ParticipantId::from_word(claim.participant).is_some_and(|who| self.region.liveness(who) == Liveness::Alive)
    }

    /// True if the slot, which was claimed before, is free again.
    pub(super) fn is_free(&self, slot: usize, claim: Claim) -> bool {
        self.load(slot, LEFT) == u64::from(claim.inc) || !self.is_alive(claim)
    }

    /// True if the node is dead or has said that it goes.
    pub(super) fn is_gone(&self, node: NodeId) -> bool {
        self.load(usize::from(node.slot), LEFT) == u64::from(node.inc) || self.is_dead(node)
    }

    /// Says that this node goes.
    pub(super) fn leave(&self, node: NodeId) {
        self.store(usize::from(node.slot), LEFT, node.inc.into());
    }

    /// A number that changes while the node runs.
    pub(super) fn sign(&self, node: usize) -> u64 {
        self.load(node, BEAT)
    }

    /// Shows that this node runs, and how far it is.
    pub(super) fn beat(&self, node: usize, applied: Index) {
        self.show_life(node);
        self.store(node, APPLIED, applied);
    }

    /// Shows that this node runs.
    pub(super) fn show_life(&self, node: usize) {
        self.store(node, BEAT, self.sign(node).wrapping_add(1));
    }

    /// Shows that this node runs, in the middle of its work, if it has just got done with this many bytes at once.
    #[inline]
    pub(super) fn show_life_after(&self, node: usize, bytes: usize) {
        if bytes >= LONG_BYTES {
            self.show_life(node);
        }
    }

    /// The count of commands that the node had applied at its last sign of life.
    pub(super) fn applied(&self, node: usize) -> Index {
        self.load(node, APPLIED)
    }

    /// Says that the state machine of this node panicked at a command.
    pub(super) fn set_panicked(&self, node: usize, index: Index) {
        self.store(node, PANICKED, index + 1);
    }

    /// The command at which the state machine of the node panicked.
    pub(super) fn panicked(&self, node: usize) -> Option<Index> {
        self.load(node, PANICKED).checked_sub(1)
    }

    /// Where a node sleeps.
    pub(super) fn wake_word(&self, node: usize) -> &WakeWord {
        &self.wake_words[node]
    }

    /// Wakes a node, if it sleeps.
    #[inline]
    pub(super) fn wake(&self, node: usize) {
        self.wake_words[node].notify();
    }

    fn word(&self, node: usize, at: usize) -> &AtomicU64 {
        &self.words[HEAD + node * LINE + at]
    }

    fn load(&self, node: usize, at: usize) -> u64 {
        // ORDERING: Relaxed, each word says everything, and only guesses rest on it
        self.word(node, at).load(Ordering::Relaxed)
    }

    fn store(&self, node: usize, at: usize, value: u64) {
        // ORDERING: Relaxed, each word says everything, and only guesses rest on it
        self.word(node, at).store(value, Ordering::Relaxed);
    }
}

/// The fences of all wake words: the choice of the first process.
fn agree(region: &SharedRegion, word: &AtomicU64) -> Result<Fences, OpenError> {
    let mine = Fences::of(region.wake_scope()) as u32;
    // ORDERING: Relaxed, the number is all there is to know
    let chosen = word.compare_exchange(0, mine.into(), Ordering::Relaxed, Ordering::Relaxed);
    let number = chosen.map_or_else(|theirs| u32::try_from(theirs).unwrap_or(0), |_| mine);
    let refused = || OpenError::Version("its fences are not granted to this process".to_owned());
    Fences::joined(number).ok_or_else(refused)
}
