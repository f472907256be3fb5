//! Two-phase commits: member 0 proposes a number, all vote, and all learn whether it stands.
//!
//! In rounds that are checked only every fourth proposal is refused, by all; in timed ones none is. Every member compares what
//! it learns with what must come of the round.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};
use corecast::collective::{Coordinator, Group, Member, Participant};
use corecast::plan::Effort;
use crossbeam_channel::bounded;

use super::candidate::{Bodies, Candidate, of_std, ours, rival};
use corecast_race::contender::Setting;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};

/// One member's end of whatever is raced.
trait CommitEnd: Send {
    /// Takes part in a round, as the one that proposes this number if that is its part, and returns what was proposed and
    /// whether it stands. It votes by this.
    fn agree(&mut self, number: u64, vote: fn(u64) -> bool) -> Result<(u64, bool), Failure>;
}

struct Committing<E> {
    end: E,
    /// Rounds so far; equal at all members.
    number: u64,
}

/// corecast's members, and what the standard library and channels are put together to.
pub(super) fn commits() -> Vec<Candidate> {
    let mut all = ours(of_group);
    all.push(of_std(of_barrier));
    all.push(rival("std-sync-channel", true, |setting, _| Ok(of_channels(setting, of_sync_channel))));
    all.push(rival("crossbeam-channel", true, |setting, _| Ok(of_channels(setting, of_crossbeam))));
    all
}

fn bodies<E: CommitEnd + 'static>(ends: impl Iterator<Item = E>) -> Vec<Box<dyn Body>> {
    ends.map(|end| Box::new(Committing { end, number: 0 }) as Box<dyn Body>).collect()
}

impl<E: CommitEnd> Committing<E> {
    fn rounds(&mut self, rounds: u64, vote: fn(u64) -> bool) -> Result<(), Failure> {
        for _ in 0..rounds {
            let (number, expected) = (self.number, vote(self.number));
            let learnt = self.end.agree(number, vote)?;
            if learnt != (number, expected) {
                let what = format!("round {number}, which {expected} was to come of, came to {learnt:?}");
                return Err(Failure::Wrong(what));
            }
            self.number += 1;
        }
        Ok(())
    }
}

impl<E: CommitEnd> Body for Committing<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.rounds(iterations, |_| true)
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.rounds(rounds, |number| number % 4 != 3)
    }
}

/// A member of a group, whose end is opened by its own thread, as all open theirs together.
struct InGroup {
    /// Until it is open.
    me: Option<&'static mut Member>,
    end: Option<GroupEnd>,
}

enum GroupEnd {
    Coordinator(Box<Coordinator<'static, u64>>),
    Participant(Box<Participant<'static, u64>>),
}

fn of_group(setting: &Setting<'_>, _abort: &Arc<Abort>) -> Bodies {
    let builder = Group::builder(setting.machine).cpus(setting.cpus.clone()).members(setting.participants());
    let builder =
        builder.wait(setting.wait).pin(setting.bound).effort(Effort::Quick).plan_folder(None).race_folder(None);
    let group = builder.build().map_err(|error| error.to_string())?;
    let join = |rank| group.join(rank).map_err(|error| error.to_string());
    let members = (0..setting.participants()).map(join).collect::<Result<Vec<Member>, String>>()?;
    // An open end borrows its member, and both live as long as this process, which does nothing else.
    Ok(bodies(members.into_iter().map(|me| InGroup { me: Some(Box::leak(Box::new(me))), end: None })))
}

impl InGroup {
    fn open(&mut self) -> Result<&mut GroupEnd, Failure> {
        if let Some(me) = self.me.take() {
            self.end = Some(if me.rank() == 0 {
                GroupEnd::Coordinator(Box::new(me.coordinator().map_err(Failure::refused)?))
            } else {
                GroupEnd::Participant(Box::new(me.participant(0).map_err(Failure::refused)?))
            });
        }
        self.end.as_mut().ok_or_else(|| Failure::Refused("it could not be opened".to_owned()))
    }
}

impl CommitEnd for InGroup {
    fn agree(&mut self, number: u64, vote: fn(u64) -> bool) -> Result<(u64, bool), Failure> {
        match self.open()? {
            // The coordinator votes for what it proposes.
            GroupEnd::Coordinator(end) => Ok((number, end.commit(&number, Duration::MAX).map_err(Failure::refused)?)),
            GroupEnd::Participant(end) => {
                let mut learnt = None;
                end.serve(|number| vote(*number), |&number, stands| learnt = Some((number, stands)))
                    .map_err(Failure::refused)?;
                learnt.ok_or_else(|| Failure::Refused("the coordinator is gone".to_owned()))
            }
        }
    }
}

/// The state that members with the standard library's barrier share.
struct Shared {
    barrier: Barrier,
    /// Written by member 0 before the first barrier of a round.
    proposal: CacheLine<AtomicU64>,
    /// 1 for yes; each written by its member before the second barrier.
    votes: Vec<CacheLine<AtomicU64>>,
    /// 1 if the proposal stands; written by member 0 before the third barrier.
    decision: CacheLine<AtomicU64>,
}

struct AtBarrier {
    rank: usize,
    shared: Arc<Shared>,
}

fn of_barrier(setting: &Setting<'_>, _abort: &Arc<Abort>) -> Bodies {
    let members = setting.participants();
    let votes = (0..members).map(|_| CacheLine::default()).collect();
    let (proposal, decision) = (CacheLine::default(), CacheLine::default());
    let shared = Arc::new(Shared { barrier: Barrier::new(members), proposal, votes, decision });
    Ok(bodies((0..members).map(|rank| AtBarrier { rank, shared: Arc::clone(&shared) })))
}

impl CommitEnd for AtBarrier {
    fn agree(&mut self, number: u64, vote: fn(u64) -> bool) -> Result<(u64, bool), Failure> {
        let Self { rank, shared } = self;
        let Shared { barrier, proposal, votes, decision } = &**shared;
        if *rank == 0 {
            // ORDERING: Relaxed, the barrier that follows publishes it
            proposal.store(number, Ordering::Relaxed);
        }
        barrier.wait();
        // ORDERING: Relaxed, written before the barrier that this member has passed
        let proposed = proposal.load(Ordering::Relaxed);
        // ORDERING: Relaxed, the barrier that follows publishes it
        votes[*rank].store(u64::from(vote(proposed)), Ordering::Relaxed);
        barrier.wait();
        if *rank == 0 {
            // ORDERING: Relaxed, written before the barrier that this member has passed
            let stands = votes.iter().all(|vote| vote.load(Ordering::Relaxed) == 1);
            // ORDERING: Relaxed, the barrier that follows publishes it
            decision.store(u64::from(stands), Ordering::Relaxed);
        }
        barrier.wait();
        // ORDERING: Relaxed, written before the barrier that this member has passed
        Ok((proposed, decision.load(Ordering::Relaxed) == 1))
    }
}

/// A sending end of a channel of words.
pub(super) type Send1 = Box<dyn Fn(u64) -> Result<(), Failure> + Send>;
/// The receiving end of a channel of words.
pub(super) type Recv1 = Box<dyn Fn() -> Result<u64, Failure> + Send>;

/// The ends of a channel of words: one for each sender, and one that receives.
pub(super) type Link = (Vec<Send1>, Recv1);

/// A member that has channels: one from member 0 to each other, and one back that all others share.
enum OverChannels {
    Coordinator { to: Vec<Send1>, votes: Recv1 },
    Participant { vote: Send1, from: Recv1 },
}

fn of_channels(setting: &Setting<'_>, channel: fn(usize) -> Link) -> Vec<Box<dyn Body>> {
    let others = setting.participants() - 1;
    let (voters, votes) = channel(others);
    let (to, from): (Vec<_>, Vec<_>) = (0..others).map(|_| channel(1)).unzip();
    let participants = voters.into_iter().zip(from).map(|(vote, from)| OverChannels::Participant { vote, from });
    let coordinator = OverChannels::Coordinator { to: to.into_iter().flatten().collect(), votes };
    bodies([coordinator].into_iter().chain(participants))
}

pub(super) fn of_sync_channel(senders: usize) -> Link {
    let (tx, rx) = sync_channel::<u64>(senders.max(1));
    let send = |_| {
        let tx = tx.clone();
        Box::new(move |word| tx.send(word).map_err(Failure::refused)) as Send1
    };
    ((0..senders).map(send).collect(), Box::new(move || rx.recv().map_err(Failure::refused)))
}

pub(super) fn of_crossbeam(senders: usize) -> Link {
    let (tx, rx) = bounded::<u64>(senders.max(1));
    let send = |_| {
        let tx = tx.clone();
        Box::new(move |word| tx.send(word).map_err(Failure::refused)) as Send1
    };
    ((0..senders).map(send).collect(), Box::new(move || rx.recv().map_err(Failure::refused)))
}

impl CommitEnd for OverChannels {
    fn agree(&mut self, number: u64, vote: fn(u64) -> bool) -> Result<(u64, bool), Failure> {
        match self {
            Self::Coordinator { to, votes } => {
                to.iter().try_for_each(|to| to(number))?;
                let mut stands = vote(number);
                for _ in 0..to.len() {
                    stands &= votes()? == 1;
                }
                to.iter().try_for_each(|to| to(u64::from(stands)))?;
                Ok((number, stands))
            }
            Self::Participant { vote: say, from } => {
                let proposed = from()?;
                say(u64::from(vote(proposed)))?;
                Ok((proposed, from()? == 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Learns that every proposal stands.
    struct Obedient;

    impl CommitEnd for Obedient {
        fn agree(&mut self, number: u64, _vote: fn(u64) -> bool) -> Result<(u64, bool), Failure> {
            Ok((number, true))
        }
    }

    #[test]
    fn a_member_that_learns_something_else_is_found_out() {
        let mut body = Committing { end: Obedient, number: 0 };
        assert_eq!(body.run(10), Ok(()));
        let failure = body.check(4).expect_err("round 11 is refused").to_string();
        assert!(failure.contains("round 11"), "{failure}");
    }
}
