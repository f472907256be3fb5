//! How a run reports its progress; the library itself prints nothing.

/// Hears about the progress of a run, as a rule many times a second, on the thread that called for the run.
pub trait Progress {
    /// `fraction` (0 to 1) of the run is done, and `doing` names what is being done now.
    fn step(&mut self, fraction: f64, doing: &str);
}

/// Nobody listens.
impl Progress for () {
    fn step(&mut self, _fraction: f64, _doing: &str) {}
}

/// One part of a longer run, told as a run of its own.
pub struct Part<'a> {
    /// Hears about the whole run.
    pub whole: &'a mut dyn Progress,
    /// The fraction of the run at which the part begins.
    pub from: f64,
    /// The fraction at which it ends.
    pub to: f64,
}

impl<'a> Part<'a> {
    /// The part of this number, of `parts` that take about the same time.
    pub fn of(whole: &'a mut dyn Progress, number: usize, parts: usize) -> Self {
        let border = |number: usize| number as f64 / parts as f64;
        Self { whole, from: border(number), to: border(number + 1) }
    }
}

impl Progress for Part<'_> {
    fn step(&mut self, fraction: f64, doing: &str) {
        self.whole.step(self.from + (self.to - self.from) * fraction.clamp(0.0, 1.0), doing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Last(f64);

    impl Progress for Last {
        fn step(&mut self, fraction: f64, _doing: &str) {
            self.0 = fraction;
        }
    }

    #[test]
    fn a_part_moves_between_its_borders() {
        let mut last = Last(0.0);
        let mut part = Part { whole: &mut last, from: 0.5, to: 0.75 };
        part.step(0.5, "half of the third quarter");
        part.step(7.0, "more than all");
        assert_eq!(last.0, 0.75);
    }
}
