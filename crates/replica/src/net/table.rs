//! The table of nodes in the group's region: for each slot whether a node has come, its sign of life, and the word it
//! sleeps on.
//!
//! ```text
//! head           fences | announcements | serials, then the parent of each node in the tree, and one
//! for each node  claim: incarnation, participant | beat | applied | left | panicked at, and one
//!                announced | serial | pid and descriptor | region      written by the node, read by all
//! for each node  its wake word                                         written by all
//! ```
//! No rule of the protocol relies on it: it says where a later node is to be found and whom to suspect, and saves system calls.
//!
//! *A later node*, any but the first incarnation of a founder, claims its slot, takes a serial number, makes a region
//! with channels to and from every other slot, and announces that. The channels of two nodes are in the region of the one
//! with the greater serial number, which came later; those of two founders are in the region of the group. A node looks
//! at the claims of others after it took its serial number, so of two that come at the same time at least one sees the
//! other, and both agree.

use corecast_base::region::{Liveness, ParticipantId, Section, SharedRegion};
use corecast_base::sync::{AtomicU64, Fences, Ordering};
use corecast_base::wait::{Wait, WakeCell, WakeWord};
use corecast_base::{Arena, CacheLine, PlaceSlice};

use super::config::MAX_NODES;
use crate::error::OpenError;
use crate::segment::Claim;
use crate::{Index, NodeId};

/// Words of a line.
const LINE: usize = 16;
/// The head: a line for the fences, then a word for each node.
const HEAD: usize = LINE + MAX_NODES;

/// Words of the head.
const ANNOUNCEMENTS: usize = 1;
const SERIALS: usize = 2;

/// Words of a node.
const CLAIM: usize = 0;
const BEAT: usize = 1;
const APPLIED: usize = 2;
/// The last incarnation that has said that it goes.
const LEFT: usize = 3;
const PANICKED: usize = 4;
/// The last incarnation that has announced its region.
const ANNOUNCED: usize = 5;
const SERIAL: usize = 6;
const PLACE: usize = 7;
const REGION: usize = 8;

/// Where the channels of a later node are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Announcement {
    pub(super) node: NodeId,
    /// Greater than that of all nodes that came before.
    pub(super) serial: u64,
    /// The process that holds the region, and the number of a descriptor there.
    pub(super) pid: u32,
    pub(super) fd: i32,
    /// The number of the region.
    pub(super) region: u64,
}

/// The table, as one node holds it.
#[derive(Debug)]
pub(super) struct NodeTable {
    region: SharedRegion,
    nodes: usize,
    words: PlaceSlice<AtomicU64>,
    wake_words: Vec<WakeWord>,
}

impl NodeTable {
    /// The bytes of the table of a group.
    pub(super) fn bytes(nodes: usize) -> usize {
        8 * (HEAD + nodes * LINE) + nodes * size_of::<CacheLine<WakeCell>>()
    }

    /// The table in a zeroed section, or one that others use already.
    pub(super) fn open(region: &SharedRegion, section: Section, nodes: usize, wait: Wait) -> Result<Self, OpenError> {
        let damaged = |error: &dyn std::fmt::Display| OpenError::Version(error.to_string());
        let mut memory = Arena::within(section);
        let words = memory.slice::<AtomicU64>(HEAD + nodes * LINE).map_err(|error| damaged(&error))?;
        let cells = memory.slice::<CacheLine<WakeCell>>(nodes).map_err(|error| damaged(&error))?;
        let fences = if wait.sleeps() { Some(agree(region, &words[0])?) } else { None };
        let wake_word = |node| {
            let cell = cells.place(node).expect("as many as there are nodes");
            WakeWord::within(cell, region.parkers(), region.me().index, fences)
        };
        let wake_words = (0..nodes).map(wake_word).collect();
        Ok(Self { region: region.clone(), nodes, words, wake_words })
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
    pub(super) fn slots(&self) -> usize {
        self.nodes
    }

    /// The last claim of a slot.
    pub(super) fn claim_of(&self, slot: usize) -> Claim {
        // ORDERING: Acquire, pairs with the Release in claim: a living claimant does not look dead [net-claim]
        Claim::from_bits(self.word(slot, CLAIM).load(Ordering::Acquire))
    }

    /// Makes this participant the next incarnation in a slot, after the one of `before`; `None` if another was first, or
    /// the slot has had all its incarnations.
    pub(super) fn claim(&self, slot: usize, before: Claim) -> Option<NodeId> {
        let claim = before.next(self.region.me().to_word())?;
        let word = self.word(slot, CLAIM);
        // ORDERING: Release, pairs with the Acquire in claim_of: the region knows this process by then [net-claim]; Relaxed, a
        // claim of another says that this one has failed
        word.compare_exchange(before.to_bits(), claim.to_bits(), Ordering::Release, Ordering::Relaxed).ok()?;
        self.store(slot, PANICKED, 0);
        self.store(slot, APPLIED, 0);
        Some(NodeId::new(slot as u16, claim.inc))
    }

    /// A number that is greater than those of all later nodes before.
    pub(super) fn next_serial(&self) -> u64 {
        // ORDERING: AcqRel, pairs with itself: claims that were made before a smaller number was taken are seen [net-serial]
        self.words[SERIALS].fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The number of announcements so far.
    pub(super) fn announcements(&self) -> u64 {
        // ORDERING: Acquire, pairs with the Release in announce [net-announced]
        self.words[ANNOUNCEMENTS].load(Ordering::Acquire)
    }

    /// Says where the channels of this node are.
    pub(super) fn announce(&self, at: &Announcement) {
        let slot = usize::from(at.node.slot);
        let place = u64::from(at.pid) << 32 | u64::from(at.fd as u32);
        for (word, value) in [(SERIAL, at.serial), (PLACE, place), (REGION, at.region), (ANNOUNCED, at.node.inc.into())]
        {
            // ORDERING: Release, pairs with the Acquire in announcement: a reader of ANNOUNCED has the words before it, and a
            // reader of any word sees the claim of its incarnation [net-place]
            self.word(slot, word).store(value, Ordering::Release);
        }
        // ORDERING: Release, pairs with the Acquire in announcements [net-announced]
        self.words[ANNOUNCEMENTS].fetch_add(1, Ordering::Release);
    }

    /// Where the channels of the later node in a slot are; `None` while it has not said so. The words are those of one
    /// incarnation: with the serial number of the one before, a node would look for the channels in its own region for ever.
    pub(super) fn announcement(&self, slot: usize) -> Option<Announcement> {
        let inc = self.claim_of(slot).inc;
        // ORDERING: Acquire, pairs with the Release in announce: the words below are this incarnation's or a later one's
        // [net-place]
        let load = |at| self.word(slot, at).load(Ordering::Acquire);
        if inc == 0 || load(ANNOUNCED) != u64::from(inc) {
            return None;
        }
        let [serial, place, region] = [SERIAL, PLACE, REGION].map(load);
        let node = NodeId::new(slot as u16, inc);
        let is_same = self.claim_of(slot).inc == inc;
        is_same.then_some(Announcement { node, serial, pid: (place >> 32) as u32, fd: place as i32, region })
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
        self.store(node, BEAT, self.sign(node).wrapping_add(1));
        self.store(node, APPLIED, applied);
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

#[cfg(test)]
mod tests {
    use corecast_base::region::RegionPlan;

    use super::*;

    /// The last incarnation that comes to the slot.
    const LAST: u16 = 60_000;

    #[test]
    fn an_announcement_is_of_one_incarnation() {
        (0..4).for_each(|_| announce_and_look());
    }

    fn announce_and_look() {
        let plan = RegionPlan::new().add("table", 1, [0; 6], NodeTable::bytes(2) as u64).expect("a name");
        let region = SharedRegion::memfd(&plan).expect("there is memory");
        let entry = region.entry("table").expect("it was planned");
        let table = NodeTable::open(&region, region.section(&entry), 2, Wait::Park).expect("zeroed");
        let announce_all = || {
            for inc in 1..=LAST {
                let node = table.claim(1, table.claim_of(1)).expect("nobody else claims it");
                let number = u64::from(inc);
                table.announce(&Announcement { node, serial: number, pid: inc.into(), fd: inc.into(), region: number });
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(announce_all);
            let mut last = 0;
            while last < LAST {
                let Some(Announcement { node, serial, pid, fd, region }) = table.announcement(1) else { continue };
                last = node.inc;
                let number = u64::from(last);
                assert_eq!((serial, pid, fd, region), (number, last.into(), last.into(), number), "of {node}");
            }
        });
    }
}
