//! Whether all replicas were in the same state at a checkpoint.

use std::collections::BTreeMap;

use super::descriptor::Descriptor;
use super::error::SnapshotError;
use crate::NodeId;

/// How the digests of one checkpoint compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// All are equal.
    Same {
        /// The digest.
        digest: u128,
    },
    /// More than half of the answers are equal, and the others have to leave.
    Diverged {
        /// The digest of the majority.
        digest: u128,
        /// The nodes with other digests, in order.
        minority: Vec<NodeId>,
    },
    /// They differ without a majority, as those of two nodes do: nobody can tell which one is right.
    Undecided {
        /// The digest of each node, in order.
        digests: BTreeMap<NodeId, u128>,
    },
}

/// Compares the answers to one request for a checkpoint. A node that answers twice counts once, with its last answer.
///
/// # Errors
/// [`SnapshotError::Mixed`] for the first answer with another number or index.
///
/// # Panics
/// If there are no answers.
#[track_caller]
pub fn compare(answers: &[Descriptor]) -> Result<Agreement, SnapshotError> {
    let first = answers.first().expect("a checkpoint has at least one answer");
    if let Some(other) = answers.iter().find(|other| (other.cn, other.index) != (first.cn, first.index)) {
        return Err(SnapshotError::Mixed { node: other.node, cn: other.cn, index: other.index });
    }
    let digests: BTreeMap<NodeId, u128> = answers.iter().map(|answer| (answer.node, answer.digest)).collect();
    let Some(digest) = majority(&digests) else { return Ok(Agreement::Undecided { digests }) };
    let others = digests.iter().filter(|(_, other)| **other != digest);
    let minority: Vec<NodeId> = others.map(|(node, _)| *node).collect();
    Ok(if minority.is_empty() { Agreement::Same { digest } } else { Agreement::Diverged { digest, minority } })
}

/// The digest of more than half of the nodes.
fn majority(digests: &BTreeMap<NodeId, u128>) -> Option<u128> {
    let mut counts: BTreeMap<u128, usize> = BTreeMap::new();
    for digest in digests.values() {
        *counts.entry(*digest).or_default() += 1;
    }
    counts.into_iter().find(|(_, count)| 2 * count > digests.len()).map(|(digest, _)| digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(digests: &[u128]) -> Vec<Descriptor> {
        let of = |(slot, &digest): (u16, &u128)| Descriptor {
            cn: 1,
            node: NodeId::new(slot, 1),
            index: 10,
            offset: 0,
            len_bytes: 0,
            crc: 0,
            digest,
        };
        (0..).zip(digests).map(of).collect()
    }

    fn agreement(answers: &[Descriptor]) -> Agreement {
        compare(answers).expect("one checkpoint")
    }

    #[test]
    fn the_minority_is_named_where_there_is_a_majority() {
        let node = |slot| NodeId::new(slot, 1);
        assert_eq!(agreement(&answers(&[4])), Agreement::Same { digest: 4 });
        assert_eq!(agreement(&answers(&[4, 4, 4])), Agreement::Same { digest: 4 });
        assert_eq!(agreement(&answers(&[4, 5, 4])), Agreement::Diverged { digest: 4, minority: vec![node(1)] });
        let all_but_three = Agreement::Diverged { digest: 4, minority: vec![node(0), node(4)] };
        assert_eq!(agreement(&answers(&[5, 4, 4, 4, 6])), all_but_three);
    }

    #[test]
    fn without_a_majority_nobody_is_wrong() {
        for digests in [&[4, 5][..], &[4, 4, 5, 5], &[4, 5, 6]] {
            assert!(matches!(agreement(&answers(digests)), Agreement::Undecided { .. }), "{digests:?}");
        }
    }

    #[test]
    fn a_second_answer_of_a_node_is_no_second_vote() {
        let mut several = answers(&[4, 5]);
        several.push(several[0]);
        assert!(matches!(agreement(&several), Agreement::Undecided { .. }));
    }

    #[test]
    fn checkpoints_are_not_mixed() {
        let mut several = answers(&[4, 4]);
        several[1].cn = 2;
        assert!(matches!(compare(&several), Err(SnapshotError::Mixed { node: NodeId { slot: 1, .. }, cn: 2, .. })));
    }
}
