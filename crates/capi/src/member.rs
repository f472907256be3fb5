//! One participant of a group and the operations it calls.

use std::ffi::c_void;
use std::sync::Arc;

use corecast::collective::nodes::{Error as FarError, Member as FarPlace};
use corecast::collective::{Error, Plain};
use corecast::machine::pin;
use corecast::{CpuId, Member as Place};

use crate::argument::elements_mut;
use crate::cluster_place::ClusterPlace;
use crate::error::Failure;
use crate::home::Home;
use crate::number::{ForNumbers, KnownOperation, for_numbers};
use crate::status::Status;

/// One participant of a group. One thread at a time uses it.
///
/// All members call the same operations, with the same roots, lengths and types, in the same order. An operation that
/// returns CORECAST_LOST leaves the group failed, for all members: one has panicked, died, left while others waited for it,
/// or called another operation; corecast_member_lost says which member.
///
/// An object made of a member - a coordinator, a participant of commits, a stream, an end of an acknowledged broadcast, a
/// started operation - has the member's place in the group until it is closed. Meanwhile the member's own operations return
/// CORECAST_INVALID_ARGUMENT.
#[derive(Debug)]
pub struct Member {
    /// `None` while an object that was made of this member has it.
    place: Option<Box<Place>>,
    home: Arc<Home>,
    pub(crate) rank: u32,
    members: u32,
    /// The CPU to which the thread of the first operation is still to be bound.
    unbound: Option<CpuId>,
    /// Its place in a group over several machines, and then it has no other.
    far: Option<Box<FarPlace>>,
}

impl Member {
    pub(crate) fn new(place: Place) -> Self {
        let (rank, members) = (place.rank() as u32, place.size() as u32);
        Self { place: Some(Box::new(place)), home: Arc::default(), rank, members, unbound: None, far: None }
    }

    /// The same, which binds the thread of the first operation to this CPU, if there is one.
    pub(crate) fn on_thread(place: Place, cpu: Option<CpuId>) -> Self {
        Self { unbound: cpu, ..Self::new(place) }
    }

    /// A member of a group over several machines.
    pub(crate) fn far(place: FarPlace) -> Self {
        let (rank, members) = (place.rank() as u32, place.size() as u32);
        Self { place: None, home: Arc::default(), rank, members, unbound: None, far: Some(Box::new(place)) }
    }

    pub(crate) fn cluster_info(&self) -> Result<ClusterPlace, Failure> {
        let far = self.far.as_deref().ok_or_else(|| unsupported("this member's group is within one machine"))?;
        let (node, rank) = far.place_of(far.rank())?;
        let [nodes, node, members, rank] = [far.nodes(), node, far.members_of(node), rank].map(|number| number as u32);
        Ok(ClusterPlace { nodes, node, members_here: members, rank_here: rank })
    }

    pub(crate) fn members(&self) -> usize {
        self.members as usize
    }

    pub(crate) fn home(&self) -> &Arc<Home> {
        &self.home
    }

    /// Its place in the group, unless an object that was made of it has that.
    #[inline]
    fn place(&mut self) -> Result<&mut Place, Failure> {
        if self.far.is_some() {
            return Err(unsupported("groups over several machines have no such operation"));
        }
        if let Some(cpu) = self.unbound {
            pin::pin(cpu).map_err(|error| Failure::new(Status::System, error.to_string()))?.forever();
            self.unbound = None;
        }
        if self.place.is_none() {
            self.place = self.home.take_back();
        }
        self.place.as_deref_mut().ok_or_else(|| Error::Pending.into())
    }

    /// Its place, for an object.
    pub(crate) fn take_place(&mut self) -> Result<Box<Place>, Failure> {
        self.place()?;
        Ok(self.place.take().expect("looked for above"))
    }

    /// The part that all operations share.
    #[inline]
    pub(crate) fn operate<R>(&mut self, operation: impl FnOnce(&mut Place) -> Result<R, Error>) -> Result<R, Failure> {
        let result = operation(self.place()?);
        result.map_err(|error| self.home.failure(error))
    }
}

impl Member {
    /// An operation that there is in groups over several machines too.
    #[inline]
    pub(crate) fn operate_anywhere<R>(
        &mut self,
        operation: impl FnOnce(&mut Place) -> Result<R, Error>,
        far_operation: impl FnOnce(&mut FarPlace) -> Result<R, FarError>,
    ) -> Result<R, Failure> {
        match &self.far {
            None => self.operate(operation),
            Some(_) => self.operate_far(far_operation),
        }
    }

    pub(crate) fn is_far(&self) -> bool {
        self.far.is_some()
    }

    /// An operation of a member of a group over several machines.
    pub(crate) fn operate_far<R>(
        &mut self,
        operation: impl FnOnce(&mut FarPlace) -> Result<R, FarError>,
    ) -> Result<R, Failure> {
        let far = self.far.as_deref_mut().expect("looked for by the caller");
        operation(far).map_err(|error| self.home.far_failure(error))
    }
}

#[cold]
fn unsupported(why: &'static str) -> Failure {
    Failure::new(Status::Unsupported, why)
}

/// A reduction of the numbers there, to all where there is no root.
struct Reduction<'a> {
    member: &'a mut Member,
    numbers: *mut c_void,
    root: Option<usize>,
    /// A corecast_op.
    op: u32,
}

impl ForNumbers for Reduction<'_> {
    type Output = ();

    fn with<T: Plain>(self, count: usize, combine: fn(T, T) -> T) -> Result<(), Failure> {
        // SAFETY: C passes `count` numbers of this type, readable and writable, which nothing else reaches meanwhile.
        let numbers = unsafe { elements_mut(self.numbers.cast::<T>(), count, "numbers") }?;
        match (&self.member.far, self.root) {
            (None, Some(root)) => self.member.operate(|place| place.reduce_slice(root, numbers, combine)),
            (None, None) => self.member.operate(|place| place.allreduce_slice(numbers, combine)),
            (Some(_), Some(root)) => self.member.operate_far(|place| place.reduce_slice(root, numbers, combine)),
            (Some(_), None) => self.member.operate_far(|place| match KnownOperation::of(self.op, combine) {
                // The library between the machines can do it as well.
                Some(known) => place.allreduce_slice_with(numbers, known),
                None => place.allreduce_slice(numbers, combine),
            }),
        }
    }
}

c_functions! {
    /// Leaves the group; NULL is none. Members that wait for this one in an operation that it has not begun get
    /// CORECAST_LOST. While an object made of it is open, it leaves when that object is closed.
    closing fn corecast_member_leave(member: Member);

    /// Its number, from 0; 0 for NULL.
    safe fn corecast_member_rank(member: Option<&Member>) => (u32) {
        member.map_or(0, |member| member.rank)
    }

    /// The number of members of its group; 0 for NULL.
    safe fn corecast_member_members(member: Option<&Member>) => (u32) {
        member.map_or(0, |member| member.members)
    }

    /// The rank of the member that was lost, after CORECAST_LOST; -1 before, and for NULL.
    safe fn corecast_member_lost(member: Option<&Member>) => (i32) {
        member.and_then(|member| member.home.lost()).map_or(-1, |rank| rank as i32)
    }

    /// Returns when every member has entered. All members see what any member wrote before.
    safe fn corecast_member_barrier(member: &mut Member) {
        member.operate_anywhere(Place::barrier, FarPlace::barrier)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds. After CORECAST_TIMEOUT, whose message names the missing
    /// members, this member has entered and can only leave.
    safe fn corecast_member_barrier_timeout_ns(member: &mut Member, timeout_ns: Duration) {
        member.operate_anywhere(
            |place| place.start().barrier().and_then(|mut started| started.finish_timeout(timeout_ns)),
            |place| place.start().barrier().and_then(|mut started| started.finish_timeout(timeout_ns)),
        )?
    }

    /// Gives the root's `len` bytes to all others, whose `len` bytes they replace. 0 bytes are a message too: it arrives
    /// when the root has called.
    unsafe fn corecast_member_broadcast(member: &mut Member, root: u32, data: bytes_mut[len]) {
        match member.is_far() {
            false => member.operate(|place| place.broadcast_slice(root as usize, data))?,
            true => member.operate_far(|place| place.broadcast_slice(root as usize, data))?,
        }
    }

    /// Combines the `count` numbers of all members, first with first and so on, and leaves the results in the root's
    /// `numbers`; those of the others are of no use afterwards. `number` is a corecast_number, their type; `op` a
    /// corecast_op.
    unsafe fn corecast_member_reduce(
        member: &mut Member,
        root: u32,
        numbers: *mut c_void,
        count: usize,
        number: u32,
        op: u32
    ) {
        for_numbers(number, op, count, Reduction { member, numbers, root: Some(root as usize), op })?
    }

    /// The same with the results in all members' `numbers`, the same bits in each.
    unsafe fn corecast_member_allreduce(member: &mut Member, numbers: *mut c_void, count: usize, number: u32, op: u32) {
        for_numbers(number, op, count, Reduction { member, numbers, root: None, op })?
    }
}
