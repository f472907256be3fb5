//! A reference pair that is measured beside every round, to notice that the machine has changed.
//!
//! A hypervisor may move virtual CPUs from one core to another; a file that mixes costs from before and after describes
//! neither state. One look that is off by more than twice is taken for a disturbance: its round is measured again.
//! Two in a row are a change: everything is measured again.

/// By how much the reference may differ.
const JUMP: f64 = 2.0;

/// The result of one look at the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// All as before.
    Steady,
    /// Perhaps a disturbance: the round that it belongs to should not be trusted.
    Doubtful,
    /// The machine has changed.
    Moved {
        /// The reference cost before.
        from_ns: f64,
        /// The reference cost now.
        to_ns: f64,
    },
}

/// The reference pair's cost over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Reference {
    believed_ns: Option<f64>,
    /// True if the last look was off.
    doubted: bool,
}

impl Reference {
    /// Judges the next look.
    pub(super) fn judge(&mut self, bounce_ns: f64) -> Verdict {
        let believed = *self.believed_ns.get_or_insert(bounce_ns);
        let is_off = bounce_ns > JUMP * believed || JUMP * bounce_ns < believed;
        let was_off = std::mem::replace(&mut self.doubted, is_off);
        match (was_off, is_off) {
            (_, false) => Verdict::Steady,
            (false, true) => Verdict::Doubtful,
            (true, true) => {
                *self = Self { believed_ns: Some(bounce_ns), doubted: false };
                Verdict::Moved { from_ns: believed, to_ns: bounce_ns }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(looks: &[f64]) -> Vec<Verdict> {
        let mut reference = Reference::default();
        looks.iter().map(|&look| reference.judge(look)).collect()
    }

    #[test]
    fn one_look_that_is_off_is_a_disturbance_and_two_are_a_change() {
        use Verdict::{Doubtful, Moved, Steady};
        assert_eq!(judged(&[23.0, 30.0, 13.0, 23.0]), [Steady; 4]);
        assert_eq!(judged(&[23.0, 500.0, 24.0, 500.0, 22.0]), [Steady, Doubtful, Steady, Doubtful, Steady]);
        let moved = Moved { from_ns: 23.0, to_ns: 92.0 };
        assert_eq!(judged(&[23.0, 90.0, 92.0, 93.0]), [Steady, Doubtful, moved, Steady]);
        let back = Moved { from_ns: 90.0, to_ns: 22.0 };
        assert_eq!(judged(&[90.0, 23.0, 22.0, 23.0]), [Steady, Doubtful, back, Steady]);
    }
}
