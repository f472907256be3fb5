//! The lock that moves between ways to wait, as a machine whose steps are single accesses to shared words.
//!
//! What depends on time may happen at any time: a spinner may nap, a napper may wake up, one thread may give up once. Who
//! sleeps in Park does so until it is woken, and nobody behind the head of the queue tries: the lock's own rescues by time
//! would hide what is lost. A holder may choose any mode. NOBARGE is left out: it only delays.

pub(crate) const THREADS: usize = 3;

/// A deliberate mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    None,
    /// A thread that leaves Park wakes sleepers only if PARKED is set.
    WakesOnlyWhereMarked,
    /// A thread that has slept takes the lock without PARKED.
    DropsTheMark,
    /// A thread that gives up leaves the queue without a word.
    LeavesSilently,
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
    mode: Mode,
}

/// The next step of a thread that has left the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum After {
    Hold,
    Park(Word),
    Look,
    GiveUp,
}

/// The next step of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Step {
    /// Looks at the word, and at its place in the queue.
    #[default]
    Look,
    Take(Word),
    Enter,
    Link(usize),
    Leave(After),
    Empty(After),
    AwaitLink(After),
    Signal(After, usize),
    Nap(Word),
    Napping,
    Mark(Word),
    Sleep(Word),
    Sleeping,
    Hold,
    Free(Word, Mode),
    WakeOne,
    WakeAll,
    Done,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Thread {
    step: Step,
    acquisitions: u8,
    is_queued: bool,
    has_slept: bool,
    gives_up: bool,
    /// Its node: the thread behind, and whether it is the head.
    next: Option<usize>,
    is_head: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State {
    word: Word,
    tail: Option<usize>,
    threads: [Thread; THREADS],
    /// Whether somebody has given up.
    is_given_up: bool,
}

impl Thread {
    /// The same, with other names for the threads that it knows.
    fn renamed(&self, name: impl Fn(usize) -> usize) -> Self {
        let step = match self.step {
            Step::Link(before) => Step::Link(name(before)),
            Step::Signal(after, behind) => Step::Signal(after, name(behind)),
            step => step,
        };
        Self { step, next: self.next.map(name), ..*self }
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

    /// The same with its threads in some order: threads are alike, so one of six such states stands for all.
    pub(crate) fn sorted(&self) -> Self {
        let mut order: [usize; THREADS] = std::array::from_fn(|at| at);
        order.sort_by_key(|&at| self.threads[at].renamed(|_| 0));
        let rename = |old: usize| order.iter().position(|&at| at == old).expect("an order of all threads");
        let threads = order.map(|at| self.threads[at].renamed(rename));
        Self { threads, tail: self.tail.map(rename), ..*self }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.threads.iter().all(|thread| thread.step == Step::Done)
    }

    /// Whether two threads hold the lock, or one that holds it finds the word otherwise.
    pub(crate) fn is_broken(&self) -> bool {
        let holds = |step: Step| {
            matches!(
                step,
                Step::Hold
                    | Step::Free(..)
                    | Step::Leave(After::Hold)
                    | Step::Empty(After::Hold)
                    | Step::AwaitLink(After::Hold)
                    | Step::Signal(After::Hold, _)
            )
        };
        let holders = self.threads.iter().filter(|thread| holds(thread.step)).count();
        // In Spin and Queue a holder frees the lock by a plain store: nobody else may have written the word.
        let overwritten = |thread: &Thread| matches!(thread.step, Step::Free(word, _) if word.mode != Mode::Park && word != self.word);
        holders != usize::from(self.word.is_locked) || self.threads.iter().any(overwritten)
    }

    /// Calls `found` with every state that one step leads to.
    pub(crate) fn successors(&self, mutation: Mutation, found: &mut Vec<Self>) {
        for me in 0..THREADS {
            let thread = &self.threads[me];
            if matches!(thread.step, Step::Look | Step::Napping | Step::Sleeping) && !self.is_given_up {
                let mut late = self.at(me, Step::Look);
                late.threads[me].gives_up = true;
                late.is_given_up = true;
                found.push(late);
            }
            match thread.step {
                Step::Hold => MODES.iter().for_each(|&next| found.push(self.at(me, Step::Free(self.word, next)))),
                Step::WakeOne => self.wake_one(me, found),
                Step::Sleeping | Step::Done => {}
                step => found.extend(self.run(me, step, mutation)),
            }
        }
    }

    fn at(&self, me: usize, step: Step) -> Self {
        let mut next = *self;
        next.threads[me].step = step;
        next
    }

    /// The one state that the thread's step leads to; itself where it only waits.
    fn run(&self, me: usize, step: Step, mutation: Mutation) -> Option<Self> {
        let mut next = *self;
        let thread = &mut next.threads[me];
        match step {
            Step::Look => return self.look(me),
            Step::Take(seen) => return Some(self.take(me, seen, mutation)),
            Step::Enter => {
                (thread.is_queued, thread.next, thread.is_head) = (true, None, self.tail.is_none());
                thread.step = self.tail.map_or(Step::Look, Step::Link);
                next.tail = Some(me);
            }
            Step::Link(before) => {
                thread.step = Step::Look;
                next.threads[before].next = Some(me);
            }
            Step::Leave(after) => thread.step = thread.next.map_or(Step::Empty(after), |s| Step::Signal(after, s)),
            Step::Empty(after) if self.tail == Some(me) => {
                next.tail = None;
                next.leave(me, after);
            }
            Step::Empty(after) => thread.step = Step::AwaitLink(after),
            Step::AwaitLink(after) => thread.step = Step::Signal(after, thread.next?),
            Step::Signal(after, behind) => {
                let is_silent = mutation == Mutation::LeavesSilently && after == After::GiveUp;
                // A thread that enters a queue begins there anew.
                next.threads[behind].is_head |= !is_silent && self.threads[behind].is_queued;
                next.leave(me, after);
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
            Step::Free(seen, mode) => return Some(self.free(me, seen, mode, mutation)),
            Step::WakeAll => {
                let asleep = |thread: &&mut Thread| matches!(thread.step, Step::Sleeping | Step::Napping);
                next.threads.iter_mut().filter(asleep).for_each(|thread| thread.step = Step::Look);
                next.end(me);
            }
            Step::Hold | Step::WakeOne | Step::Sleeping | Step::Done => return None,
        }
        Some(next)
    }

    /// `None` if it only looks again.
    fn look(&self, me: usize) -> Option<Self> {
        let (word, thread) = (self.word, &self.threads[me]);
        let is_head = thread.is_queued && thread.is_head;
        let may_take = match word.mode {
            Mode::Queue if thread.is_queued => is_head,
            Mode::Queue => self.tail.is_none(),
            Mode::Spin | Mode::Park => true,
        };
        if !word.is_locked && may_take {
            return Some(self.at(me, Step::Take(word)));
        }
        let mut next = *self;
        match word.mode {
            Mode::Park if thread.is_queued => next.threads[me].step = Step::Leave(After::Park(word)),
            Mode::Park => next.park(me, word),
            Mode::Spin | Mode::Queue if thread.gives_up && thread.is_queued => {
                next.threads[me].step = Step::Leave(After::GiveUp);
            }
            Mode::Spin | Mode::Queue if thread.gives_up => next.end(me),
            Mode::Spin if thread.is_queued => next.threads[me].step = Step::Leave(After::Look),
            Mode::Queue if !thread.is_queued => next.threads[me].step = Step::Enter,
            Mode::Queue if !is_head => return None,
            Mode::Spin | Mode::Queue if word.is_locked => next.threads[me].step = Step::Nap(word),
            Mode::Spin | Mode::Queue => return None,
        }
        Some(next)
    }

    fn take(&self, me: usize, seen: Word, mutation: Mutation) -> Self {
        if self.word != seen {
            return self.at(me, Step::Look);
        }
        let mut next = *self;
        let thread = &mut next.threads[me];
        let marks = thread.has_slept && seen.mode == Mode::Park && mutation != Mutation::DropsTheMark;
        thread.step = if thread.is_queued { Step::Leave(After::Hold) } else { Step::Hold };
        next.word = Word { is_locked: true, is_parked: seen.is_parked || marks, mode: seen.mode };
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

    fn leave(&mut self, me: usize, after: After) {
        self.threads[me].is_queued = false;
        // Nobody reads these of a node that is in no queue.
        (self.threads[me].next, self.threads[me].is_head) = (None, false);
        match after {
            After::Hold => self.threads[me].step = Step::Hold,
            After::Look => self.threads[me].step = Step::Look,
            After::Park(seen) => self.park(me, seen),
            After::GiveUp => self.end(me),
        }
    }

    fn free(&self, me: usize, seen: Word, mode: Mode, mutation: Mutation) -> Self {
        let was_marked = self.word.is_parked;
        let mut next = *self;
        next.word = Word { is_locked: false, is_parked: false, mode };
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
