//! The observations of one window, and the time that the other modes would have taken in it.

use crate::auto::mode::Mode;
use crate::auto::params::Params;

/// Another mode has to cost at most this part of what the present one does.
const CHEAPER: f64 = 0.8;

/// The observations of a window.
#[derive(Debug)]
pub(super) struct Seen {
    /// How threads waited then.
    pub(super) mode: Mode,
    /// How many at a time, on average.
    pub(super) waiting: f64,
    /// Nanoseconds from one acquisition that waited to the next.
    pub(super) period_ns: f64,
    /// The part of them that slept.
    pub(super) asleep: f64,
}

impl Seen {
    /// Queue and Spin, the present mode first. Out of Park it is Spin that has to be beaten.
    pub(super) fn rivals(&self) -> (Mode, Mode) {
        if self.mode == Mode::Queue { (Mode::Queue, Mode::Spin) } else { (Mode::Spin, Mode::Queue) }
    }

    /// The present mode unless its rival is a fifth cheaper.
    pub(super) fn cheaper(&self, params: &Params) -> Mode {
        let (own, rival) = self.rivals();
        if self.period_in(rival, params) <= CHEAPER * self.period_in(own, params) { rival } else { own }
    }

    /// Nanoseconds from one acquisition that waits to the next if threads waited in the mode `other`, and as many acquisitions
    /// did.
    ///
    /// The time beyond the present mode's hand-over is that of the sections, which last as long in any mode. Where the
    /// hand-over should take more than the whole period, all hand-overs are cheaper here than they were thought to be.
    pub(super) fn period_in(&self, other: Mode, params: &Params) -> f64 {
        let predicted = self.hand_over_ns(self.mode, params);
        let scale = (self.period_ns / predicted).min(1.0);
        (self.period_ns - predicted).max(0.0) + scale * self.hand_over_ns(other, params)
    }

    fn hand_over_ns(&self, mode: Mode, params: &Params) -> f64 {
        let awake = params.hand_over_ns(mode, self.waiting);
        if mode == Mode::Park { awake + self.asleep * params.wake_ns() } else { awake }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn hand_overs_that_take_less_than_was_thought_are_cheaper_in_all_modes() {
        let params = Params::ASSUMED;
        let (spin, queue) = (params.hand_over_ns(Mode::Spin, 20.0), params.hand_over_ns(Mode::Queue, 20.0));
        let period = |period_ns, asleep, other| {
            Seen { mode: Mode::Spin, waiting: 20.0, period_ns, asleep }.period_in(other, &params)
        };
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        near(period(spin / 2.0, 0.0, Mode::Queue), queue / 2.0);
        near(period(spin + 100.0, 0.0, Mode::Queue), queue + 100.0);
        near(period(50.0, 0.0, Mode::Spin), 50.0);
        near(period(spin + 100.0, 0.5, Mode::Park), spin + 100.0 + params.wake_ns() / 2.0);
    }
}
