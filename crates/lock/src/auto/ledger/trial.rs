//! Whether a thread that finds the lock held should stay away for a while, found out by trying.
//!
//! Threads that take short sections in turns move the lock's line, and that of the data, with every turn, and get less done
//! than one of them would alone: a seventh, where 2 threads on 2 CPUs took 4 locks and did nothing else. If the second to come
//! stays away for a moment, the other one has the lines to itself meanwhile. Where threads have other things to do, or sections
//! are long, that moment is lost. The lock cannot see which it is. So it counts acquisitions, now and then, in slices with and
//! without back-off in turn, and takes what lets more of them by.
//!
//! Source: T. Anderson, The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors, 1990, for back-off after
//! a collision; that one of two manners is chosen by trying both is as in J. Antic and others, Locking Made Easy, 2016.

use std::time::Duration;

use corecast_base::Clock;

use super::seen::Seen;
use super::{AGREEING, Ledger};

/// For how long a thread stays away that finds the lock held. Less made less of a difference with 16 locks and more. A trial is
/// of this time, as less says nothing of it: two threads of a simulated Xeon took one lock 5.6 M times a second when they polled,
/// 5.5 M when they stayed away for 1.4 us, and 7.2 M for 20 us; those of a Threadripper 11.3 M polling, and 9.0 M with 20 us.
const AWAY_NS: u32 = 20_000;
/// The acquisitions of one slice are counted for this time.
const SLICE: Duration = Duration::from_micros(400);
/// A slice lasts until this many are counted, and up to this many times as long: with fewer, chances would be compared.
const FEWEST: f32 = 512.0;
const MOST_SLICES: u64 = 8;
/// After this part of a slice back-off is given up that has not gained so far; of a lock for which [`BUSY`] wait, only if it has
/// lost as much as it should gain.
const CERTAIN: u32 = 8;
/// Where this many wait at a time a thread has the lock so seldom that a slice is well under way before all stay away: when its
/// trial had to gain from the first moments on, two to four threads of five simulated machines took one lock 0.75 to 0.93 times
/// as often. Where fewer wait a trial costs more than it finds: 6 threads took 12 locks 0.6 times as often while these had
/// theirs.
const BUSY: f32 = 0.25;
/// One release in this number asks whether the slice is over.
const COUNTED: u32 = 8;
/// Back-off has to let this multiple of acquisitions by.
const GAIN: f32 = 1.1;
/// Longer waits are those of long sections. Four threads of a simulated Xeon that poll, and do not come by at once, wait 4 us.
const SHORT_WAIT_NS: f64 = 5e3;
/// Where somebody waits less often it makes no difference.
const OFTEN_NS: f64 = 100e3;
/// And where it happens so seldom that a check would compare chances, nobody backs off.
const SELDOM_NS: f64 = 2e6;
/// A trial without gain is repeated after this time.
const AFTER_POLLING: Duration = Duration::from_secs(1);
/// After a trial with gain the lock looks after this time whether it still gains.
const AFTER_BACKING_OFF: Duration = Duration::from_millis(50);
/// The end of the last trial is kept in units of this many milliseconds, modulo 256. A trial may come late by less than
/// that.
const MOMENT_MS: u128 = 8;

/// The behaviour of a thread that finds the lock held in [`Mode::Spin`](crate::auto::Mode::Spin), and how the lock chose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub(in crate::auto) enum Manner {
    /// It polls.
    #[default]
    Polls = 0,
    /// It stays away for a while.
    BacksOff,
    /// Whether to back off is tried: this slice without.
    TriesPolling,
    /// The slice with.
    TriesBackOff,
    /// Whether it still pays is tried: this slice without.
    ChecksPolling,
    /// The slice with.
    ChecksBackOff,
}

impl Manner {
    /// Whether back-off was seen to let more acquisitions by, as far as is known.
    pub(in crate::auto) fn is_taken(self) -> bool {
        matches!(self, Self::BacksOff | Self::ChecksPolling | Self::ChecksBackOff)
    }

    /// Whether acquisitions are counted.
    pub(in crate::auto) fn is_trial(self) -> bool {
        !matches!(self, Self::Polls | Self::BacksOff)
    }
}

impl Ledger {
    /// For how long a thread that finds the lock held in Spin stays away: 0 if it polls.
    pub(in crate::auto) fn back_off_ns(&self) -> u32 {
        match self.manner {
            Manner::TriesBackOff | Manner::BacksOff | Manner::ChecksBackOff => AWAY_NS,
            _ => 0,
        }
    }

    /// Begins a trial where back-off may make a difference, or may do so no more. A window is over.
    pub(super) fn consider_trial(&mut self, seen: &Seen, now: u64) {
        // A mode that has to prove itself is compared first.
        if self.before_ns > 0.0 {
            return;
        }
        let since = self.since_trial(now);
        self.manner = match self.manner {
            Manner::Polls if seen.is_often_and_short() && since.is_none_or(|since| since >= AFTER_POLLING) => {
                Manner::TriesPolling
            }
            Manner::BacksOff if seen.period_ns > SELDOM_NS => Manner::Polls,
            Manner::BacksOff if since.is_none_or(|since| since >= AFTER_BACKING_OFF) => Manner::ChecksPolling,
            manner => manner,
        };
        if self.manner.is_trial() {
            self.agreeing = 0;
        }
    }

    /// Counts acquisitions of a trial, and goes on to the next slice when this one is over.
    pub(super) fn count(&mut self, acquisitions: u32, now: impl FnOnce() -> u64) {
        let before = self.tally as u32 / COUNTED;
        self.tally += acquisitions as f32;
        if self.tally as u32 / COUNTED == before {
            return;
        }
        let now = now();
        let ticks = self.ticks_of_window(now);
        let each_ns = (Clock::get().ns(ticks) / f64::from(self.tally)) as f32;
        let is_vain = || {
            let is_certain = ticks >= Clock::get().ticks_in(SLICE / CERTAIN).max(1);
            let most_ns = if self.waiting >= BUSY { GAIN * self.before_ns } else { self.before_ns / GAIN };
            is_certain && self.manner == Manner::TriesBackOff && each_ns > most_ns
        };
        let slices = ticks / Clock::get().ticks_in(SLICE).max(1);
        let is_over = slices > 0 && self.tally >= FEWEST || slices >= MOST_SLICES;
        if !is_over && !is_vain() {
            return;
        }
        self.end_slice(each_ns, now);
        self.begin_window(now);
    }

    /// `each_ns` is the time from one acquisition to the next in it.
    fn end_slice(&mut self, each_ns: f32, now: u64) {
        let polling_ns = std::mem::replace(&mut self.before_ns, 0.0);
        self.manner = match self.manner {
            Manner::TriesPolling | Manner::ChecksPolling => {
                self.before_ns = each_ns;
                if self.manner == Manner::TriesPolling { Manner::TriesBackOff } else { Manner::ChecksBackOff }
            }
            Manner::TriesBackOff => {
                let pays = polling_ns >= GAIN * each_ns;
                self.end_pair(pays, [Manner::Polls, Manner::TriesPolling, Manner::BacksOff], now)
            }
            Manner::ChecksBackOff => {
                let costs = polling_ns < each_ns;
                self.end_pair(costs, [Manner::BacksOff, Manner::ChecksPolling, Manner::Polls], now)
            }
            manner => manner,
        };
    }

    /// After a slice of each: back to the manner before unless they are for another one, and on to that if they have been in
    /// several pairs.
    fn end_pair(&mut self, is_for_change: bool, [before, again, other]: [Manner; 3], now: u64) -> Manner {
        self.agreeing += 1;
        if is_for_change && self.agreeing < AGREEING {
            return again;
        }
        (self.agreeing, self.tried) = (0, moment(now));
        if is_for_change { other } else { before }
    }

    /// From now on nobody backs off, as the mode changes or is pinned. Where that was not found wanting it is tried again soon.
    pub(super) fn stop_backing_off(&mut self) {
        if self.manner == Manner::Polls {
            return;
        }
        let now = Clock::get().ticks();
        if self.manner.is_trial() {
            (self.before_ns, self.agreeing) = (0.0, 0);
            self.begin_window(now);
        }
        self.tried = if self.manner.is_taken() { 0 } else { moment(now) };
        self.manner = Manner::Polls;
    }

    /// How long ago the last trial ended, if there was one.
    fn since_trial(&self, now: u64) -> Option<Duration> {
        let moments = moment(now).wrapping_sub(self.tried);
        (self.tried != 0).then(|| Duration::from_millis(u64::from(moments) * MOMENT_MS as u64))
    }
}

impl Seen {
    fn is_often_and_short(&self) -> bool {
        self.period_ns <= OFTEN_NS && self.waiting * self.period_ns <= SHORT_WAIT_NS
    }
}

/// This time in units of [`MOMENT_MS`], never 0.
fn moment(now: u64) -> u8 {
    ((Clock::get().duration(now).as_millis() / MOMENT_MS) as u8).max(1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::auto::mode::Mode;

    const OFTEN: Seen = Seen { mode: Mode::Spin, waiting: 0.2, period_ns: 1e3, asleep: 0.0 };

    /// Slices in which acquisitions came every given ns without back-off and with it, until the trial is over; returns
    /// how many.
    fn slices(ledger: &mut Ledger, now: &mut u64, polling_ns: f64, backing_off_ns: f64) -> usize {
        let ticks = Clock::get().ticks_in(SLICE);
        (0..20)
            .take_while(|_| {
                let each_ns = if ledger.back_off_ns() > 0 { backing_off_ns } else { polling_ns };
                // All but some are counted at once.
                ledger.tally = (Clock::get().ns(ticks) / each_ns) as f32 - 8.0;
                *now += ticks + 1000;
                let is_trial = ledger.manner.is_trial();
                ledger.count(8, || *now);
                is_trial
            })
            .count()
    }

    fn considered(ledger: &mut Ledger, seen: &Seen, now: u64) -> Manner {
        ledger.begin_window(now);
        ledger.consider_trial(seen, now);
        ledger.manner
    }

    fn after(now: u64, time: Duration) -> u64 {
        now + Clock::get().ticks_in(time)
    }

    #[test]
    fn back_off_is_taken_when_three_pairs_of_slices_are_for_it_and_left_when_three_are_not() {
        let (mut ledger, mut now) = (Ledger::EMPTY, 1 << 40);
        assert_eq!(considered(&mut ledger, &OFTEN, now), Manner::TriesPolling);
        assert_eq!(slices(&mut ledger, &mut now, 60.0, 10.0), 6);
        assert_eq!((ledger.manner, ledger.before_ns, ledger.agreeing), (Manner::BacksOff, 0.0, 0));
        assert_eq!(considered(&mut ledger, &OFTEN, now), Manner::BacksOff, "it has just been found out");
        let mut seldom = Ledger { manner: Manner::BacksOff, ..Ledger::EMPTY };
        assert_eq!(considered(&mut seldom, &Seen { period_ns: 3e6, ..OFTEN }, now), Manner::Polls);
        now = after(now, AFTER_BACKING_OFF + Duration::from_millis(24));
        assert_eq!(considered(&mut ledger, &OFTEN, now), Manner::ChecksPolling);
        assert_eq!(slices(&mut ledger, &mut now, 10.0, 9.8), 2, "it is as good");
        assert_eq!(ledger.manner, Manner::BacksOff);
        now = after(now, AFTER_BACKING_OFF + Duration::from_millis(24));
        considered(&mut ledger, &OFTEN, now);
        assert_eq!(slices(&mut ledger, &mut now, 10.0, 12.0), 6);
        assert_eq!(ledger.manner, Manner::Polls);
    }

    #[test]
    fn back_off_that_does_not_pay_is_not_tried_again_for_a_second() {
        let (mut ledger, mut now) = (Ledger::EMPTY, 1 << 40);
        considered(&mut ledger, &OFTEN, now);
        assert_eq!(slices(&mut ledger, &mut now, 100.0, 95.0), 2, "it has to let a tenth more by");
        assert_eq!((ledger.manner, ledger.before_ns), (Manner::Polls, 0.0));
        assert_eq!(considered(&mut ledger, &OFTEN, now), Manner::Polls);
        now = after(now, AFTER_POLLING - Duration::from_millis(16));
        assert_eq!(considered(&mut ledger, &OFTEN, now), Manner::Polls);
        now = after(now, Duration::from_millis(32));
        assert_eq!(considered(&mut ledger, &OFTEN, now), Manner::TriesPolling);
    }

    #[test]
    fn a_trial_is_of_the_time_that_threads_stay_away_afterwards() {
        let back_off_ns = |manner| Ledger { manner, ..Ledger::EMPTY }.back_off_ns();
        assert_eq!([Manner::TriesBackOff, Manner::BacksOff, Manner::ChecksBackOff].map(back_off_ns), [AWAY_NS; 3]);
        assert_eq!([Manner::Polls, Manner::TriesPolling, Manner::ChecksPolling].map(back_off_ns), [0; 3]);
    }

    #[test]
    fn back_off_that_has_not_gained_early_goes_on_only_where_many_wait_and_little_is_lost() {
        let goes_on = |waiting, each_ns: f32| {
            let mut ledger =
                Ledger { manner: Manner::TriesBackOff, waiting, before_ns: 100.0, window: 1 << 16, ..Ledger::EMPTY };
            let ticks = 2 * Clock::get().ticks_in(SLICE / CERTAIN);
            ledger.tally = (Clock::get().ns(ticks) / f64::from(each_ns)) as f32 - COUNTED as f32;
            ledger.count(COUNTED, || (1 << (16 + super::super::GRAIN)) + ticks);
            ledger.manner == Manner::TriesBackOff
        };
        assert_eq!([80.0, 98.0, 105.0, 125.0].map(|each_ns| goes_on(0.1, each_ns)), [true, false, false, false]);
        assert_eq!([80.0, 98.0, 105.0, 125.0].map(|each_ns| goes_on(0.6, each_ns)), [true, true, true, false]);
    }

    #[test]
    fn where_waits_are_long_or_rare_nothing_is_tried() {
        let tried = |seen: &Seen| {
            let mut ledger = Ledger::EMPTY;
            considered(&mut ledger, seen, 1 << 40).is_trial()
        };
        assert!(tried(&OFTEN));
        assert!(!tried(&Seen { period_ns: 1e6, waiting: 1e-4, ..OFTEN }), "one wait in a millisecond");
        assert!(!tried(&Seen { period_ns: 6e3, waiting: 1.0, ..OFTEN }), "waits of 6 us");
        let mut unproved = Ledger { before_ns: 300.0, ..Ledger::EMPTY };
        assert!(!considered(&mut unproved, &OFTEN, 1 << 40).is_trial());
    }

    #[test]
    fn a_trial_counts_releases_and_ends_with_the_mode() {
        let mut ledger = Ledger { manner: Manner::TriesPolling, ..Ledger::EMPTY };
        ledger.begin_window(Clock::get().ticks());
        for _ in 0..5 {
            ledger.enter_waits(1, 0);
            assert_eq!(ledger.decide(Mode::Spin, true, false, 1), Mode::Spin);
        }
        assert_eq!(ledger.tally, 5.0, "no time of waits");
        assert_eq!(ledger.decide(Mode::Spin, false, true, 1), Mode::Park);
        assert!(ledger.manner == Manner::Polls && ledger.tried != 0 && ledger.tally == 0.0, "not tried again at once");
        (ledger.manner, ledger.tried) = (Manner::BacksOff, 7);
        assert_eq!(ledger.decide(Mode::Spin, false, true, 1), Mode::Park);
        assert_eq!((ledger.manner, ledger.tried), (Manner::Polls, 0), "it was not found wanting");
    }

    #[test]
    fn a_pinned_mode_is_bare_and_later_windows_are_judged_as_if_nothing_had_been_tried() {
        let mut ledger = Ledger { manner: Manner::ChecksBackOff, before_ns: 15.0, tally: 900.0, ..Ledger::EMPTY };
        ledger.pin(Some(Mode::Spin));
        assert_eq!(ledger.decide(Mode::Spin, true, false, 1), Mode::Spin);
        assert_eq!((ledger.manner, ledger.before_ns, ledger.tally), (Manner::Polls, 0.0, 0.0));
        // A window of the pinned mode begins no trial.
        ledger.begin_window(Clock::get().ticks() - 2 * Clock::get().ticks_in(SLICE));
        (ledger.waits, ledger.window_waits) = (4000, 4000);
        ledger.decide(Mode::Spin, true, false, 1);
        assert!(ledger.window_waits == 0 && ledger.manner == Manner::Polls, "it was judged");
    }
}
