//! The state of one member of a group over nodes, and how it turns what happened into the group's failure.

use corecast_base::sync::Arc;

use super::engine::Engine;
use super::error::{Error, Late};
use super::far_plan::FarPlan;
use super::forms::Forms;
use super::leader::{Leader, Polled};
use super::news::News;
use super::numbering::Numbering;
use super::stop::Stop;
use super::{Fault, FaultKind, FaultWord};
use crate::call::Call;
use crate::core::NEVER;
use crate::error::{Error as NearError, Loss};
use crate::member::{Ends as NearEnds, Member as NearMember};
use crate::missing::Missing;

/// The state of one member.
pub(super) struct Ends {
    /// Its place in its node's group.
    pub(super) near: NearMember,
    pub(super) numbering: Arc<Numbering>,
    pub(super) news: News,
    /// The engine, at the member that leads.
    pub(super) leader: Option<Leader>,
    /// Operations begun.
    pub(super) operation: u64,
    /// Operations completed.
    pub(super) completed: u64,
    /// True from the start of an operation that may be interrupted until it is finished.
    pub(super) is_pending: bool,
    /// The end of waits, in ticks.
    pub(super) deadline: u64,
    /// The ways of values between nodes.
    pub(super) forms: Forms,
    /// The trees between nodes, if they are planned.
    pub(super) far_plan: Option<FarPlan>,
    /// The members of the first group, and of each member of this one its rank there: by these, groups that have shrunk name
    /// members to each other, as not all need have shrunk as often.
    pub(super) first: Arc<Numbering>,
    pub(super) first_ranks: Arc<Vec<usize>>,
}

impl Ends {
    pub(super) fn new(near: NearMember, numbering: Arc<Numbering>, news: News, leader: Option<Leader>) -> Self {
        let forms = Forms::of_nodes(numbering.nodes());
        let (first, first_ranks) = (Arc::clone(&numbering), Arc::new((0..numbering.members()).collect()));
        let (operation, completed, is_pending, deadline) = (0, 0, false, NEVER);
        let far_plan = None;
        Self {
            near,
            numbering,
            news,
            leader,
            operation,
            completed,
            is_pending,
            deadline,
            forms,
            far_plan,
            first,
            first_ranks,
        }
    }

    pub(super) fn rank(&self) -> usize {
        self.numbering.own_rank(self.near.rank())
    }

    pub(super) fn check_rank(&self, rank: usize) -> Result<(), Error> {
        let members = self.numbering.members();
        if rank < members { Ok(()) } else { Err(Error::BadRank { rank, members }) }
    }

    /// Begins the next operation, unless the group has failed or one is pending.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        if let Err(error) = self.near.ends().core.check_fault() {
            return Err(self.failed(error));
        }
        if self.is_pending {
            return Err(Error::Pending);
        }
        let heard = self.leader.as_mut().map_or(Ok(()), Leader::listen);
        heard.map_err(|stop| self.stopped(stop))?;
        self.operation += 1;
        Ok(())
    }

    /// Takes steps of an operation of this node's group, which `has_begun` says to be under way.
    pub(super) fn near<T>(
        &mut self,
        call: Call,
        has_begun: &mut bool,
        mut steps: impl FnMut(&mut NearEnds) -> Result<T, NearError>,
    ) -> Result<T, Error> {
        let deadline = self.deadline;
        let mut run = || {
            if !*has_begun {
                self.near.begin(call)?;
                *has_begun = true;
            }
            let ends = self.near.ends_mut();
            ends.core.deadline = deadline;
            let result = steps(ends);
            ends.core.deadline = NEVER;
            result
        };
        let result = run();
        let result = result.map_err(|error| self.failed(error))?;
        *has_begun = false;
        Ok(result)
    }

    /// Waits at the engine until `poll` says that its work is done; for leaders only.
    pub(super) fn far(&mut self, poll: impl FnMut(&mut dyn Engine) -> Result<Polled, Stop>) -> Result<(), Error> {
        let Self { near, news, leader, deadline, .. } = self;
        let leader = leader.as_mut().expect("a leader waits at its engine");
        let done = leader.wait(near, news, *deadline, poll);
        done.map_err(|stop| self.stopped(stop))
    }

    /// Makes the group fail with what has ended an operation, at this node and at all others; returns the fault that stands.
    #[cold]
    pub(super) fn stopped(&mut self, stop: Stop) -> Error {
        let node = self.numbering.node as u32;
        let epoch = self.leader.as_ref().map_or(0, |leader| leader.epoch);
        let word = |node: u32, kind| FaultWord { epoch, node, kind };
        match stop {
            Stop::Near(error) => self.failed(error),
            Stop::Fault(Fault::Told(word)) => {
                self.leader.iter_mut().for_each(|leader| leader.has_told = true);
                self.publish(word)
            }
            Stop::Fault(Fault::NodeLost { node }) => self.found(word(node as u32, FaultKind::Node)),
            Stop::Fault(Fault::Engine { class, text: own }) => {
                match self.found(word(node, FaultKind::Engine { class })) {
                    Error::Engine { node, class, .. } => Error::Engine { node, class, text: own },
                    other => other,
                }
            }
            Stop::Found { node: at, kind } => {
                let kind = match kind {
                    FaultKind::Mismatched { called, expected, .. } => {
                        FaultKind::Mismatched { called, other: node, expected }
                    }
                    other => other,
                };
                self.found(word(at as u32, kind))
            }
        }
    }

    fn found(&mut self, word: FaultWord) -> Error {
        self.leader.iter_mut().for_each(|leader| leader.tell(word));
        self.publish(word)
    }

    /// Makes this node's group fail with a word, unless it has failed already.
    pub(super) fn publish(&mut self, word: FaultWord) -> Error {
        let rank = self.near.rank();
        if let Err(stands) = self.near.ends().core.check_fault() {
            // The steps between the nodes are gone, so an operation under way cannot go on either.
            self.near.ends_mut().core.end_operation();
            return self.failed(stands);
        }
        self.news.publish(word);
        let stands = self.near.ends_mut().core.fail(rank, Loss::Elsewhere);
        self.failed(stands)
    }

    /// The error of the whole group for one of this node's; a leader tells the others.
    #[cold]
    pub(super) fn failed(&mut self, error: NearError) -> Error {
        let node = self.numbering.node;
        let kind = match error {
            NearError::MemberLost { loss: Loss::Elsewhere, .. } => {
                return self.news.published().map_or(NearError::Corrupt.into(), |word| self.of_word(word));
            }
            NearError::MemberLost { rank, loss } => FaultKind::Member { rank: rank as u32, loss },
            NearError::Mismatched { called, expected, .. } => {
                FaultKind::Mismatched { called, other: node as u32, expected }
            }
            NearError::Timeout { missing } => return Error::Timeout { late: self.late(missing) },
            other => return other.into(),
        };
        if let Some(leader) = &mut self.leader {
            leader.tell(FaultWord { epoch: leader.epoch, node: node as u32, kind });
        }
        let rank = |local| self.numbering.own_rank(local);
        match error {
            NearError::Mismatched { rank: local, called, other, expected } => {
                Error::Mismatched { rank: rank(local), node, called, other: rank(other), expected }
            }
            NearError::MemberLost { rank: local, loss } => Error::MemberLost { rank: rank(local), node, loss },
            other => other.into(),
        }
    }

    /// The members and nodes to be waited for. A leader that waits for another node is not late itself.
    fn late(&self, missing: Missing) -> Late {
        let nodes: Vec<usize> = self.news.awaited().into_iter().collect();
        let is_late = |&rank: &usize| rank > 0 || nodes.is_empty();
        let members = missing.ranks().filter(is_late).map(|rank| self.numbering.own_rank(rank)).collect();
        Late { members, nodes }
    }

    fn of_word(&self, word: FaultWord) -> Error {
        let numbering = &self.numbering;
        let node = word.node as usize;
        let leader = |node: usize| numbering.rank(node, 0);
        match word.kind {
            FaultKind::Member { rank, loss } => {
                Error::MemberLost { rank: numbering.rank(node, rank as usize), node, loss }
            }
            FaultKind::Mismatched { called, other, expected } => {
                Error::Mismatched { rank: leader(node), node, called, other: leader(other as usize), expected }
            }
            FaultKind::Node => Error::NodeLost { node, host: numbering.hosts.get(node).cloned().unwrap_or_default() },
            FaultKind::Engine { class } => {
                Error::Engine { node, class, text: "the leader of that node has its text".to_owned() }
            }
        }
    }
}
