//! Figures below the resolution of the timer, which are written as less than it.

use crate::report::number::{significant, time};

/// The shortest time that a timer tells from none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution {
    ns: f64,
}

impl Resolution {
    /// A resolution of at least that time: the next of 1, 2 and 5 times a power of ten, in nanoseconds. Nothing is below a
    /// resolution of zero but what is negative.
    pub fn of_ns(ns: f64) -> Self {
        if ns <= 0.0 {
            return Self { ns: 0.0 };
        }
        let power = 10_f64.powf(ns.log10().floor());
        let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= ns * 0.9999).unwrap_or(10.0);
        Self { ns: digit * power }
    }

    /// It in nanoseconds.
    pub fn ns(self) -> f64 {
        self.ns
    }

    /// A time as `write` writes it, or `< 10` if the timer cannot tell it.
    pub fn write(self, time_ns: f64, write: impl Fn(f64) -> String) -> String {
        if time_ns < self.ns { format!("< {}", significant(self.ns)) } else { write(time_ns) }
    }

    /// The same with its unit, `< 10 ns`.
    pub fn write_with_unit(self, time_ns: f64, write: impl Fn(f64) -> String) -> String {
        if time_ns < self.ns { format!("< {}", time(self.ns)) } else { write(time_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn a_time_that_the_timer_cannot_tell_is_less_than_its_resolution() {
        let resolution = Resolution::of_ns(6.3);
        assert_eq!(
            [-3.0, 9.9, 10.0, 250.0].map(|ns| resolution.write(ns, table::cost)),
            ["< 10", "< 10", "10.0", "250"]
        );
        assert_eq!(resolution.write_with_unit(0.4, time), "< 10 ns");
        assert_eq!(
            [0.0, 0.9, 1.0, 1.1, 20.0, 2400.0].map(|ns| Resolution::of_ns(ns).ns()),
            [0.0, 1.0, 1.0, 2.0, 20.0, 5000.0]
        );
        assert_eq!(Resolution::of_ns(0.0).write(0.0, table::cost), "0.0");
    }
}
