//! Going on without the members and nodes that are lost, in a new group.
//!
//! **When to take it:** the program can do its work with fewer members. **When not:** otherwise it ends, or starts again.
//!
//! The survivors of each node agree on themselves as in any group ([`crate::Member::shrink`]). Then the leaders leave what is
//! lost behind at the engine, and tell each other which members have stayed. A member or a node that is lost in the meantime
//! makes all of them do the same again. An engine says in its facts what it survives: the loss of members that do not lead, or
//! of nodes as well. A node whose leading process is lost is lost as a whole; among threads another one takes over the engine.
//!
//! Where every member is a [candidate](super::Candidate), a node goes on without its leader: its lowest member that is left leads
//! it. All members of all nodes leave the lost ones behind at the library then, and not only leaders. Each does it once in each
//! attempt, behind the agreement within its node, whatever has become of the node's group since: the others wait for every
//! process that lives, so that one which went back to its node before would wait there for its leader, and the leader for it.
//!
//! The new group has one lane: a lost member may have led another one.
//!
//! **Progress:** blocking.

use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::Arc;

use super::candidate::{Remade, SharedCandidate, Standing};
use super::ends::Ends;
use super::engine::Survival;
use super::error::Error;
use super::forms::Forms;
use super::invitation::share;
use super::leader::{Leader, Polled};
use super::member::{HELD_BRIEFLY, Home, Member};
use super::news::News;
use super::numbering::Numbering;
use super::setup::{gathered, start_gather};
use super::start::deadline;
use super::stop::Stop;
use super::{Facts, Fault, FaultKind, FaultWord, NodeSet};
use crate::core::NEVER;
use crate::error::{Error as NearError, Loss};
use crate::member::{Member as NearMember, Shrunk as NearShrunk};

/// The result of shrinking a group.
#[derive(Debug)]
#[non_exhaustive]
pub struct Shrunk {
    /// This member's place in the new group.
    pub me: Member,
    /// Its rank in the group that failed.
    pub old_rank: usize,
    /// The ranks in the failed group of the members that are not in the new one, ascending.
    pub gone: Vec<usize>,
    /// The number of operations that this member completed in the failed group.
    pub completed: u64,
    /// The highest number that any member of the new group completed there.
    pub highest: u64,
}

/// The survivors, as far as they are known. Members and nodes have their numbers of the first group of all.
struct Survivors {
    first: Arc<Numbering>,
    /// The members of the group that failed, by rank.
    old: Arc<Vec<usize>>,
    /// This node's number in that group.
    node: usize,
    /// The survivors of this node, by their ranks in its node's group.
    here: Vec<usize>,
    /// The nodes, by their numbers at the engine.
    nodes: Vec<usize>,
    completed: u64,
    /// True once this member's candidate could not go on: others may, and wait for this process until it has ended.
    has_given_up: bool,
}

/// An attempt to make a group of the survivors, which a member keeps when its time is over before that.
pub(super) struct Attempt {
    survivors: Survivors,
    /// The node's part of the group that was made last and has failed as well; `None` if that is the member's own group.
    near: Option<NearMember>,
    /// The node with whose loss that group has failed.
    lost: Option<usize>,
}

/// The new group, as the leaders tell it each other and then their nodes.
struct Agreed {
    numbering: Numbering,
    /// The members, by rank.
    ranks: Vec<u64>,
    highest: u64,
}

impl Member {
    /// Makes a group of the survivors of this one, which has failed, and returns this member's place in it. All survivors of all
    /// nodes must call it.
    ///
    /// # Errors
    /// [`Error::NotFailed`]; [`Error::CannotShrink`] if the engine survives nothing; [`Error::Engine`] if it could not go on;
    /// [`Error::NodeLost`], with this node, if its leader's process is lost and no member is a [candidate](super::Candidate);
    /// [`Error::Near`].
    pub fn shrink(&mut self) -> Result<Shrunk, Error> {
        self.shrink_until(NEVER)
    }

    /// As [`shrink`](Self::shrink), but waits at most for about `limit`, or up to 5 s longer over MPI that survives the loss of
    /// nodes, once the leaders that live have met. After [`Error::Timeout`] because of members of this
    /// node, the others go on waiting, and this member may call it again. If other nodes are late, the members of this node get
    /// [`Error::Engine`], and cannot shrink the group any more. Over MPI that survives the loss of nodes, the process of this
    /// node's leader has to end then, or of every member with that error where each is a rank of MPI: the others wait for it
    /// until it has, and go on without it.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`shrink`](Self::shrink).
    pub fn shrink_timeout(&mut self, limit: Duration) -> Result<Shrunk, Error> {
        self.shrink_until(deadline(limit))
    }

    fn shrink_until(&mut self, deadline: u64) -> Result<Shrunk, Error> {
        let old_rank = self.rank();
        let home = self.home().clone();
        let kept = self.attempt.take();
        let ends = self.ends();
        if ends.near.ends().core.check_fault().is_ok() {
            return Err(Error::NotFailed);
        }
        let numbering = &ends.numbering;
        if numbering.survival == Survival::Nothing {
            return Err(Error::CannotShrink { engine: numbering.engine.clone(), lost: "a member or a node" });
        }
        self.ends_mut().leave_lanes();
        let mut attempt = kept.unwrap_or_else(|| Box::new(Attempt::of(self.ends())));
        loop {
            let ends = self.ends_mut();
            let near = match attempt.leave_lost_members(ends, &home, deadline) {
                Ok(near) => near,
                Err(error) => {
                    let error = ends.failed(error);
                    self.attempt = Some(attempt);
                    return Err(error);
                }
            };
            let Some(mut new) = attempt.lay_out(ends, near, &home, deadline)? else { continue };
            new.deadline = deadline;
            let error = match attempt.survivors.agree(&mut new, &home, attempt.lost) {
                Ok(agreed) => return Ok(attempt.survivors.shrunk(new, home, old_rank, agreed)),
                Err(error) => error,
            };
            if attempt.survivors.has_given_up || !is_lost_again(&new) {
                new.leader.take().into_iter().for_each(|leader| leader.close(false));
                return Err(error);
            }
            attempt.lost = lost_node(&new);
            let Ends { near, leader, .. } = new;
            // The leader stays with the member, which may have to come again.
            (attempt.near, self.ends_mut().leader) = (Some(near), leader);
        }
    }
}

impl Attempt {
    fn of(ends: &Ends) -> Self {
        Self { survivors: Survivors::of(ends), near: None, lost: lost_node(ends) }
    }

    /// Leaves the lost members of this node behind.
    fn leave_lost_members(&mut self, ends: &mut Ends, home: &Home, deadline: u64) -> Result<NearMember, NearError> {
        let failed = self.near.as_mut().unwrap_or(&mut ends.near);
        let mut near = self.survivors.shrink(failed, deadline)?;
        if let Home::Candidate(candidate) = home {
            near.call_while_waiting(candidate.while_waiting());
        }
        Ok(near)
    }

    /// The new group before it is agreed on; `None` if a member of this node was lost again.
    fn lay_out(
        &mut self,
        ends: &mut Ends,
        mut near: NearMember,
        home: &Home,
        deadline: u64,
    ) -> Result<Option<Ends>, Error> {
        let news = match News::lay_out(&mut near) {
            Ok(news) => news,
            Err(_) if near.ends().core.check_fault().is_err() => {
                if let Home::Candidate(candidate) = home {
                    self.survivors.remake(candidate, false, deadline)?;
                }
                self.near = Some(near);
                return Ok(None);
            }
            Err(error) => return Err(Error::Near(error)),
        };
        let own = ends.leader.take();
        let leader = if near.rank() == 0 { own.or_else(|| taken_over(home)) } else { own };
        Ok(Some(Ends::new(near, Arc::clone(&ends.numbering), news, leader)))
    }
}

/// The node with whose loss a group has failed, in the numbers of its epoch.
fn lost_node(ends: &Ends) -> Option<usize> {
    word_of(ends).filter(|word| word.kind == FaultKind::Node).map(|word| word.node as usize)
}

/// The word with which a group has failed, if it did so at another node.
fn word_of(ends: &Ends) -> Option<FaultWord> {
    match ends.near.ends().core.check_fault() {
        Err(NearError::MemberLost { loss: Loss::Elsewhere, .. }) => ends.news.published(),
        _ => None,
    }
}

/// True if the new group has failed as groups do, so that its survivors can try again.
fn is_lost_again(ends: &Ends) -> bool {
    let has_failed = ends.near.ends().core.check_fault().is_err();
    has_failed && word_of(ends).is_none_or(|word| word.epoch != OWN_NODE)
}

/// The epoch of a word that says within a node that the node itself cannot go on; it is sent to no other node.
const OWN_NODE: u32 = u32::MAX;

/// The engine of a leader that was a thread of this process and has panicked.
fn taken_over(home: &Home) -> Option<Leader> {
    match home {
        Home::Threads(seat) => seat.lock().expect(HELD_BRIEFLY).leader.take(),
        Home::Own | Home::Candidate(_) => None,
    }
}

/// The other nodes are told that this one is lost to the new group, as they would wait for it without end.
fn tell_that_it_stays_out(new: &mut Ends) {
    if let Some(leader) = &mut new.leader {
        let node = leader.engine.facts().node as u32;
        leader.tell(FaultWord { epoch: leader.epoch, node, kind: FaultKind::Node });
    }
}

/// The time until a deadline in ticks; `None` without one.
fn left(deadline: u64) -> Option<Duration> {
    let clock = Clock::get();
    (deadline != NEVER).then(|| clock.duration(deadline.saturating_sub(clock.ticks())))
}

/// The library's number and text of a fault.
fn words_of(fault: Fault) -> (i32, String) {
    match fault {
        Fault::Engine { class, text } => (class, text),
        other => (0, format!("{other:?}")),
    }
}

/// The engine cannot be remade: the members of this node are told so, and keep out of other groups.
fn cannot_go_on(new: &mut Ends, fault: Fault) -> Error {
    tell_that_it_stays_out(new);
    let (class, text) = words_of(fault);
    let node = new.numbering.node;
    new.publish(FaultWord { epoch: OWN_NODE, node: node as u32, kind: FaultKind::Engine { class } });
    Error::Engine { node, class, text }
}

impl Survivors {
    /// All members and nodes of a group.
    fn of(ends: &Ends) -> Self {
        let Ends { numbering, completed, first, first_ranks: old, .. } = ends;
        let here = (0..numbering.members_of(numbering.node)).map(|local| old[numbering.own_rank(local)]).collect();
        let node = |node: usize| first.place(old[numbering.rank(node, 0)]).0;
        let nodes = (0..numbering.nodes()).map(node).collect();
        let (first, old) = (Arc::clone(first), Arc::clone(old));
        Self { first, old, node: numbering.node, here, nodes, completed: *completed, has_given_up: false }
    }

    /// This member's place in the new group.
    fn shrunk(&self, mut new: Ends, home: Home, old_rank: usize, agreed: Agreed) -> Shrunk {
        let Agreed { numbering, ranks, highest } = agreed;
        new.forms = Forms::of_nodes(numbering.nodes());
        (new.numbering, new.deadline) = (Arc::new(numbering), NEVER);
        let ranks: Vec<usize> = ranks.into_iter().map(|rank| rank as usize).collect();
        let is_gone = |&old: &usize| ranks.binary_search(&self.old[old]).is_err();
        let gone = (0..self.old.len()).filter(is_gone).collect();
        (new.first, new.first_ranks) = (Arc::clone(&self.first), Arc::new(ranks));
        Shrunk { me: Member::new(new, home), old_rank, gone, completed: self.completed, highest }
    }

    /// Leaves the lost members of this node behind.
    fn shrink(&mut self, near: &mut NearMember, deadline: u64) -> Result<NearMember, NearError> {
        let NearShrunk { me, gone, .. } = near.shrink_until(deadline)?;
        let is_here = |local: &usize| !gone.contains(local);
        self.here = (0..self.here.len()).filter(is_here).map(|local| self.here[local]).collect();
        Ok(me)
    }

    /// Agrees with the survivors of all nodes.
    fn agree(&mut self, new: &mut Ends, home: &Home, lost: Option<usize>) -> Result<Agreed, Error> {
        let highest = new.near.allreduce(self.completed, u64::max);
        let has_failed = new.near.ends().core.check_fault().is_err();
        match home {
            // A member whose time is over takes no further part.
            Home::Candidate(candidate) if highest.is_ok() || has_failed => {
                self.leave_lost_processes(new, candidate, !has_failed)?;
            }
            _ => {}
        }
        let highest = highest.map_err(|error| new.failed(error))?;
        let agreed = match new.leader.is_some() {
            true => {
                if !matches!(home, Home::Candidate(_)) {
                    self.leave_lost_nodes(new, lost)?;
                }
                Some(self.meet(new, highest)?)
            }
            false if new.near.rank() == 0 => return Err(self.give_up(new)),
            false => None,
        };
        self.share(new, agreed).map_err(|error| new.failed(error))
    }

    /// A node without a leader tells its members so.
    fn give_up(&self, new: &mut Ends) -> Error {
        let node = new.numbering.node as u32;
        new.publish(FaultWord { epoch: OWN_NODE, node, kind: FaultKind::Node })
    }

    /// Takes part in an attempt of all processes; `None` if all have to come again.
    fn remake(&mut self, candidate: &SharedCandidate, is_whole: bool, deadline: u64) -> Result<Option<Remade>, Error> {
        let (_, leader) = self.first.place(self.here[0]);
        candidate.remake(Standing { leader, is_whole }, left(deadline)).map_err(|fault| {
            self.has_given_up = true;
            let (class, text) = words_of(fault);
            Error::Engine { node: self.node, class, text }
        })
    }

    /// Leaves the lost processes behind, together with all others that are left; this one may lead its node then.
    fn leave_lost_processes(
        &mut self,
        new: &mut Ends,
        candidate: &SharedCandidate,
        is_whole: bool,
    ) -> Result<(), Error> {
        let Some(Remade { stay, engine }) = self.remake(candidate, is_whole, new.deadline)? else {
            // Every node agrees within itself again, as one of them has to.
            let rank = new.near.rank();
            return Err(new.near.ends_mut().core.fail(rank, Loss::Left).into());
        };
        self.nodes = stay.iter().map(|node| self.nodes[node]).collect();
        new.leader = engine.map(Leader::new);
        Ok(())
    }

    /// Leaves the lost nodes behind, together with the other leaders.
    fn leave_lost_nodes(&mut self, new: &mut Ends, lost: Option<usize>) -> Result<(), Error> {
        let mut living = NodeSet::all(self.nodes.len());
        lost.iter().for_each(|&node| living.remove(node));
        let leader = new.leader.as_mut().expect("a leader meets the others");
        (leader.epoch, leader.has_told) = (leader.epoch + 1, false);
        let limit = left(new.deadline);
        let stay = leader.engine.remake(&living, limit).map_err(|fault| cannot_go_on(new, fault))?;
        self.nodes = stay.iter().map(|node| self.nodes[node]).collect();
        Ok(())
    }

    /// Learns from the other leaders which members have stayed.
    fn meet(&mut self, new: &mut Ends, highest: u64) -> Result<Agreed, Error> {
        let words = self.words(highest);
        let leader = new.leader.as_mut().expect("a leader meets the others");
        let facts = leader.engine.facts().clone();
        new.numbering = Arc::new(Numbering::new(&facts, &vec![1; facts.nodes()]));
        let ticket = start_gather(&mut *leader.engine, facts.nodes(), &words).map_err(Stop::from);
        let ticket = ticket.map_err(|stop| new.stopped(stop))?;
        let met = new.far(|engine| Ok(if engine.poll(ticket)? { Polled::Done } else { Polled::Awaits(None) }));
        if let Err(Error::Timeout { .. }) = met {
            tell_that_it_stays_out(new);
            let late = FaultWord { epoch: OWN_NODE, node: facts.node as u32, kind: FaultKind::Engine { class: 0 } };
            return Err(new.publish(late));
        }
        met?;
        let leader = new.leader.as_mut().expect("as before");
        let said = gathered(&mut *leader.engine, facts.nodes(), words.len());
        Ok(self.agreed(&facts, &said, words.len()))
    }

    /// The words that this node tells the others: the most operations that one of its members has completed, and a bit for each
    /// member of the first group that is still there.
    fn words(&self, highest: u64) -> Vec<u64> {
        let mut words = vec![0; 1 + self.first.most_members().div_ceil(64)];
        words[0] = highest;
        for &rank in &self.here {
            let (_, local) = self.first.place(rank);
            words[1 + local / 64] |= 1 << (local % 64);
        }
        words
    }

    fn agreed(&self, facts: &Facts, said: &[u64], words: usize) -> Agreed {
        let said: Vec<&[u64]> = said.chunks_exact(words).collect();
        let highest = said.iter().map(|words| words[0]).max().unwrap_or(0);
        let is_there = |words: &[u64], local: usize| words[1 + local / 64] >> (local % 64) & 1 == 1;
        let members = |(&node, words): (&usize, &&[u64])| -> Vec<u64> {
            let locals = (0..self.first.members_of(node)).filter(|&local| is_there(words, local));
            locals.map(|local| self.first.rank(node, local) as u64).collect()
        };
        let by_node: Vec<Vec<u64>> = self.nodes.iter().zip(&said).map(members).collect();
        let counts: Vec<usize> = by_node.iter().map(Vec::len).collect();
        Agreed { numbering: Numbering::new(facts, &counts), ranks: by_node.concat(), highest }
    }

    /// Gives what the leader knows to all members of its node.
    fn share(&self, new: &mut Ends, agreed: Option<Agreed>) -> Result<Agreed, NearError> {
        let (numbering, mut ranks, highest) = match agreed {
            Some(Agreed { numbering, ranks, highest }) => (Some(numbering), ranks, highest),
            None => (None, Vec::new(), 0),
        };
        let numbering = share(&mut new.near, numbering)?;
        let mut head = [ranks.len() as u64, highest];
        new.near.broadcast(0, &mut head)?;
        ranks.resize(head[0] as usize, 0);
        new.near.broadcast_slice(0, &mut ranks)?;
        Ok(Agreed { numbering, ranks, highest: head[1] })
    }
}
