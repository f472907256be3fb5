//! The tree of earliest completion among equal members: each that has the message sends it on, every `step`, and a message
//! arrives `latency` after its sender began with it.
//!
//! With equal costs this greedy tree is the best there is (Bar-Noy and Kipnis, Designing broadcasting algorithms in the postal
//! model, 1994). It is kept as counts: a *level* holds the members that receive at one time, and a cluster of 10^5 nodes has some
//! hundred of them. Members are numbered (their *slot*) in the order in which they receive, those of one time in the order of
//! their senders; from that follow the parent and the children of any slot without a table of all.

use std::collections::BTreeMap;

/// The costs of one message, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    /// From the begin of one message to that of the sender's next, at least 1.
    pub(super) step_ps: u64,
    /// From the begin of a message until its receiver has it, at least 1.
    pub(super) latency_ps: u64,
}

/// The members that receive at one time.
#[derive(Clone, Debug, PartialEq)]
struct Level {
    at_ps: u64,
    /// The slot of the first.
    first: u64,
    count: u64,
    /// How many of them are how many messages away from the root.
    depths: Vec<f64>,
}

/// Members that are ready to send at one time.
#[derive(Clone, Debug, Default)]
struct Senders {
    count: u64,
    depths: Vec<f64>,
}

/// Consecutive slots that are done with their sends at one time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Class<'a> {
    pub(super) count: u64,
    /// When the last of their sends is over; when they receive, if they send nothing.
    pub(super) free_ps: u64,
    /// The share of each depth among the members of their level.
    pub(super) depths: &'a [f64],
    /// Members of their level, by which `depths` is to be divided.
    pub(super) of: u64,
}

/// The tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PostalTree {
    hop: Hop,
    levels: Vec<Level>,
    /// When the last sends begin, and how many of those that could send then do.
    last: Option<(u64, u64)>,
}

impl PostalTree {
    /// The tree over that many members, at least one.
    pub(super) fn new(hop: Hop, members: u64) -> Self {
        let mut levels = vec![Level { at_ps: 0, first: 0, count: 1, depths: vec![1.0] }];
        let mut ready = BTreeMap::from([(0, Senders { count: 1, depths: vec![1.0] })]);
        let (mut informed, mut last) = (1, None);
        while informed < members {
            let (at, senders) = ready.pop_first().expect("whoever has the message can send again");
            let sending = senders.count.min(members - informed);
            let depths = deeper(&senders.depths, sending as f64 / senders.count as f64);
            let level = Level { at_ps: at + hop.latency_ps, first: informed, count: sending, depths };
            ready.entry(level.at_ps).or_default().add(sending, &level.depths);
            ready.entry(at + hop.step_ps).or_default().add(senders.count, &senders.depths);
            levels.push(level);
            informed += sending;
            last = Some((at, sending));
        }
        Self { hop, levels, last }
    }

    /// All slots in their order.
    pub(super) fn classes(&self) -> Vec<Class<'_>> {
        let mut classes = Vec::new();
        let mut ready = 0;
        for level in &self.levels {
            let Level { at_ps, count, ref depths, .. } = *level;
            let of = |count, sends| Class { count, free_ps: at_ps + sends * self.hop.step_ps, depths, of: level.count };
            let Some((last, sending)) = self.last.filter(|&(last, _)| at_ps <= last) else {
                classes.push(of(count, 0));
                continue;
            };
            // At the last time only the first of those that are ready then have somebody to send to.
            let before = (last - at_ps).div_ceil(self.hop.step_ps);
            let is_ready_last = self.is_ready(level, last);
            let once_more = if is_ready_last { sending.saturating_sub(ready).min(count) } else { 0 };
            ready += if is_ready_last { count } else { 0 };
            classes.extend([of(once_more, before + 1), of(count - once_more, before)]);
        }
        classes.retain(|class| class.count > 0);
        classes
    }

    /// The slot that a slot receives from; `None` for the first.
    pub(super) fn parent(&self, slot: u64) -> Option<u64> {
        let level = &self.levels[self.levels.partition_point(|level| level.first <= slot) - 1];
        let sent_ps = level.at_ps.checked_sub(self.hop.latency_ps).filter(|_| slot > 0)?;
        let mut before = level.first;
        for sender in self.levels.iter().take_while(|sender| sender.at_ps <= sent_ps) {
            if self.is_ready(sender, sent_ps) {
                if slot < before + sender.count {
                    return Some(sender.first + (slot - before));
                }
                before += sender.count;
            }
        }
        None
    }

    /// The slots that a slot sends to, in this order.
    pub(super) fn children(&self, slot: u64) -> Vec<u64> {
        let own = &self.levels[self.levels.partition_point(|level| level.first <= slot) - 1];
        let mut children = Vec::new();
        let mut at_ps = own.at_ps;
        while let Some(level) = self.level_sent(at_ps) {
            let earlier = self.levels.iter().take_while(|other| other.first < own.first);
            let before: u64 = earlier.filter(|other| self.is_ready(other, at_ps)).map(|other| other.count).sum();
            let among = before + (slot - own.first);
            if among >= level.count {
                break;
            }
            children.push(level.first + among);
            at_ps += self.hop.step_ps;
        }
        children
    }

    /// The level of the messages that are begun at that time.
    fn level_sent(&self, at_ps: u64) -> Option<&Level> {
        let arrival_ps = at_ps + self.hop.latency_ps;
        let found = self.levels[1..].binary_search_by_key(&arrival_ps, |level| level.at_ps).ok()?;
        Some(&self.levels[1 + found])
    }

    /// True if members of that level begin a message at that time, or could.
    fn is_ready(&self, level: &Level, at_ps: u64) -> bool {
        at_ps >= level.at_ps && (at_ps - level.at_ps) % self.hop.step_ps == 0
    }
}

impl Senders {
    fn add(&mut self, count: u64, depths: &[f64]) {
        self.count += count;
        self.depths.resize(self.depths.len().max(depths.len()), 0.0);
        self.depths.iter_mut().zip(depths).for_each(|(sum, more)| *sum += more);
    }
}

/// That share of the members, one message further away.
fn deeper(depths: &[f64], share: f64) -> Vec<f64> {
    [0.0].into_iter().chain(depths.iter().map(|count| share * count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    /// The same tree, member by member: parents, and when each receives and is done.
    fn one_by_one(hop: Hop, members: u64) -> Vec<(Option<u64>, u64, u64)> {
        let mut slots = vec![(None, 0, 0)];
        let mut ready = BinaryHeap::from([Reverse((0, 0_u64))]);
        while (slots.len() as u64) < members {
            let Reverse((at, slot)) = ready.pop().expect("a sender");
            slots[slot as usize].2 = at + hop.step_ps;
            ready.push(Reverse((at + hop.step_ps, slot)));
            let received = at + hop.latency_ps;
            ready.push(Reverse((received, slots.len() as u64)));
            slots.push((Some(slot), received, received));
        }
        slots
    }

    #[test]
    fn counts_say_the_same_as_members_one_by_one() {
        for (step_ps, latency_ps) in [(250, 1600), (1, 1), (3, 7), (1000, 999), (1000, 1), (7, 700), (250, 250)] {
            let hop = Hop { step_ps, latency_ps };
            for members in [1, 2, 3, 5, 8, 13, 100, 257, 1000] {
                let (tree, slots) = (PostalTree::new(hop, members), one_by_one(hop, members));
                let classes = tree.classes();
                assert_eq!(classes.iter().map(|class| class.count).sum::<u64>(), members);
                let free = classes.iter().flat_map(|class| (0..class.count).map(|_| class.free_ps));
                assert!(free.eq(slots.iter().map(|slot| slot.2)), "{hop:?} {members}");
                for slot in 0..members {
                    assert_eq!(tree.parent(slot), slots[slot as usize].0, "{hop:?} {members} {slot}");
                    let children = (1..members).filter(|&child| slots[child as usize].0 == Some(slot));
                    assert_eq!(tree.children(slot), children.collect::<Vec<_>>(), "{hop:?} {members} {slot}");
                }
            }
        }
    }

    #[test]
    fn a_billion_members_have_few_levels() {
        let tree = PostalTree::new(Hop { step_ps: 251_300, latency_ps: 1_613_700 }, 1_000_000_000);
        assert!(tree.levels.len() < 5000, "{}", tree.levels.len());
        let depths: f64 = tree.levels.iter().flat_map(|level| &level.depths).sum();
        assert!((depths - 1e9).abs() < 1e3, "{depths}");
    }
}
