//! Messages: which node has which slot of a group, and where the channels of later nodes are.
//!
//! *A later node*, any but the first incarnation of a founder, claims its slot, takes a serial number, makes a region
//! with channels to and from every other slot, and announces that. The channels of two nodes are in the region of the one
//! with the greater serial number, which came later; those of two founders are in the region of the group. A node looks
//! at the claims of others after it took its serial number, so of two that come at the same time at least one sees the
//! other, and both agree. `tests/loom/slots.rs` has the models.

use corecast_base::PlaceSlice;
use corecast_base::sync::{AtomicU64, Ordering};

use crate::NodeId;
use crate::segment::Claim;

/// Words of the head, which takes a line.
const HEAD: usize = 16;
const ANNOUNCEMENTS: usize = 0;
const SERIALS: usize = 1;

/// Words of a slot, which take half a line: they hardly ever change. The claim is written by those that come, the others by
/// the node that has claimed the slot; all read them.
const SLOT: usize = 8;
const CLAIM: usize = 0;
/// The last incarnation that has announced its region.
const ANNOUNCED: usize = 1;
const SERIAL: usize = 2;
const PLACE: usize = 3;
const REGION: usize = 4;

/// Where the channels of a later node are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelPlace {
    /// The node.
    pub node: NodeId,
    /// Greater than that of all nodes that came before.
    pub serial: u64,
    /// The process that holds the region, and the number of a descriptor there.
    pub pid: u32,
    /// The number of the descriptor.
    pub fd: i32,
    /// The number of the region.
    pub region: u64,
}

/// The slots of a group, in words that all its processes share.
#[derive(Debug, Clone)]
pub struct Slots(PlaceSlice<AtomicU64>);

impl Slots {
    /// The number of words for this many slots.
    #[must_use]
    pub const fn words(slots: usize) -> usize {
        HEAD + slots * SLOT
    }

    /// The slots in these words, which were zero before the first node came.
    #[must_use]
    pub fn new(words: PlaceSlice<AtomicU64>) -> Self {
        Self(words)
    }

    /// The last claim of a slot.
    #[must_use]
    pub fn claim_of(&self, slot: usize) -> Claim {
        // ORDERING: Acquire, pairs with the Release in claim: a living claimant does not look dead [slot-claim]
        Claim::from_bits(self.word(slot, CLAIM).load(Ordering::Acquire))
    }

    /// Makes a participant the next incarnation in a slot, after the one of `before`; `None` if another was first, or the slot
    /// has had all its incarnations.
    #[must_use]
    pub fn claim(&self, slot: usize, before: Claim, participant: u64) -> Option<NodeId> {
        let claim = before.next(participant)?;
        let word = self.word(slot, CLAIM);
        // ORDERING: Release, pairs with the Acquire in claim_of: the region knows this process by then [slot-claim]; Relaxed, a
        // claim of another says that this one has failed
        word.compare_exchange(before.to_bits(), claim.to_bits(), Ordering::Release, Ordering::Relaxed).ok()?;
        Some(NodeId::new(slot as u16, claim.inc))
    }

    /// A number that is greater than those of all later nodes before.
    #[must_use]
    pub fn next_serial(&self) -> u64 {
        // ORDERING: AcqRel, pairs with itself: claims that were made before a smaller number was taken are seen [slot-serial]
        self.0[SERIALS].fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The number of announcements so far. Those that are counted are there, or later ones in their slots.
    #[must_use]
    pub fn announcements(&self) -> u64 {
        // ORDERING: Acquire, pairs with the Release in announce [slot-announced]
        self.0[ANNOUNCEMENTS].load(Ordering::Acquire)
    }

    /// Says where the channels of a node are, which has claimed its slot.
    pub fn announce(&self, at: &ChannelPlace) {
        let slot = usize::from(at.node.slot);
        let place = u64::from(at.pid) << 32 | u64::from(at.fd as u32);
        for (word, value) in [(SERIAL, at.serial), (PLACE, place), (REGION, at.region), (ANNOUNCED, at.node.inc.into())]
        {
            // ORDERING: Release, pairs with the Acquire in announcement: a reader of ANNOUNCED has the words before it, and a
            // reader of any word sees the claim of its incarnation [slot-place]
            self.word(slot, word).store(value, Ordering::Release);
        }
        // ORDERING: Release, pairs with the Acquire in announcements [slot-announced]
        self.0[ANNOUNCEMENTS].fetch_add(1, Ordering::Release);
    }

    /// Where the channels of the later node in a slot are; `None` while it has not said so. The words are those of one
    /// incarnation: with the serial number of the one before, a node would look for the channels in its own region for ever.
    #[must_use]
    pub fn announcement(&self, slot: usize) -> Option<ChannelPlace> {
        let inc = self.claim_of(slot).inc;
        // ORDERING: Acquire, pairs with the Release in announce: the words below are of this incarnation or a later one
        // [slot-place]
        let load = |at| self.word(slot, at).load(Ordering::Acquire);
        if inc == 0 || load(ANNOUNCED) != u64::from(inc) {
            return None;
        }
        let [serial, place, region] = [SERIAL, PLACE, REGION].map(load);
        let node = NodeId::new(slot as u16, inc);
        let is_same = self.claim_of(slot).inc == inc;
        is_same.then_some(ChannelPlace { node, serial, pid: (place >> 32) as u32, fd: place as i32, region })
    }

    fn word(&self, slot: usize, at: usize) -> &AtomicU64 {
        &self.0[HEAD + slot * SLOT + at]
    }
}
