//! The observations of holders, and the way to wait that follows from them.
//!
//! Only holders read and write it, so it costs no atomic. The number of threads that wait follows from how often they wait and
//! for how long (J. Little, A Proof for the Queuing Formula L = λW, 1961): nobody counts them.

mod seen;
#[cfg(all(test, feature = "machine", not(loom)))]
mod tests;
mod trial;

use std::time::Duration;

use corecast_base::Clock;
use corecast_base::wait::ASSUMED_WAKE_COST;

use super::explanation::{Explanation, Why};
use super::mode::Mode;
use super::params::Params;
use seen::Seen;
pub(super) use trial::Manner;

/// A window is judged once it is this long. With [`AGREEING`] a mode lasts for a millisecond at least, unless a thread has spun
/// in vain.
const WINDOW: Duration = Duration::from_micros(400);
/// The number of windows in turn that have to favour another mode.
const AGREEING: u8 = 3;
/// In Spin one short acquisition in this number stands for as many.
pub(super) const TIMED: u32 = 8;
/// One in this number of waits, or of releases that look at the ledger anyway, asks whether the window is over.
const LOOK_EVERY: u8 = 64;
/// After a change that has not paid the mode stays for this time, whatever its costs seem to be.
pub(super) const RELUCTANCE: Duration = Duration::from_secs(1);
/// When the window began is known to 2^8 ticks: 85 ns where a tick is a cycle of 3 GHz, 10 us, or 3 % of a window, where the
/// counter has 25 MHz. 32 bits count minutes then, or hours. A window that seems to be longer than half of that is not judged:
/// nobody has come for so long, or the clock of this CPU is behind that of the one that began it. One that is longer than all of
/// it may be judged as if it was shorter.
const GRAIN: u32 = 8;
/// The time of a change of mode is kept in units of this number of milliseconds: 32 bits count months then.
const MOMENT_MS: u32 = 4;
/// A queue is tried in Park if acquisitions that waited came this often, on average.
const PASSED_ON: Duration = ASSUMED_WAKE_COST;
/// A thread that complains was overtaken if they came this often, and this many in the window so far: on a simulated Xeon of
/// eight packages, 36 threads that poll one word pass it on in 10 to 40 us. One that queues in vain, as sections take so long,
/// has its CPU to itself.
const OVERTOOK: Duration = PASSED_ON.saturating_mul(3);
const FEWEST_OVERTOOK: u16 = 2;
/// Where fewer wait, on average, the lock is free now and then: hand-overs are not all there is to its period, and a queue
/// is for nobody.
const FEWEST: f64 = 1.0;

/// Where at least this many wait in Park, on more than [`FEW_CPUS`] CPUs, a queue is worth a try.
const MANY: f64 = 2.0;
/// Where at least this many poll: their hand-overs cost more than is reckoned. 4 and 8 threads of a simulated Kunpeng 920 took
/// the lock 7 and 3 M times a second so, and 9.6 and 7.9 M times in a queue; 3 threads are faster so, as some come by while
/// others wait.
const CROWD: f64 = 2.5;
/// On this number of CPUs nothing is known of a lock but what its threads have seen.
pub(super) const FEW_CPUS: usize = 2;
/// The number of waiters is reckoned from some waits of a window; more than this multiple of the CPUs are surely more.
const CERTAIN: f64 = 2.0;
/// A lock that has changed its mode this often tries such a queue only after [`RELUCTANCE`].
const EARLY: u16 = 8;

/// Zeroes are an empty one, as [`AnyLock`](crate::AnyLock) needs.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Acquisitions that waited, from 0 again after the largest number.
    pub(super) waits: u32,
    /// When the window, or the slice of a trial, began, in [grains](GRAIN).
    window: u32,
    /// In a window: ticks that all waits took, as far as they are known. In a slice of a trial: acquisitions.
    tally: f32,
    /// When the mode changed last, in units of [`MOMENT_MS`].
    switched: u32,
    /// How many waited at a time in the last window that was judged, and the ns from one acquisition that waited
    /// to the next.
    waiting: f32,
    period_ns: f32,
    /// The same before the mode was changed for its cost; 0 once that has proved right, and if it was for another reason. In a
    /// trial: ns from one acquisition to the next while newcomers polled.
    before_ns: f32,
    /// How often the mode has changed, if not more often than it can say.
    switches: u16,
    /// Waits in this window.
    window_waits: u16,
    /// Those that slept, and one more if somebody slept while the lock was freed before any of them.
    sleeps: u16,
    /// Waits in this window that spun in vain, and gave up their CPU, if not more than it can say.
    yields: u8,
    /// How many of 100 waits in the last window that was judged were slept.
    asleep: u8,
    /// Releases that have looked at this, from 0 again after [`LOOK_EVERY`].
    releases: u8,
    /// The mode that the last windows favoured, and how many in turn; or how many pairs of slices favoured another manner.
    favoured: Mode,
    agreeing: u8,
    /// How threads waited in the last window that was judged.
    judged: Mode,
    /// The mode to keep, and one more; 0 for any.
    kept: u8,
    /// Why the mode changed last.
    why: Why,
    /// The behaviour in Spin of a thread that finds the lock held; in other modes it polls.
    pub(super) manner: Manner,
    /// When the last trial ended; 0 if there was none.
    tried: u8,
}

const _: () = assert!(size_of::<Ledger>() == 44, "it fits into a line with the words of the lock and a word of data");

impl Ledger {
    pub(super) const EMPTY: Self = Self {
        waits: 0,
        window: 0,
        tally: 0.0,
        switched: 0,
        waiting: 0.0,
        period_ns: 0.0,
        before_ns: 0.0,
        switches: 0,
        window_waits: 0,
        sleeps: 0,
        yields: 0,
        asleep: 0,
        releases: 0,
        favoured: Mode::Spin,
        agreeing: 0,
        judged: Mode::Spin,
        kept: 0,
        why: Why::FewWait,
        manner: Manner::Polls,
        tried: 0,
    };

    /// Keeps this mode from the next look on, or lets the windows choose again.
    pub(super) fn pin(&mut self, mode: Option<Mode>) {
        self.kept = mode.map_or(0, |mode| mode as u8 + 1);
    }

    fn kept(&self) -> Option<Mode> {
        Mode::ALL.get(usize::from(self.kept).checked_sub(1)?).copied()
    }

    pub(super) fn switches(&self) -> u32 {
        self.switches.into()
    }

    /// Enters that this many acquisitions have waited, as many as [`TIMED`] where one stands for those, the last of them for
    /// `waited` ticks; true if it is time to look at the window.
    pub(super) fn enter_waits(&mut self, waits: u32, waited: u64) -> bool {
        let looks = self.waits % u32::from(LOOK_EVERY) + waits >= LOOK_EVERY.into();
        self.waits = self.waits.wrapping_add(waits);
        self.window_waits = self.window_waits.saturating_add(waits.try_into().unwrap_or(u16::MAX));
        if !self.manner.is_trial() {
            self.tally += waits as f32 * waited as f32;
        }
        looks
    }

    /// Enters that one of them gave up its CPU to others, or slept.
    pub(super) fn enter_unrun(&mut self, has_yielded: bool, has_slept: bool) {
        self.yields = self.yields.saturating_add(has_yielded.into());
        self.sleeps = self.sleeps.saturating_add(has_slept.into());
    }

    /// Enters that somebody sleeps while the lock is held. Its wait is counted when it is over.
    pub(super) fn enter_sleeper(&mut self) {
        self.sleeps = self.sleeps.max(1);
    }

    /// The mode from now on. `is_asked` tells that somebody wants the window looked at, `is_overdue` that a waiting thread has
    /// spun in vain: then sleeping is cheaper from now on, whatever the window says. In a trial this release stands for a number
    /// of them.
    pub(super) fn decide(&mut self, mode: Mode, is_asked: bool, is_overdue: bool, stands_for: u32) -> Mode {
        self.releases = (self.releases + 1) % LOOK_EVERY;
        let (is_asked, kept) = (is_asked || self.releases == 0, self.kept());
        let look = |ledger: &mut Self| ledger.look(mode, Clock::get().ticks(), Params::of_process());
        let (next, why) = match kept {
            Some(kept) => {
                self.stop_backing_off();
                // For a caller that asks for an explanation.
                if is_asked {
                    look(self);
                }
                (kept, Why::Pinned)
            }
            None if is_overdue => (Mode::Park, Why::Overdue),
            None if self.manner.is_trial() => {
                self.count(stands_for, || Clock::get().ticks());
                (mode, self.why)
            }
            None if is_asked => look(self),
            None => (mode, self.why),
        };
        if next != mode {
            self.enter_switch(why, Clock::get().ticks());
        }
        next
    }

    /// The mode from now on, where a thread has spun in vain on a CPU that nobody else wants. If the lock was passed on
    /// meanwhile, others have overtaken it, which they cannot do in a queue. Else sections are long, and it should sleep. Out
    /// of Spin it comes too late: the mode has changed while it was said. One that has not waited for long yet says nothing of
    /// sections: if the lock was not passed on, the others' complaints are judged by a window that begins now. It says nothing of
    /// a crowd either, unless it comes from one: of two threads that take the lock by turns one may be overtaken for 20 us, and
    /// both took it half as often in a queue.
    pub(super) fn relieve(&mut self, mode: Mode, is_overdue: bool, is_expected: bool) -> Mode {
        if mode != Mode::Spin || self.kept().is_some() {
            return self.decide(mode, false, false, 1);
        }
        let now = Clock::get().ticks();
        let ticks = self.ticks_of_window(now);
        let most = Clock::get().ticks_in(OVERTOOK * self.window_waits.into());
        let is_passed_on = ticks < most && self.window_waits >= FEWEST_OVERTOOK;
        let is_crowd = is_overdue || is_expected || f64::from(self.tally) >= CROWD * ticks as f64;
        if !(is_passed_on && is_crowd) {
            // A window that has just begun says nothing either.
            let is_certain = ticks >= Clock::get().ticks_in(OVERTOOK * FEWEST_OVERTOOK.into());
            if ticks >= most && !is_overdue && !self.manner.is_trial() {
                // It may have begun long before all this.
                self.begin_window(now);
            }
            return self.decide(mode, false, is_overdue && is_certain, 1);
        }
        self.enter_switch(Why::Overtaken, now);
        self.begin_window(now);
        Mode::Queue
    }

    fn enter_switch(&mut self, why: Why, now: u64) {
        self.stop_backing_off();
        self.switches = self.switches.saturating_add(1);
        (self.switched, self.why) = (moment(now), why);
        self.before_ns = if matches!(why, Why::Cheaper | Why::EachHasCpu) { self.period_ns } else { 0.0 };
    }

    /// Judges the window if it is over, and begins the next one.
    fn look(&mut self, mode: Mode, now: u64, params: &Params) -> (Mode, Why) {
        let ticks = self.ticks_of_window(now);
        // In a model no time passes, and no window is ever over.
        if ticks < Clock::get().ticks_in(WINDOW).max(1) {
            return (mode, self.why);
        }
        let seen = self.seen(mode, ticks);
        let (favoured, why) = self.favours(&seen, now, params);
        (self.judged, self.asleep) = (mode, (seen.asleep * 100.0) as u8);
        (self.waiting, self.period_ns) = (seen.waiting as f32, seen.period_ns as f32);
        if seen.period_ns < f64::from(self.before_ns) || seen.waiting < FEWEST {
            self.before_ns = 0.0;
        }
        self.begin_window(now);
        self.agreeing = if favoured == self.favoured { self.agreeing.saturating_add(1) } else { 1 };
        self.favoured = favoured;
        let next = if self.agreeing >= AGREEING { favoured } else { mode };
        if (mode, favoured, self.kept()) == (Mode::Spin, Mode::Spin, None) {
            self.consider_trial(&seen, now);
        }
        (next, why)
    }

    /// How long the window lasts by now; 0 where nobody can tell, and another one begins.
    pub(super) fn ticks_of_window(&mut self, now: u64) -> u64 {
        let passed = grains(now).wrapping_sub(self.window);
        if passed > u32::MAX / 2 {
            self.begin_window(now);
            return 0;
        }
        u64::from(passed) << GRAIN
    }

    pub(super) fn begin_window(&mut self, now: u64) {
        (self.window, self.tally) = (grains(now), 0.0);
        (self.window_waits, self.yields, self.sleeps) = (0, 0, 0);
    }

    fn favours(&self, seen: &Seen, now: u64, params: &Params) -> (Mode, Why) {
        if seen.mode == Mode::Park && self.may_try_queue(MANY, seen, now, params) {
            (Mode::Queue, Why::EachHasCpu)
        } else if self.sleeps > 0 {
            (Mode::Park, Why::Slept)
        } else if self.yields > 0 {
            // Not all of them run: a queue would wait for those who do not.
            (Mode::Spin, Why::Yielded)
        } else if self.has_dispersed(seen, now, params) {
            (Mode::Queue, self.why)
        } else if seen.waiting < FEWEST {
            (Mode::Spin, Why::FewWait)
        } else if seen.mode == Mode::Park {
            // Nobody knows yet how long it takes in either, so there is nothing to take back.
            (seen.cheaper(params), Why::Awake)
        } else if self.before_ns > 0.0 && seen.period_ns >= f64::from(self.before_ns) {
            (seen.rivals().1, Why::InVain)
        } else if self.why == Why::InVain && self.since_switch(now) < RELUCTANCE {
            (seen.rivals().0, Why::InVain)
        } else if seen.mode == Mode::Spin && self.is_crowd(seen, now, params) {
            (Mode::Queue, Why::EachHasCpu)
        } else {
            (seen.cheaper(params), Why::Cheaper)
        }
    }

    /// Whether this is the queue of a crowd that is gone, and came not long ago. Where threads take one of several locks in turn,
    /// all are soon at one that is slow, and the others have few. That few wait is no reason then to leave a queue: this lock
    /// would be the next that all come to.
    fn has_dispersed(&self, seen: &Seen, now: u64, params: &Params) -> bool {
        let is_for_crowd = matches!(self.why, Why::Overtaken | Why::EachHasCpu) && params.cpus() > FEW_CPUS;
        let has_paid = self.before_ns == 0.0 || seen.waiting < FEWEST;
        seen.mode == Mode::Queue && is_for_crowd && has_paid && self.since_switch(now) < RELUCTANCE
    }

    /// Whether those that poll, and do not stay away, may be served sooner in a queue. Where hand-overs were measured their cost
    /// decides.
    fn is_crowd(&self, seen: &Seen, now: u64, params: &Params) -> bool {
        let is_unknown = !params.is_measured(Mode::Spin) && !self.manner.is_taken();
        is_unknown && self.may_try_queue(CROWD, seen, now, params)
    }

    /// Whether this number of threads and more, which wait otherwise, may be served sooner in a queue that hands the lock over,
    /// which shows only there: a CPU is there for each, and the lock is passed on. Of two CPUs there are never enough.
    fn may_try_queue(&self, fewest: f64, seen: &Seen, now: u64, params: &Params) -> bool {
        let is_passed_on = seen.period_ns <= PASSED_ON.as_nanos() as f64;
        let is_willing = || self.switches < EARLY || self.since_switch(now) >= RELUCTANCE;
        let have_cpus = || {
            let cpus = params.cpus();
            cpus > FEW_CPUS && seen.waiting < CERTAIN * cpus as f64
        };
        is_passed_on && self.yields == 0 && seen.waiting >= fewest && is_willing() && have_cpus()
    }

    /// How long ago the mode changed.
    fn since_switch(&self, now: u64) -> Duration {
        // The clock of this CPU may be a little behind that of the one that changed it.
        let moments = moment(now).wrapping_add(1).wrapping_sub(self.switched).saturating_sub(1);
        Duration::from_millis(u64::from(moments) * u64::from(MOMENT_MS))
    }

    /// A window that lasted for `ticks`.
    fn seen(&self, mode: Mode, ticks: u64) -> Seen {
        let waits = f64::from(self.window_waits.max(1));
        Seen {
            mode,
            waiting: f64::from(self.tally) / ticks as f64,
            period_ns: Clock::get().ns(ticks) / waits,
            asleep: (f64::from(self.sleeps) / waits).min(1.0),
        }
    }

    /// The explanation for people, while the mode is this one.
    pub(super) fn explain(&self, mode: Mode, params: &Params) -> Explanation {
        let (waiting, period_ns) = (f64::from(self.waiting), f64::from(self.period_ns));
        let seen = Seen { mode: self.judged, waiting, period_ns, asleep: f64::from(self.asleep) / 100.0 };
        let periods = Mode::ALL.map(|other| (other, seen.period_in(other, params)));
        Explanation {
            mode,
            is_pinned: self.kept != 0,
            waiting,
            periods_ns: if waiting < FEWEST { Vec::new() } else { periods.to_vec() },
            is_measured: Mode::ALL.iter().all(|&mode| params.is_measured(mode)),
            backs_off: self.manner.is_taken(),
            switches: self.switches(),
            last_switch: (self.switches > 0).then(|| (self.why, self.since_switch(Clock::get().ticks()))),
            domains: params.domains(),
            line_ns: [params.near_ns(), params.far_ns()],
        }
    }
}

/// This time in [grains](GRAIN).
fn grains(now: u64) -> u32 {
    (now >> GRAIN) as u32
}

/// This time in units of [`MOMENT_MS`].
fn moment(now: u64) -> u32 {
    (Clock::get().duration(now).as_millis() / u128::from(MOMENT_MS)) as u32
}
