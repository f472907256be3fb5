//! Memory in which the members of clusters show values to their leaders, the leaders to each other, and leaders the result to
//! all.
//!
//! Each member writes its value into a slot of its own, which only the leader of its cluster reads: members that share a
//! cache meet in it. The leaders exchange what they have combined by recursive doubling: in each round a leader shows its
//! value to a partner twice as far away as in the round before, and reads that of the partner, so that after log2 n rounds
//! each has combined all. Of leaders that are no power of two the last ones show their values to others before, and get the
//! result from them. At last each leader shows the result in one slot, which all members of its cluster read.
//!
//! There are no acknowledgements. A member shows its next value after it has read the result, which its leader shows after it has
//! read the value; and a leader shows the next result after it has read the next values. Partners may be one operation apart, so
//! what leaders show each other goes into two slots in turn: a leader that is done with an operation has read the values of that
//! one of all its partners, which they show after they are done with the one before.
//!
//! Both partners combine the same two values in the same order, so all members get the same bits. That order is not by rank.
//! Values that are too long for a slot are not written, but their types are: so members that differ find out before any of them
//! takes another way.
//!
//! **When to take it:** more members than can read all the others' values, each with a CPU, where caches are shared by some.
//! **When not:** there are few ([`all_read`](super::all_read)), or they share CPUs: then the waits for one leader cost
//! switches of threads.
//!
//! **Progress:** blocking. **Memory ordering:** each member sees what every other one wrote before it showed its value.
//! **Source:** recursive doubling as in R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations
//! in MPICH, 2005; leaders of shared memory as in R. L. Graham, G. Shipman, MPI Support for Multi-core Architectures, 2008.
//!
//! Every access is atomic, so that a misbehaving process can cause wrong values and nothing worse.

use std::slice;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, PlaceSlice};
use corecast_channel::{Bytes, BytesMut, Plain};

use crate::core::Core;
use crate::error::{Error, Loss};
use crate::link::LastType;
use crate::membership::Site;

/// The longest value that is shown: that of one message of an edge.
const VALUE_BYTES: usize = if cfg!(loom) { 8 } else { 504 };
/// The words of a slot before its value: the stamp of the operation, and the signature of the value's type.
const STAMP: usize = 0;
const TYPE: usize = 1;
const HEAD_WORDS: usize = 2;
/// Slots begin with lines.
const SLOT_WORDS: usize =
    (HEAD_WORDS + VALUE_BYTES / size_of::<u64>()).next_multiple_of(if cfg!(loom) { 1 } else { 16 });

/// One member's view of the slots.
#[derive(Debug)]
pub(crate) struct ClusterRead {
    words: PlaceSlice<AtomicU64>,
    steps: Vec<Step>,
    /// Operations begun.
    begun: u64,
    last: LastType,
}

/// The steps of a member, which it takes one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// It shows what it has combined so far.
    Show(Slot),
    /// It waits for the value that the member of this rank shows, and combines it with its own.
    Combine { slot: Slot, rank: usize, is_own_first: bool },
    /// It waits for the result that the member of this rank shows.
    Take { slot: Slot, rank: usize },
}

/// The place of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    /// Its index in the operations with even numbers.
    index: usize,
    /// The number that is added to it in those with odd numbers.
    odd: usize,
}

/// The progress of one operation at one member.
#[derive(Debug)]
pub(crate) struct Meeting<T> {
    /// Steps done; `None` if it has not begun.
    done: Option<usize>,
    combined: T,
}

impl<T> Meeting<T> {
    /// An operation that begins with this value of the member.
    pub(crate) fn of(value: T) -> Self {
        Self { done: None, combined: value }
    }
}

impl ClusterRead {
    /// Lays out the slots of all members of these clusters, each of which begins with its leader, and returns the view of the
    /// member at `site`.
    pub(crate) fn lay_out(clusters: &[Vec<usize>], site: &mut Site) -> Result<Self, ArenaError> {
        let members = clusters.iter().map(Vec::len).sum::<usize>();
        let slots = Slots { members, clusters: clusters.len() };
        let words = site.arena.slice(slots.count() * SLOT_WORDS)?;
        let steps = slots.steps(clusters, site.rank);
        Ok(Self { words, steps, begun: 0, last: LastType::default() })
    }

    /// The combination of all members' values, the same bits at all of them; `None` if the values are too long, or are not to
    /// be shown, on which all members of one type agree. If a wait ends at a limit, another call goes on where it ended.
    pub(crate) fn go_on<T: Plain>(
        &mut self,
        core: &mut Core,
        is_to_be_shown: bool,
        meeting: &mut Meeting<T>,
        mut combine: impl FnMut(T, T) -> T,
    ) -> Result<Option<T>, Error> {
        let is_shown = is_to_be_shown && size_of::<T>() <= VALUE_BYTES;
        let Meeting { done, combined } = meeting;
        if done.is_none() {
            self.begun += 1;
        }
        let done = done.get_or_insert(0);
        let signature = self.last.signature::<T>();
        while let Some(&step) = self.steps.get(*done) {
            match step {
                Step::Show(slot) => self.show(core, slot, signature, is_shown.then_some(&*combined)),
                Step::Combine { slot, rank, is_own_first } => {
                    let (own, theirs) = (*combined, self.read(core, slot, rank, signature, is_shown, *combined)?);
                    if is_shown {
                        *combined = if is_own_first { combine(own, theirs) } else { combine(theirs, own) };
                    }
                }
                Step::Take { slot, rank } => {
                    *combined = self.read(core, slot, rank, signature, is_shown, *combined)?;
                }
            }
            *done += 1;
        }
        Ok(is_shown.then_some(*combined))
    }

    fn show<T: Plain>(&self, core: &Core, slot: Slot, signature: u64, value: Option<&T>) {
        let (head, words) = self.slot(slot).split_at(HEAD_WORDS);
        // ORDERING: Relaxed, made visible by the stamp
        head[TYPE].store(signature, Ordering::Relaxed);
        if let Some(value) = value {
            BytesMut::shared(words, size_of::<T>()).write_values(slice::from_ref(value));
        }
        // ORDERING: Release, pairs with the Acquire in read: the value is there, and what was combined in it before
        // [cluster-read]
        head[STAMP].store(core.stamp.word(), Ordering::Release);
        core.table.common.notify();
    }

    /// Waits for the value that the member of this rank shows, and returns it, or `instead` where none is shown. Makes the group
    /// fail if it is of another type.
    fn read<T: Plain>(
        &self,
        core: &mut Core,
        slot: Slot,
        rank: usize,
        signature: u64,
        is_shown: bool,
        instead: T,
    ) -> Result<T, Error> {
        let ((head, words), stamp) = (self.slot(slot).split_at(HEAD_WORDS), core.stamp.word());
        // ORDERING: Acquire, pairs with the Release in show at that member [cluster-read]
        core.wait_at_common_word(|| (head[STAMP].load(Ordering::Acquire) == stamp).then_some(()))?;
        // ORDERING: Relaxed, the stamp has been acquired
        if head[TYPE].load(Ordering::Relaxed) != signature {
            return Err(core.fail(rank, Loss::Mismatched));
        }
        let mut value = instead;
        if is_shown {
            Bytes::shared(words, size_of::<T>()).read_values_at(0, slice::from_mut(&mut value));
        }
        Ok(value)
    }

    fn slot(&self, slot: Slot) -> &[AtomicU64] {
        let index = slot.index + if self.begun % 2 == 1 { slot.odd } else { 0 };
        &self.words[index * SLOT_WORDS..][..SLOT_WORDS]
    }
}

/// The order of all slots: one of each member for its leader, one of each leader for the result, and those of leaders for
/// each other.
struct Slots {
    members: usize,
    clusters: usize,
}

impl Slots {
    fn count(&self) -> usize {
        self.members + self.clusters + 2 * self.shown_to_partners()
    }

    /// One of each leader for each round, and for the values before and behind all rounds.
    fn shown_to_partners(&self) -> usize {
        (self.rounds() + 1) * self.clusters
    }

    /// The leaders that take part in the rounds.
    fn doubling(&self) -> usize {
        1 << self.rounds()
    }

    fn rounds(&self) -> usize {
        self.clusters.ilog2() as usize
    }

    fn of_member(&self, rank: usize) -> Slot {
        Slot { index: rank, odd: 0 }
    }

    fn of_result(&self, cluster: usize) -> Slot {
        Slot { index: self.members + cluster, odd: 0 }
    }

    /// That of a leader for one round; `None` for the value before or behind all.
    fn of_round(&self, cluster: usize, round: Option<usize>) -> Slot {
        let place = round.map_or(0, |round| round + 1);
        let index = self.members + self.clusters + place * self.clusters + cluster;
        Slot { index, odd: self.shown_to_partners() }
    }

    /// The steps of a member.
    fn steps(&self, clusters: &[Vec<usize>], rank: usize) -> Vec<Step> {
        let is_of = |cluster: &Vec<usize>| cluster.contains(&rank);
        let own = clusters.iter().position(is_of).expect("each member is in a cluster");
        let (leader, others) = clusters[own].split_first().expect("a cluster has a leader");
        if rank != *leader {
            return vec![Step::Show(self.of_member(rank)), Step::Take { slot: self.of_result(own), rank: *leader }];
        }
        let gather = |&rank: &usize| Step::Combine { slot: self.of_member(rank), rank, is_own_first: true };
        let mut steps: Vec<Step> = others.iter().map(gather).collect();
        let leaders: Vec<usize> = clusters.iter().map(|cluster| cluster[0]).collect();
        steps.extend(self.exchange(&leaders, own));
        if !others.is_empty() {
            steps.push(Step::Show(self.of_result(own)));
        }
        steps
    }

    /// The steps of the leader of a cluster among the leaders.
    fn exchange(&self, leaders: &[usize], own: usize) -> Vec<Step> {
        let doubling = self.doubling();
        let mine = self.of_round(own, None);
        if own >= doubling {
            let partner = own - doubling;
            let take = Step::Take { slot: self.of_round(partner, None), rank: leaders[partner] };
            return vec![Step::Show(mine), take];
        }
        let extra = own + doubling;
        let combine = |round, other: usize| Step::Combine {
            slot: self.of_round(other, round),
            rank: leaders[other],
            is_own_first: own < other,
        };
        let before = (extra < leaders.len()).then(|| combine(None, extra));
        let rounds = (0..self.rounds()).flat_map(|round| {
            let show = Step::Show(self.of_round(own, Some(round)));
            [show, combine(Some(round), own ^ 1 << round)]
        });
        let behind = (extra < leaders.len()).then_some(Step::Show(mine));
        before.into_iter().chain(rounds).chain(behind).collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::call::{Call, CallKind};
    use crate::operation::tests;

    /// Clusters of these sizes, whose members are dealt in turn.
    fn clusters(sizes: &[usize]) -> Vec<Vec<usize>> {
        let mut clusters = vec![Vec::new(); sizes.len()];
        let turns = (0..*sizes.iter().max().expect("some")).flat_map(|turn| (0..sizes.len()).map(move |i| (turn, i)));
        let places = turns.filter(|&(turn, cluster)| turn < sizes[cluster]);
        places.enumerate().for_each(|(rank, (_, cluster))| clusters[cluster].push(rank));
        clusters
    }

    /// Runs `body` as every member, on a thread each; returns the results by rank.
    fn run<R: Send>(sizes: &[usize], body: impl Fn(usize, &mut Core, &mut ClusterRead) -> R + Sync) -> Vec<R> {
        let (clusters, members) = (clusters(sizes), sizes.iter().sum());
        let slots = |site: &mut Site| ClusterRead::lay_out(&clusters, site).expect("the heap has room");
        tests::run(members, slots, body)
    }

    fn allreduce<T: Plain>(
        core: &mut Core,
        slots: &mut ClusterRead,
        value: T,
        combine: impl FnMut(T, T) -> T,
    ) -> Result<Option<T>, Error> {
        core.begin(Call::of(CallKind::Allreduce))?;
        slots.go_on(core, true, &mut Meeting::of(value), combine)
    }

    const SIZES: [&[usize]; 12] = [
        &[1],
        &[3],
        &[1, 1],
        &[2, 1],
        &[1, 1, 1],
        &[2, 3, 1],
        &[1, 2, 1, 2],
        &[1, 1, 1, 1, 1],
        &[2, 1, 1, 1, 1, 1],
        &[1, 1, 1, 1, 1, 1, 1],
        &[1, 1, 1, 2, 1, 1, 1, 1],
        &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    ];

    #[test]
    fn each_value_counts_once_and_none_is_of_another_round() {
        for sizes in SIZES {
            let members = sizes.iter().sum::<usize>();
            let results = run(sizes, |rank, core, slots| {
                for round in 0..100u64 {
                    let bits = allreduce(core, slots, 1u128 << (8 * rank), |a, b| a + b)?;
                    assert_eq!(bits, Some((0..members).map(|rank| 1u128 << (8 * rank)).sum()));
                    let longest = allreduce(core, slots, [round; 63], |a, b| std::array::from_fn(|i| a[i] + b[i]))?;
                    assert_eq!(longest, Some([round * members as u64; 63]));
                    assert_eq!(allreduce(core, slots, [round; 64], |a, _| a)?, None, "too long");
                }
                Ok::<_, Error>(())
            });
            assert_eq!(results, vec![Ok(()); members], "{sizes:?}");
        }
    }

    /// Combined in another order, these have other bits.
    #[test]
    fn all_get_the_same_bits() {
        let mut random = fastrand::Rng::with_seed(0x5eed_0018);
        for sizes in SIZES {
            let values: Vec<f64> = (0..sizes.iter().sum()).map(|_| random.f64() * 1e6 - 3e5).collect();
            let sums = run(sizes, |rank, core, slots| {
                let sum = allreduce(core, slots, values[rank], |a, b| a + b).expect("nobody is lost");
                sum.expect("it is short").to_bits()
            });
            assert!(sums.iter().all(|sum| *sum == sums[0]), "{sizes:?}: {sums:x?}");
        }
    }

    #[test]
    fn another_type_is_found_by_all() {
        for sizes in SIZES.into_iter().filter(|sizes| sizes.iter().sum::<usize>() > 1) {
            let results = run(sizes, |rank, core, slots| {
                if rank == 1 {
                    allreduce(core, slots, [0u8; 1000], |a, _| a).map(drop)
                } else {
                    allreduce(core, slots, 0u8, |a, _| a).map(drop)
                }
                // A member may be done before another one finds the difference.
                .and_then(|()| allreduce(core, slots, 0u8, |a, _| a).map(drop))
            });
            let mut losses = results.into_iter().map(|result| result.expect_err("they gave different types"));
            assert!(losses.all(|error| matches!(error, Error::MemberLost { loss: Loss::Mismatched, .. })), "{sizes:?}");
        }
    }

    #[test]
    fn no_two_slots_are_one_and_each_is_read_by_partners_only() {
        for count in 1..=20 {
            let clusters: Vec<Vec<usize>> = (0..count).map(|i| vec![2 * i, 2 * i + 1]).collect();
            let slots = Slots { members: 2 * count, clusters: count };
            let all =
                (0..2 * count).flat_map(|rank| slots.steps(&clusters, rank).into_iter().map(move |step| (rank, step)));
            let mut shown: Vec<usize> = Vec::new();
            for (_, step) in all {
                if let Step::Show(Slot { index, odd }) = step {
                    shown.push(index);
                    shown.extend((odd > 0).then_some(index + odd));
                }
            }
            let different: std::collections::BTreeSet<usize> = shown.iter().copied().collect();
            assert_eq!(different.len(), shown.len(), "{count}");
            assert!(different.last().is_some_and(|&last| last < slots.count()));
        }
    }
}
