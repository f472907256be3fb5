//! Which incarnation of which slot is a member.

use std::collections::BTreeMap;

use crate::{MAX_SLOTS, NodeId};

/// A slot that was ever used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    /// The newest incarnation.
    pub(super) inc: u16,
    /// The process that asked for it.
    pub(super) boot: u64,
    /// False once it has left.
    pub(super) is_member: bool,
}

/// The members of a group.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Members {
    pub(super) slots: BTreeMap<u16, Slot>,
}

/// The reason why a node may not join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinRefusal {
    /// An incarnation of the slot is a member.
    Occupied(NodeId),
    /// The incarnation was used before, or one after it.
    Used,
    /// There is no slot with this number.
    NoSuchSlot,
}

impl Members {
    /// The members that a group begins with, and the number of the process of each.
    #[must_use]
    pub fn founding(nodes: impl IntoIterator<Item = (NodeId, u64)>) -> Self {
        let slot = |(node, boot): (NodeId, u64)| (node.slot, Slot { inc: node.inc, boot, is_member: true });
        Self { slots: nodes.into_iter().map(slot).collect() }
    }

    /// All members, by slot.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        let members = self.slots.iter().filter(|(_, slot)| slot.is_member);
        members.map(|(&number, slot)| NodeId::new(number, slot.inc))
    }

    /// The number of the process of a member.
    #[must_use]
    pub fn boot(&self, node: NodeId) -> Option<u64> {
        self.slots.get(&node.slot).filter(|slot| slot.is_member && slot.inc == node.inc).map(|slot| slot.boot)
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// True if there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// True if exactly this incarnation is a member.
    #[must_use]
    pub fn contains(&self, node: NodeId) -> bool {
        self.slots.get(&node.slot).is_some_and(|slot| slot.is_member && slot.inc == node.inc)
    }

    /// The incarnation of a slot that is a member.
    #[must_use]
    pub fn at(&self, slot: u16) -> Option<NodeId> {
        self.slots.get(&slot).filter(|found| found.is_member).map(|found| NodeId::new(slot, found.inc))
    }

    /// The incarnation that the next process in this slot gets; `None` if the slot has used all, or does not exist.
    #[must_use]
    pub fn next_incarnation(&self, slot: u16) -> Option<NodeId> {
        if usize::from(slot) >= MAX_SLOTS {
            return None;
        }
        let inc = self.slots.get(&slot).map_or(Some(1), |found| found.inc.checked_add(1))?;
        Some(NodeId::new(slot, inc))
    }

    /// Takes a node in. The same process may ask again. The answer is true if the slot's process changed, so that nothing of
    /// the former one is alive.
    ///
    /// # Errors
    /// The reason of a refusal: an older incarnation has to leave first, and none returns.
    pub fn join(&mut self, node: NodeId, boot: u64) -> Result<bool, JoinRefusal> {
        if usize::from(node.slot) >= MAX_SLOTS {
            return Err(JoinRefusal::NoSuchSlot);
        }
        let joined = Slot { inc: node.inc, boot, is_member: true };
        let Some(old) = self.slots.get(&node.slot).copied() else {
            self.slots.insert(node.slot, joined);
            return Ok(true);
        };
        if old == joined {
            return Ok(false);
        }
        // The last member never leaves; the next incarnation of its slot takes its place.
        if old.is_member && (self.len() > 1 || node.inc <= old.inc) {
            return Err(JoinRefusal::Occupied(NodeId::new(node.slot, old.inc)));
        }
        if node.inc <= old.inc {
            return Err(JoinRefusal::Used);
        }
        self.slots.insert(node.slot, joined);
        Ok(old.boot != boot)
    }

    /// Puts a node out, unless it is no member or the last one. The answer is true if it left.
    pub fn leave(&mut self, node: NodeId) -> bool {
        if !self.contains(node) || self.len() == 1 {
            return false;
        }
        if let Some(slot) = self.slots.get_mut(&node.slot) {
            slot.is_member = false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{JoinRefusal, Members};
    use crate::NodeId;

    #[test]
    fn incarnations_come_one_after_another() {
        let first = NodeId::new(3, 1);
        let mut members = Members::founding([(first, 7), (NodeId::new(0, 1), 8)]);
        let second = NodeId::new(3, 2);
        assert_eq!(members.next_incarnation(3), Some(second));
        assert_eq!(members.join(second, 9), Err(JoinRefusal::Occupied(first)));
        assert!(members.leave(first));
        assert!(!members.leave(first));
        assert_eq!(members.join(first, 7), Err(JoinRefusal::Used));
        assert_eq!(members.join(second, 9), Ok(true));
        assert_eq!(members.join(second, 9), Ok(false), "the same process may ask twice");
        assert_eq!(members.join(second, 10), Err(JoinRefusal::Occupied(second)));
        assert_eq!(Vec::from_iter(members.iter()), [NodeId::new(0, 1), second]);
    }

    #[test]
    fn incarnations_end_and_slots_too() {
        let last = NodeId::new(1, u16::MAX);
        let mut members = Members::founding([(last, 1), (NodeId::new(0, 1), 1)]);
        assert!(members.leave(last));
        assert_eq!(members.next_incarnation(1), None);
        assert_eq!(members.next_incarnation(1023), None);
        assert_eq!(members.join(NodeId::new(1023, 1), 1), Err(JoinRefusal::NoSuchSlot));
    }

    #[test]
    fn the_last_member_stays() {
        let mut members = Members::founding([(NodeId::new(0, 1), 1)]);
        assert!(!members.leave(NodeId::new(0, 1)));
        assert_eq!(members.len(), 1);
        assert_eq!(members.join(NodeId::new(0, 2), 2), Ok(true), "it takes the place of the last one, which is dead");
        assert_eq!(Vec::from_iter(members.iter()), [NodeId::new(0, 2)]);
    }
}
