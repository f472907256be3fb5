//! The situations in which locks are raced: every combination of threads, lengths of sections, and load beside them.

use std::collections::BTreeSet;
use std::time::Duration;

use corecast::base::CpuId;
use corecast::lock::Domains;

use super::LockOptions;
use super::crowd::Crowd;
use crate::counts::or_usual;

/// The axes.
pub(super) struct Grid {
    threads: Vec<usize>,
    locks: Vec<usize>,
    holds: Vec<Duration>,
    gaps: Vec<Option<u32>>,
    foreign: Vec<usize>,
    pinned: Vec<bool>,
}

impl Grid {
    pub(super) fn of(options: &LockOptions) -> Self {
        let quick = options.options.quick;
        let gaps: Vec<_> = options.gaps.iter().copied().map(Some).collect();
        Self {
            threads: or_usual(&options.threads, || if quick { vec![1, 2, 16] } else { vec![1, 2, 4, 8, 16] }),
            locks: or_usual(&options.locks, || if quick { vec![1, 16, 512] } else { vec![1, 4, 16, 32, 128, 512] }),
            holds: or_usual(&options.holds, || vec![Duration::ZERO, Duration::from_micros(2)]),
            gaps: or_usual(&gaps, || vec![None]),
            foreign: or_usual(&options.foreign, || vec![0]),
            pinned: or_usual(&options.pinned, || vec![true, false]),
        }
    }

    /// The situations, in an order that people read, each once. What `like` says of the axes is not looked at.
    pub(super) fn crowds<'a>(&self, like: Crowd<'a>) -> Vec<Crowd<'a>> {
        let crowds = each(vec![like], &self.threads, |crowd, threads| Crowd { threads, ..crowd });
        let crowds = each(crowds, &self.locks, |crowd, locks| Crowd { locks, ..crowd });
        let crowds = each(crowds, &self.holds, |crowd, hold| Crowd { hold, ..crowd });
        // No time is as long as ten times no time.
        let gap = |crowd: Crowd<'a>, gap: Option<u32>| if crowd.hold.is_zero() { gap.map(|_| 0) } else { gap };
        let crowds = each(crowds, &self.gaps, |crowd, times| Crowd { gap: gap(crowd, times), ..crowd });
        let crowds = each(crowds, &self.foreign, |crowd, foreign| Crowd { foreign, ..crowd });
        let mut crowds = each(crowds, &self.pinned, |crowd, pinned| Crowd { pinned, ..crowd });
        let mut seen = BTreeSet::new();
        crowds.retain(|crowd| {
            seen.insert((crowd.threads, crowd.locks, crowd.hold, crowd.gap, crowd.foreign, crowd.pinned))
        });
        crowds
    }
}

fn each<'a, T: Copy>(crowds: Vec<Crowd<'a>>, values: &[T], with: impl Fn(Crowd<'a>, T) -> Crowd<'a>) -> Vec<Crowd<'a>> {
    crowds
        .into_iter()
        .flat_map(|crowd| values.iter().map(move |&value| (crowd, value)))
        .map(|(crowd, value)| with(crowd, value))
        .collect()
}

/// One thread and one lock, for so long, on these CPUs: what the axes begin with.
pub(super) fn alone<'a>(cpus: &'a [CpuId], domains: &'a Domains, time: Duration, seed: u64) -> Crowd<'a> {
    let (hold, gap, foreign, pinned) = (Duration::ZERO, None, 0, true);
    Crowd { threads: 1, locks: 1, hold, gap, foreign, cpus, pinned, domains, time, seed }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_micros(20);

    fn crowds(options: LockOptions) -> Vec<(usize, usize, Duration, Option<u32>, usize, bool)> {
        let domains = Domains::one();
        let crowds = Grid::of(&options).crowds(alone(&[], &domains, Duration::ZERO, 1));
        let axes = |crowd: &Crowd<'_>| (crowd.threads, crowd.locks, crowd.hold, crowd.gap, crowd.foreign, crowd.pinned);
        crowds.iter().map(axes).collect()
    }

    #[test]
    fn the_usual_grid_has_no_load_beside_and_the_gap_of_the_source() {
        let usual = crowds(LockOptions::default());
        assert_eq!(usual.len(), 5 * 6 * 2 * 2);
        assert!(usual.iter().all(|&(_, _, _, gap, foreign, _)| gap.is_none() && foreign == 0));
    }

    #[test]
    fn every_combination_is_there_once() {
        let (threads, locks) = (vec![1, 2], vec![1]);
        let (holds, gaps) = (vec![Duration::ZERO, LONG], vec![0, 1, 10]);
        let options = LockOptions {
            threads,
            locks,
            holds,
            gaps,
            foreign: vec![0, 2],
            pinned: vec![true],
            ..LockOptions::default()
        };
        let found = crowds(options);
        assert_eq!(found.len(), 2 * (1 + 3) * 2, "of no hold all gaps are the same");
        let expected =
            [(Duration::ZERO, 0), (LONG, 0), (LONG, 1), (LONG, 10)].map(|(hold, gap)| (2, 1, hold, Some(gap), 2, true));
        assert!(expected.iter().all(|crowd| found.contains(crowd)), "{found:?}");
    }
}
