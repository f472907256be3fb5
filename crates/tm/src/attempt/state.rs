//! An attempt, its begin and its end.

use std::sync::Arc;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::{spin_hint, yield_now};

use super::counts::Counts;
use crate::access::Access;
use crate::config::{Values, Writes};
use crate::contention::Contention;
use crate::crash_point;
use crate::error::RunError;
use crate::region::{Memory, OwnLine};
use crate::rule::Request;
use crate::spare::Spare;
use crate::status::{ClientId, State, Status, Why};
use crate::var_map::VarMap;

/// Why an attempt has no future.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is to be tried again.
    Conflict(Why),
    /// No attempt can succeed.
    Fatal(RunError),
}

/// The locks that an attempt has of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// None; it gave a read lock back, or never had one.
    None,
    /// A read lock.
    Read,
    /// A write lock.
    Write,
    /// Both.
    ReadWrite,
}

impl Mode {
    #[inline]
    pub(super) fn is_held(self) -> bool {
        self != Self::None
    }

    #[inline]
    pub(super) fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }
}

/// A word that the attempt has locked or written: one entry for both, so that most accesses look once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touched {
    /// To be stored, if it is written.
    pub(super) value: u64,
    /// The variable with the lock of this word: itself, or the first word of its block.
    pub(super) lock: u32,
    /// The locks of the variable; none in other words of a block than the first.
    pub(super) mode: Mode,
    pub(super) is_written: bool,
}

impl Touched {
    /// A variable whose lock was taken.
    #[inline]
    pub(super) fn locked(lock: u32, is_write: bool) -> Self {
        let mode = if is_write { Mode::Write } else { Mode::Read };
        Self { value: 0, lock, mode, is_written: false }
    }
}

/// Values of elastic reads that are still looked at.
pub(super) const WINDOW: usize = 2;

/// Attempts in vain between two looks around.
const YIELD_EVERY: u32 = 8;
/// The shortest time between two looks for dead participants, each of which costs a system call for every participant.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) memory: Arc<Memory>,
    pub(crate) me: ClientId,
    pub(crate) access: Access,
    pub(crate) contention: Contention,
    pub(crate) counts: Counts,
    pub(crate) spare: Spare,
    pub(crate) failure: Option<Failure>,
    line: OwnLine,
    needs_clock: bool,
    /// Whether it reads and writes the values itself.
    pub(super) are_values_here: bool,
    pub(super) is_eager: bool,
    pub(super) epoch: u64,
    /// When dead participants may be looked for again, in ticks.
    pub(super) next_look: u64,
    pub(super) touched: VarMap<Touched>,
    /// Words that are written.
    pub(super) written: usize,
    /// Whether one was written without its write lock.
    pub(super) is_unclaimed: bool,
    /// Whether it has given its locks back, before its status said that it had ended.
    pub(super) has_left: bool,
    /// Whether somebody was in the way. A server that aborts others and grants a lock does not tell.
    pub(super) has_met: bool,
    /// Whether the contention manager wants the time of the running attempt.
    is_timed: bool,
    /// Whether all attempts are timed, whatever the manager wants.
    is_every_timed: bool,
    /// When the running attempt began, if it is timed, in ticks.
    begun: u64,
    /// The summed time of the attempts that committed while all are timed, in ticks.
    timed: u64,
    /// Values that came with locks, where they are with the servers.
    pub(super) came: VarMap<u64>,
    pub(super) window: [Option<(u32, u64)>; WINDOW],
    /// Locks to be asked for, and writes to be sent, kept for their memory.
    pub(super) wanted: Vec<u32>,
    pub(super) outgoing: Vec<(u32, u64, u32)>,
}

/// The attempt has failed, and says why.
#[derive(Debug)]
pub(crate) struct Failed;

impl Attempt {
    pub(crate) fn new(memory: Arc<Memory>, me: ClientId, access: Access) -> Self {
        let contention = Contention::new(memory.config.manager, me);
        let (epoch, _) = memory.status(me).read();
        Self {
            needs_clock: contention.needs_clock(),
            line: memory.own_line(me),
            are_values_here: memory.config.values == Values::InMemory,
            is_eager: memory.config.writes == Writes::Eager,
            spare: Spare::new(Arc::clone(&memory)),
            memory,
            me,
            access,
            contention,
            counts: Counts::default(),
            failure: None,
            epoch,
            next_look: 0,
            touched: VarMap::new(),
            written: 0,
            is_unclaimed: false,
            has_left: false,
            has_met: false,
            is_timed: false,
            is_every_timed: false,
            begun: 0,
            timed: 0,
            came: VarMap::new(),
            window: [None; WINDOW],
            wanted: Vec::new(),
            outgoing: Vec::new(),
        }
    }

    /// The time for managers that need it, in ticks.
    #[inline]
    fn now_if(is_needed: bool) -> u64 {
        if is_needed { Clock::get().ticks() } else { 0 }
    }

    /// The summed time of the attempts that committed, in nanoseconds.
    pub(crate) fn effective_ns(&self) -> u64 {
        Clock::get().ns(self.contention.effective()) as u64
    }

    /// Times every attempt from now on.
    pub(crate) fn time_all(&mut self) {
        self.is_every_timed = true;
    }

    /// The summed time of the attempts that committed since all are timed, in nanoseconds.
    pub(crate) fn timed_ns(&self) -> u64 {
        Clock::get().ns(self.timed) as u64
    }

    #[inline]
    pub(super) fn status(&self) -> Status<'_> {
        self.line.status()
    }

    /// Begins the first attempt of a transaction, or a later one.
    #[inline]
    pub(crate) fn begin(&mut self, is_first: bool) -> Result<(), RunError> {
        self.memory.check_usable()?;
        if matches!(self.access, Access::Messages(_)) && self.memory.is_stopped() {
            return Err(RunError::Stopped);
        }
        self.epoch += 1;
        self.failure = None;
        self.is_timed = self.needs_clock && self.contention.wants_time(is_first);
        self.begun = Self::now_if(self.is_timed || self.is_every_timed);
        self.contention.start(is_first, self.begun);
        if let Access::Shared(_) = self.access {
            self.line.publish_key(self.contention.shared_key());
        }
        self.status().begin(self.epoch);
        crash_point::here("begun");
        Ok(())
    }

    #[inline]
    pub(super) fn request(&self) -> Request {
        let key = match self.access {
            // Only servers count back from their own clock.
            Access::Messages(_) if self.memory.config.manager.needs_clock_at_server() => {
                self.contention.key(Self::now_if(true))
            }
            Access::Messages(_) => self.contention.key(0),
            Access::Shared(_) => self.contention.shared_key(),
        };
        Request { client: self.me, epoch: self.epoch, key }
    }

    /// Notes the first failure.
    #[cold]
    pub(crate) fn fail(&mut self, failure: Failure) -> Failed {
        self.failure.get_or_insert(failure);
        Failed
    }

    /// Fails if the attempt has failed, also where the closure did not mind.
    #[inline]
    pub(crate) fn check(&mut self) -> Result<(), Failed> {
        if self.failure.is_some() { Err(Failed) } else { self.check_status() }
    }

    /// Fails if another one has aborted the attempt. To be called after a value was copied.
    #[inline]
    pub(super) fn check_status(&mut self) -> Result<(), Failed> {
        if self.status().is_running(self.epoch) { Ok(()) } else { Err(self.aborted()) }
    }

    #[cold]
    pub(super) fn aborted(&mut self) -> Failed {
        let why = match self.status().read().1 {
            State::Aborted(why) => why,
            _ => Why::Raw,
        };
        self.fail(Failure::Conflict(why))
    }

    /// Takes note of a commit, and gives all locks back.
    #[inline]
    pub(crate) fn finish(&mut self) {
        let locks = self.touched.entries().len();
        self.release_all();
        self.spare.keep();
        self.counts.commits += 1;
        let now = Self::now_if(self.is_timed || self.is_every_timed);
        if self.is_every_timed {
            self.timed += now.saturating_sub(self.begun);
        }
        if self.is_timed || !self.needs_clock {
            self.contention.committed(now, locks, self.has_met);
        } else {
            self.contention.committed_untimed(locks, self.has_met);
        }
        self.has_met = false;
    }

    /// Ends an attempt that failed, or whose closure panicked.
    #[cold]
    pub(crate) fn abandon(&mut self) {
        match &self.failure {
            Some(Failure::Conflict(Why::Raw)) => self.counts.raw += 1,
            Some(Failure::Conflict(Why::War)) => self.counts.war += 1,
            Some(Failure::Conflict(Why::Waw)) => self.counts.waw += 1,
            _ => {}
        }
        self.status().give_up(self.epoch);
        self.release_all();
        self.has_met = false;
        self.spare.undo();
    }

    #[inline]
    fn release_all(&mut self) {
        let held = self.touched.entries().iter().filter(|(_, touched)| touched.mode.is_held());
        match &mut self.access {
            Access::Messages(client) => client.end(self.epoch, held.count()),
            // After a commit it has given back all. A request that was refused has lost the locks of its variable only.
            Access::Shared(client) if !self.has_left => {
                held.for_each(|&(lock, touched)| client.release(lock, touched.mode.is_write()));
            }
            Access::Shared(_) => {}
        }
        self.touched.clear();
        self.written = 0;
        self.is_unclaimed = false;
        self.has_left = false;
        if !self.came.is_empty() {
            self.came.clear();
        }
        self.window = [None; WINDOW];
    }

    /// Waits between two attempts, as the manager says.
    #[cold]
    pub(crate) fn wait(&mut self, retries: u32) {
        let clock = Clock::get();
        let end = clock.ticks() + clock.ticks_in(Duration::from_nanos(self.contention.wait_ns(retries)));
        while clock.ticks() < end {
            spin_hint();
        }
        if retries % YIELD_EVERY == 0 {
            // The one that is in the way may wait for this CPU, or be dead.
            self.look_for_dead();
            yield_now();
        }
    }

    /// Looks whether one that may be in the way is dead, if that was not done of late.
    pub(super) fn look_for_dead(&mut self) {
        let clock = Clock::get();
        let now = clock.ticks();
        if now >= self.next_look {
            self.next_look = now + clock.ticks_in(LOOK_EVERY);
            self.memory.settle_dead();
        }
    }
}
