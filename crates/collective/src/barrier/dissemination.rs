//! In round r every member signals the members w^r, 2 w^r, .., (w - 1) w^r places further on, and waits for as many behind
//! it.
//!
//! The places are those of the planned order, in which near members talk in many rounds and far ones in few. After
//! ceil(log_w n) rounds every member has heard from all others, directly or through some of them; for two members this is
//! the bare exchange of two flags. The plain dissemination has w = 2. A wider one has fewer rounds. In each of them one
//! store signals all, and the transfers of the lines waited for overlap: take it where the first transfer takes much longer
//! than another beside it. In the last round no member is signalled twice, even where the places go round more than once,
//! so any number of members works.
//!
//! Each member has one line for each round, with one writer, which holds the stamps of the last two operations signalled.
//! There are two, as a member may be one barrier ahead of those that wait for it. It cannot be further ahead, so nothing is
//! ever reset.
//!
//! Source: D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, 1988; J. Mellor-Crummey,
//! M. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991; T. Hoefler, T. Mehlan, F.
//! Mietke, W. Rehm, Fast Barrier Synchronization for InfiniBand, 2006 (several ways in one round).

use std::ops::Range;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, Place, PlaceSlice};

use super::exchange::Exchange;
use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// The stamps of the last operations for which a member has signalled in one round, in turn. Written by that member, read
/// by those it signals.
type Signals = CacheLine<[AtomicU64; 2]>;
type Line = Place<Signals>;

/// One member's part, where `W - 1` are signalled in a round.
#[derive(Debug)]
pub(crate) struct Dissemination<const W: usize = 2> {
    rounds: Vec<Round>,
    /// Of all rounds, side by side.
    partners: Vec<Partner>,
    /// The word of each line that the current operation uses.
    parity: usize,
    /// The operation that took it.
    operation: u64,
}

#[derive(Debug)]
struct Round {
    /// The line to signal on.
    own: Line,
    /// The members to signal and to wait for.
    partners: Range<usize>,
}

/// The member to signal and the member to wait for, the same number of places away on either side.
#[derive(Debug)]
struct Partner {
    /// The rank to signal.
    to: usize,
    /// The line of the one to wait for.
    theirs: Line,
}

impl<const W: usize> Family for Dissemination<W> {
    const NAME: &'static str = match W {
        2 => "dissemination",
        3 => "dissemination-3",
        4 => "dissemination-4",
        8 => "dissemination-8",
        _ => panic!("no family has this number of ways"),
    };
    const ABOUT: &'static str = match W {
        2 => "everybody signals the member 1, 2, 4, .. places further on; log2 n rounds",
        3 => "everybody signals 2 members in each of log3 n rounds",
        4 => "everybody signals 3 members in each of log4 n rounds",
        _ => "everybody signals 7 members in each of log8 n rounds",
    };
    const WANTS: Wants = Wants::Order;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Ok(Self::among(&setup.order, site)?.expect("every member is in the order"))
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let mut times = Times::of(setup.problem);
        <Self as Exchange>::predict(&mut times, &setup.order);
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        if self.operation != core.operation {
            (self.parity, self.operation) = (1 - self.parity, core.operation);
        }
        let (stamp, parity) = (core.stamp.word(), self.parity);
        for round in &self.rounds {
            // ORDERING: Release, pairs with the Acquire below at the members signalled [arrived]
            round.own[parity].store(stamp, Ordering::Release);
            let partners = &self.partners[round.partners.clone()];
            partners.iter().for_each(|partner| core.table.wake_word(partner.to).notify());
            for Partner { theirs, .. } in partners {
                // ORDERING: Acquire, pairs with the Release above at the member that signals [arrived]
                core.wait_at_own_word(|| (theirs[parity].load(Ordering::Acquire) == stamp).then_some(()))?;
            }
        }
        Ok(())
    }
}

impl<const W: usize> Exchange for Dissemination<W> {
    const HYBRID: &'static str = match W {
        2 => "hybrid-dissemination",
        3 => "hybrid-dissemination-3",
        4 => "hybrid-dissemination-4",
        _ => "hybrid-dissemination-8",
    };
    const ABOUT: &'static str = match W {
        2 => "clusters gather at leaders, who disseminate",
        3 => "clusters gather at leaders, who disseminate to 2 in each round",
        4 => "clusters gather at leaders, who disseminate to 3 in each round",
        _ => "clusters gather at leaders, who disseminate to 7 in each round",
    };

    fn among(leaders: &[usize], site: &mut Site) -> Result<Option<Self>, ArenaError> {
        Self::among(leaders, site)
    }

    fn predict(times: &mut Times<'_>, leaders: &[usize]) {
        let n = leaders.len();
        for stride in strides(n, W) {
            let before = |place: usize| distances(n, W, stride).map(move |distance| (place + n - distance) % n);
            times.round((0..n).map(|place| (leaders[place], before(place).map(|place| leaders[place]).collect())));
        }
    }

    #[inline]
    fn exchange(&mut self, core: &mut Core) -> Result<(), Error> {
        self.wait(core)
    }
}

impl<const W: usize> Dissemination<W> {
    /// The part of the member at `site`, if it is one of these members, which disseminate among themselves in this order.
    pub(super) fn among(order: &[usize], site: &mut Site) -> Result<Option<Self>, ArenaError> {
        let n = order.len();
        let strides = strides(n, W);
        let lines: PlaceSlice<Signals> = site.arena.slice(n * strides.len())?;
        let Some(place) = order.iter().position(|&rank| rank == site.rank) else { return Ok(None) };
        let line = |place: usize, round: usize| {
            lines.place(place * strides.len() + round).expect("one for each place and round")
        };
        let (mut rounds, mut partners) = (Vec::with_capacity(strides.len()), Vec::new());
        for (round, &stride) in strides.iter().enumerate() {
            let first = partners.len();
            partners.extend(distances(n, W, stride).map(|distance| Partner {
                to: order[(place + distance) % n],
                theirs: line((place + n - distance) % n, round),
            }));
            rounds.push(Round { own: line(place, round), partners: first..partners.len() });
        }
        Ok(Some(Self { rounds, partners, parity: 0, operation: 0 }))
    }
}

/// 1, w, w^2, .. below n: the number of members, itself included, that each member has heard of before each round.
fn strides(n: usize, w: usize) -> Vec<usize> {
    std::iter::successors(Some(1), |stride| Some(stride * w)).take_while(|&stride| stride < n).collect()
}

/// The distances in places to the members signalled in the round of this stride: no more than it takes to go round.
fn distances(n: usize, w: usize, stride: usize) -> impl Iterator<Item = usize> {
    (1..w.min(n.div_ceil(stride))).map(move |step| step * stride)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn everybody_hears_of_everybody_at_every_size_and_width() {
        for w in 2..=8 {
            for n in 1..=100 {
                let mut heard: Vec<Vec<bool>> = (0..n).map(|me| (0..n).map(|other| me == other).collect()).collect();
                for stride in strides(n, w) {
                    let before = heard.clone();
                    let steps: Vec<usize> = distances(n, w, stride).collect();
                    assert!(!steps.is_empty() && steps.iter().all(|&step| step < n), "{n} members, {w} ways");
                    for (me, heard) in heard.iter_mut().enumerate() {
                        for step in &steps {
                            let theirs = &before[(me + n - step) % n];
                            heard.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine |= theirs);
                        }
                    }
                }
                assert!(heard.iter().flatten().all(|&known| known), "{n} members, {w} ways");
                assert_eq!(strides(n, w).len() as u32, (1..).find(|r| w.pow(*r) >= n).filter(|_| n > 1).unwrap_or(0));
            }
        }
    }
}
