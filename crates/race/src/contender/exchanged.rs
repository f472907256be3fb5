//! corecast's groups at gathering, scattering, two-phase commits and atomic broadcasts.
//!
//! The end of a commit or of a stream borrows its member for as long as it is open. Both live here as long as the process: a race
//! makes one a group, and does little else.

use std::collections::VecDeque;
use std::time::Duration;

use corecast::base::CacheLine;
use corecast::base::wait::Spinner;
use corecast::collective::{AtomicStream, Coordinator, Member, Participant};

use super::bodies::{
    AtomicStreamEnd, CommitEnd, GatherEnd, Round, ScatterEnd, SliceTask, atomic_stream_body, commit_body, gather_body,
    scatter_body,
};
use crate::failure::Failure;
use crate::harness::Body;
use crate::op::Op;

/// The memory that the operation takes in a group of processes beside what all take: two of the longest proposals.
pub(super) fn room_bytes(op: Op, bytes: usize) -> usize {
    if op == Op::Commit { 2 * bytes.next_multiple_of(size_of::<CacheLine<u64>>()) } else { 0 }
}

/// The body of a member.
pub(super) fn body(task: SliceTask, rank: usize, me: Member) -> Box<dyn Body> {
    match task.op {
        Op::Gather => gather_body(task, rank, Rooted { me, root: task.root }),
        Op::Scatter => scatter_body(task, rank, Rooted { me, root: task.root }),
        Op::Commit => commit_body(task, rank, Committing { me: Some(Box::leak(Box::new(me))), task, end: None }),
        _ => atomic_stream_body(task, rank, Streaming::of(me)),
    }
}

/// A member of a group whose operations have this root.
struct Rooted {
    me: Member,
    root: usize,
}

impl GatherEnd for Rooted {
    #[inline]
    fn gather(&mut self, own: &[u64], all: &mut Vec<Vec<u64>>) -> Result<(), Failure> {
        let Self { me, root } = self;
        match own {
            [] => me.gather(*root, ()).map(drop),
            [word] => me.gather(*root, *word).map(|gathered| {
                all.iter_mut().zip(gathered.into_iter().flatten()).for_each(|(part, word)| part[0] = word);
            }),
            _ => me.gather_slice(*root, own).map(|gathered| *all = gathered.unwrap_or_default()),
        }
        .map_err(Failure::refused)
    }
}

impl ScatterEnd for Rooted {
    #[inline]
    fn scatter(&mut self, all: &[u64], own: &mut [u64]) -> Result<(), Failure> {
        let Self { me, root } = self;
        let is_root = me.rank() == *root;
        match own {
            [] => {
                let nothing = vec![(); me.size()];
                me.scatter(*root, is_root.then_some(&nothing[..]))
            }
            [word] => me.scatter(*root, is_root.then_some(all)).map(|mine| *word = mine),
            _ => me.scatter_slice(*root, is_root.then_some(all), own),
        }
        .map_err(Failure::refused)
    }
}

/// A member whose end is opened by its own thread, as all open theirs together.
struct Committing {
    /// Until it is open.
    me: Option<&'static mut Member>,
    task: SliceTask,
    end: Option<CommitSide>,
}

enum CommitSide {
    Coordinator(Box<Coordinator<'static, [u64]>>),
    Participant(Box<Participant<'static, [u64]>>),
}

impl Committing {
    #[cold]
    fn open(&mut self) -> Result<(), Failure> {
        let me = self.me.take().ok_or_else(|| Failure::Refused("it could not be opened".to_owned()))?;
        let SliceTask { root, words, .. } = self.task;
        self.end = Some(if me.rank() == root {
            CommitSide::Coordinator(Box::new(me.slice_coordinator(words).map_err(Failure::refused)?))
        } else {
            CommitSide::Participant(Box::new(me.slice_participant(root, words).map_err(Failure::refused)?))
        });
        Ok(())
    }
}

impl CommitEnd for Committing {
    fn agree(&mut self, proposal: &mut [u64], is_for: bool) -> Result<bool, Failure> {
        if self.end.is_none() {
            self.open()?;
        }
        match self.end.as_mut().expect("it was opened") {
            CommitSide::Coordinator(coordinator) => {
                coordinator.commit(proposal, Duration::MAX).map_err(Failure::refused)
            }
            CommitSide::Participant(participant) => {
                let mut outcome = false;
                let served = participant.serve(
                    |_| is_for,
                    |words, is_commit| {
                        proposal.copy_from_slice(words);
                        outcome = is_commit;
                    },
                );
                match served.map_err(Failure::refused)? {
                    true => Ok(outcome),
                    false => Err(Failure::Refused("the coordinator has left".to_owned())),
                }
            }
        }
    }
}

/// A member whose stream is opened by its own thread, as all open theirs together.
struct Streaming {
    /// Until it is open.
    me: Option<&'static mut Member>,
    stream: Option<AtomicStream<'static>>,
    /// Events delivered in the round before theirs had begun here.
    early: VecDeque<(usize, Vec<u64>)>,
    bytes: Vec<u8>,
}

impl Streaming {
    fn of(me: Member) -> Self {
        let me: &'static mut Member = Box::leak(Box::new(me));
        Self { me: Some(me), stream: None, early: VecDeque::new(), bytes: Vec::new() }
    }

    #[cold]
    fn open(&mut self) -> Result<(), Failure> {
        let me = self.me.take().ok_or_else(|| Failure::Refused("it could not be opened".to_owned()))?;
        self.stream = Some(me.atomic_stream().map_err(Failure::refused)?);
        Ok(())
    }
}

/// The events that one member delivers in a round.
struct Inbox<'a> {
    round: &'a mut Round,
    early: &'a mut VecDeque<(usize, Vec<u64>)>,
}

impl Inbox<'_> {
    fn is_full(&self) -> bool {
        self.round.order.len() == self.round.events.len()
    }

    fn deliver(&mut self, origin: usize, bytes: &[u8]) {
        let words = bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("of eight bytes")));
        if self.is_full() {
            self.early.push_back((origin, words.collect()));
        } else {
            self.round.deliver(origin, words);
        }
    }
}

impl AtomicStreamEnd for Streaming {
    fn exchange(&mut self, own: &[u64], round: &mut Round) -> Result<(), Failure> {
        if self.stream.is_none() {
            self.open()?;
        }
        let Self { stream, early, bytes, .. } = self;
        let stream = stream.as_mut().expect("it was opened");
        early.drain(..).for_each(|(origin, words)| round.deliver(origin, words.into_iter()));
        bytes.clear();
        own.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
        let mut inbox = Inbox { round, early };
        stream.publish(bytes, |_, origin, bytes| inbox.deliver(origin, bytes)).map_err(Failure::refused)?;
        let mut spinner = Spinner::new();
        // To deliver does not wait. Who left with parts that a child had no room for would hold up that child.
        while !(inbox.is_full() && stream.is_passed_on()) {
            let delivered = stream.deliver(|_, origin, bytes| inbox.deliver(origin, bytes));
            if delivered.map_err(Failure::refused)? == 0 {
                spinner.pause();
            }
        }
        Ok(())
    }
}
