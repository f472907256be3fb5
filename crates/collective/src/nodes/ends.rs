//! The state of one member of a group over nodes, and how it turns what happened into the group's failure.

use corecast_base::sync::Arc;

use super::engine::Engine;
use super::error::{Error, Late};
use super::far_plan::FarPlan;
use super::forms::Forms;
use super::lanes::{LaneEnd, Seat};
use super::leader::{Leader, Polled};
use super::news::News;
use super::numbering::Numbering;
use super::schedule::Schedules;
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
    /// The lanes of the group, and this member's end of one.
    pub(super) lane_end: LaneEnd,
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
    /// The messages of this node by each way that it has taken.
    pub(super) schedules: Schedules,
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
            lane_end: LaneEnd::default(),
            operation,
            completed,
            is_pending,
            deadline,
            forms,
            schedules: Schedules::default(),
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
        let heard = self.own_leader().map_or(Ok(()), Leader::listen);
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
        let (deadline, is_pending) = (self.deadline, self.is_pending);
        let mut run = || {
            if !*has_begun {
                self.near.begin(call)?;
                *has_begun = true;
            }
            let ends = self.near.ends_mut();
            // Steps that may be interrupted keep what they need to go on.
            (ends.core.deadline, ends.core.is_pending) = (deadline, is_pending);
            let result = steps(ends);
            (ends.core.deadline, ends.core.is_pending) = (NEVER, false);
            result
        };
        let result = run();
        let result = result.map_err(|error| self.failed(error))?;
        *has_begun = false;
        Ok(result)
    }

    /// This member's end of an engine, if it leads the node or a lane.
    pub(super) fn own_leader(&mut self) -> Option<&mut Leader> {
        self.leader.as_mut().or(self.lane_end.leader.as_mut())
    }

    /// This member's part in an operation whose chunks are dealt to this many lanes.
    pub(super) fn seat(&self, lanes: usize) -> Seat {
        let own = match lanes {
            1 => self.leader.is_some().then_some(0),
            _ => Some(self.near.rank()).filter(|&rank| rank < lanes),
        };
        Seat { lanes, own }
    }

    /// Waits at the engine until `poll` says that its work is done; for leaders only.
    pub(super) fn far(&mut self, poll: impl FnMut(&mut dyn Engine) -> Result<Polled, Stop>) -> Result<(), Error> {
        let Self { near, news, leader, lane_end, deadline, .. } = self;
        let leader = leader.as_mut().or(lane_end.leader.as_mut()).expect("a leader waits at its engine");
        let done = leader.wait(near, news, *deadline, poll);
        done.map_err(|stop| self.stopped(stop))
    }

    /// Makes the group fail with what has ended an operation, at this node and at all others; returns the fault that stands.
    #[cold]
    pub(super) fn stopped(&mut self, stop: Stop) -> Error {
        let node = self.numbering.node as u32;
        let epoch = self.own_leader().map_or(0, |leader| leader.epoch);
        let word = |node: u32, kind| FaultWord { epoch, node, kind };
        match stop {
            Stop::Near(error) => self.failed(error),
            Stop::Fault(Fault::Told(word)) => {
                self.own_leader().into_iter().for_each(|leader| leader.has_told = true);
                self.publish(word)
            }
            Stop::Fault(Fault::NodeLost { node }) => self.found(word(node as u32, self.kind_of_lost_peer())),
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
        self.own_leader().into_iter().for_each(|leader| leader.tell(word));
        self.publish(word)
    }

    /// The fault if the process at the other end of this member's engine is lost: the leader of its lane there is one member of
    /// that node, and others may be left.
    fn kind_of_lost_peer(&self) -> FaultKind {
        match self.lane_end.leader {
            Some(_) => FaultKind::Member { rank: self.near.rank() as u32, loss: Loss::Died },
            None => FaultKind::Node,
        }
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
                let Some(word) = self.news.published() else { return NearError::Corrupt.into() };
                self.pass_on(word);
                return self.of_word(word);
            }
            NearError::MemberLost { rank, loss } => FaultKind::Member { rank: rank as u32, loss },
            NearError::Mismatched { called, expected, .. } => {
                FaultKind::Mismatched { called, other: node as u32, expected }
            }
            NearError::Timeout { missing } => return Error::Timeout { late: self.late(missing) },
            other => return other.into(),
        };
        if let Some(leader) = self.own_leader() {
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

    /// Tells a word that another leader of this node has heard or found to the leaders of the own lane: some may wait for this
    /// member, and none of the other lanes may come to tell them.
    fn pass_on(&mut self, word: FaultWord) {
        if self.lane_end.lanes.count() > 1 {
            self.own_leader().into_iter().for_each(|leader| leader.tell(word));
        }
    }

    /// Gives up the own lane and all others; the group has failed.
    pub(super) fn leave_lanes(&mut self) {
        if let Err(fault) = self.near.ends().core.check_fault() {
            let _ = self.failed(fault);
        }
        let LaneEnd { leader, .. } = std::mem::take(&mut self.lane_end);
        leader.into_iter().for_each(Leader::leave);
    }

    /// The members and nodes to be waited for. A leader that waits for another node is not late itself.
    fn late(&self, missing: Missing) -> Late {
        let nodes = self.news.awaited();
        let is_late = |&rank: &usize| self.news.awaited_by(rank).is_none();
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
