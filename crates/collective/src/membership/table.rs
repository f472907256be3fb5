//! The member table: the state of every member, and the word that marks the group as failed.
//!
//! The fault is not written while all is well, so every member may look at it for the price of a cached load. Waiters look
//! once in a while; a member that changes something wakes all, so that sleepers look too.
//!
//! A member that leaves in peace records the number of operations it has begun. That is no failure for members that wait in
//! an operation it has taken part in (a leaf may leave while the root still waits for others), and is one for those that
//! wait in a later operation.
//!
//! Each member also notes the operations it begins, in a log of its own that no other member reads until one has waited
//! long or a time limit has passed. Then the error names the members that called something else, and those that lag.

use std::time::Duration;

use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::wait::WakeWord;
use corecast_base::wait::{LONGEST_SLEEP, WakeCell};
use corecast_base::{Arena, ArenaError, CacheLine, Place, PlaceSlice};

use super::{CallLog, Difference, MemberProcesses, Origin};
use crate::call::Call;
use crate::error::{Error, Loss};
use crate::missing::Missing;
use crate::stamp::Stamp;

/// After a wait this long, a member checks for others that have left.
pub(crate) const SUSPICIOUS: Duration = Duration::from_millis(10);

/// Set in a seat's word once its member has left.
pub(crate) const LEFT: u64 = 1 << 63;
/// Set once its member has failed to come to a part of the group: see `origin.rs`.
pub(crate) const GAVE_UP: u64 = 1 << 62;
/// Set once its member has come to the group of survivors.
pub(crate) const SUCCEEDED: u64 = 1 << 61;
/// The operations that the member had begun when it last wrote the word: when it took the seat, left, or changed a mark.
pub(crate) const COUNT: u64 = SUCCEEDED - 1;

/// The state of all members of a group: one for each process, over the same memory.
#[derive(Debug)]
pub(crate) struct MemberTable {
    /// 0, or the first fault: loss code << 32 | rank, or [`MISMATCHED`] with ranks and calls. Set once, by the first member
    /// that finds a fault.
    fault: Place<CacheLine<AtomicU64>>,
    /// One word per member: [`COUNT`], [`LEFT`], [`GAVE_UP`],
    /// [`SUCCEEDED`]. Written by the holder of the member's ends.
    seats: PlaceSlice<CacheLine<AtomicU64>>,
    /// The calls of each member.
    calls: CallLog,
    /// The wake words on which members sleep, one each.
    wake_words: Box<[WakeWord]>,
    /// The wake word on which members sleep that wait for all of a group at one place.
    pub(crate) common: WakeWord,
    /// The live members, where they are processes.
    pub(crate) processes: Option<Arc<MemberProcesses>>,
    /// The group that this is a part of.
    origin: Option<Origin>,
}

impl MemberTable {
    /// Lays out the first lines of a group. `wake_word` makes a wake word of its memory.
    pub(crate) fn lay_out(
        arena: &mut Arena,
        members: usize,
        wake_word: impl Fn(Place<CacheLine<WakeCell>>) -> WakeWord,
    ) -> Result<Self, ArenaError> {
        let (fault, seats) = (arena.place()?, arena.slice(members)?);
        let calls = CallLog::lay_out(arena, members)?;
        let cells = arena.slice(members)?;
        let wake_words = (0..members).map(|rank| wake_word(cells.place(rank).expect("one for each member"))).collect();
        Ok(Self { fault, seats, calls, wake_words, common: wake_word(arena.place()?), processes: None, origin: None })
    }

    /// The same for members that are processes.
    pub(crate) fn counted_by(self, processes: Arc<MemberProcesses>) -> Self {
        Self { processes: Some(processes), ..self }
    }

    /// The same for a part of a group.
    pub(crate) fn part_of(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// True in a forked child of a process that is a member: it has none of the group's memory.
    #[inline(always)]
    pub(crate) fn is_copy(&self) -> bool {
        self.processes.as_ref().is_some_and(|processes| processes.is_copy())
    }

    pub(crate) fn wake_word(&self, rank: usize) -> &WakeWord {
        &self.wake_words[rank]
    }

    /// Takes the seat of a member, by the holder of its ends.
    pub(crate) fn take_seat(&self, rank: usize, operations: u64) {
        // ORDERING: Relaxed, the word carries nothing but itself; the member's ends pass from hand to hand under a lock
        self.seats[rank].store(operations, Ordering::Relaxed);
    }

    /// Notes that a member begins its `number`-th operation.
    #[inline(always)]
    pub(crate) fn begin(&self, rank: usize, number: u64, call: Call, stamp: Stamp) {
        self.calls.note(rank, number, call, stamp);
    }

    /// Notes the number of operations that a member has begun, and its marks.
    pub(crate) fn say(&self, rank: usize, seat_word: u64) {
        // ORDERING: Relaxed, the word is all there is to say
        self.seats[rank].store(seat_word, Ordering::Relaxed);
    }

    /// The word of a member's seat.
    pub(crate) fn seat_word(&self, rank: usize) -> u64 {
        // ORDERING: Relaxed, the word is all there is to read
        self.seats[rank].load(Ordering::Relaxed)
    }

    /// The members that have not begun the `operation`-th operation.
    #[cold]
    pub(crate) fn missing(&self, operation: u64) -> Missing {
        // ORDERING: Relaxed, a count for people
        let began = |rank: usize| self.seats[rank].load(Ordering::Relaxed) & COUNT;
        let has_begun = |rank: usize| self.calls.has_begun(rank, operation) || began(rank) >= operation;
        Missing::of((0..self.seats.len()).filter(|&rank| !has_begun(rank)))
    }

    /// Leaves the seat after having begun `operations`, before the ends are given up: the next member takes it after that.
    pub(crate) fn leave(&self, rank: usize, operations: u64) {
        // ORDERING: Relaxed, see take_seat for the ends; a waiter only compares the count
        self.seats[rank].store(LEFT | operations, Ordering::Relaxed);
        self.wake_all();
    }

    /// Makes the group fail, unless it has failed already; returns the fault that stands.
    pub(crate) fn report(&self, rank: usize, loss: Loss) -> Error {
        self.report_word(encode(rank, loss))
    }

    /// Makes the group fail if another member has called something else than the member `rank`, which has begun `operation`
    /// operations.
    #[cold]
    pub(crate) fn check_calls(&self, rank: usize, operation: u64) -> Result<(), Error> {
        match self.calls.difference(rank, operation) {
            None => Ok(()),
            Some(Difference::Earlier { rank }) => Err(self.report(rank, Loss::OutOfStep)),
            Some(Difference::Calls { rank, called, other, expected }) => {
                Err(self.report_word(encode_calls([rank, other], [called, expected])))
            }
        }
    }

    fn report_word(&self, word: u64) -> Error {
        // ORDERING: Relaxed, the word is all there is to say; the wake words' fences carry it to sleepers
        let stands = self.fault.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(word);
        self.wake_all();
        self.decode(stands)
    }

    /// The fault that made the group fail.
    #[inline(always)]
    pub(crate) fn fault(&self) -> Option<Error> {
        // ORDERING: Relaxed, the word is all there is to read
        match self.fault.load(Ordering::Relaxed) {
            0 => None,
            word => Some(self.decode(word)),
        }
    }

    /// Whether a wait of the member `rank` in its `operation`-th operation (from 1) may go on, and the longest time it may
    /// sleep.
    pub(crate) fn check(&self, rank: usize, operation: u64, waited: Duration) -> Result<Duration, Error> {
        if let Some(fault) = self.fault() {
            return Err(fault);
        }
        if waited < SUSPICIOUS {
            return Ok(SUSPICIOUS);
        }
        // Before the check for members that have left: a member with another call may have left since.
        self.check_calls(rank, operation)?;
        match self.first_missing(operation) {
            // A fault of the whole group: the operation ends here with messages half way, which no member may take for
            // those of a later one.
            Some(rank) => Err(self.report(rank, Loss::Left)),
            None => self.check_alive().map(|()| LONGEST_SLEEP),
        }
    }

    /// Whether all members that have not left are alive, unless a member in this process has just asked.
    pub(crate) fn check_alive(&self) -> Result<(), Error> {
        let dead = self.processes.as_ref().and_then(|processes| processes.first_dead(|rank| self.has_left(rank)));
        dead.map_or(Ok(()), |rank| Err(self.report(rank, Loss::Died)))
    }

    /// The members among these that have left or will never come, or, after a wait long enough for the check, are dead.
    pub(crate) fn gone_among(&self, ranks: impl Iterator<Item = usize>, waited: Duration) -> Vec<usize> {
        let is_absent = |rank| self.origin.as_ref().is_some_and(|origin| origin.is_absent(rank));
        let (mut gone, others): (Vec<_>, Vec<_>) = ranks.partition(|&rank| self.has_left(rank) || is_absent(rank));
        if waited >= SUSPICIOUS {
            gone.extend(self.processes.iter().flat_map(|processes| processes.dead_among(&others)));
        }
        gone
    }

    fn has_left(&self, rank: usize) -> bool {
        // ORDERING: Relaxed, written before the process gave up its place in the region, which the asking member has seen
        self.seats[rank].load(Ordering::Relaxed) & LEFT != 0
    }

    /// A member that has left before it began the `operation`-th operation, or will not come at all.
    fn first_missing(&self, operation: u64) -> Option<usize> {
        let left = self.seats.iter().position(|seat| {
            // ORDERING: Relaxed, a member that left before this operation has no part in it, whatever else is visible
            let word = seat.load(Ordering::Relaxed);
            word & LEFT != 0 && word & COUNT < operation
        });
        left.or_else(|| self.origin.as_ref()?.first_absent())
    }

    /// The fault in a word that is not 0. Among processes, another program may have written it.
    fn decode(&self, word: u64) -> Error {
        if word & MISMATCHED != 0 {
            return decode_calls(word, self.seats.len()).unwrap_or(Error::Corrupt);
        }
        let (code, rank) = ((word >> 32) as u32, word as u32 as usize);
        match Loss::of_code(code) {
            Some(loss) if rank < self.seats.len() => Error::MemberLost { rank, loss },
            _ => Error::Corrupt,
        }
    }

    /// Wakes all members, to look around.
    pub(crate) fn wake_all(&self) {
        self.wake_words.iter().for_each(|wake_word| wake_word.notify());
        self.common.notify();
    }
}

/// Set in a fault that is two ranks and their calls.
const MISMATCHED: u64 = 1 << 63;
const RANK_BITS: u32 = 12;
const _: () = assert!(crate::MAX_MEMBERS <= 1 << RANK_BITS && 2 * (RANK_BITS + Call::BITS) < u64::BITS);

fn encode(rank: usize, loss: Loss) -> u64 {
    u64::from(loss.code()) << 32 | rank as u64
}

/// [`MISMATCHED`], and from the lowest bits on the second call, the first one, the second rank and the first one.
fn encode_calls(ranks: [usize; 2], calls: [Call; 2]) -> u64 {
    let [rank, other] = ranks.map(|rank| rank as u64);
    let [called, expected] = calls.map(Call::word);
    MISMATCHED | ((rank << RANK_BITS | other) << Call::BITS | called) << Call::BITS | expected
}

fn decode_calls(word: u64, members: usize) -> Option<Error> {
    let rank = |shift: u32| Some((word >> shift) as usize & ((1 << RANK_BITS) - 1)).filter(|&rank| rank < members);
    let call = |shift: u32| Call::of_word(word >> shift & ((1 << Call::BITS) - 1), members);
    let (other, first) = (rank(2 * Call::BITS)?, rank(2 * Call::BITS + RANK_BITS)?);
    Some(Error::Mismatched { rank: first, called: call(Call::BITS)?, other, expected: call(0)? })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::call::CallKind;
    use crate::error::LOSSES;
    use corecast_base::wait::{Wait, WakeWord};

    fn table(members: usize) -> MemberTable {
        let wake_word = |cell| WakeWord::of_threads(Wait::Adaptive, cell);
        MemberTable::lay_out(&mut Arena::heap(), members, wake_word).expect("the heap has room")
    }

    #[test]
    fn the_first_fault_stands() {
        let table = table(3);
        assert_eq!(table.fault(), None);
        table.report(2, Loss::Panicked);
        table.report(1, Loss::Mismatched);
        assert_eq!(table.fault(), Some(Error::MemberLost { rank: 2, loss: Loss::Panicked }));
    }

    #[test]
    fn a_word_that_no_member_writes_is_damage() {
        let table = table(2);
        for word in [1, 2 << 32 | 2, 8 << 32, MISMATCHED, u64::MAX] {
            table.fault.store(word, Ordering::Relaxed);
            assert_eq!(table.fault(), Some(Error::Corrupt), "{word:#x}");
        }
        for loss in LOSSES {
            table.fault.store(encode(1, loss), Ordering::Relaxed);
            assert_eq!(table.fault(), Some(Error::MemberLost { rank: 1, loss }));
        }
        let (called, expected) = (Call::rooted(CallKind::Reduce, 1), Call::of(CallKind::Race));
        table.fault.store(encode_calls([1, 0], [called, expected]), Ordering::Relaxed);
        assert_eq!(table.fault(), Some(Error::Mismatched { rank: 1, called, other: 0, expected }));
    }

    #[test]
    fn members_that_call_different_operations_are_told_so_after_a_while() {
        let table = table(3);
        let (called, expected) = (Call::rooted(CallKind::Reduce, 1), Call::of(CallKind::Barrier));
        table.begin(0, 1, expected, Stamp::default().next(expected));
        table.begin(2, 1, called, Stamp::default().next(called));
        assert_eq!(table.check(0, 1, Duration::ZERO), Ok(SUSPICIOUS), "a short wait is not worth the look");
        let told = Error::Mismatched { rank: 2, called, other: 0, expected };
        assert_eq!(table.check(2, 1, SUSPICIOUS), Err(told));
        assert_eq!(table.check(0, 1, Duration::ZERO), Err(told));
    }

    #[test]
    fn those_who_lag_are_missing() {
        let table = table(3);
        let call = Call::of(CallKind::Barrier);
        let begin = |rank, number| table.begin(rank, number, call, Stamp::default().next(call));
        [(0, 1), (0, 2), (2, 1)].into_iter().for_each(|(rank, number)| begin(rank, number));
        table.leave(2, 1);
        let missing = |operation| table.missing(operation).ranks().collect::<Vec<_>>();
        assert_eq!([missing(1), missing(2), missing(3)], [vec![1], vec![1, 2], vec![0, 1, 2]]);
    }

    #[test]
    fn leaving_is_a_fault_only_for_later_operations() {
        let table = table(2);
        table.take_seat(1, 0);
        table.leave(1, 5);
        let left = Err(Error::MemberLost { rank: 1, loss: Loss::Left });
        assert_eq!(table.check(0, 5, SUSPICIOUS), Ok(LONGEST_SLEEP));
        assert_eq!(table.check(0, 6, Duration::ZERO), Ok(SUSPICIOUS), "a short wait is not worth the look");
        table.take_seat(1, 5);
        assert_eq!(table.check(0, 6, SUSPICIOUS), Ok(LONGEST_SLEEP), "somebody sits there again");
        table.leave(1, 5);
        assert_eq!(table.check(0, 6, SUSPICIOUS), left);
        assert_eq!(table.check(0, 5, Duration::ZERO), left, "once found, it is a fault of the group");
    }
}
