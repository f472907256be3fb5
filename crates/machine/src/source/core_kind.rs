//! Tells fast cores from thrifty ones by a number: capacity, highest frequency, or performance.
//!
//! Cores of one kind differ in such numbers too: the best cores of a chip are sold a few percent faster, and preferred
//! cores form a ladder of small steps that adds up to a wide range. So the kinds are separated at the widest **gap**
//! between two neighbouring values, and only if it is wider than such steps are.

use std::collections::BTreeMap;

use corecast_base::CpuId;

use crate::topology::CoreKind;

/// The least ratio of two neighbouring values that separates kinds. Favoured cores and dies of one kind are up to 1.1
/// apart; of the machines whose kinds only such numbers show, the closest kinds are 1.3 apart.
const KINDS_DIFFER_BY: f64 = 1.2;

/// The kind of each core, if `values` show two kinds; zeros mean unknown.
pub(super) fn split(values: &BTreeMap<CpuId, u64>) -> Option<BTreeMap<CpuId, CoreKind>> {
    let boundary = boundary(values.values().copied().collect())?;
    let kind = |value| if value >= boundary { CoreKind::Performance } else { CoreKind::Efficiency };
    Some(values.iter().map(|(&cpu, &value)| (cpu, kind(value))).collect())
}

/// The least value above the widest gap.
fn boundary(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.dedup();
    if values.first() == Some(&0) {
        return None;
    }
    let ratio = |pair: &[u64]| pair[1] as f64 / pair[0] as f64;
    let widest = values.windows(2).max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    (ratio(widest) >= KINDS_DIFFER_BY).then_some(widest[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_kinds_and_not_bins() {
        assert_eq!(boundary(vec![5200, 3900, 5000, 3900]), Some(5000), "two kinds, one with favoured cores");
        assert_eq!(boundary(vec![1024, 871, 250]), Some(871), "three capacities: the little ones apart");
        assert_eq!(boundary(vec![4700, 4500]), None, "favoured cores");
        assert_eq!(boundary((166..=231).step_by(5).collect()), None, "a ladder of preferred cores");
        assert_eq!(boundary(vec![1024; 8]), None);
        assert_eq!(boundary(vec![0, 1024]), None, "zero tells nothing");
        assert_eq!(boundary(vec![]), None);
    }
}
