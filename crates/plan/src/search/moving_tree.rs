//! A tree that changes: every change re-evaluates the paths to the root that it touches, and can be taken back.
//!
//! Each member knows what its subtree costs once it is informed (`down`) and keeps its children with the largest tail
//! first, which is the best order. A change therefore costs the sum of the fan-outs on the paths from where it happened
//! to the root, and stops early where the cost of a subtree stays what it was. The first time that a change touches a
//! member, the member is written into a journal, from which [`MovingTree::undo`] restores it.

use super::ticks::Ticks;
use super::trial_buffers::TrialBuffers;

/// The parent of the root.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A tree over costs in ticks.
#[derive(Clone, Debug)]
pub(crate) struct MovingTree<'a> {
    pub(super) ticks: &'a Ticks,
    pub(super) root: u32,
    pub(super) parent: Vec<u32>,
    /// Largest tail first.
    pub(super) children: Vec<Vec<u32>>,
    /// From the end of the parent's send until the whole subtree is informed.
    pub(super) tail: Vec<u64>,
    /// From the member's being informed until its whole subtree is.
    pub(super) down: Vec<u64>,
    /// When the member is informed, as of the last [`MovingTree::clock`].
    pub(super) informed: Vec<u64>,
    journal: Vec<Entry>,
    /// The children of the members in the journal, one after the other.
    journal_children: Vec<u32>,
    /// By member: the change that it was last written into the journal for.
    written: Vec<u64>,
    change: u64,
    root_before: u32,
    pub(super) trials: TrialBuffers,
}

/// A member as it was before the change.
#[derive(Clone, Copy, Debug)]
struct Entry {
    member: u32,
    pub parent: u32,
    pub tail: u64,
    pub down: u64,
    first_child: u32,
    child_count: u32,
}

impl<'a> MovingTree<'a> {
    /// A single root, to which [`MovingTree::set`] gives a tree.
    pub(crate) fn new(ticks: &'a Ticks) -> Self {
        let len = ticks.len();
        Self {
            ticks,
            root: 0,
            parent: vec![NOBODY; len],
            children: vec![Vec::new(); len],
            tail: vec![0; len],
            down: vec![0; len],
            journal: Vec::new(),
            journal_children: Vec::new(),
            written: vec![0; len],
            change: 0,
            informed: vec![0; len],
            root_before: 0,
            trials: TrialBuffers::new(len),
        }
    }

    /// Becomes the tree with these parents; the root is its own parent.
    pub(crate) fn set(&mut self, parents: &[u32]) {
        for children in &mut self.children {
            children.clear();
        }
        for (member, &parent) in parents.iter().enumerate() {
            if parent as usize == member {
                self.root = parent;
                self.parent[member] = NOBODY;
            } else {
                self.parent[member] = parent;
                self.children[parent as usize].push(member as u32);
            }
        }
        let mut top_down = vec![self.root];
        for next in 0..parents.len() {
            top_down.extend(&self.children[top_down[next] as usize]);
        }
        for &member in top_down.iter().rev() {
            self.sort(member);
            self.down[member as usize] = self.evaluate(member);
            self.set_tail(member);
        }
        self.commit();
    }

    /// The parent of each member; the root is its own.
    pub(crate) fn parents(&self) -> Vec<u32> {
        let own = |(member, &parent): (usize, &u32)| if parent == NOBODY { member as u32 } else { parent };
        self.parent.iter().enumerate().map(own).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.parent.len()
    }

    pub(crate) fn root(&self) -> u32 {
        self.root
    }

    /// The cost of the whole tree.
    pub(crate) fn cost(&self) -> u64 {
        self.down[self.root as usize]
    }

    /// The children of a member in the best order.
    pub(crate) fn children(&self, member: u32) -> &[u32] {
        &self.children[member as usize]
    }

    /// The parent of a member other than the root.
    pub(crate) fn parent(&self, member: u32) -> u32 {
        self.parent[member as usize]
    }

    /// True if `member` is `ancestor` or below it.
    pub(crate) fn is_below(&self, member: u32, ancestor: u32) -> bool {
        let mut at = member;
        while at != ancestor {
            if at == self.root {
                return false;
            }
            at = self.parent(at);
        }
        true
    }

    /// The number of edges between the root and a member.
    pub(crate) fn depth(&self, member: u32) -> usize {
        let mut at = member;
        let mut depth = 0;
        while at != self.root {
            at = self.parent(at);
            depth += 1;
        }
        depth
    }

    /// The number of edges between a member and the deepest one below it.
    pub(crate) fn height(&self, member: u32) -> usize {
        self.children(member).iter().map(|&child| 1 + self.height(child)).max().unwrap_or(0)
    }

    /// The members whose messages decide the cost: the last one informed, its ancestors, and the members those send to
    /// first. Without the root.
    pub(crate) fn critical(&self, into: &mut Vec<u32>) {
        into.clear();
        let mut member = self.root;
        loop {
            let row = self.ticks.row(member as usize);
            let mut now = 0;
            let mut last = None;
            for (nth, &child) in self.children(member).iter().enumerate() {
                now += self.send(row, child, nth);
                into.push(child);
                if now + self.tail[child as usize] == self.down[member as usize] {
                    last = Some(child);
                    break;
                }
            }
            match last {
                Some(child) => member = child,
                None => return,
            }
        }
    }

    /// Brings the times at which members are informed up to date.
    pub(crate) fn clock(&mut self) {
        let mut waiting = std::mem::take(&mut self.trials.members);
        waiting.clear();
        waiting.push(self.root);
        self.informed[self.root as usize] = 0;
        while let Some(member) = waiting.pop() {
            let row = self.ticks.row(member as usize);
            let mut now = self.informed[member as usize];
            for (nth, &child) in self.children[member as usize].iter().enumerate() {
                now += self.send(row, child, nth);
                self.informed[child as usize] = now + u64::from(row[child as usize][1]);
                if !self.children[child as usize].is_empty() {
                    waiting.push(child);
                }
            }
        }
        self.trials.members = waiting;
    }

    /// Moves `member` with all below it to `parent`, which is not below it.
    pub(crate) fn relocate(&mut self, member: u32, parent: u32) {
        let former = self.parent(member);
        self.detach(member);
        self.attach(member, parent);
        self.update(former);
        self.update(parent);
    }

    /// Exchanges the places of two subtrees, neither of which is below the other.
    pub(crate) fn swap_subtrees(&mut self, a: u32, b: u32) {
        let (above_a, above_b) = (self.parent(a), self.parent(b));
        self.detach(a);
        self.detach(b);
        self.attach(a, above_b);
        self.attach(b, above_a);
        self.update(above_a);
        self.update(above_b);
    }

    /// Exchanges two members, each of which takes the other's parent and children.
    pub(crate) fn swap_members(&mut self, a: u32, b: u32) {
        self.write(a);
        self.write(b);
        let (above_a, above_b) = (self.parent[a as usize], self.parent[b as usize]);
        // Siblings are in one list, which both stay in.
        if above_a != above_b {
            self.replace_child(above_a, a, b);
            self.replace_child(above_b, b, a);
        }
        self.children.swap(a as usize, b as usize);
        self.parent[a as usize] = if above_b == a { b } else { above_b };
        self.parent[b as usize] = if above_a == b { a } else { above_a };
        for (new, old) in [(a, b), (b, a)] {
            if let Some(at) = self.children[new as usize].iter().position(|&child| child == new) {
                self.children[new as usize][at] = old;
            }
        }
        if self.root == a {
            self.root = b;
        } else if self.root == b {
            self.root = a;
        }
        // The lower one first if one is the other's parent.
        let (first, second) = if self.parent[a as usize] == b { (a, b) } else { (b, a) };
        for member in [first, second] {
            self.adopt(member);
            self.down[member as usize] = self.evaluate(member);
            self.set_tail(member);
        }
        for member in [first, second] {
            let parent = self.parent[member as usize];
            if parent != NOBODY {
                self.sort(parent);
                self.update(parent);
            }
        }
    }

    /// Makes a child of the root the root, and the root its child.
    pub(crate) fn reroot(&mut self, child: u32) {
        let root = self.root;
        self.detach(child);
        self.down[root as usize] = self.evaluate(root);
        self.parent[child as usize] = NOBODY;
        self.root = child;
        self.attach(root, child);
        self.down[child as usize] = self.evaluate(child);
    }

    /// Takes a member out, leaving its children to its parent, and puts it back as a leaf of `parent`.
    pub(crate) fn splice(&mut self, member: u32, parent: u32) {
        let former = self.parent(member);
        self.detach(member);
        let mut orphans = std::mem::take(&mut self.children[member as usize]);
        for &child in &orphans {
            self.attach(child, former);
        }
        orphans.clear();
        self.children[member as usize] = orphans;
        self.down[member as usize] = 0;
        self.attach(member, parent);
        self.update(former);
        self.update(parent);
    }

    /// Keeps the changes since the last one kept.
    pub(crate) fn commit(&mut self) {
        self.journal.clear();
        self.journal_children.clear();
        self.change += 1;
        self.root_before = self.root;
    }

    /// Takes them back.
    pub(crate) fn undo(&mut self) {
        for entry in &self.journal {
            let member = entry.member as usize;
            self.parent[member] = entry.parent;
            self.tail[member] = entry.tail;
            self.down[member] = entry.down;
            let first = entry.first_child as usize;
            self.children[member].clear();
            self.children[member].extend_from_slice(&self.journal_children[first..first + entry.child_count as usize]);
        }
        self.root = self.root_before;
        self.commit();
    }

    /// Writes a member into the journal, once for each change.
    #[inline]
    fn write(&mut self, member: u32) {
        let at = member as usize;
        if std::mem::replace(&mut self.written[at], self.change) == self.change {
            return;
        }
        let children = &self.children[at];
        self.journal.push(Entry {
            member,
            parent: self.parent[at],
            tail: self.tail[at],
            down: self.down[at],
            first_child: self.journal_children.len() as u32,
            child_count: children.len() as u32,
        });
        self.journal_children.extend_from_slice(children);
    }

    fn detach(&mut self, member: u32) {
        let parent = self.parent(member);
        self.write(member);
        self.write(parent);
        let children = &mut self.children[parent as usize];
        let at = children.iter().position(|&child| child == member).expect("a child of its parent");
        children.remove(at);
    }

    /// Makes a member that has no parent now a child of `parent`, in its place by its tail.
    fn attach(&mut self, member: u32, parent: u32) {
        self.write(member);
        self.write(parent);
        self.parent[member as usize] = parent;
        self.set_tail(member);
        let tail = self.tail[member as usize];
        let Self { children, tail: tails, .. } = self;
        let children = &mut children[parent as usize];
        let at = children.iter().position(|&other| tails[other as usize] < tail).unwrap_or(children.len());
        children.insert(at, member);
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        if parent == NOBODY {
            return;
        }
        self.write(parent);
        if let Some(at) = self.children[parent as usize].iter().position(|&child| child == old) {
            self.children[parent as usize][at] = new;
        }
    }

    /// Makes the children of a member that has got new ones its own: parents, tails, order.
    fn adopt(&mut self, member: u32) {
        for at in 0..self.children[member as usize].len() {
            let child = self.children[member as usize][at];
            self.write(child);
            self.parent[child as usize] = member;
            self.set_tail(child);
        }
        self.sort(member);
    }

    /// Brings what a member's subtree costs up to date, and then its ancestors', as far as anything changes.
    fn update(&mut self, member: u32) {
        let mut at = member;
        loop {
            self.write(at);
            let down = self.evaluate(at);
            self.down[at as usize] = down;
            if at == self.root {
                return;
            }
            let before = self.tail[at as usize];
            self.set_tail(at);
            let parent = self.parent(at);
            if self.tail[at as usize] == before {
                return;
            }
            self.write(parent);
            self.move_into_place(parent, at);
            at = parent;
        }
    }

    fn set_tail(&mut self, member: u32) {
        let parent = self.parent[member as usize];
        if parent != NOBODY {
            let [_, receive] = self.ticks.row(parent as usize)[member as usize];
            self.tail[member as usize] = u64::from(receive) + self.down[member as usize];
        }
    }

    fn sort(&mut self, member: u32) {
        let Self { children, tail, .. } = self;
        children[member as usize].sort_unstable_by_key(|&child| (std::cmp::Reverse(tail[child as usize]), child));
    }

    /// Restores the order of a parent's children after the tail of one of them has changed.
    #[inline]
    fn move_into_place(&mut self, parent: u32, child: u32) {
        let Self { children, tail, .. } = self;
        let children = &mut children[parent as usize];
        let mut at = children.iter().position(|&other| other == child).expect("a child of its parent");
        let own = tail[child as usize];
        while at > 0 && tail[children[at - 1] as usize] < own {
            children.swap(at - 1, at);
            at -= 1;
        }
        while at + 1 < children.len() && tail[children[at + 1] as usize] > own {
            children.swap(at, at + 1);
            at += 1;
        }
    }

    #[inline]
    pub(crate) fn send(&self, row: &[[u32; 2]], child: u32, nth: usize) -> u64 {
        let send = row[child as usize][0];
        match self.ticks.undrained().get(nth) {
            Some(more) => (i64::from(send) + more).max(0) as u64,
            None => u64::from(send),
        }
    }

    /// The cost of a member's subtree, from the tails of its children.
    #[inline]
    fn evaluate(&self, member: u32) -> u64 {
        let row = self.ticks.row(member as usize);
        let mut now = 0;
        let mut end = 0;
        for (nth, &child) in self.children[member as usize].iter().enumerate() {
            now += self.send(row, child, nth);
            end = end.max(now + self.tail[child as usize]);
        }
        end
    }
}
