//! The state that every operation of one member uses: its rank, its waiter, the member table, and the number of the operation.

use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::Arc;
use corecast_base::wait::{LONGEST_SLEEP, Waiter};
use corecast_base::{Arena, ArenaError};
use corecast_channel::Plain;
use corecast_channel::ump::any::{Receiver as AnyReceiver, Sender as AnySender};

use crate::call::{Call, CallKind};
use crate::error::{Error, Interrupted, Loss};
use crate::link::Link;
use crate::membership::{GAVE_UP, MemberTable, SUCCEEDED, SUSPICIOUS};
use crate::missing::Missing;
use crate::stamp::Stamp;
use crate::wait_hook::WaitHook;

/// One member's place in its group. On lines of its own, as members may lie side by side in a vector.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Core {
    pub(crate) rank: usize,
    pub(crate) members: usize,
    /// Operations begun, which is the number of the current one.
    pub(crate) operation: u64,
    /// The stamp of the current operation.
    pub(crate) stamp: Stamp,
    pub(crate) waiter: Waiter,
    pub(crate) table: Arc<MemberTable>,
    /// The group's memory, behind everything that was laid out when the group was built.
    pub(crate) arena: Arena,
    /// The end of waits, in ticks: [`NEVER`], except while an operation with a limit runs.
    pub(crate) deadline: u64,
    /// True from the start of an operation that may be interrupted until it is finished.
    pub(crate) is_pending: bool,
    /// True once an operation has failed here. It is then the last one.
    has_failed: bool,
    /// The time, in ticks, after which a fruitless look also checks for members that have left or died.
    next_look: u64,
    /// The operation that opened an object, if it is the last one: it is complete, whatever the object's fate.
    opened: u64,
    /// The number of operations begun that do not count: all but one of a race.
    uncounted: u64,
    /// The marks in this member's seat beside the number of its operations, set once the group has failed.
    marks: u64,
    /// Called while this member waits.
    pub(crate) wait_hook: WaitHook,
}

/// Whether members compare their calls when they lay out memory. Not in models, whose members lay out the same: each word
/// that is read there doubles the runs.
const FINDS_DIFFERENCES_AT_ONCE: bool = !cfg!(loom);
/// Waits end when their condition holds.
pub(crate) const NEVER: u64 = u64::MAX;
/// Waits end after one look, without asking for missing members.
pub(crate) const NOW: u64 = 0;

impl Core {
    pub(crate) fn new(rank: usize, members: usize, waiter: Waiter, table: Arc<MemberTable>, arena: Arena) -> Self {
        Self {
            rank,
            members,
            operation: 0,
            stamp: Stamp::default(),
            waiter,
            table,
            arena,
            deadline: NEVER,
            is_pending: false,
            has_failed: false,
            next_look: 0,
            opened: 0,
            uncounted: 0,
            marks: 0,
            wait_hook: WaitHook::default(),
        }
    }

    /// Lays out memory for an object that all members create. Creating one is an operation like others: all members do it
    /// in the same order and `build` lays out the same types and lengths for it, so that they get the same memory. It stays
    /// theirs as long as the group lives. In the memory of processes this fails with [`Error::Memory`] at all members alike
    /// if the room is used up.
    ///
    /// Members that call different operations lay out different things. On the heap they lay out one after the other under
    /// a lock, so all but the first find the difference here, and build nothing on it.
    pub(crate) fn lay_out<R>(&mut self, build: impl FnOnce(&mut Arena) -> Result<R, ArenaError>) -> Result<R, Error> {
        let built = build(&mut self.arena);
        if FINDS_DIFFERENCES_AT_ONCE {
            self.check_calls()?;
        }
        Ok(built?)
    }

    /// Begins the next operation, unless the group has failed or one is pending.
    #[inline(always)]
    pub(crate) fn begin(&mut self, call: Call) -> Result<(), Error> {
        if self.is_pending {
            return Err(self.pending());
        }
        self.check_fault()?;
        self.enter(call);
        Ok(())
    }

    #[inline(always)]
    fn enter(&mut self, call: Call) {
        self.operation += 1;
        self.stamp = self.stamp.next(call);
        self.table.begin(self.rank, self.operation, call, self.stamp);
    }

    /// Makes the group fail if another member has called something else than this one.
    #[cold]
    fn check_calls(&mut self) -> Result<(), Error> {
        self.table.check_calls(self.rank, self.operation).map_err(|error| failed(&mut self.has_failed, error))
    }

    /// Tells the members of a part of the group that this member will not come.
    #[cold]
    pub(crate) fn give_up(&mut self) {
        self.mark(GAVE_UP);
    }

    /// Marks this member as having come to the group of survivors.
    pub(crate) fn succeed(&mut self) {
        self.mark(SUCCEEDED);
    }

    pub(crate) fn has_shrunk(&self) -> bool {
        self.marks & SUCCEEDED != 0
    }

    fn mark(&mut self, mark: u64) {
        self.marks |= mark;
        self.table.say(self.rank, self.seat_word());
    }

    /// The word of this member's seat.
    pub(crate) fn seat_word(&self) -> u64 {
        self.operation | self.marks
    }

    /// The number of operations that this member has completed.
    pub(crate) fn completed(&self) -> u64 {
        let failed = self.is_pending || self.has_failed && self.opened != self.operation;
        self.operation - self.uncounted - u64::from(failed)
    }

    /// Notes that the current operation has opened an object.
    pub(crate) fn open(&mut self) {
        self.opened = self.operation;
    }

    /// Lets only this number of the operations begun count.
    pub(crate) fn count_as_begun(&mut self, operations: u64) {
        self.uncounted = self.operation - operations;
    }

    /// Makes the group fail, from within an operation.
    #[cold]
    pub(crate) fn fail(&mut self, rank: usize, loss: Loss) -> Error {
        self.has_failed = true;
        self.table.report(rank, loss)
    }

    /// Notes that the current operation has failed: whatever may still come must not complete it.
    #[cfg(not(loom))]
    #[cold]
    pub(crate) fn end_operation(&mut self) {
        self.has_failed = true;
    }

    /// Marks this member as having come to its part. It counts as an operation of the group for which no member waits.
    pub(crate) fn come(&mut self) {
        self.enter(Call::of(CallKind::Split));
        self.table.say(self.rank, self.operation);
    }

    /// The reason why an operation cannot begin while one is pending: the group's failure comes first, as it may have ended
    /// that one.
    #[cold]
    fn pending(&self) -> Error {
        self.check_fault().err().unwrap_or(Error::Pending)
    }

    /// Fails if the current operation has failed before: a value that has come since must not complete it.
    pub(crate) fn check_own_failure(&self) -> Result<(), Error> {
        if self.has_failed { self.check_fault() } else { Ok(()) }
    }

    /// Fails if the group has failed, or belongs to another process.
    #[inline(always)]
    pub(crate) fn check_fault(&self) -> Result<(), Error> {
        if self.table.is_copy() {
            return Err(Error::Forked);
        }
        self.table.fault().map_or(Ok(()), Err)
    }

    /// Waits at the member's own wake word until `poll` finds something.
    #[inline(always)]
    pub(crate) fn wait_at_own_word<T>(&mut self, poll: impl FnMut() -> Option<T>) -> Result<T, Error> {
        let Self { rank, operation, waiter, table, deadline, has_failed, wait_hook, .. } = self;
        let look = |waited| Ok(check(table, *rank, *operation, *deadline, waited)?.min(wait_hook.call(waited)));
        let found = waiter.until(table.wake_word(*rank), poll, look);
        found.map_err(|error| failed(has_failed, error))
    }

    /// Waits at the wake word of all members at once until `poll` finds something.
    #[inline(always)]
    pub(crate) fn wait_at_common_word<T>(&mut self, poll: impl FnMut() -> Option<T>) -> Result<T, Error> {
        let Self { rank, operation, waiter, table, deadline, has_failed, wait_hook, .. } = self;
        let look = |waited| Ok(check(table, *rank, *operation, *deadline, waited)?.min(wait_hook.call(waited)));
        let found = waiter.until(&table.common, poll, look);
        found.map_err(|error| failed(has_failed, error))
    }

    /// Checks from time to time for members that have left or died, as waits do: for operations that have found nothing and
    /// do not wait, or not for long.
    pub(crate) fn look_around(&mut self) -> Result<(), Error> {
        let clock = Clock::get();
        let now = clock.ticks();
        if now < self.next_look {
            return Ok(());
        }
        self.next_look = now + clock.ticks_in(SUSPICIOUS);
        let found = self.table.check(self.rank, self.operation, SUSPICIOUS);
        found.map(drop).map_err(|error| failed(&mut self.has_failed, error))
    }

    /// Sends `value` along an edge.
    #[inline(always)]
    pub(crate) fn send<T: Plain>(&mut self, link: &mut Link, value: &T) -> Result<(), Error> {
        self.send_to(link.rank, &mut link.tx, value)
    }

    /// Sends `value` to a member over this sender, of a tree edge or another one.
    #[inline(always)]
    pub(crate) fn send_to<T: Plain>(&mut self, rank: usize, tx: &mut AnySender, value: &T) -> Result<(), Error> {
        tx.stamp(self.stamp.digest());
        let Self { rank: own, operation, waiter, table, deadline, wait_hook, .. } = self;
        let check = check_for_exchange(table, *own, *operation, *deadline, wait_hook);
        tx.send(value, waiter, check).map_err(|interrupted| self.blame(rank, interrupted))
    }

    /// Receives a value along an edge.
    #[inline(always)]
    pub(crate) fn recv<T: Plain>(&mut self, link: &mut Link) -> Result<T, Error> {
        self.recv_from(link.rank, &mut link.rx)
    }

    /// Receives a value from a member over this receiver, of a tree edge or another one.
    #[inline(always)]
    pub(crate) fn recv_from<T: Plain>(&mut self, rank: usize, rx: &mut AnyReceiver) -> Result<T, Error> {
        rx.expect(self.stamp.digest());
        let Self { rank: own, operation, waiter, table, deadline, wait_hook, .. } = self;
        let check = check_for_exchange(table, *own, *operation, *deadline, wait_hook);
        rx.recv(waiter, check).map_err(|interrupted| self.refuse(rank, rx, interrupted))
    }

    /// Sends some values to a member, in one message.
    #[inline(always)]
    pub(crate) fn send_part<T: Plain>(&mut self, rank: usize, tx: &mut AnySender, part: &[T]) -> Result<(), Error> {
        tx.stamp(self.stamp.digest());
        let Self { rank: own, operation, waiter, table, deadline, wait_hook, .. } = self;
        let check = check_for_exchange(table, *own, *operation, *deadline, wait_hook);
        tx.send_part(part, waiter, check).map_err(|interrupted| self.blame(rank, interrupted))
    }

    /// Receives values from a member, which were sent in one message, into the beginning of `into`; returns how many.
    #[inline(always)]
    pub(crate) fn recv_part<T: Plain>(
        &mut self,
        rank: usize,
        rx: &mut AnyReceiver,
        into: &mut [T],
    ) -> Result<usize, Error> {
        rx.expect(self.stamp.digest());
        let Self { rank: own, operation, waiter, table, deadline, wait_hook, .. } = self;
        let check = check_for_exchange(table, *own, *operation, *deadline, wait_hook);
        rx.recv_part(into, waiter, check).map_err(|interrupted| self.refuse(rank, rx, interrupted))
    }

    /// Turns an interrupted receive from `peer` into the group's failure, if the group has not failed already.
    #[cold]
    fn refuse(&mut self, peer: usize, rx: &mut AnyReceiver, interrupted: Interrupted) -> Error {
        match interrupted {
            Interrupted::WrongType if rx.is_stamped_otherwise() => self.mismatched(peer),
            other => self.blame(peer, other),
        }
    }

    /// Makes the group fail, as `peer` has sent a value of another operation.
    #[cold]
    pub(crate) fn mismatched(&mut self, peer: usize) -> Error {
        self.check_calls().err().unwrap_or_else(|| self.fail(peer, Loss::OutOfStep))
    }

    /// Turns an interrupted exchange with `peer` into the group's failure, if the group has not failed already.
    #[cold]
    fn blame(&mut self, peer: usize, interrupted: Interrupted) -> Error {
        let loss = match interrupted {
            Interrupted::Group(error) => return failed(&mut self.has_failed, error),
            Interrupted::Closed => Loss::Left,
            Interrupted::WrongType => Loss::Mismatched,
        };
        // The member with the other call may have left since.
        self.check_calls().err().unwrap_or_else(|| self.fail(peer, loss))
    }
}

/// Notes that an operation has failed, unless it can go on.
#[cold]
fn failed(has_failed: &mut bool, error: Error) -> Error {
    *has_failed |= !matches!(error, Error::Timeout { .. });
    error
}

/// Whether a wait in an operation may go on, and the longest time it may sleep.
fn check(table: &MemberTable, rank: usize, operation: u64, deadline: u64, waited: Duration) -> Result<Duration, Error> {
    let nap = table.check(rank, operation, waited)?;
    Ok(nap.min(nap_until(deadline, || table.missing(operation))?))
}

/// [`check`] for a wait at a channel. It is one closure for the values of all types, so that the slow paths of channels are
/// compiled once.
fn check_for_exchange(
    table: &MemberTable,
    rank: usize,
    operation: u64,
    deadline: u64,
    wait_hook: &mut WaitHook,
) -> impl FnMut(Duration) -> Result<Duration, Interrupted> {
    move |waited| {
        let nap = check(table, rank, operation, deadline, waited).map_err(Interrupted::Group)?;
        Ok(nap.min(wait_hook.call(waited)))
    }
}

/// The longest time that a wait with this deadline may sleep; after the deadline, the missing members.
#[inline]
pub(crate) fn nap_until(deadline: u64, missing: impl FnOnce() -> Missing) -> Result<Duration, Error> {
    match deadline {
        NEVER => Ok(LONGEST_SLEEP),
        NOW => Err(Error::Timeout { missing: Missing::default() }),
        deadline => {
            let clock = Clock::get();
            match deadline.saturating_sub(clock.ticks()) {
                0 => Err(Error::Timeout { missing: missing() }),
                left => Ok(LONGEST_SLEEP.min(clock.duration(left))),
            }
        }
    }
}
