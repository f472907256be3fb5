//! A participant's side of the contention managers: the key that its requests carry, and how long it waits after an abort.
//!
//! It holds no clock: callers say what time it is, in any unit of a clock that does not go back, which is the same one for all
//! participants. After an abort a participant waits `50 * (retries mod 256)` ns; under back-off a
//! random time below `500 * 2^(min(retries, 10) - 1)` ns.

use crate::conflicts::Manager;
use crate::status::ClientId;

/// Nanoseconds of waiting for each retry.
const STEP_NS: u64 = 50;
/// Retries after which the waiting begins anew.
const STEPS: u64 = 256;
/// The bound of the first random wait.
const FIRST_BACK_OFF_NS: u64 = 500;
/// Attempts that are counted by the pace of the one before, where nobody is in the way. The two looks at a clock take a fifth of
/// a short transaction.
const UNTIMED: u32 = 15;
/// Parts of a tick in which the time for a lock is kept: ticks may be as long as a short transaction.
const PARTS: u32 = 256;
/// Retries after which the bound of random waits does not double.
const LAST_DOUBLING: u32 = 10;

/// The state of one participant: its own transactions, as its manager weighs them.
#[derive(Debug, Clone)]
pub struct Contention {
    manager: Manager,
    /// Transactions that committed.
    commits: u64,
    /// The summed time of the attempts that committed.
    effective: u64,
    /// The parts of a tick that are not in it yet.
    rest: u64,
    /// When the first attempt of this transaction began.
    first_start: u64,
    /// When this attempt began.
    start: u64,
    /// The time for each lock of the last attempt that nobody was in the way of, in parts of a tick.
    pace: u64,
    /// Attempts that need no clock, from now on.
    untimed: u32,
    random: fastrand::Rng,
}

impl Contention {
    /// Of a participant that has not run a transaction.
    #[must_use]
    pub fn new(manager: Manager, client: ClientId) -> Self {
        let random = fastrand::Rng::with_seed(client.0.into());
        Self { manager, commits: 0, effective: 0, rest: 0, first_start: 0, start: 0, pace: 0, untimed: 0, random }
    }

    /// An attempt begins, the first one of its transaction or a later one.
    #[inline]
    pub fn start(&mut self, is_first: bool, now: u64) {
        self.start = now;
        if is_first {
            self.first_start = now;
        }
    }

    /// The key of a request that is sent now. Servers compare it after [`Manager::server_key`].
    #[inline]
    #[must_use]
    pub fn key(&self, now: u64) -> u64 {
        match self.manager {
            Manager::None | Manager::BackOff => 0,
            Manager::Wholly => self.commits,
            Manager::OffsetGreedy => now.saturating_sub(self.first_start),
            Manager::FairCm => self.effective,
        }
    }

    /// The key where all participants read one clock: no server has to count back.
    #[inline]
    #[must_use]
    pub fn shared_key(&self) -> u64 {
        if self.manager == Manager::OffsetGreedy { self.first_start } else { self.key(0) }
    }

    /// Whether [`key`](Self::key), [`committed`](Self::committed) or [`start`](Self::start) need the time; else callers may
    /// pass 0.
    #[must_use]
    pub const fn needs_clock(&self) -> bool {
        matches!(self.manager, Manager::OffsetGreedy | Manager::FairCm)
    }

    /// Whether the next attempt has to be timed, under a manager that [needs the clock](Self::needs_clock). Under FairCM one of
    /// 16 is where nobody is in the way; the others are taken to last as long for each lock as that one did.
    #[inline]
    #[must_use]
    pub fn wants_time(&self, is_first: bool) -> bool {
        self.untimed == 0 || !is_first || self.manager != Manager::FairCm
    }

    /// An attempt with this number of locks committed, and was timed if that is needed. `met` if somebody was in its way.
    #[inline]
    pub fn committed(&mut self, now: u64, locks: usize, met: bool) {
        let time = now.saturating_sub(self.start);
        self.commits += 1;
        self.effective += time;
        self.untimed = 0;
        if !met {
            self.pace = time * u64::from(PARTS) / locks.max(1) as u64;
            self.untimed = UNTIMED;
        }
    }

    /// An attempt that was not timed committed; else as [`committed`](Self::committed).
    #[inline]
    pub fn committed_untimed(&mut self, locks: usize, met: bool) {
        self.commits += 1;
        let parts = self.rest + self.pace * locks.max(1) as u64;
        self.effective += parts / u64::from(PARTS);
        self.rest = parts % u64::from(PARTS);
        self.untimed = if met { 0 } else { self.untimed.saturating_sub(1) };
    }

    /// How long to wait, in nanoseconds, when `retries` attempts of the transaction were aborted.
    pub fn wait_ns(&mut self, retries: u32) -> u64 {
        if self.manager != Manager::BackOff {
            return STEP_NS * (u64::from(retries) % STEPS);
        }
        let bound = FIRST_BACK_OFF_NS << (retries.clamp(1, LAST_DOUBLING) - 1);
        self.random.u64(..bound)
    }

    /// Transactions that committed.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.commits
    }

    /// The summed time of the attempts that committed, in the unit of the clock.
    #[must_use]
    pub fn effective(&self) -> u64 {
        self.effective
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_three_commits(manager: Manager) -> Contention {
        let mut contention = Contention::new(manager, ClientId(1));
        for at in [100, 200, 300] {
            contention.start(true, at);
            contention.committed(at + 7, 1, true);
        }
        contention
    }

    #[test]
    fn keys_are_those_of_the_managers() {
        for (manager, key) in [(Manager::None, 0), (Manager::BackOff, 0), (Manager::Wholly, 3), (Manager::FairCm, 21)] {
            let mut contention = after_three_commits(manager);
            contention.start(true, 1000);
            assert_eq!((contention.key(1500), contention.shared_key()), (key, key), "{manager}");
        }
        let mut greedy = after_three_commits(Manager::OffsetGreedy);
        greedy.start(true, 1000);
        assert_eq!((greedy.key(1500), greedy.shared_key()), (500, 1000));
    }

    #[test]
    fn greedy_keeps_the_first_start_and_fair_cm_counts_the_last_attempt() {
        for manager in [Manager::OffsetGreedy, Manager::FairCm] {
            let mut contention = Contention::new(manager, ClientId(1));
            contention.start(true, 100);
            contention.start(false, 200);
            assert_eq!(contention.key(300), if manager == Manager::FairCm { 0 } else { 200 });
            contention.committed(250, 1, true);
            assert_eq!(contention.effective(), 50);
            contention.start(true, 400);
            assert_eq!(contention.key(410), if manager == Manager::FairCm { 50 } else { 10 });
        }
    }

    #[test]
    fn fair_cm_times_one_of_sixteen_while_nobody_is_in_the_way() {
        let mut contention = Contention::new(Manager::FairCm, ClientId(1));
        assert!(contention.wants_time(true));
        contention.start(true, 100);
        contention.committed(160, 2, false);
        for attempt in 1..=15 {
            assert!(!contention.wants_time(true) && contention.wants_time(false), "{attempt}");
            contention.committed_untimed(3, false);
            assert_eq!(contention.effective(), 60 + attempt * 3 * 30);
        }
        assert!(contention.wants_time(true));
        contention.start(true, 2000);
        contention.committed(2010, 0, false);
        contention.committed_untimed(1, true);
        assert!(contention.wants_time(true), "somebody was in the way");
        let mut greedy = Contention::new(Manager::OffsetGreedy, ClientId(1));
        greedy.start(true, 100);
        greedy.committed(160, 2, false);
        assert!(greedy.wants_time(true), "its key is a time");
    }

    #[test]
    fn fair_cm_counts_attempts_that_are_shorter_than_a_tick_for_each_lock() {
        let mut contention = Contention::new(Manager::FairCm, ClientId(1));
        contention.start(true, 100);
        contention.committed(101, 2, false);
        (0..15).for_each(|_| contention.committed_untimed(1, false));
        assert_eq!(contention.effective(), 1 + 15 / 2);
    }

    #[test]
    fn waits_grow_and_begin_anew() {
        let mut contention = Contention::new(Manager::FairCm, ClientId(1));
        let waits = [1, 2, 255, 256, 257].map(|retries| contention.wait_ns(retries));
        assert_eq!(waits, [50, 100, 50 * 255, 0, 50]);
    }

    #[test]
    fn back_off_is_random_below_a_bound_that_doubles() {
        let mut contention = Contention::new(Manager::BackOff, ClientId(1));
        let waits: Vec<u64> = (1..=100).map(|retries| contention.wait_ns(retries)).collect();
        for (at, wait) in waits.iter().enumerate() {
            assert!(*wait < 500 << at.min(9), "{wait} after {at}");
        }
        assert!(waits.iter().any(|wait| *wait > 500 << 8), "the bound grew");
    }
}
