//! The cost that a change of a [`MovingTree`] would lead to, without making it.
//!
//! Most moves of a search are refused, so refusing must be cheap. Moving a subtree, or exchanging two, changes the
//! children of two members. From there only the two paths to the root change: each ancestor has one child with another
//! tail, and the one where the paths meet has two. All of that is evaluated beside the tree, and given up as soon as a
//! member would be done too late.

use super::moving_tree::{MovingTree, NOBODY};

/// A change of the children of one member.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The member whose children change.
    pub(super) parent: u32,
    /// The child that leaves, or [`NOBODY`].
    pub(super) leaving: u32,
    /// The child that comes, or [`NOBODY`].
    pub(super) coming: u32,
    /// The tail of the one that comes.
    pub(super) tail: u64,
}

impl MovingTree<'_> {
    /// True if moving `member` with all below it to `parent` may cost at most `limit`.
    ///
    /// As everything here it relies on [`MovingTree::clock`]. It may refuse a move that is within the limit, if that
    /// lets ancestors be informed much earlier; it does not happen often enough to matter to a search.
    pub(super) fn may_relocate(&mut self, member: u32, parent: u32, limit: u64) -> bool {
        let tail = self.receive(parent, member) + self.down[member as usize];
        let coming = End { parent, leaving: NOBODY, coming: member, tail };
        let leaving = End { parent: self.parent(member), leaving: member, coming: NOBODY, tail: 0 };
        self.is_within([coming, leaving], limit + self.send_to(member)).is_some_and(|cost| cost <= limit)
    }

    /// True if exchanging the places of two subtrees may cost at most `limit`.
    pub(super) fn may_swap_subtrees(&mut self, a: u32, b: u32, limit: u64) -> bool {
        let downs = [self.down[a as usize], self.down[b as usize]];
        self.may_swap(a, b, downs, limit)
    }

    /// True if exchanging two members, neither of which is below the other, may cost at most `limit`.
    pub(super) fn may_swap_members(&mut self, a: u32, b: u32, limit: u64) -> bool {
        let downs = [self.down_with_children_of(a, b), self.down_with_children_of(b, a)];
        self.may_swap(a, b, downs, limit)
    }

    fn may_swap(&mut self, a: u32, b: u32, [down_a, down_b]: [u64; 2], limit: u64) -> bool {
        let (above_a, above_b) = (self.parent(a), self.parent(b));
        let tail_a = self.receive(above_b, a) + down_a;
        let tail_b = self.receive(above_a, b) + down_b;
        let ends = [
            End { parent: above_a, leaving: a, coming: b, tail: tail_b },
            End { parent: above_b, leaving: b, coming: a, tail: tail_a },
        ];
        let slack = self.send_to(a).max(self.send_to(b));
        self.is_within(ends, limit + slack).is_some_and(|cost| cost <= limit)
    }

    /// The cost of the tree with these changes; `None` if some member on the way to where they meet would be done
    /// after `limit`.
    fn is_within(&mut self, [first, second]: [End; 2], limit: u64) -> Option<u64> {
        self.mark_path(first.parent);
        let mut two = second;
        while self.trials.on_path[two.parent as usize] != self.trials.count {
            two = self.one_up(two, limit)?;
        }
        let meeting = two.parent;
        let mut one = first;
        while one.parent != meeting {
            one = self.one_up(one, limit)?;
        }
        let mut down = self.down_with_two(meeting, one, two);
        let mut at = meeting;
        while down != self.down[at as usize] {
            if at == self.root {
                return Some(down);
            }
            let end = self.with_down(at, down);
            at = end.parent;
            down = self.down_with(end);
        }
        Some(self.cost())
    }

    fn mark_path(&mut self, from: u32) {
        self.trials.count += 1;
        let mut at = from;
        self.trials.on_path[at as usize] = self.trials.count;
        while at != self.root {
            at = self.parent(at);
            self.trials.on_path[at as usize] = self.trials.count;
        }
    }

    /// The change for the next member up that follows from a change.
    fn one_up(&self, end: End, limit: u64) -> Option<End> {
        let down = self.down_with(end);
        let is_late = self.informed[end.parent as usize] + down > limit;
        (!is_late).then(|| self.with_down(end.parent, down))
    }

    /// The change for a member's parent if the member's subtree costs `down`.
    fn with_down(&self, member: u32, down: u64) -> End {
        let parent = self.parent(member);
        End { parent, leaving: member, coming: member, tail: self.receive(parent, member) + down }
    }

    /// The cost of a member's subtree with one change of its children.
    #[inline]
    fn down_with(&self, end: End) -> u64 {
        let mut burst = Burst::of(self, end.parent);
        let mut is_waiting = end.coming != NOBODY;
        for &child in &self.children[end.parent as usize] {
            let tail = self.tail[child as usize];
            if child == end.leaving {
                continue;
            }
            if is_waiting && tail < end.tail {
                is_waiting = false;
                burst.send(end.coming, end.tail);
            }
            burst.send(child, tail);
        }
        if is_waiting {
            burst.send(end.coming, end.tail);
        }
        burst.down
    }

    /// The cost of a member's subtree with two changes of its children.
    fn down_with_two(&self, parent: u32, one: End, two: End) -> u64 {
        let mut burst = Burst::of(self, parent);
        let (first, second) = if one.tail >= two.tail { (one, two) } else { (two, one) };
        let mut coming = [first, second].into_iter().filter(|end| end.coming != NOBODY).peekable();
        for &child in &self.children[parent as usize] {
            if child == one.leaving || child == two.leaving {
                continue;
            }
            let tail = self.tail[child as usize];
            while let Some(end) = coming.next_if(|end| tail < end.tail) {
                burst.send(end.coming, end.tail);
            }
            burst.send(child, tail);
        }
        coming.for_each(|end| burst.send(end.coming, end.tail));
        burst.down
    }

    /// The cost of the subtree of `member` if its children were those of `other`.
    fn down_with_children_of(&mut self, member: u32, other: u32) -> u64 {
        let mut tails = std::mem::take(&mut self.trials.tails);
        tails.clear();
        for &child in &self.children[other as usize] {
            tails.push((self.receive(member, child) + self.down[child as usize], child));
        }
        tails.sort_unstable_by(|a, b| b.cmp(a));
        let mut burst = Burst::of(self, member);
        tails.iter().for_each(|&(tail, child)| burst.send(child, tail));
        let down = burst.down;
        self.trials.tails = tails;
        down
    }

    #[inline]
    fn receive(&self, parent: u32, child: u32) -> u64 {
        u64::from(self.ticks.row(parent as usize)[child as usize][1])
    }

    /// The time that its parent takes to send to a member.
    fn send_to(&self, member: u32) -> u64 {
        u64::from(self.ticks.row(self.parent(member) as usize)[member as usize][0])
    }
}

/// A member that sends to one child after the other.
struct Burst<'t, 'a> {
    tree: &'t MovingTree<'a>,
    row: &'t [[u32; 2]],
    now: u64,
    nth: usize,
    /// When the last one below is informed.
    down: u64,
}

impl<'t, 'a> Burst<'t, 'a> {
    #[inline]
    fn of(tree: &'t MovingTree<'a>, parent: u32) -> Self {
        Self { tree, row: tree.ticks.row(parent as usize), now: 0, nth: 0, down: 0 }
    }

    #[inline]
    fn send(&mut self, child: u32, tail: u64) {
        self.now += self.tree.send(self.row, child, self.nth);
        self.nth += 1;
        self.down = self.down.max(self.now + tail);
    }
}
