//! Why operations between nodes fail, as leaders tell each other and as engines report it.

use crate::call::Call;
use crate::error::Loss;

/// Why a step of an engine ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Another node has told this word.
    Told(FaultWord),
    /// The engine has found that a node is lost.
    NodeLost {
        /// Its number.
        node: usize,
    },
    /// The library has reported an error.
    Engine {
        /// Its number in the library.
        class: i32,
        /// Its text, which names the step.
        text: String,
    },
}

/// The message by which all nodes learn why the group has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultWord {
    /// The number of times that the sender had left a failed group before: words of other epochs concern other groups.
    pub epoch: u32,
    /// The node at which the fault occurred.
    pub node: u32,
    /// The fault.
    pub kind: FaultKind,
}

/// A fault of a group over several nodes. Members are named by their rank within the node of the [word](FaultWord).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A member was lost to its node.
    Member {
        /// Its rank there.
        rank: u32,
        /// How it was lost.
        loss: Loss,
    },
    /// A member of the node called something else than a member of another node.
    Mismatched {
        /// Its call.
        called: Call,
        /// The other node.
        other: u32,
        /// The call of that node's members.
        expected: Call,
    },
    /// The node is lost.
    Node,
    /// The library reported an error at that node.
    Engine {
        /// Its number in the library.
        class: i32,
    },
}

/// More ranks than there are in a group over nodes: the roots in a word have 27 bits.
pub(super) const MOST_RANKS: usize = (1 << 27) - 2;

const MEMBER: u32 = 1;
const MISMATCHED: u32 = 2;
const NODE: u32 = 3;
const ENGINE: u32 = 4;

impl FaultWord {
    /// The length of a word as a message.
    pub const BYTES: usize = 24;

    /// The word as a message, in little-endian byte order.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let call = |call: Call| u32::try_from(call.word()).expect("a call has fewer bits");
        let [kind, first, second, third] = match self.kind {
            FaultKind::Member { rank, loss } => [MEMBER, rank, loss.code(), 0],
            FaultKind::Mismatched { called, other, expected } => [MISMATCHED, other, call(called), call(expected)],
            FaultKind::Node => [NODE, 0, 0, 0],
            FaultKind::Engine { class } => [ENGINE, class as u32, 0, 0],
        };
        let mut bytes = [0; Self::BYTES];
        let words = [self.epoch, self.node, kind, first, second, third];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The word of a message; `None` if no leader sends such a one.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let word = |place: usize| {
            let of_it = [0, 1, 2, 3].map(|byte| bytes[4 * place + byte]);
            u32::from_le_bytes(of_it)
        };
        let call = |word: u32| Call::of_word(u64::from(word), MOST_RANKS);
        let [epoch, node, kind, first, second, third] = [0, 1, 2, 3, 4, 5].map(word);
        let kind = match kind {
            MEMBER => FaultKind::Member { rank: first, loss: Loss::of_code(second)? },
            MISMATCHED => FaultKind::Mismatched { called: call(second)?, other: first, expected: call(third)? },
            NODE => FaultKind::Node,
            ENGINE => FaultKind::Engine { class: first as i32 },
            _ => return None,
        };
        Some(Self { epoch, node, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::CallKind;
    use crate::error::LOSSES;

    #[test]
    fn words_come_back_and_others_are_refused() {
        let (called, expected) = (Call::rooted(CallKind::Reduce, 25_600_000), Call::of(CallKind::Barrier));
        let mut kinds = vec![
            FaultKind::Mismatched { called, other: 7, expected },
            FaultKind::Node,
            FaultKind::Engine { class: -3 },
        ];
        kinds.extend(LOSSES.map(|loss| FaultKind::Member { rank: 4095, loss }));
        for kind in kinds {
            let word = FaultWord { epoch: 3, node: 99_999, kind };
            assert_eq!(FaultWord::from_bytes(word.to_bytes()), Some(word));
        }
        let mut bytes = FaultWord { epoch: 0, node: 0, kind: FaultKind::Node }.to_bytes();
        for kind in [0, 1, 2, 5] {
            bytes[8] = kind;
            assert_eq!(FaultWord::from_bytes(bytes), None, "kind {kind}");
        }
    }
}
