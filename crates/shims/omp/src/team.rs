//! A team: the words that its members share in one region after the other, and the seat of each.

use std::cell::Cell;
use std::ffi::c_void;
use std::fmt;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicPtr, AtomicU64, Ordering, UnsafeCell};
use corecast_base::wait::Waiter;

use crate::lines::{Crossing, Position, Shape, TeamLines};
use crate::patience::{count_threads, members_of_all, policy, waiter_for};
use crate::runtime::{Body, Runtime};

/// The words of the teams that one thread forks at one nesting depth, one region after the other. They live until the process
/// ends: when the thread ends another one takes them.
#[repr(C)]
pub(crate) struct Team {
    /// The first word of the region's own data. The entry for task reductions reads it, and is handed a team in place of the
    /// data.
    first_word: UnsafeCell<usize>,
    /// Written by the master before the fork, read by the members.
    region: UnsafeCell<Region>,
    /// The last interval that was ended in an earlier region. Written by the master after the join.
    base: AtomicU64,
    /// The last interval that member 0 has ended. Written by member 0, read by the master after the join.
    last: AtomicU64,
    /// The values of a `copyprivate` clause. Written by the member that executes the `single` construct, read by the others.
    copy: AtomicPtr<c_void>,
    /// The number of the last `single` construct that a member has taken. Written by the member that takes it, read by all.
    single: CacheLine<AtomicU64>,
    /// The number of the last one of earlier regions. Written by the master after the join.
    single_base: AtomicU64,
    /// The threads for which it counts among those of all teams; 0 while no thread has it. Written by the master, or by the
    /// thread that takes it or gives it back.
    counted: Cell<usize>,
    /// True if a member of another team has forked it: runtimes end its threads with the region. Written by the master.
    is_nested: Cell<bool>,
    lines: TeamLines,
    members: Box<[CacheLine<MemberState>]>,
}

/// The place of a thread in its team.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    /// Null if the thread is in no team that is served.
    pub(crate) team: *const Team,
    /// The runtime whose team it is.
    pub(crate) runtime: *const Runtime,
    /// The answer of `omp_get_level` in the team's region.
    pub(crate) level: i32,
    pub(crate) tid: u32,
    /// The number of members; 0 until the thread has asked for it, which it does at the region's first barrier.
    pub(crate) size: u32,
    /// The number of the interval between two barriers in which the thread is. It grows when the thread *leaves* a barrier: a
    /// task that it runs inside the barrier may create another task, which belongs to the interval that is ending.
    pub(crate) interval: u64,
    /// The number of the last `single` construct that the thread has come to. All members come to all of them.
    pub(crate) single: u64,
}

impl Seat {
    /// In no team.
    pub(crate) const NONE: Self =
        Self { team: std::ptr::null(), runtime: std::ptr::null(), level: 0, tid: 0, size: 0, interval: 0, single: 0 };
}

#[derive(Clone, Copy)]
struct Region {
    body: Option<Body>,
    data: *mut c_void,
    runtime: *const Runtime,
    level: i32,
}

impl Region {
    /// True if all words are the same.
    fn is(&self, other: &Self) -> bool {
        let address = |region: &Self| region.body.map(|body| body as *const c_void);
        address(self) == address(other)
            && self.data == other.data
            && self.runtime == other.runtime
            && self.level == other.level
    }
}

/// The state of one member. Only the thread that has the member's number in the present region touches it; the runtime's fork and
/// join order one such thread after the other.
#[derive(Default)]
struct MemberState {
    /// Made for a number of members to reckon with.
    waiter: UnsafeCell<Option<(usize, Waiter)>>,
}

// SAFETY: each field names the threads that read and write it; the runtime's fork and join lie between a write and a read.
unsafe impl Sync for Team {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Team {}

impl Team {
    /// A team of at most `capacity` members.
    pub(crate) fn new(capacity: usize) -> Self {
        let region = Region { body: None, data: std::ptr::null_mut(), runtime: std::ptr::null(), level: 0 };
        Self {
            first_word: UnsafeCell::new(0),
            region: UnsafeCell::new(region),
            base: AtomicU64::new(0),
            last: AtomicU64::new(0),
            copy: AtomicPtr::new(std::ptr::null_mut()),
            single: CacheLine::new(AtomicU64::new(0)),
            single_base: AtomicU64::new(0),
            counted: Cell::new(0),
            is_nested: Cell::new(false),
            lines: TeamLines::new(capacity, Shape::PLANNED, policy()),
            members: (0..capacity).map(|_| CacheLine::default()).collect(),
        }
    }

    /// The most members that it can have.
    pub(crate) fn capacity(&self) -> usize {
        self.lines.capacity()
    }

    /// Counts the threads that a region of this many members adds to those of all teams: a master that is a member of another
    /// team was counted there. Called by the master before it forks.
    #[inline]
    pub(crate) fn count(&self, members: usize, is_nested: bool) {
        self.is_nested.set(is_nested);
        self.count_added(members - usize::from(is_nested));
    }

    /// Counts it no more. Called by the thread that gives it back.
    pub(crate) fn forget(&self) {
        self.count_added(0);
    }

    #[inline]
    fn count_added(&self, threads: usize) {
        if self.counted.get() != threads {
            count_threads(self.counted.replace(threads), threads);
        }
    }

    /// Tells the members of the next region what to do.
    ///
    /// # Safety
    /// - Called by the team's master, which is not inside a region of this team.
    pub(crate) unsafe fn open(&self, body: Option<Body>, data: *mut c_void, runtime: &Runtime, level: i32) {
        let region = Region { body, data, runtime, level };
        // The same region again leaves the line as the members have it: to take it from them costs more than all else here.
        if !self.region().is(&region) {
            // SAFETY: no other thread has the team now, by the caller.
            self.region.with_mut(|place| unsafe { place.write(region) });
        }
    }

    /// Copies the first word of the region's data to where the runtime reads it.
    ///
    /// # Safety
    /// - As for [`open`](Self::open), and `data` points to a word at least.
    pub(crate) unsafe fn copy_first_word(&self, data: *const usize) {
        // SAFETY: a word, by the caller.
        let word = unsafe { data.read_unaligned() };
        // SAFETY: no other thread has the team now, by the caller.
        self.first_word.with_mut(|place| unsafe { place.write(word) });
    }

    /// Takes back what is left of the region, after the join. A task of its last interval, which no barrier has ended, counts as
    /// one of the next region's first: that one's first barrier is the runtime's.
    pub(crate) fn close(&self) {
        // ORDERING: Relaxed, the runtime's join orders what member 0 wrote before it
        let (base, last) = (self.base.load(Ordering::Relaxed), self.last.load(Ordering::Relaxed));
        if base != last {
            // ORDERING: Relaxed, the runtime's fork orders it
            self.base.store(last, Ordering::Relaxed);
        }
        // ORDERING: Relaxed, the runtime's join orders what the members wrote
        let (base, last) = (self.single_base.load(Ordering::Relaxed), self.single.load(Ordering::Relaxed));
        if base != last {
            // ORDERING: Relaxed, the runtime's fork orders it
            self.single_base.store(last, Ordering::Relaxed);
        }
        if self.is_nested.get() {
            self.forget();
        }
    }

    /// A seat in the open region whose holder has not asked for its number yet. To ask takes a line of the runtime's team from
    /// the master, which has just written it: a tenth of a microsecond and more, in vain where a region has no barrier.
    pub(crate) fn unasked_seat(&self) -> Seat {
        let Region { runtime, level, .. } = self.region();
        Seat { team: self, runtime, level, ..Seat::NONE }
    }

    /// The seat of a member in the open region; none if the team is too small to need barriers, or too large.
    pub(crate) fn seat(&self, tid: usize, size: usize) -> Seat {
        if size < 2 || size > self.capacity() || tid >= size {
            return Seat::NONE;
        }
        let Region { runtime, level, .. } = self.region();
        self.prepare_waiter(tid, size, self.runtime());
        let (interval, single) = (self.first_interval(), self.earlier_singles());
        Seat { team: self, runtime, level, tid: tid as u32, size: size as u32, interval, single }
    }

    /// The body of the open region, and its data.
    pub(crate) fn body(&self) -> (Option<Body>, *mut c_void) {
        let Region { body, data, .. } = self.region();
        (body, data)
    }

    /// The runtime of the open region.
    pub(crate) fn runtime(&self) -> &'static Runtime {
        // SAFETY: opened with a runtime, which lives until the process ends.
        unsafe { &*self.region().runtime }
    }

    /// Remembers the last interval that member 0 has ended. A thread that has no seat in the region, or has not asked for its
    /// number, has ended none.
    pub(crate) fn leave(seat: Seat) {
        // SAFETY: null, or a team, which lives until the process ends, and whose region lasts until all members have ended it.
        let Some(team) = (unsafe { seat.team.as_ref() }).filter(|_| seat.tid == 0 && seat.size != 0) else { return };
        let ended = seat.interval - 1;
        // ORDERING: Relaxed, read after the join
        if team.last.load(Ordering::Relaxed) != ended {
            // ORDERING: Relaxed, read after the join
            team.last.store(ended, Ordering::Relaxed);
        }
    }

    /// Announces a task that the member is about to create. One that has not asked for its number yet is in the region's first
    /// interval.
    #[inline]
    pub(crate) fn announce_task(&self, seat: Seat) {
        match seat.size {
            0 => self.lines.announce_task(self.first_interval(), self.capacity()),
            size => self.lines.announce_task(seat.interval, size as usize),
        }
    }

    /// Crosses the barrier at the end of the member's interval, or not.
    #[inline]
    pub(crate) fn cross(&self, seat: Seat) -> Crossing {
        let me = Position { tid: seat.tid as usize, size: seat.size as usize };
        self.members[me.tid].waiter.with_mut(|waiter| {
            // SAFETY: only this thread has the member's number.
            match unsafe { &mut *waiter } {
                Some((_, waiter)) => self.lines.cross(me, seat.interval, waiter),
                // The seat has made one. Not reached, and the runtime's barrier would be wrong for one member alone.
                None => unreachable!("a seat makes the member's waiter"),
            }
        })
    }

    /// True for the one member that takes the `single` construct of this number. Each member asks for all numbers in turn.
    #[inline]
    pub(crate) fn takes_single(&self, number: u64) -> bool {
        // A member that comes later only reads. 16 that came together had written the runtime's word 16 times.
        // ORDERING: Relaxed, the word decides alone; the construct promises no order without the barrier behind it
        let last = self.single.load(Ordering::Relaxed);
        // ORDERING: Relaxed, as at the access above
        last < number && self.single.compare_exchange(last, number, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Shows the values of a `copyprivate` clause.
    pub(crate) fn show_copy(&self, values: *mut c_void) {
        // ORDERING: Relaxed, the barrier that follows orders it
        self.copy.store(values, Ordering::Relaxed);
    }

    /// The values that were shown before the barrier that this member has crossed.
    pub(crate) fn shown_copy(&self) -> *mut c_void {
        // ORDERING: Relaxed, the barrier before orders it
        self.copy.load(Ordering::Relaxed)
    }

    /// The first interval of the open region.
    fn first_interval(&self) -> u64 {
        // ORDERING: Relaxed, written by the master before the fork
        self.base.load(Ordering::Relaxed) + 1
    }

    /// The number of the last `single` construct before the open region.
    fn earlier_singles(&self) -> u64 {
        // ORDERING: Relaxed, written by the master before the fork
        self.single_base.load(Ordering::Relaxed)
    }

    fn region(&self) -> Region {
        // SAFETY: the master writes it before the fork only.
        self.region.with(|region| unsafe { region.read() })
    }

    /// Makes a waiter if the member has none for this number of members, or for that of all teams.
    fn prepare_waiter(&self, tid: usize, size: usize, runtime: &Runtime) {
        let members = members_of_all(runtime, size);
        self.members[tid].waiter.with_mut(|place| {
            // SAFETY: only this thread has the member's number.
            let waiter = unsafe { &mut *place };
            if waiter.as_ref().is_none_or(|(made_for, _)| *made_for != members) {
                *waiter = Some((members, waiter_for(runtime, members)));
            }
        });
    }
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}
