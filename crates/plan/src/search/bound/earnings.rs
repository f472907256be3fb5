//! The table of the earnings of every member in every time, computed in blocks of times.
//!
//! Most messages keep their sender busy for some ticks, so that many times can be computed at once. Messages of a group
//! differ only in what they bring, so the best of them is found first; and a group that keeps the sender busy for
//! longer than another one, and brings no more in any time of the block, is left out: few groups are left, and only
//! these meet all the states of the sender.

use std::ops::Range;

use super::budgets::{Budgets, Kind};
use super::network::{FEW, Group, MANY, Network};

/// Rows of sums, one for each state, in times from 0.
pub(super) struct Earnings {
    times: usize,
    /// Places of a row: a block before time 0, and at least one after the last time.
    stride: usize,
    going: Vec<i16>,
    /// Empty where it is `going`, which it is if every message keeps its sender busy.
    informed: Vec<i16>,
}

impl Earnings {
    pub(super) fn new(network: &Network, prices: &[i16]) -> Self {
        let stride = MANY + network.times.next_multiple_of(MANY) + MANY;
        let zeros = vec![0; network.budgets.total() * stride];
        let is_free = network.free.iter().any(|children| !children.is_empty());
        let informed = if is_free { zeros.clone() } else { Vec::new() };
        let mut earnings = Self { times: network.times, stride, going: zeros, informed };
        let (mut far, mut near) = (Choice::<MANY>::default(), Choice::<FEW>::default());
        for begin in (0..network.times).step_by(MANY) {
            for a in 0..network.len() {
                earnings.choose(network, &network.far[a], (a, prices), begin, &mut far);
                earnings.go_on(&network.budgets, a, begin, &far);
            }
            for some in (begin..begin + MANY).step_by(network.few) {
                for a in 0..network.len() {
                    earnings.choose(network, &network.near[a], (a, prices), some, &mut near);
                    earnings.go_on(&network.budgets, a, some, &near);
                    earnings.send_at_once(network, (a, prices), some..some + network.few);
                }
            }
        }
        earnings
    }

    /// The earnings in each time of a member that is in this state and has yet to send.
    pub(super) fn going(&self, state: usize) -> &[i16] {
        &self.going[state * self.stride + MANY..][..self.times]
    }

    /// The same with what is sent at once.
    pub(super) fn informed(&self, state: usize) -> &[i16] {
        &self.table()[state * self.stride + MANY..][..self.times]
    }

    fn table(&self) -> &[i16] {
        if self.informed.is_empty() { &self.going } else { &self.informed }
    }

    /// Finds what each group of messages brings in these times, if it may be the best one in one of them.
    fn choose<const N: usize>(
        &self,
        network: &Network,
        groups: &[Group],
        (a, prices): (usize, &[i16]),
        begin: usize,
        choice: &mut Choice<N>,
    ) {
        choice.clear(network.budgets.levels(a));
        let prices = &prices[a * network.len()..(a + 1) * network.len()];
        for group in groups.iter().take_while(|group| group.send < begin + N) {
            for given in network.budgets.given(a, group.kind) {
                let mut brings = [i16::MIN; N];
                for &(child, edge) in &group.children {
                    let below = network.budgets.below(child, group.kind, given);
                    self.add(prices[child], below, (begin, edge), &mut brings);
                }
                choice.add(Best { send: group.send, kind: group.kind, given, brings });
            }
        }
    }

    /// Enters what a message brings where that is more.
    fn add<const N: usize>(&self, price: i16, below: usize, (begin, edge): (usize, usize), brings: &mut [i16; N]) {
        let row = &self.table()[below * self.stride + MANY..];
        let more = |(most, informed): (&mut i16, &i16)| *most = (*most).max(informed.saturating_add(price));
        if begin >= edge {
            let informed: &[i16; N] = row[begin - edge..].first_chunk().expect("rows are longer");
            brings.iter_mut().zip(informed).for_each(more);
        } else {
            brings.iter_mut().skip(edge - begin).zip(row).for_each(more);
        }
    }

    /// Enters what `a` earns in these times by the best messages, where that is more.
    fn go_on<const N: usize>(&mut self, budgets: &Budgets, a: usize, begin: usize, choice: &Choice<N>) {
        if choice.best.is_empty() {
            return;
        }
        let place = |state: usize| state * self.stride + MANY + begin;
        for state in budgets.rows(a) {
            let mut most: [i16; N] = *self.going[place(state)..].first_chunk().expect("rows are longer");
            for best in &choice.best {
                let Some(after) = budgets.after(a, state, best.kind, best.given) else { continue };
                let going: &[i16; N] = self.going[place(after) - best.send..].first_chunk().expect("rows are longer");
                for ((most, brings), going) in most.iter_mut().zip(&best.brings).zip(going) {
                    *most = (*most).max(brings.saturating_add(*going));
                }
            }
            self.going[place(state)..place(state) + N].copy_from_slice(&most);
        }
    }

    /// Adds what `a` earns by messages that cost it nothing.
    fn send_at_once(&mut self, network: &Network, (a, prices): (usize, &[i16]), times: Range<usize>) {
        if self.informed.is_empty() {
            return;
        }
        let row = |state: usize| state * self.stride + MANY;
        for state in network.budgets.rows(a) {
            for t in times.clone() {
                let mut sum = self.going[row(state) + t];
                for &(child, edge) in network.free[a].iter().filter(|(_, edge)| *edge <= t) {
                    let informed = self.informed[row(network.budgets.full(child)) + t - edge];
                    sum = sum.saturating_add(informed.saturating_add(prices[a * network.len() + child]).max(0));
                }
                self.informed[row(state) + t] = sum;
            }
        }
    }
}

/// The earnings of a group's messages over some times, each the best one, to a child with this budget.
struct Best<const N: usize> {
    send: usize,
    kind: Kind,
    given: usize,
    brings: [i16; N],
}

/// The messages of one sender that may be the best ones at some time.
struct Choice<const N: usize> {
    best: Vec<Best<N>>,
    /// The most of what leaves the budget as it is.
    outside: [i16; N],
    /// The most for each budget handed over to any child.
    inside: Vec<[i16; N]>,
}

impl<const N: usize> Default for Choice<N> {
    fn default() -> Self {
        Self { best: Vec::new(), outside: [i16::MIN; N], inside: Vec::new() }
    }
}

impl<const N: usize> Choice<N> {
    fn clear(&mut self, budgets: usize) {
        self.best.clear();
        self.outside = [i16::MIN; N];
        self.inside.clear();
        self.inside.resize(budgets, [i16::MIN; N]);
    }

    /// Keeps it if it brings more at some time than what keeps the sender busy no longer and takes no more of its
    /// budget.
    fn add(&mut self, new: Best<N>) {
        let outside = self.outside;
        let known = if new.kind == Kind::Outside { &mut self.outside } else { &mut self.inside[new.given] };
        let mut is_more = 0;
        for ((known, outside), more) in known.iter_mut().zip(outside).zip(&new.brings) {
            is_more |= i16::from(*more > (*known).max(outside));
            if new.kind != Kind::Sibling {
                *known = (*known).max(*more);
            }
        }
        if is_more != 0 {
            self.best.push(new);
        }
    }
}
