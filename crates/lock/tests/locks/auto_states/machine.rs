//! The lock that moves between ways to wait, as a machine whose steps are single accesses to shared words.
//!
//! Steps that depend on time may happen at any time: a spinner may nap, a napper may wake up, one thread may give up once. A
//! sleeper in Park sleeps until it is woken, and nobody behind the head of the queue tries in Queue: the lock's own rescues by
//! time would hide what is lost. A search for two holders has them, too. A holder may choose any mode, and each that enters the
//! queue whether it stays there until it is told something. NOBARGE is left out: it only delays.

mod nodes;

use nodes::{Nodes, Told};

pub(crate) const THREADS: usize = 3;

/// A deliberate mistake, or more than happens in other searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    None,
    /// A thread that leaves Park wakes sleepers only if PARKED is set.
    WakesOnlyWhereMarked,
    /// A thread that has slept takes the lock without PARKED.
    DropsTheMark,
    /// A thread that gives up leaves the queue without a word.
    LeavesSilently,
    /// One that leaves the queue before it is told anything takes its node along, which may go into the queue again.
    TakesItsNode,
    /// No mistake: one behind the head may find the lock free in Queue and take it.
    TriesBehind,
    /// No mistake: one that stays may say that it is not handed the lock meanwhile, as before a nap, and take that back.
    Unbinds,
    /// The lock is handed to one that does not stay.
    HandsToAnybody,
    /// The holder leaves the queue to others while the word says that the queue has the lock.
    LeavesTheWord,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Mode {
    #[default]
    Spin,
    Queue,
    Park,
}

const MODES: [Mode; 3] = [Mode::Spin, Mode::Queue, Mode::Park];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word {
    is_locked: bool,
    is_parked: bool,
    /// Whether the first of the queue has the lock: nobody, while the queue is empty.
    is_queued: bool,
    mode: Mode,
}

/// The next step of a thread that has left the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum After {
    Hold,
    Free(Word, Mode),
    Park(Word),
    Look,
    GiveUp,
}

/// The next step of a thread. Numbers are those of nodes: of the one that it leaves to those behind, and of the one behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Step {
    /// Looks at the word, and at its place in the queue.
    #[default]
    Look,
    /// Takes the lock if the word is still this, perhaps to stay in the queue as its first.
    Take(Word, bool),
    Enter {
        stays: bool,
    },
    Link(u8),
    /// It has come to an empty queue: looks whether it has the lock by that.
    Come,
    /// Takes the lock from the queue to the word, which it leaves then.
    Unqueue(After),
    Leave(After),
    PassOn(After, u8),
    Empty(After, u8),
    AwaitLink(After, u8),
    Signal(After, u8, u8),
    Nap(Word),
    Napping,
    Mark(Word),
    Sleep(Word),
    Sleeping,
    Hold,
    /// Hands the lock over, or leaves the queue: it is the first.
    End(Mode),
    /// Leaves the queue empty, if it is the last, too.
    EndAsLast,
    Free(Word, Mode),
    WakeOne,
    WakeAll,
    Done,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Thread {
    step: Step,
    acquisitions: u8,
    has_slept: bool,
    gives_up: bool,
    /// Its node, if it is in the queue, and whether it stays there until it is told something.
    node: Option<u8>,
    stays: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State {
    word: Word,
    tail: Option<u8>,
    threads: [Thread; THREADS],
    nodes: Nodes,
    /// Whether somebody has given up.
    is_given_up: bool,
}

impl Thread {
    /// The same, with other names for the nodes that it knows.
    fn renamed(&self, mut name: impl FnMut(u8) -> u8) -> Self {
        let node = self.node.map(&mut name);
        let step = match self.step {
            Step::Link(before) => Step::Link(name(before)),
            Step::PassOn(after, left) => Step::PassOn(after, name(left)),
            Step::Empty(after, left) => Step::Empty(after, name(left)),
            Step::AwaitLink(after, left) => Step::AwaitLink(after, name(left)),
            Step::Signal(after, left, behind) => Step::Signal(after, name(left), name(behind)),
            step => step,
        };
        Self { step, node, ..*self }
    }

    /// Whether it has the lock and knows it.
    fn holds(&self) -> bool {
        match self.step {
            Step::Hold | Step::End(_) | Step::EndAsLast | Step::Free(..) => true,
            Step::Unqueue(after)
            | Step::Leave(after)
            | Step::PassOn(after, _)
            | Step::Empty(after, _)
            | Step::AwaitLink(after, _)
            | Step::Signal(after, ..) => matches!(after, After::Hold | After::Free(..)),
            _ => false,
        }
    }
}

impl State {
    /// All threads want the lock so often.
    pub(crate) fn start(acquisitions: [u8; THREADS]) -> Self {
        let mut state = Self::default();
        for (thread, count) in state.threads.iter_mut().zip(acquisitions) {
            thread.acquisitions = count;
            thread.step = if count == 0 { Step::Done } else { Step::Look };
        }
        state
    }

    /// The same with its threads in some order, and its nodes in that in which these know them: threads are alike, and nodes
    /// are, so one of such states stands for all.
    pub(crate) fn sorted(&self) -> Self {
        let mut threads = self.threads;
        threads.sort_by_key(|thread| (thread.renamed(|_| 0), thread.node.map(|node| self.nodes.of(node).told)));
        let mut names = self.nodes.names();
        let threads = threads.map(|thread| thread.renamed(|node| names.name(node)));
        let tail = self.tail.map(|node| names.name(node));
        Self { threads, tail, nodes: names.renamed(), ..*self }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.threads.iter().all(|thread| thread.step == Step::Done)
    }

    /// Whether two threads hold the lock, or one that holds it finds the word otherwise.
    pub(crate) fn is_broken(&self) -> bool {
        let is_handed = |thread: &Thread| !thread.holds() && self.told(thread) == Some(Told::Holds);
        let has_come = |thread: &Thread| thread.step == Step::Come && self.word.is_queued;
        let holds = |thread: &&Thread| thread.holds() || is_handed(thread) || has_come(thread);
        let holders = self.threads.iter().filter(holds).count();
        let is_held = self.word.is_locked && !(self.word.is_queued && self.tail.is_none());
        // In Spin and Queue a holder frees the lock by a plain store: nobody else may have written the word.
        let overwritten = |thread: &Thread| matches!(thread.step, Step::Free(word, _) if word.mode != Mode::Park && word != self.word);
        holders != usize::from(is_held) || self.threads.iter().any(overwritten)
    }

    /// The message that it got, if it is in the queue.
    fn told(&self, thread: &Thread) -> Option<Told> {
        thread.node.map(|node| self.nodes.of(node).told)
    }

    /// Calls `found` with every state that one step leads to.
    pub(crate) fn successors(&self, mutation: Mutation, found: &mut Vec<Self>) {
        for me in 0..THREADS {
            let thread = &self.threads[me];
            let may_give_up = !self.is_given_up && !thread.stays;
            if matches!(thread.step, Step::Look | Step::Napping | Step::Sleeping) && may_give_up {
                let mut late = self.at(me, Step::Look);
                late.threads[me].gives_up = true;
                late.is_given_up = true;
                found.push(late);
            }
            let is_untold = thread.stays && self.told(thread) == Some(Told::Nothing);
            if mutation == Mutation::Unbinds && thread.step == Step::Look && is_untold {
                found.extend(self.unbound_or_bound(me));
            }
            match thread.step {
                Step::Hold if thread.node.is_some() => found.extend(MODES.map(|next| self.at(me, Step::End(next)))),
                Step::Hold => found.extend(MODES.map(|next| self.at(me, Step::Free(self.word, next)))),
                Step::WakeOne => self.wake_one(me, found),
                Step::Sleeping | Step::Done => {}
                Step::Enter { .. } => {
                    found.extend(self.enter(me, false));
                    found.extend(self.enter(me, true).filter(|_| !thread.gives_up));
                }
                step => found.extend(self.run(me, step, mutation)),
            }
        }
    }

    /// Says in the link before it that it is not handed the lock, or that it is.
    fn unbound_or_bound(&self, me: usize) -> Option<Self> {
        let mut next = *self;
        let node = next.nodes.of_mut(self.threads[me].node?);
        node.stays = !node.stays;
        Some(next)
    }

    fn at(&self, me: usize, step: Step) -> Self {
        let mut next = *self;
        next.threads[me].step = step;
        next
    }

    /// Enters the queue; `None` while all nodes are in use.
    fn enter(&self, me: usize, stays: bool) -> Option<Self> {
        let mut next = *self;
        let node = next.nodes.take(stays, if self.tail.is_none() { Told::Head } else { Told::Nothing })?;
        let thread = &mut next.threads[me];
        (thread.node, thread.stays) = (Some(node), stays);
        thread.step = self.tail.map_or(Step::Come, Step::Link);
        next.tail = Some(node);
        Some(next)
    }

    /// The one state that the thread's step leads to; itself where it only waits.
    fn run(&self, me: usize, step: Step, mutation: Mutation) -> Option<Self> {
        let mut next = *self;
        let thread = &mut next.threads[me];
        match step {
            Step::Look => return self.look(me, mutation),
            Step::Take(seen, stays) => return Some(self.take(me, seen, stays, mutation)),
            Step::Link(before) => {
                thread.step = Step::Look;
                next.nodes.of_mut(before).next = thread.node;
            }
            Step::Come if !self.word.is_queued => thread.step = Step::Look,
            Step::Come if thread.stays => thread.step = Step::Hold,
            Step::Come => thread.step = Step::Unqueue(After::Hold),
            Step::Unqueue(after) => {
                thread.step = Step::Leave(after);
                next.word.is_queued &= mutation == Mutation::LeavesTheWord;
            }
            Step::Leave(after) => return Some(self.quit(me, after, mutation)),
            Step::PassOn(after, left) => {
                let behind = self.nodes.of(left).next;
                thread.step = behind.map_or(Step::Empty(after, left), |behind| Step::Signal(after, left, behind));
            }
            Step::Empty(after, left) if self.tail == Some(left) => {
                next.tail = None;
                next.nodes.give(left);
                next.go_on(me, after);
            }
            Step::Empty(after, left) => thread.step = Step::AwaitLink(after, left),
            Step::AwaitLink(after, left) => thread.step = Step::Signal(after, left, self.nodes.of(left).next?),
            Step::Signal(after, left, behind) => {
                next.nodes.give(left);
                if self.nodes.of(behind).told == Told::Gone {
                    thread.step = Step::PassOn(after, behind);
                } else {
                    next.nodes.of_mut(behind).told = Told::Head;
                    next.go_on(me, after);
                }
            }
            Step::Nap(seen) | Step::Sleep(seen) if self.word != seen => thread.step = Step::Look,
            Step::Nap(_) => (thread.step, thread.has_slept) = (Step::Napping, true),
            Step::Sleep(_) => (thread.step, thread.has_slept) = (Step::Sleeping, true),
            Step::Napping => thread.step = Step::Look,
            Step::Mark(seen) if self.word != seen => thread.step = Step::Look,
            Step::Mark(seen) => {
                let marked = Word { is_parked: true, ..seen };
                next.word = marked;
                next.sleep_or_give_up(me, marked);
            }
            Step::End(mode) => return Some(self.end_as_first(me, mode, mutation)),
            Step::EndAsLast if self.tail == thread.node => {
                next.tail = None;
                next.nodes.give(thread.node.take()?);
                thread.stays = false;
                next.end(me);
            }
            Step::EndAsLast => thread.step = Step::End(Mode::Queue),
            Step::Free(seen, mode) => return Some(self.free(me, seen, mode, mutation)),
            Step::WakeAll => {
                let asleep = |thread: &&mut Thread| matches!(thread.step, Step::Sleeping | Step::Napping);
                next.threads.iter_mut().filter(asleep).for_each(|thread| thread.step = Step::Look);
                next.end(me);
            }
            Step::Enter { .. } | Step::Hold | Step::WakeOne | Step::Sleeping | Step::Done => return None,
        }
        Some(next)
    }

    /// `None` if it only looks again.
    fn look(&self, me: usize, mutation: Mutation) -> Option<Self> {
        let (word, thread) = (self.word, &self.threads[me]);
        let told = self.told(thread);
        if thread.stays && told == Some(Told::Holds) {
            return Some(self.at(me, Step::Hold));
        }
        let (is_queued, is_head) = (thread.node.is_some(), told == Some(Told::Head));
        let may_leave = !thread.stays || is_head;
        let may_take = match word.mode {
            Mode::Queue if is_queued => is_head || mutation == Mutation::TriesBehind,
            Mode::Queue => self.tail.is_none(),
            Mode::Spin | Mode::Park => true,
        };
        if !word.is_locked && may_take {
            return Some(self.at(me, Step::Take(word, thread.stays && is_head && word.mode == Mode::Queue)));
        }
        let mut next = *self;
        match if may_leave { word.mode } else { Mode::Queue } {
            Mode::Park if is_queued => next.threads[me].step = Step::Leave(After::Park(word)),
            Mode::Park => next.park(me, word),
            Mode::Spin | Mode::Queue if thread.gives_up && is_queued => {
                next.threads[me].step = Step::Leave(After::GiveUp);
            }
            Mode::Spin | Mode::Queue if thread.gives_up => next.end(me),
            Mode::Spin if is_queued => next.threads[me].step = Step::Leave(After::Look),
            Mode::Queue if !is_queued => next.threads[me].step = Step::Enter { stays: false },
            Mode::Queue if !is_head => return None,
            Mode::Spin | Mode::Queue if word.is_locked => next.threads[me].step = Step::Nap(word),
            Mode::Spin | Mode::Queue => return None,
        }
        Some(next)
    }

    fn take(&self, me: usize, seen: Word, stays: bool, mutation: Mutation) -> Self {
        if self.word != seen {
            return self.at(me, Step::Look);
        }
        let mut next = *self;
        let thread = &mut next.threads[me];
        let marks = thread.has_slept && seen.mode == Mode::Park && mutation != Mutation::DropsTheMark;
        thread.step = if thread.node.is_some() && !stays { Step::Leave(After::Hold) } else { Step::Hold };
        next.word = Word { is_locked: true, is_parked: seen.is_parked || marks, is_queued: stays, mode: seen.mode };
        next
    }

    /// Waits in Park, having seen this word.
    fn park(&mut self, me: usize, seen: Word) {
        let thread = &mut self.threads[me];
        if thread.gives_up && !thread.has_slept {
            self.end(me);
        } else if !seen.is_locked {
            thread.step = Step::Look;
        } else if !seen.is_parked {
            thread.step = Step::Mark(seen);
        } else {
            self.sleep_or_give_up(me, seen);
        }
    }

    fn sleep_or_give_up(&mut self, me: usize, marked: Word) {
        if self.threads[me].gives_up { self.end(me) } else { self.threads[me].step = Step::Sleep(marked) }
    }

    /// Leaves the queue: as one that is told nothing yet, or to those behind.
    fn quit(&self, me: usize, after: After, mutation: Mutation) -> Self {
        let mut next = *self;
        let thread = &mut next.threads[me];
        let node = thread.node.take().expect("it is in the queue");
        thread.stays = false;
        let is_silent = mutation == Mutation::LeavesSilently && after == After::GiveUp;
        if is_silent || self.nodes.of(node).told == Told::Nothing {
            let left = next.nodes.of_mut(node);
            // One that has the lock may leave though it was bound to stay.
            (left.told, left.stays) = (Told::Gone, false);
            if mutation == Mutation::TakesItsNode {
                next.nodes.of_mut(node).is_used = false;
            }
            next.go_on(me, after);
        } else {
            thread.step = Step::PassOn(after, node);
        }
        next
    }

    /// It has left the queue.
    fn go_on(&mut self, me: usize, after: After) {
        match after {
            After::Hold => self.threads[me].step = Step::Hold,
            After::Free(word, mode) => self.threads[me].step = Step::Free(word, mode),
            After::Look => self.threads[me].step = Step::Look,
            After::Park(seen) => self.park(me, seen),
            After::GiveUp => self.end(me),
        }
    }

    /// The first ends its acquisition: it hands the lock to the one behind if that stays, or leaves the queue, as its last or to
    /// others.
    fn end_as_first(&self, me: usize, mode: Mode, mutation: Mutation) -> Self {
        let mut next = *self;
        let thread = &mut next.threads[me];
        let node = thread.node.expect("it is in the queue");
        let stays = |behind: u8| self.nodes.of(behind).stays || mutation == Mutation::HandsToAnybody;
        match self.nodes.of(node).next {
            Some(behind) if mode == Mode::Queue && stays(behind) => {
                (thread.node, thread.stays) = (None, false);
                next.nodes.of_mut(behind).told = Told::Holds;
                next.nodes.give(node);
                next.end(me);
            }
            None if mode == Mode::Queue => thread.step = Step::EndAsLast,
            _ => thread.step = Step::Unqueue(After::Free(Word { is_queued: false, ..self.word }, mode)),
        }
        next
    }

    fn free(&self, me: usize, seen: Word, mode: Mode, mutation: Mutation) -> Self {
        let was_marked = self.word.is_parked;
        let mut next = *self;
        next.word = Word { mode, ..Word::default() };
        match (seen.mode, mode) {
            (Mode::Park, Mode::Park) if was_marked => next.threads[me].step = Step::WakeOne,
            (Mode::Park, Mode::Park) => next.end(me),
            (Mode::Park, _) if mutation == Mutation::WakesOnlyWhereMarked && !was_marked => next.end(me),
            (from, to) if from != to => next.threads[me].step = Step::WakeAll,
            _ => next.end(me),
        }
        next
    }

    /// Any sleeper on the word, also one that only naps.
    fn wake_one(&self, me: usize, found: &mut Vec<Self>) {
        let asleep = |&other: &usize| matches!(self.threads[other].step, Step::Sleeping | Step::Napping);
        let mut ended = *self;
        ended.end(me);
        found.extend((0..THREADS).filter(asleep).map(|other| ended.at(other, Step::Look)));
        if !(0..THREADS).any(|other| asleep(&other)) {
            found.push(ended);
        }
    }

    /// The end of an acquisition, or of the attempt.
    fn end(&mut self, me: usize) {
        let thread = &mut self.threads[me];
        thread.acquisitions -= 1;
        thread.step = if thread.acquisitions == 0 { Step::Done } else { Step::Look };
        (thread.has_slept, thread.gives_up) = (false, false);
    }
}
