//! Why the lock lets its threads wait as it does, for people.

use std::fmt;
use std::time::Duration;

use super::mode::Mode;

/// From this number of waiters at one lock on it is worth keeping them together.
const MANY: f64 = 2.0;

/// Why a mode was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[repr(u8)]
pub enum Why {
    /// Fewer than one waited at a time.
    #[default]
    FewWait = 0,
    /// It makes the time from one acquisition that waits to the next a fifth shorter, as long as as many wait.
    Cheaper,
    /// The other mode was to make it shorter, and has not.
    InVain,
    /// Nobody sleeps any more.
    Awake,
    /// Threads have given up their CPU: not all of them run, and a queue would wait for those who do not.
    Yielded,
    /// Threads have slept.
    Slept,
    /// A thread had spun for as long as a wake-up costs.
    Overdue,
    /// A thread had, on a CPU that nobody else wanted, while others passed the lock on.
    Overtaken,
    /// It was told to.
    Pinned,
    /// Threads have slept for which there are CPUs, while the lock was passed on.
    EachHasCpu,
}

impl Why {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::FewWait => "fewer than one thread waited at a time",
            Self::Cheaper => "it makes the time from one acquisition that waits to the next a fifth shorter",
            Self::InVain => {
                "the other mode was to make the time from one acquisition that waits to the next shorter, and has not"
            }
            Self::Awake => "nobody sleeps any more",
            Self::Yielded => "threads had to give up their CPU, and a queue would wait for those who do not run",
            Self::Slept => "threads slept",
            Self::Overdue => "a thread had spun for as long as a wake-up costs",
            Self::Overtaken => "a thread that had a CPU to itself was overtaken again and again",
            Self::Pinned => "it was pinned",
            Self::EachHasCpu => "threads slept while the lock was passed on, and there is a CPU for each",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// The lock's behaviour and its reasons: see [`Auto::explain`](crate::Auto::explain). To be shown to people; programs decide by
/// the fields.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// How its threads wait now.
    pub mode: Mode,
    /// Whether it was told to.
    pub is_pinned: bool,
    /// How many waited at a time, in the last window that was judged.
    pub waiting: f64,
    /// The nanoseconds from one acquisition that waited to the next: in the mode of that window as seen, in others as estimated
    /// from that and from [`Params`](crate::Params). Acquisitions that found the lock free are not counted, and a mode may have
    /// more of them than another one: so this is no throughput. None where fewer than one waited, as it was not hand-overs that
    /// took the time.
    pub periods_ns: Vec<(Mode, f64)>,
    /// Whether hand-overs of all modes were measured on this machine, and not reckoned.
    pub is_measured: bool,
    /// Whether threads that find it held stay away for a while, as that was seen to let more acquisitions by.
    pub backs_off: bool,
    /// How often the mode has changed: 65,535 stands for more as well.
    pub switches: u32,
    /// Why it changed last, and how long ago, to some milliseconds. A change that is months ago may seem to be younger.
    pub last_switch: Option<(Why, Duration)>,
    /// How many groups of CPUs near each other the machine has, as far as the process was told: see
    /// [`Params::domains`](crate::Params::domains).
    pub domains: usize,
    /// Nanoseconds to move a line between the CPUs that are nearest to each other, and between the farthest.
    pub line_ns: [f64; 2],
}

impl Explanation {
    /// Whether its threads should be kept on CPUs near each other, where that can be done: more than two wait for a line that
    /// goes from one group of CPUs to another. Where they run is not known here: perhaps they are together already.
    #[must_use]
    pub fn advises_one_cluster(&self) -> bool {
        self.domains > 1 && self.waiting > MANY
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pinned = if self.is_pinned { ", pinned" } else { "" };
        write!(f, "mode {}{pinned}; {:.1} threads waited at a time", self.mode, self.waiting)?;
        if !self.periods_ns.is_empty() {
            let basis = if self.is_measured { "measured" } else { "reckoned" };
            let periods = self.periods_ns.iter().map(|(mode, ns)| format!("{mode} {ns:.0}")).collect::<Vec<_>>();
            let periods = periods.join(", ");
            write!(f, "\nns from one acquisition that waits to the next, with {basis} hand-overs: {periods}")?;
        }
        if self.backs_off {
            write!(
                f,
                "\nthreads that find the lock held stay away for a while: more acquisitions were seen to get by so"
            )?;
        }
        match self.last_switch {
            None => write!(f, "\nthe mode has not changed")?,
            Some((why, ago)) => {
                let seconds = ago.as_secs_f64();
                write!(f, "\nthe mode has changed {} times, last {seconds:.1} s ago: {why}", self.switches)?;
            }
        }
        if self.advises_one_cluster() {
            let (domains, [near, far]) = (self.domains, self.line_ns);
            write!(
                f,
                "\nthis machine has {domains} groups of CPUs near each other: keep these threads in one of them, "
            )?;
            write!(f, "as a line takes {near:.0} ns between the nearest CPUs and {far:.0} ns between the farthest")?;
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn explanation() -> Explanation {
        Explanation {
            mode: Mode::Queue,
            is_pinned: false,
            waiting: 6.04,
            periods_ns: vec![(Mode::Spin, 330.0), (Mode::Queue, 180.4)],
            is_measured: true,
            backs_off: true,
            switches: 3,
            last_switch: Some((Why::Cheaper, Duration::from_millis(2100))),
            domains: 4,
            line_ns: [45.0, 150.4],
        }
    }

    #[test]
    fn people_are_told_all_of_it() {
        assert_eq!(
            explanation().to_string(),
            "mode queue; 6.0 threads waited at a time\n\
             ns from one acquisition that waits to the next, with measured hand-overs: spin 330, queue 180\n\
             threads that find the lock held stay away for a while: more acquisitions were seen to get by so\n\
             the mode has changed 3 times, last 2.1 s ago: it makes the time from one acquisition that waits to the next a fifth \
             shorter\n\
             this machine has 4 groups of CPUs near each other: keep these threads in one of them, as a line takes 45 ns \
             between the nearest CPUs and 150 ns between the farthest"
        );
        let quiet = Explanation { periods_ns: Vec::new(), last_switch: None, waiting: 0.0, ..explanation() };
        let quiet = Explanation { is_pinned: true, backs_off: false, ..quiet };
        assert_eq!(quiet.to_string(), "mode queue, pinned; 0.0 threads waited at a time\nthe mode has not changed");
    }

    #[test]
    fn few_threads_or_one_group_of_cpus_need_no_advice() {
        assert!(explanation().advises_one_cluster());
        assert!(!Explanation { domains: 1, ..explanation() }.advises_one_cluster());
        assert!(!Explanation { waiting: 2.0, ..explanation() }.advises_one_cluster());
    }
}
