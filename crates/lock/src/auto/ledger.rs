//! What holders have seen, and how to wait in view of it.
//!
//! Only holders read and write it, so it costs no atomic. The number of threads that wait follows from how often they wait and
//! for how long (J. Little, A Proof for the Queuing Formula L = λW, 1961): nobody counts them.

use std::time::Duration;

use corecast_base::Clock;

use super::mode::Mode;
use super::params::Params;

/// A window is judged once it is so long. With [`AGREEING`] a mode lasts for a millisecond at least, but for what
/// [`Ledger::is_overdue`] says.
const WINDOW: Duration = Duration::from_micros(400);
/// So many windows in turn have to favour another mode.
const AGREEING: u8 = 3;
/// One of so many waits is timed: the clock is read while the lock is held.
const TIMED: u64 = 8;
/// One of so many waits, or of the releases that look at the ledger anyway, asks whether the window is over.
const LOOK_EVERY: u64 = 64;
/// Another mode has to cost at most this part of what the present one does.
const CHEAPER: f64 = 0.8;
/// Where fewer wait, on average, the lock is free now and then: hand-overs are not all there is to its period, and a queue
/// is for nobody.
const FEWEST: f64 = 1.0;

/// Zeroes are an empty one, as [`AnyLock`](crate::AnyLock) needs.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Acquisitions that waited.
    pub(super) waits: u64,
    /// Releases that have looked at this.
    releases: u64,
    /// When the window began, in ticks.
    window: u64,
    /// Ticks that the timed waits of the window took.
    waited: u64,
    pub(super) switches: u32,
    /// Waits in this window.
    window_waits: u16,
    /// Those of them that were timed.
    timed: u16,
    /// Those that spun in vain, and gave up their CPU.
    yields: u16,
    /// Those that slept, and how often somebody slept while the lock was freed.
    sleeps: u16,
    /// The mode that the last windows favoured, and how many in turn.
    favoured: Mode,
    agreeing: u8,
    is_pinned: bool,
    /// The mode to keep, if it is pinned.
    pinned: Mode,
}

impl Ledger {
    pub(super) const EMPTY: Self = Self {
        releases: 0,
        waits: 0,
        window: 0,
        waited: 0,
        switches: 0,
        window_waits: 0,
        timed: 0,
        yields: 0,
        sleeps: 0,
        favoured: Mode::Spin,
        agreeing: 0,
        is_pinned: false,
        pinned: Mode::Spin,
    };

    /// Keeps this mode from the next look on, or lets the windows choose again.
    pub(super) fn pin(&mut self, mode: Option<Mode>) {
        self.is_pinned = mode.is_some();
        self.pinned = mode.unwrap_or_default();
    }

    /// Enters that this acquisition has waited since `start`; true if it is time to look at the window.
    pub(super) fn enter_wait(&mut self, start: u64, has_yielded: bool, has_slept: bool) -> bool {
        self.waits += 1;
        self.window_waits = self.window_waits.saturating_add(1);
        self.yields = self.yields.saturating_add(has_yielded.into());
        self.sleeps = self.sleeps.saturating_add(has_slept.into());
        if self.waits % TIMED == 0 {
            self.timed = self.timed.saturating_add(1);
            self.waited += Clock::get().ticks().saturating_sub(start);
        }
        self.waits % LOOK_EVERY == 0
    }

    /// Enters that somebody sleeps while the lock is held.
    pub(super) fn enter_sleeper(&mut self) {
        self.sleeps = self.sleeps.saturating_add(1);
    }

    /// The mode from now on. `is_asked` tells that somebody wants the window looked at, `is_overdue` that a waiting thread has
    /// spun in vain: then sleeping is cheaper from now on, whatever the window says.
    pub(super) fn decide(&mut self, mode: Mode, is_asked: bool, is_overdue: bool) -> Mode {
        self.releases += 1;
        let next = if self.is_pinned {
            self.pinned
        } else if is_overdue {
            Mode::Park
        } else if is_asked || self.releases % LOOK_EVERY == 0 {
            self.look(mode, Clock::get().ticks(), Params::of_process())
        } else {
            mode
        };
        self.switches += u32::from(next != mode);
        next
    }

    /// Judges the window if it is over, and begins the next one.
    fn look(&mut self, mode: Mode, now: u64, params: &Params) -> Mode {
        let ticks = now.saturating_sub(self.window);
        if ticks < Clock::get().ticks_in(WINDOW) {
            return mode;
        }
        let favoured = self.favours(mode, ticks, params);
        (self.window, self.waited) = (now, 0);
        (self.window_waits, self.timed, self.yields, self.sleeps) = (0, 0, 0, 0);
        self.agreeing = if favoured == self.favoured { self.agreeing.saturating_add(1) } else { 1 };
        self.favoured = favoured;
        if self.agreeing >= AGREEING { favoured } else { mode }
    }

    fn favours(&self, mode: Mode, ticks: u64, params: &Params) -> Mode {
        let waiting = self.waiting(ticks);
        if self.sleeps > 0 {
            Mode::Park
        } else if self.yields > 0 || waiting < FEWEST {
            // Where somebody yields not all of them run: a queue would wait for those who do not.
            Mode::Spin
        } else {
            let period_ns = Clock::get().ns(ticks) / f64::from(self.window_waits.max(1));
            cheaper(mode, waiting, period_ns, params)
        }
    }

    /// How many threads waited at a time, on average over a window of so many ticks.
    fn waiting(&self, ticks: u64) -> f64 {
        let mean = self.waited as f64 / f64::from(self.timed.max(1));
        f64::from(self.window_waits) * mean / ticks as f64
    }
}

/// Queue or Spin: the present mode unless the other one is a fifth cheaper. Out of Park it is Spin that has to be beaten.
fn cheaper(mode: Mode, waiting: f64, period_ns: f64, params: &Params) -> Mode {
    let period = |other| period_in(other, mode, waiting, period_ns, params);
    let (own, rival) = if mode == Mode::Queue { (Mode::Queue, Mode::Spin) } else { (Mode::Spin, Mode::Queue) };
    if period(rival) <= CHEAPER * period(own) { rival } else { own }
}

/// Nanoseconds from one acquisition to the next if threads waited in the mode `other`, as they take `period_ns` now.
///
/// What the present mode's hand-over does not explain are the sections themselves, which last as long in any mode. Where it
/// explains more than there is, all hand-overs are cheaper here than they were thought to be.
fn period_in(other: Mode, mode: Mode, waiting: f64, period_ns: f64, params: &Params) -> f64 {
    let predicted = params.hand_over_ns(mode, waiting);
    let scale = (period_ns / predicted).min(1.0);
    (period_ns - predicted).max(0.0) + scale * params.hand_over_ns(other, waiting)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A window of 1000 ticks in which `waits` threads waited for 100 each.
    fn window(waits: u16, sleeps: u16) -> Ledger {
        Ledger { window_waits: waits, timed: 10, waited: 1000, sleeps, ..Ledger::EMPTY }
    }

    /// A window in which so many waited at a time, and sections lasted for so long beyond the hand-overs of the mode.
    fn favours(mode: Mode, waiting: f64, hold_ns: f64, params: &Params) -> Mode {
        let (clock, waits) = (Clock::get(), 1000_u16);
        let period_ns = hold_ns + params.hand_over_ns(mode, waiting);
        let ticks = clock.ticks_in(Duration::from_nanos((f64::from(waits) * period_ns) as u64));
        let waited = (waiting * ticks as f64 / f64::from(waits)) as u64;
        Ledger { window_waits: waits, timed: 1, waited, ..Ledger::EMPTY }.favours(mode, ticks, params)
    }

    #[test]
    fn how_many_wait_follows_from_how_often_and_how_long() {
        assert_eq!(window(40, 0).waiting(1000), 4.0);
        assert_eq!(Ledger::EMPTY.waiting(1000), 0.0);
    }

    #[test]
    fn many_queue_few_spin_and_who_is_in_between_stays() {
        let at = |mode, waiting| favours(mode, waiting, 0.0, &Params::ASSUMED);
        let modes = [2.0, 5.0, 6.0, 60.0].map(|waiting| at(Mode::Spin, waiting));
        assert_eq!(modes, [Mode::Spin, Mode::Spin, Mode::Queue, Mode::Queue]);
        let modes = [0.0, 2.0, 3.5, 60.0].map(|waiting| at(Mode::Queue, waiting));
        assert_eq!(modes, [Mode::Spin, Mode::Spin, Mode::Queue, Mode::Queue]);
        let modes = [0.0, 5.0, 6.0].map(|waiting| at(Mode::Park, waiting));
        assert_eq!(modes, [Mode::Spin, Mode::Spin, Mode::Queue]);
    }

    #[test]
    fn where_sections_are_long_hand_overs_do_not_matter() {
        let at = |mode, hold_ns| favours(mode, 20.0, hold_ns, &Params::ASSUMED);
        assert_eq!([at(Mode::Spin, 500.0), at(Mode::Spin, 5000.0)], [Mode::Queue, Mode::Spin]);
        assert_eq!(at(Mode::Queue, 5000.0), Mode::Queue);
        assert_eq!(favours(Mode::Queue, 0.5, 5000.0, &Params::ASSUMED), Mode::Spin, "a queue of nobody");
    }

    #[test]
    fn hand_overs_that_take_less_than_was_thought_are_cheaper_in_all_modes() {
        let params = Params::ASSUMED;
        let (spin, queue) = (params.hand_over_ns(Mode::Spin, 20.0), params.hand_over_ns(Mode::Queue, 20.0));
        let half = period_in(Mode::Queue, Mode::Spin, 20.0, spin / 2.0, &params);
        assert!((half - queue / 2.0).abs() < 1e-9, "{half}");
        let held = period_in(Mode::Queue, Mode::Spin, 20.0, spin + 100.0, &params);
        assert!((held - queue - 100.0).abs() < 1e-9, "{held}");
        assert_eq!(period_in(Mode::Spin, Mode::Spin, 20.0, 50.0, &params), 50.0);
    }

    #[test]
    fn a_window_in_which_somebody_slept_favours_sleep() {
        for mode in Mode::ALL {
            assert_eq!(window(50, 1).favours(mode, 1000, &Params::ASSUMED), Mode::Park);
        }
    }

    #[test]
    fn who_does_not_run_all_the_time_does_not_queue() {
        for mode in Mode::ALL {
            assert_eq!(Ledger { yields: 1, ..window(90, 0) }.favours(mode, 1000, &Params::ASSUMED), Mode::Spin);
            assert_eq!(Ledger { yields: 1, ..window(90, 1) }.favours(mode, 1000, &Params::ASSUMED), Mode::Park);
        }
    }

    #[test]
    fn a_mode_changes_when_three_windows_agree() {
        let mut ledger = Ledger::EMPTY;
        let long = 1 + Clock::get().ticks_in(WINDOW);
        let mut at = |waiting: u64, number: u64| {
            (ledger.window_waits, ledger.timed, ledger.waited) = (4000, 1, waiting * long / 4000);
            ledger.look(Mode::Spin, number * long, &Params::ASSUMED)
        };
        assert_eq!([at(9, 1), at(9, 2), at(9, 3)], [Mode::Spin, Mode::Spin, Mode::Queue]);
        assert_eq!([at(9, 4), at(0, 5), at(9, 6), at(9, 7)], [Mode::Queue, Mode::Spin, Mode::Spin, Mode::Spin]);
        assert_eq!(at(9, 7), Mode::Spin, "the window is not over");
        assert_eq!(at(9, 8), Mode::Queue);
    }

    #[test]
    fn a_wait_in_vain_parks_at_once_and_a_pin_goes_before_all() {
        let mut ledger = Ledger::EMPTY;
        assert_eq!(ledger.decide(Mode::Spin, false, false), Mode::Spin);
        assert_eq!((ledger.decide(Mode::Spin, true, true), ledger.switches), (Mode::Park, 1));
        ledger.pin(Some(Mode::Queue));
        assert_eq!((ledger.decide(Mode::Park, true, true), ledger.switches), (Mode::Queue, 2));
        assert_eq!((ledger.decide(Mode::Queue, false, true), ledger.switches), (Mode::Queue, 2));
    }

    #[test]
    fn every_sixty_fourth_wait_asks() {
        let mut ledger = Ledger::EMPTY;
        let asked: Vec<u64> = (1..=128).filter(|_| ledger.enter_wait(0, false, false)).collect();
        assert_eq!(asked, [64, 128]);
        assert_eq!((ledger.waits, ledger.timed), (128, 16));
    }

    #[test]
    fn zeroes_are_an_empty_ledger() {
        // SAFETY: numbers, truth values and modes, all of which may be zero.
        let zeroes: Ledger = unsafe { std::mem::zeroed() };
        assert_eq!(format!("{zeroes:?}"), format!("{:?}", Ledger::EMPTY));
    }
}
