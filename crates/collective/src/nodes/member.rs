//! One participant of a group over several nodes, and its operations.

use std::fmt;

use corecast_base::sync::{Arc, Mutex};
use corecast_channel::Plain;

use super::candidate::SharedCandidate;
use super::ends::Ends;
use super::engine::ValueKind;
use super::error::Error;
use super::far_plan::FarPlan;
use super::forms::Forms;
use super::lanes::Lanes;
use super::leader::Leader;
use super::prepared::{self, Steps};
use super::shrink::Attempt;
use crate::error::Loss;
use crate::member::Member as NearMember;
use crate::op::Op;
use crate::operation::Order;

/// One participant of a group over several nodes.
///
/// Its operations are those of a [member](crate::Member) of one machine, with the same names: all members of all nodes call the
/// same ones with the same roots and types in the same order. Ranks count over all nodes, node by node.
///
/// **Bits:** an allreduction gives the same bits at all members of all nodes, and in all runs with the same numbers of members,
/// nodes and [lanes](Lanes) that take the same forms (see [`race`](Self::race)). [`Order::Rank`] combines in one bracketing
/// within each node, and then the results of the nodes in their order; the same members on other nodes may get other bits, and
/// so may processes in the place of threads.
///
/// **Failure:** a member that panics or dies, or calls something else, makes the group fail at all nodes: each of them learns
/// of it in its current operation or its next one. What failed is named by node and rank. A leader that is busy elsewhere
/// learns of it, and passes it on, only in its next operation; one whose operations wait for nobody, as those of a root that
/// broadcasts, looks every 200 us. If two faults occur at once at different nodes, members of different nodes may name
/// different ones. A node whose members leave in peace while others wait for it is not noticed by the others: a limit on the
/// operation is ([`start`](Self::start)).
///
/// Dropping a member leaves the group.
pub struct Member {
    ends: Ends,
    home: Home,
    /// The attempt to shrink the group that the member's limit has interrupted.
    pub(super) attempt: Option<Box<Attempt>>,
}

/// The place to which a leader goes when its member leaves.
#[derive(Clone, Debug)]
pub(super) enum Home {
    /// Of threads: the group, which keeps it for the next run, or for another thread if this one panics.
    Threads(Arc<Mutex<Seat>>),
    /// None: it is closed.
    Own,
    /// The same; the member can lead if its node's leader is lost.
    Candidate(SharedCandidate),
}

/// The state that a group of threads keeps between its runs.
#[derive(Debug, Default)]
pub(super) struct Seat {
    pub(super) leader: Option<Leader>,
    /// Operations begun, and those completed.
    pub(super) operation: u64,
    pub(super) completed: u64,
    /// The result of a race, and the plan between the nodes.
    pub(super) forms: Option<Forms>,
    pub(super) far_plan: Option<FarPlan>,
}

pub(super) const HELD_BRIEFLY: &str = "no thread panics while it holds a leader";

impl Member {
    pub(super) fn new(ends: Ends, home: Home) -> Self {
        Self { ends, home, attempt: None }
    }

    pub(super) fn ends_mut(&mut self) -> &mut Ends {
        &mut self.ends
    }

    pub(super) fn ends(&self) -> &Ends {
        &self.ends
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// This member's number among those of all nodes, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.ends.rank()
    }

    /// The number of members of all nodes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.ends.numbering.members()
    }

    /// The node of this member, from 0.
    #[must_use]
    pub fn node(&self) -> usize {
        self.ends.numbering.node
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.ends.numbering.nodes()
    }

    /// The number of a node's members.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    #[track_caller]
    pub fn members_of(&self, node: usize) -> usize {
        self.ends.numbering.members_of(node)
    }

    /// The node of a member, and its rank there.
    ///
    /// # Errors
    /// [`Error::BadRank`].
    pub fn place_of(&self, rank: usize) -> Result<(usize, usize), Error> {
        self.ends.check_rank(rank)?;
        Ok(self.ends.numbering.place(rank))
    }

    /// The name of a node's host.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    #[track_caller]
    pub fn host(&self, node: usize) -> &str {
        &self.ends.numbering.hosts[node]
    }

    /// The engine between the nodes, and its version.
    #[must_use]
    pub fn engine(&self) -> &str {
        &self.ends.numbering.engine
    }

    /// True for the member of its node that speaks to other nodes.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.ends.near.rank() == 0
    }

    /// This member's place in the group of its node, for operations within the node. All members of the node call them alike.
    #[must_use]
    pub fn near(&mut self) -> &mut NearMember {
        &mut self.ends.near
    }

    /// The lanes of long slices.
    #[must_use]
    pub fn lanes(&self) -> Lanes {
        self.ends.lane_end.lanes
    }

    /// Makes a group of the members of each node, ranked as here, and returns this member's place in its node's. Unlike
    /// [`near`](Self::near), its operations are independent of those of the whole group.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn split_by_node(&mut self) -> Result<NearMember, Error> {
        self.ends.begin()?;
        let key = self.ends.near.rank() as i64;
        let part = self.ends.near.split(0, key).map_err(|error| self.ends.failed(error))?;
        self.ends.completed += 1;
        Ok(part.expect("every member names a color"))
    }

    /// Waits until all members of all nodes have called it.
    ///
    /// # Errors
    /// [`Error`], as its variants say.
    pub fn barrier(&mut self) -> Result<(), Error> {
        let steps = prepared::barrier(&mut self.ends)?;
        self.run(steps)
    }

    /// Gives the root's `value` to all members.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such root, and those of any operation.
    pub fn broadcast<T: Plain>(&mut self, root: usize, value: &mut T) -> Result<(), Error> {
        let steps = prepared::broadcast(&mut self.ends, root, value)?;
        self.run(steps)
    }

    /// Combines all members' values and returns the result at `root`, `None` elsewhere. `combine` must be associative and
    /// commutative, up to rounding.
    ///
    /// # Errors
    /// As for [`broadcast`](Self::broadcast).
    pub fn reduce<T: Plain>(
        &mut self,
        root: usize,
        value: T,
        combine: impl FnMut(T, T) -> T,
    ) -> Result<Option<T>, Error> {
        let steps = prepared::reduce(&mut self.ends, Order::Plan, root, value, combine)?;
        self.run(steps)
    }

    /// As [`reduce`](Self::reduce), in the order that suits the operation.
    ///
    /// # Errors
    /// As for [`broadcast`](Self::broadcast).
    pub fn reduce_with<T: Plain>(&mut self, root: usize, value: T, op: impl Op<T>) -> Result<Option<T>, Error> {
        let combine = |left, right| op.combine(left, right);
        let steps = prepared::reduce(&mut self.ends, op.order(), root, value, combine)?;
        self.run(steps)
    }

    /// Combines all members' values and returns the result, the same bits, at all of them. `combine` must be associative and
    /// commutative, up to rounding.
    ///
    /// # Errors
    /// Those of any operation.
    pub fn allreduce<T: Plain>(&mut self, value: T, combine: impl FnMut(T, T) -> T) -> Result<T, Error> {
        let steps = prepared::allreduce(&mut self.ends, Order::Plan, value, None, combine)?;
        self.run(steps)
    }

    /// As [`allreduce`](Self::allreduce), in the order that suits the operation.
    ///
    /// # Errors
    /// Those of any operation.
    pub fn allreduce_with<T: Plain>(&mut self, value: T, op: impl Op<T>) -> Result<T, Error> {
        let combine = |left, right| op.combine(left, right);
        let steps = prepared::allreduce(&mut self.ends, op.order(), value, known(&op), combine)?;
        self.run(steps)
    }

    /// Brings all members' values to `root` and returns them there, by rank; `None` elsewhere.
    ///
    /// # Errors
    /// As for [`broadcast`](Self::broadcast).
    pub fn gather<T: Plain>(&mut self, root: usize, value: T) -> Result<Option<Vec<T>>, Error> {
        let steps = prepared::gather(&mut self.ends, root, value)?;
        self.run(steps)
    }

    /// Gives the root's `values` to all members; all slices have the same length.
    ///
    /// # Errors
    /// As for [`broadcast`](Self::broadcast); [`Error::MemberLost`] with [`Loss::OtherLength`] for a slice of another length,
    /// unless a [race](Self::race) has chosen a way that does not compare them.
    pub fn broadcast_slice<T: Plain>(&mut self, root: usize, values: &mut [T]) -> Result<(), Error> {
        let steps = prepared::broadcast_slice(&mut self.ends, root, values)?;
        self.run(steps)
    }

    /// Combines all members' values, first with first and so on, and leaves the results in the root's `values`. The others'
    /// `values` are of no use afterwards.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice).
    pub fn reduce_slice<T: Plain>(
        &mut self,
        root: usize,
        values: &mut [T],
        combine: impl FnMut(T, T) -> T,
    ) -> Result<(), Error> {
        let steps = prepared::reduce_slice(&mut self.ends, root, values, combine)?;
        self.run(steps)
    }

    /// Combines all members' values, first with first and so on, and leaves the results, the same bits, in the `values` of all.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice).
    pub fn allreduce_slice<T: Plain>(&mut self, values: &mut [T], combine: impl FnMut(T, T) -> T) -> Result<(), Error> {
        let steps = prepared::allreduce_slice(&mut self.ends, values, None, combine)?;
        self.run(steps)
    }

    /// As [`allreduce_slice`](Self::allreduce_slice), with an operation that the engine may know. The operation must be
    /// commutative.
    ///
    /// # Errors
    /// As for [`broadcast_slice`](Self::broadcast_slice).
    pub fn allreduce_slice_with<T: Plain>(&mut self, values: &mut [T], op: impl Op<T>) -> Result<(), Error> {
        let combine = |left, right| op.combine(left, right);
        let steps = prepared::allreduce_slice(&mut self.ends, values, known(&op), combine)?;
        self.run(steps)
    }

    /// Brings all members' slices, of any lengths, to `root` and returns them there, by rank; `None` elsewhere.
    ///
    /// # Errors
    /// As for [`broadcast`](Self::broadcast).
    pub fn gather_slice<T: Plain>(&mut self, root: usize, values: &[T]) -> Result<Option<Vec<Vec<T>>>, Error> {
        let steps = prepared::gather_slice(&mut self.ends, root, values)?;
        self.run(steps)
    }

    #[inline(always)]
    fn run<T>(&mut self, mut steps: impl Steps<T>) -> Result<T, Error> {
        let result = steps(&mut self.ends)?;
        self.ends.completed += 1;
        Ok(result)
    }
}

/// The operation as engines know it, if any order of it gives the same bits.
pub(super) fn known<T: 'static, O: Op<T>>(op: &O) -> Option<(ValueKind, crate::op::PredefinedOp)> {
    Some((ValueKind::of::<T>()?, op.predefined()?)).filter(|(kind, _)| O::EXACT && kind.is_exact())
}

impl Drop for Member {
    /// Tells the other nodes if it leaves in a panic, or in the midst of an operation. Its place in its node's group is given up
    /// behind that.
    fn drop(&mut self) {
        let leader_of_parent = self.ends.near.ends().core.table.is_copy();
        if leader_of_parent {
            std::mem::forget(self.ends.leader.take());
            std::mem::forget(self.ends.lane_end.leader.take());
            return;
        }
        let loss = if std::thread::panicking() { Some(Loss::Panicked) } else { None };
        if let Some(loss) = loss.or(self.ends.is_pending.then_some(Loss::Left)) {
            let rank = self.ends.near.rank();
            let stands = self.ends.near.ends_mut().core.fail(rank, loss);
            let _ = self.ends.failed(stands);
        }
        let is_clean = self.ends.near.ends().core.check_fault().is_ok();
        self.ends.lane_end.leader.take().into_iter().for_each(|leader| leader.close(is_clean));
        let Some(leader) = self.ends.leader.take() else { return };
        match &self.home {
            Home::Threads(seat) => {
                let Ends { operation, completed, forms, .. } = self.ends;
                let far_plan = self.ends.far_plan.take();
                let mut seat = seat.lock().expect(HELD_BRIEFLY);
                *seat = Seat { leader: Some(leader), operation, completed, forms: Some(forms), far_plan };
            }
            Home::Own | Home::Candidate(_) => leader.close(is_clean),
        }
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member({} of {} on node {} of {})", self.rank(), self.size(), self.node(), self.nodes())
    }
}
