//! The shared words of a team: a barrier that a task diverts.
//!
//! The runtime's own barrier runs the tasks that are pending, and a barrier of cache lines does not. So a member that creates a
//! task announces it in the team's *task word* before, and a barrier at which a task is announced is left to the runtime.
//! All members must decide alike, and they do:
//!
//! - Between two barriers lies an *interval*, which has a number that all members count alike. A task of interval b is announced
//!   by the number b in the task word. Its creator announces it before it arrives at the barrier that ends b.
//! - A member crosses the barrier fast only once it knows that all members have arrived. It has then seen all that was announced
//!   in b, and no member can announce more for b. So it goes fast only if no task was announced, and then every other member
//!   does.
//! - If a task was announced, no member goes fast. Every wait looks at the task word too, so that all members find out and call
//!   the runtime's barrier, each exactly once.
//!
//! A member that is still inside the runtime's barrier of b may run a task of b + 1, which another member has created after it
//! left. If that task creates another, the announcement b must not replace b + 1: the word only grows.
//!
//! Each member writes two lines in turn, one for intervals of even numbers and one for odd ones. When it has crossed it asks for
//! the line that it writes next, which nobody reads any more, so that the store at its next arrival need not wait for it. With
//! two members on cores far from each other (0.55 us for a message and its answer) a barrier takes 0.30 us, and took 0.33.
//!
//! Arrivals are *assigned* the interval's number, not counted, so an arrival at a barrier that was diverted meanwhile does no
//! harm. This excludes barriers that count tickets. Up to [`Shape::exchange_up_to`] members, each reads the lines of all
//! others: the last to arrive need not wait, which matters most where members share CPUs. Above that, members form a tree of
//! [`Shape::radix`] in the order of their numbers, in which arrivals go up and a release comes down.
//!
//! Blocking. A crossing orders all accesses of every member before it ahead of those of every member after it.
//!
//! Model-checked in `tests/loom.rs`. Source: Smelt (Kaestle and others, OSDI 2016) put its barriers into libgomp by rebuilding
//! it; the diversion is ours.

mod tree;

use std::convert::Infallible;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::{LONGEST_SLEEP, Wait, Waiter, WakeWord};
use corecast_base::{CacheLine, LINE_BYTES, prefetch_for_write};

/// How a barrier among many members is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The largest team in which each member reads the line of every other.
    pub exchange_up_to: usize,
    /// The radix of the tree of larger teams; at least 2.
    pub radix: usize,
}

impl Shape {
    /// One line for each up to 16 members: on 16 CPUs at one cache each read the lines of all others in 0.52 us, where the tree
    /// took 1.2. Above, a tree of radix eight in the order of their numbers, as eight share a last-level cache on current
    /// machines if the runtime binds them closely.
    pub const PLANNED: Self = Self { exchange_up_to: 16, radix: 8 };
}

/// How a member has crossed, or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Crossing {
    /// All members have arrived, and no task was announced.
    Fast,
    /// A task was announced: every member must call the runtime's barrier.
    Diverted,
}

/// One member of a team in one region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Its number, from 0.
    pub tid: usize,
    /// The number of members.
    pub size: usize,
}

/// The words of a team of up to a number of members. They live as long as the pool that the team is from, and serve one region
/// after the other: intervals are counted across regions.
#[derive(Debug)]
pub struct TeamLines {
    /// The last interval in which a task was announced. Written by members that create tasks, read by all members that wait.
    task: CacheLine<AtomicU64>,
    /// Where members sleep that wait for others by their lines.
    exchange: WakeWord,
    shape: Shape,
    members: Box<[MemberLines]>,
}

#[derive(Debug)]
struct MemberLines {
    /// The last interval of even number at the end of which this member has arrived, and the last of odd number. Written by the
    /// member, read by those that wait for it.
    arrived: [CacheLine<AtomicU64>; 2],
    inner: Option<InnerNode>,
}

/// The part of a member that has others below it in the tree.
#[derive(Debug)]
struct InnerNode {
    /// The last interval whose end was shown to those below. Written by the member, read by them.
    released: CacheLine<AtomicU64>,
    /// Where the member sleeps until those below it have arrived.
    collector: WakeWord,
    /// Where those below it sleep until they are released.
    followers: WakeWord,
}

const _: () = assert!(size_of::<CacheLine<AtomicU64>>() >= LINE_BYTES || cfg!(loom));

impl TeamLines {
    /// The lines of a team of at most `capacity` members, which wait as `policy` says.
    #[must_use]
    pub fn new(capacity: usize, shape: Shape, policy: Wait) -> Self {
        let word = || CacheLine::new(AtomicU64::new(0));
        let inner = |tid: usize| {
            let is_inner = capacity > shape.exchange_up_to && tid % shape.radix == 0;
            let node =
                || InnerNode { released: word(), collector: WakeWord::new(policy), followers: WakeWord::new(policy) };
            is_inner.then(node)
        };
        let members = (0..capacity).map(|tid| MemberLines { arrived: [word(), word()], inner: inner(tid) }).collect();
        Self { task: word(), exchange: WakeWord::new(policy), shape, members }
    }

    /// The largest team that has lines here.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.members.len()
    }

    /// Announces a task that a member is about to create in this interval. Only members of a team of `size` call it, and before
    /// they arrive at the barrier that ends the interval.
    #[inline]
    pub fn announce_task(&self, interval: u64, size: usize) {
        // ORDERING: Relaxed, each thread that runs a task of a later interval has seen that one announced, as the runtime orders
        // the task's creation before its run
        if self.task.load(Ordering::Relaxed) < interval {
            self.announce_first(interval, size);
        }
    }

    /// True if a task was announced in this interval.
    #[inline]
    #[must_use]
    pub fn has_task(&self, interval: u64) -> bool {
        // ORDERING: Relaxed, a member that must know has seen the arrival of the member that announced it
        self.task.load(Ordering::Relaxed) == interval
    }

    /// Waits at the end of this interval until all members have arrived, or a task was announced in it.
    #[inline]
    pub fn cross(&self, me: Position, interval: u64, waiter: &mut Waiter) -> Crossing {
        if self.has_task(interval) {
            Crossing::Diverted
        } else if me.size <= self.shape.exchange_up_to {
            self.exchange(me, interval, waiter)
        } else {
            self.climb(me, interval, waiter)
        }
    }

    #[cold]
    fn announce_first(&self, interval: u64, size: usize) {
        // ORDERING: Relaxed, released to the other members by the arrival of this one; the fence in notify orders it before the
        // look for sleepers
        self.task.store(interval, Ordering::Relaxed);
        self.exchange.notify();
        if size > self.shape.exchange_up_to {
            let nodes = self.members.iter().take(size).filter_map(|member| member.inner.as_ref());
            for node in nodes {
                node.collector.notify();
                node.followers.notify();
            }
        }
    }

    /// Every member reads the line of every other, its neighbour's first. Members that read in one order wait for each line
    /// together: a barrier of 16 on 16 CPUs took 0.64 us that way.
    #[inline]
    fn exchange(&self, me: Position, interval: u64, waiter: &mut Waiter) -> Crossing {
        // ORDERING: Release, pairs with the Acquire in has_arrived [arrived]
        self.arrival(me.tid, interval).store(interval, Ordering::Release);
        let (mut others, sleeps) = ((me.tid + 1..me.size).chain(0..me.tid).peekable(), waiter.counts().parks);
        let crossing = self.wait(&self.exchange, interval, waiter, || {
            while others.next_if(|&other| self.has_arrived(other, interval)).is_some() {}
            others.peek().is_none()
        });
        // If all have come, nobody reads that line any more: it shows this member's arrival at the end of the last interval.
        prefetch_for_write(self.arrival(me.tid, interval + 1));
        // Only now: the last to arrive wakes the others once, and not each of them a sleeper that has to wait for more. Two that
        // arrive last at once may both find the other missing, but then one of them finds all before it sleeps, and gets here.
        // A member that has slept was woken by one that had not, for all: of the members' last looks before they slept, one came
        // last, and would have found all. It would only wake those that sleep at the end of the next interval already, in vain.
        if waiter.counts().parks == sleeps {
            self.exchange.notify();
        }
        crossing
    }

    /// Arrivals go up the tree, and the release comes down.
    fn climb(&self, me: Position, interval: u64, waiter: &mut Waiter) -> Crossing {
        if let Some(node) = &self.members[me.tid].inner {
            for child in tree::children(me, self.shape.radix) {
                let has_come = || self.has_arrived(child, interval);
                if self.wait(&node.collector, interval, waiter, has_come) == Crossing::Diverted {
                    return Crossing::Diverted;
                }
            }
        }
        let crossing = match tree::parent(me.tid, self.shape.radix) {
            None => Crossing::Fast,
            Some(parent) => self.follow(parent, me, interval, waiter),
        };
        if let (Crossing::Fast, Some(node)) = (crossing, &self.members[me.tid].inner) {
            // ORDERING: Release, pairs with the Acquire in follow [released]
            node.released.store(interval, Ordering::Release);
            node.followers.notify();
        }
        crossing
    }

    /// Tells the parent that this member and all below it have arrived, and waits for the release.
    fn follow(&self, parent: usize, me: Position, interval: u64, waiter: &mut Waiter) -> Crossing {
        let node = self.members[parent].inner.as_ref().expect("a parent's number is a multiple of the radix");
        // ORDERING: Release, pairs with the Acquire in has_arrived [arrived]
        self.arrival(me.tid, interval).store(interval, Ordering::Release);
        node.collector.notify();
        // ORDERING: Acquire, pairs with the Release in climb [released]
        self.wait(&node.followers, interval, waiter, || node.released.load(Ordering::Acquire) >= interval)
    }

    /// Where this member shows that it has arrived at the end of the interval.
    #[inline]
    fn arrival(&self, tid: usize, interval: u64) -> &AtomicU64 {
        &self.members[tid].arrived[(interval % 2) as usize]
    }

    /// True if this member has arrived at the end of the interval.
    #[inline]
    fn has_arrived(&self, tid: usize, interval: u64) -> bool {
        // ORDERING: Acquire, pairs with the Releases in exchange and follow [arrived]
        self.arrival(tid, interval).load(Ordering::Acquire) >= interval
    }

    /// Waits until `has_come`. It is asked before the task word: a member that has seen all arrive sees every announcement.
    #[inline]
    fn wait(
        &self,
        place: &WakeWord,
        interval: u64,
        waiter: &mut Waiter,
        mut has_come: impl FnMut() -> bool,
    ) -> Crossing {
        let poll = || {
            let has_come = has_come();
            match self.has_task(interval) {
                true => Some(Crossing::Diverted),
                false => has_come.then_some(Crossing::Fast),
            }
        };
        match waiter.until(place, poll, |_waited| Ok::<_, Infallible>(LONGEST_SLEEP)) {
            Ok(crossing) => crossing,
            Err(never) => match never {},
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use corecast_base::wait::CpuSharing;

    use super::*;

    /// Members cross `barriers` times; one of them announces a task in every interval that `is_marked`. Each counts its fast
    /// crossings, and nobody crosses before all have arrived.
    fn cross_often(size: usize, shape: Shape, policy: Wait, barriers: u64, is_marked: fn(u64) -> bool) {
        let lines = TeamLines::new(size, shape, policy);
        let real = std::sync::Barrier::new(size);
        let words: Vec<_> = (0..size).map(|_| AtomicU64::new(0)).collect();
        let body = |tid: usize| {
            let mut waiter = Waiter::new(policy, CpuSharing::unpinned(size), None);
            let mut fast = 0;
            for interval in 1..=barriers {
                words[tid].store(interval, Ordering::Relaxed);
                if is_marked(interval) && tid as u64 == interval % size as u64 {
                    lines.announce_task(interval, size);
                }
                match lines.cross(Position { tid, size }, interval, &mut waiter) {
                    Crossing::Fast => fast += 1,
                    Crossing::Diverted => drop(real.wait()),
                }
                let seen = words.iter().map(|word| word.load(Ordering::Relaxed));
                assert!(seen.into_iter().all(|seen| seen == interval || seen == interval + 1), "{size} {policy}");
            }
            fast
        };
        let expected = (1..=barriers).filter(|&interval| !is_marked(interval)).count();
        thread::scope(|scope| {
            let members: Vec<_> = (0..size).map(|tid| scope.spawn(move || body(tid))).collect();
            for member in members {
                assert_eq!(member.join().expect("a member ends"), expected, "{size} {policy}");
            }
        });
    }

    const SHAPES: [Shape; 2] = [Shape { exchange_up_to: 8, radix: 8 }, Shape { exchange_up_to: 1, radix: 2 }];

    #[test]
    fn nobody_leaves_early_whatever_was_announced() {
        for (shape, policy) in SHAPES.into_iter().flat_map(|shape| Wait::ALL.map(|policy| (shape, policy))) {
            // A pure spinner needs a CPU for each member.
            let sizes: &[usize] = if policy == Wait::Spin { &[1, 2] } else { &[1, 2, 3, 5, 9] };
            for &size in sizes {
                cross_often(size, shape, policy, 60, |interval| interval % 3 == 0);
            }
        }
    }

    #[test]
    fn a_late_announcement_does_not_replace_a_newer_one() {
        let lines = TeamLines::new(2, Shape::PLANNED, Wait::Adaptive);
        lines.announce_task(7, 2);
        lines.announce_task(6, 2);
        assert!(lines.has_task(7) && !lines.has_task(6) && !lines.has_task(8));
    }
}
