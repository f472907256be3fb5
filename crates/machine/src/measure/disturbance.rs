//! Finds how many pairs can be measured at the same time without disturbing each other.
//!
//! The pairs of a round share no CPU, but they share caches, links and power. So some of them are visited alone and
//! then together; if they cost more together, half as many are tried, down to one at a time.

use super::campaign::Campaign;
use super::error::MeasureError;
use super::stats::median;
use super::tournament::{rounds, sets_of};
use super::visit::Costs;
use crate::probe::Probe;
use crate::topology::Cpu;

/// The factor by which pairs may cost more together than alone.
const TOLERATED: f64 = 1.10;
/// Pairs that are also visited alone.
const MOST_ALONE: usize = 8;
/// Visits of each kind, the median of which counts.
const REPEATS: usize = 3;

/// How many pairs may run at once, and what was found about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Concurrency {
    pub(super) at_once: usize,
    pub(super) note: Option<String>,
}

/// Tries it out. `quota` is the CPU time this process may use, in CPUs.
pub(super) fn find<P: Probe>(
    campaign: &Campaign<'_, '_, P>,
    cpus: &[Cpu],
    quota: Option<f64>,
) -> Result<Concurrency, MeasureError> {
    let Some(round) = rounds(cpus.len()).into_iter().next() else {
        return Ok(Concurrency { at_once: 1, note: None });
    };
    let by_quota = quota.map_or(usize::MAX, |quota| ((quota / 2.0) as usize).max(1));
    let mut set = sets_of(&round, by_quota, |position| cpus[position].core).swap_remove(0);
    let mut alone = Vec::new();
    for pair in set.iter().take(if set.len() > 1 { MOST_ALONE } else { 0 }) {
        alone.push(typical(campaign, std::slice::from_ref(pair))?.swap_remove(0));
    }
    let mut felt = Vec::new();
    while set.len() > 1 {
        let ratio = dearer(&typical(campaign, &set)?, &alone);
        felt.push(format!("{} at once cost {ratio:.2} times as much as alone", set.len()));
        if ratio <= TOLERATED {
            break;
        }
        set.truncate(set.len() / 2);
    }
    let note = (!felt.is_empty()).then(|| format!("pairs measured at the same time: {}", felt.join("; ")));
    Ok(Concurrency { at_once: set.len(), note })
}

/// Five costs for each pair of the set.
type CostsOfPairs = Vec<[f64; 5]>;

fn typical<P: Probe>(
    campaign: &Campaign<'_, '_, P>,
    set: &[super::tournament::Pair],
) -> Result<CostsOfPairs, MeasureError> {
    let visits = (0..REPEATS).map(|_| campaign.visit_set(set)).collect::<Result<Vec<_>, _>>()?;
    let cost = |pair: usize, kind: usize| {
        let of_visit = |costs: &Costs| costs.all()[kind].median;
        median(&visits.iter().map(|visit| of_visit(&visit[pair].1)).collect::<Vec<_>>())
    };
    Ok((0..set.len()).map(|pair| std::array::from_fn(|kind| cost(pair, kind))).collect())
}

/// How much more the pairs cost together: the worst of the five costs, each the median over the pairs.
fn dearer(together: &[[f64; 5]], alone: &[[f64; 5]]) -> f64 {
    let of_kind = |kind: usize| {
        let ratios = together.iter().zip(alone).map(|(together, alone)| together[kind] / alone[kind]);
        median(&ratios.collect::<Vec<_>>())
    };
    (0..5).map(of_kind).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_kind_of_cost_counts_and_one_pair_alone_does_not() {
        let alone = [[20.0, 5.0, 5.0, 40.0, 40.0]; 3];
        let mut together = alone;
        together[0][3] = 400.0;
        assert_eq!(dearer(&together, &alone), 1.0);
        together.iter_mut().for_each(|costs| costs[1] = 7.5);
        assert_eq!(dearer(&together, &alone), 1.5);
        assert_eq!(dearer(&together[..1], &alone), 10.0);
    }
}
