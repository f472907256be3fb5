//! The control page: the words that all nodes write.
//!
//! ```text
//! a line of 128 B each   magic, version, layout hash, sizes, wait, fences | cfg u64 | W u64 | poison u64
//!                        | for each slot: claim, and the record of its node | for each slot: its wake word
//! ```
//! Any process of the group may write anything here. So what it says is checked, and what it cannot be checked for (an epoch
//! that was never proposed, a count that is too large) stops the group or makes readers wait, and harms no segment.

mod claim;
mod configuration_word;
mod node_record;
#[cfg(not(loom))]
mod region;

pub use claim::Claim;
pub use configuration_word::ConfigurationWord;
pub use node_record::NodeRecord;

use corecast_base::sync::{AtomicU64, Ordering, fence};
use corecast_base::wait::{Wait, WakeCell, WakeWord};
use corecast_base::{Arena, CacheLine, Place, PlaceSlice};

use super::error::{ControlError, LayoutError};
use super::layout::{LINE, SegmentLayout, VERSION};
use super::words::ReadWords;
use crate::{Epoch, Index, NodeId};

/// "ccreplct", as bytes in memory.
const MAGIC: u64 = u64::from_le_bytes(*b"ccreplct");

/// Words of the first line. The creator writes them, the magic last; all read them.
const VERSION_AT: usize = 1;
const HASH: usize = 2;
const SIZES: usize = 3;
const WAIT: usize = 7;
/// The number of the fences of all wake words: 0 until the first process has chosen them.
#[cfg(not(loom))]
const FENCES: usize = 8;

/// Words behind the first line, each on a line of its own.
const CONFIGURATION: usize = 0;
const VISIBLE: usize = LINE;
const POISON: usize = 2 * LINE;
const NODES: usize = 3 * LINE;

/// The control page, as one node holds it. A clone is the same page.
#[derive(Debug, Clone)]
pub struct Control {
    layout: SegmentLayout,
    wait: Wait,
    words: PlaceSlice<AtomicU64>,
    wake_words: Vec<WakeWord>,
}

impl Control {
    /// The bytes that the page of a group of `slots` nodes needs.
    #[must_use]
    pub fn bytes(slots: usize) -> usize {
        8 * (LINE + NODES + slots * LINE) + slots * size_of::<CacheLine<WakeCell>>()
    }

    /// The page of a new group among the threads of this process, whose nodes get clones.
    #[must_use]
    pub fn on_heap(layout: SegmentLayout, wait: Wait) -> Self {
        Self::create_among_threads(Arena::heap(), layout, wait).expect("the heap has room")
    }

    /// The page of a new group among the threads that lay out this memory. The others [open](Self::open_among_threads) it.
    ///
    /// # Errors
    /// [`ControlError::Memory`] if the memory is laid out otherwise.
    pub fn create_among_threads(memory: Arena, layout: SegmentLayout, wait: Wait) -> Result<Self, ControlError> {
        let page = Page::begin(memory)?;
        page.create(layout, wait);
        page.finish(|cell| WakeWord::of_threads(wait, cell))
    }

    /// The page that another thread has created at the beginning of the same memory.
    ///
    /// # Errors
    /// [`ControlError`] if it is not written yet.
    pub fn open_among_threads(memory: Arena) -> Result<Self, ControlError> {
        let page = Page::begin(memory)?;
        let (_, wait) = page.read()?;
        page.finish(|cell| WakeWord::of_threads(wait, cell))
    }

    /// The sizes of the group's segments.
    #[must_use]
    pub fn layout(&self) -> &SegmentLayout {
        &self.layout
    }

    /// How the nodes of the group wait.
    #[must_use]
    pub fn wait(&self) -> Wait {
        self.wait
    }

    /// The word that names the newest configuration. The cell that it names can be read.
    #[must_use]
    pub fn configuration(&self) -> ConfigurationWord {
        // ORDERING: Acquire, pairs with the Release in swap: the word brings its cell, and what its proposer wrote and read
        // before [configuration]
        ConfigurationWord::from_bits(self.words[CONFIGURATION].load(Ordering::Acquire))
    }

    /// Makes `new`, whose cell is written, the newest configuration if `old` still is. When this returns, the new leader
    /// finds in the old acceptor's log all that this acceptor has committed or may still commit under an older epoch: an
    /// acceptor whose commands are not there yet will see the new epoch.
    ///
    /// # Errors
    /// The word that is the newest now.
    pub fn swap(&self, old: ConfigurationWord, new: ConfigurationWord) -> Result<(), ConfigurationWord> {
        debug_assert!(new.epoch() > old.epoch() || old == ConfigurationWord::NONE, "epochs only grow");
        let word = &self.words[CONFIGURATION];
        // ORDERING: Release, pairs with the Acquire in configuration: the word brings its cell [configuration]; Relaxed on
        // failure, as the fence acquires
        let swapped = word.compare_exchange(old.to_bits(), new.to_bits(), Ordering::Release, Ordering::Relaxed);
        // ORDERING: SeqCst, pairs with the fence in is_newest_after_fence; forbids that the acceptor misses the new epoch and
        // the new leader misses the commands that the acceptor wrote before its fence [epoch-check]; it also acquires the
        // winner's cell [configuration]
        fence(Ordering::SeqCst);
        swapped.map(drop).map_err(ConfigurationWord::from_bits)
    }

    /// The acceptor's check, behind what it wrote: true if `epoch` is the newest. Then each later leader finds what was
    /// written.
    #[inline]
    #[must_use]
    pub fn is_newest_after_fence(&self, epoch: Epoch) -> bool {
        // ORDERING: SeqCst, pairs with the fence in swap; forbids that the acceptor misses the new epoch and the new leader
        // misses the commands [epoch-check]
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed, the fence orders it
        ConfigurationWord::from_bits(self.words[CONFIGURATION].load(Ordering::Relaxed)).epoch() == epoch
    }

    /// W: the count of commands whose effect anyone may have seen. They are committed.
    #[inline]
    #[must_use]
    pub fn visible(&self) -> Index {
        // ORDERING: Acquire, pairs with the Release in raise_visible: the count brings the commit of these commands [visible]
        self.words[VISIBLE].load(Ordering::Acquire)
    }

    /// Raises W to `count`, if it is lower. Each node does so before an effect of these commands can be seen.
    #[inline]
    pub fn raise_visible(&self, count: Index) {
        // ORDERING: Relaxed, if the count is there then another node has put it there with what it stands for
        if self.words[VISIBLE].load(Ordering::Relaxed) < count {
            self.raise_to(count);
        }
    }

    #[cold]
    fn raise_to(&self, count: Index) {
        // ORDERING: Release, pairs with the Acquire in visible: the count brings the commit of these commands [visible]
        self.words[VISIBLE].fetch_max(count, Ordering::Release);
    }

    /// Says that the state machines of all members panicked at this index. The first index stays.
    pub fn poison(&self, index: Index) {
        // ORDERING: Relaxed, the index is all there is to know
        let _ = self.words[POISON].compare_exchange(0, index + 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The index at which the state machines of all members panicked.
    #[must_use]
    pub fn poisoned(&self) -> Option<Index> {
        // ORDERING: Relaxed, the index is all there is to know
        self.words[POISON].load(Ordering::Relaxed).checked_sub(1)
    }

    /// The last incarnation that claimed the slot, 0 for none.
    ///
    /// # Panics
    /// If the group has no such slot.
    #[must_use]
    #[track_caller]
    pub fn claimed(&self, slot: usize) -> u16 {
        // ORDERING: Relaxed, the number is all there is to know
        Claim::from_bits(self.words[self.node_at(slot)].load(Ordering::Relaxed)).inc
    }

    /// The last claim of the slot. The region's record of the participant that it names can be read.
    ///
    /// # Panics
    /// If the group has no such slot.
    #[must_use]
    #[track_caller]
    pub fn last_claim(&self, slot: usize) -> Claim {
        // ORDERING: Acquire, pairs with the Release in claim: a claim brings the record of its participant, which would else
        // look dead [claim]
        Claim::from_bits(self.words[self.node_at(slot)].load(Ordering::Acquire))
    }

    /// Takes the slot by this claim, if `before` is still the last one. Of several creators one succeeds.
    ///
    /// # Errors
    /// The last claim.
    ///
    /// # Panics
    /// If the group has no such slot, or the incarnation is not larger than that of `before`.
    #[track_caller]
    pub fn claim(&self, slot: usize, before: Claim, by: Claim) -> Result<(), Claim> {
        assert!(by.inc > before.inc, "incarnation {} of a slot comes after {}", by.inc, before.inc);
        let word = &self.words[self.node_at(slot)];
        // ORDERING: Release, pairs with the Acquire in last_claim: a claim brings the record of its participant [claim];
        // Relaxed on failure, as the last claim is only shown
        let claimed = word.compare_exchange(before.to_bits(), by.to_bits(), Ordering::Release, Ordering::Relaxed);
        claimed.map(drop).map_err(Claim::from_bits)
    }

    /// Says where the segment of the node in `slot` is found, which this thread has [claimed](Self::claim).
    ///
    /// # Panics
    /// If the group has no such slot.
    #[track_caller]
    pub fn publish(&self, slot: usize, record: &NodeRecord) {
        node_record::write(&self.words[self.node_at(slot) + 1..][..node_record::WORDS], record);
    }

    /// The node that published itself in `slot` last, dead or alive; `None` if there is none, or it is at it.
    #[must_use]
    pub fn node(&self, slot: usize) -> Option<NodeRecord> {
        let is_there = slot < self.layout.slots();
        if is_there { node_record::read(&ReadWords::from(&self.words), self.node_at(slot) + 1) } else { None }
    }

    /// True if the process `boot`, which was `node`, may have gone on as another incarnation of its slot.
    #[must_use]
    pub fn has_gone_on(&self, node: NodeId, boot: u64) -> bool {
        let slot = usize::from(node.slot);
        let claimed = self.claimed(slot);
        // Only a record tells which process has claimed the slot.
        let record = self.node(slot).filter(|record| record.inc == claimed);
        claimed != node.inc && record.is_none_or(|record| record.boot == boot)
    }

    /// The word on which the node in `slot` sleeps.
    ///
    /// # Panics
    /// If the group has no such slot.
    #[must_use]
    #[track_caller]
    pub fn wake_word(&self, slot: usize) -> &WakeWord {
        &self.wake_words[slot]
    }

    /// Wakes the node in `slot`; a slot that the group does not have is no harm.
    #[inline]
    pub fn wake(&self, slot: usize) {
        if let Some(word) = self.wake_words.get(slot) {
            word.notify();
        }
    }

    #[track_caller]
    fn node_at(&self, slot: usize) -> usize {
        assert!(slot < self.layout.slots(), "the group has {} slots", self.layout.slots());
        NODES + slot * LINE
    }
}

/// The memory of a page, of which the first line is laid out.
struct Page {
    memory: Arena,
    head: PlaceSlice<AtomicU64>,
}

impl Page {
    fn begin(mut memory: Arena) -> Result<Self, ControlError> {
        let head = memory.slice(LINE)?;
        Ok(Self { memory, head })
    }

    /// Writes the first line.
    fn create(&self, layout: SegmentLayout, wait: Wait) {
        let wait = Wait::ALL.iter().position(|&each| each == wait).expect("ALL names every policy");
        let fields = [(VERSION_AT, VERSION), (HASH, layout.hash().into()), (WAIT, wait as u64)];
        let sizes = (SIZES..).zip(layout.to_words());
        for (at, value) in fields.into_iter().chain(sizes) {
            // ORDERING: Relaxed, released by the magic
            self.head[at].store(value, Ordering::Relaxed);
        }
        // ORDERING: Release, pairs with the Acquire in read: the magic brings the sizes [control]
        self.head[0].store(MAGIC, Ordering::Release);
    }

    /// The sizes in the first line, and how nodes wait.
    fn read(&self) -> Result<(SegmentLayout, Wait), LayoutError> {
        // ORDERING: Acquire, pairs with the Release in create: the magic brings the sizes [control]
        let magic = self.head[0].load(Ordering::Acquire);
        // ORDERING: Relaxed, ordered by the magic
        let load = |at: usize| self.head[at].load(Ordering::Relaxed);
        let version = load(VERSION_AT);
        if magic != MAGIC {
            return Err(LayoutError::NotOurs);
        }
        if version != VERSION {
            return Err(LayoutError::Version { found: version, expected: VERSION });
        }
        let layout = SegmentLayout::from_words(std::array::from_fn(|at| load(SIZES + at)));
        let layout = layout.filter(|layout| u64::from(layout.hash()) == load(HASH)).ok_or(LayoutError::Sizes)?;
        let wait = usize::try_from(load(WAIT)).ok().and_then(|at| Wait::ALL.get(at));
        Ok((layout, *wait.ok_or(LayoutError::Sizes)?))
    }

    /// The page whose first line is written.
    fn finish(mut self, wake_word: impl Fn(Place<CacheLine<WakeCell>>) -> WakeWord) -> Result<Control, ControlError> {
        let (layout, wait) = self.read()?;
        let words = self.memory.slice(NODES + layout.slots() * LINE)?;
        let cells = self.memory.slice::<CacheLine<WakeCell>>(layout.slots())?;
        let cell = |slot| cells.place(slot).expect("as many as there are slots");
        let wake_words = (0..layout.slots()).map(|slot| wake_word(cell(slot))).collect();
        Ok(Control { layout, wait, words, wake_words })
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
