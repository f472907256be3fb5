//! [`Params`]: when to take it, how it works, and its code.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

use corecast_base::wait::ASSUMED_WAKE_COST;
#[cfg(feature = "machine")]
use corecast_machine::{Machine, Unit};

use super::mode::Mode;
#[cfg(feature = "machine")]
use crate::domains::Domains;
#[cfg(loom)]
use model as process;
#[cfg(not(loom))]
use native as process;

/// Nanoseconds to move a line from CPU to CPU where nobody has measured it.
const ASSUMED_LINE_NS: f64 = 60.0;
/// The number of transfers in which a queue is handed over: of the word, of the link to the one behind, and of its node.
const QUEUE_TRANSFERS: f64 = 3.0;

/// Nanoseconds from one holder to the next, by the number of threads that wait, ascending.
type Curve = Vec<(u32, f64)>;

/// The cost of a hand-over, by how threads wait and how many do. [`Auto`](crate::Auto) decides by it.
///
/// Where nothing was measured it is reckoned from what a line takes from CPU to CPU, L: a word that n poll is handed over in
/// L (1 + n / 2), as it goes to half of them in vain; a queue needs 3 L, however many wait; and a sleeper takes a wake-up in
/// addition. `corecast measure locks` measures the three on a machine, and keeps them in its model.
///
/// The costs are those of the process: a lock of one line has no place for its own, and all locks are on the same machine.
/// Without a word of the program they are reckoned with a line of 60 ns. Where hand-overs are all there is only the ratio of
/// two costs decides, and that is as good as any other line. But what of a period is sections is told from the costs too:
/// where a line takes longer, sections are thought to be longer than they are, and a queue comes later.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    line_ns: f64,
    near_ns: f64,
    far_ns: f64,
    /// The mean of pairs of CPUs of one domain; `None` where no line was told.
    domain_ns: Option<f64>,
    wake_ns: f64,
    domains: usize,
    /// CPUs; 0 where no machine was told.
    cpus: usize,
    /// The measurements, by mode; empty where there are none.
    measured: [Curve; Mode::ALL.len()],
}

impl Params {
    /// Of a machine that nobody knows.
    pub const ASSUMED: Self = Self {
        line_ns: ASSUMED_LINE_NS,
        near_ns: ASSUMED_LINE_NS,
        far_ns: ASSUMED_LINE_NS,
        domain_ns: None,
        wake_ns: ASSUMED_WAKE_COST.as_nanos() as f64,
        domains: 1,
        cpus: 0,
        measured: [const { Curve::new() }; Mode::ALL.len()],
    };

    /// The values in the model of this machine: hand-overs as far as they were measured, and the costs of a line and of a
    /// wake-up,
    /// from which the others are reckoned. A line takes what a bare one does, or else what sending and receiving a message do.
    /// Of a model in cycles only hand-overs and wake-ups are taken, which are in nanoseconds.
    ///
    /// ```
    /// use corecast_base::CpuId;
    /// use corecast_lock::{Mode, Params};
    /// use corecast_machine::{Cpu, Machine, Topology};
    ///
    /// // In a program: `corecast::machine::detect()?`, or the file of `corecast measure locks --out FILE`.
    /// let cpus = (0..8).map(|id| Cpu::flat(CpuId::new(id))).collect();
    /// let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    /// let params = Params::of(&machine);
    /// assert!(params.hand_over_ns(Mode::Queue, 7.0) < params.hand_over_ns(Mode::Spin, 7.0));
    /// params.set_for_process();
    /// ```
    #[cfg(feature = "machine")]
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let extended = &machine.extended;
        let curve = |mode: Mode| extended.lock_hand_over_ns.get(mode.name()).cloned().unwrap_or_default();
        let wake_ns = extended.wake_ns.filter(|&ns| ns > 0.0).unwrap_or(Self::ASSUMED.wake_ns);
        let domains = Domains::of_machine(machine);
        let lines = Self::of_lines(machine, &domains);
        let cpus = machine.cpus.len();
        Self { wake_ns, domains: domains.count(), cpus, measured: Mode::ALL.map(curve), ..lines }
    }

    #[cfg(feature = "machine")]
    fn of_lines(machine: &Machine, domains: &Domains) -> Self {
        let between = |i: usize, j: usize| match &machine.extended.bounce {
            Some(bounce) => bounce.get(i, j),
            None => machine.send.get(i, j) + machine.receive.get(i, j),
        };
        let cpus = if machine.unit == Unit::Ns { machine.cpus.len() } else { 0 };
        let domain = |cpu: usize| domains.of(machine.cpus[cpu].id);
        let pairs = (0..cpus).flat_map(|i| (0..cpus).filter(move |&j| j != i).map(move |j| (i, j)));
        let lines = pairs.map(|(i, j)| (between(i, j), domain(i) == domain(j)));
        let lines: Vec<(f64, bool)> = lines.filter(|&(ns, _)| ns > 0.0).collect();
        let all = || lines.iter().map(|&(ns, _)| ns);
        let inside = lines.iter().filter(|(_, is_inside)| *is_inside).map(|&(ns, _)| ns);
        let Some(line_ns) = mean(all()) else { return Self::ASSUMED };
        let (near_ns, far_ns) = (all().fold(line_ns, f64::min), all().fold(line_ns, f64::max));
        Self { line_ns, near_ns, far_ns, domain_ns: mean(inside).or(Some(near_ns)), ..Self::ASSUMED }
    }

    /// Nanoseconds to move a line between the two CPUs that are nearest to each other.
    #[must_use]
    pub fn near_ns(&self) -> f64 {
        self.near_ns
    }

    /// The same of the two that are farthest.
    #[must_use]
    pub fn far_ns(&self) -> f64 {
        self.far_ns
    }

    /// From a wake-up to the sleeper's first step, nanoseconds.
    #[must_use]
    pub fn wake_ns(&self) -> f64 {
        self.wake_ns
    }

    /// How many groups of CPUs near each other there are: see [`Domains::of_machine`].
    #[must_use]
    pub fn domains(&self) -> usize {
        self.domains
    }

    /// CPUs of the machine; 0 where no machine was told.
    pub(super) fn cpus(&self) -> usize {
        self.cpus
    }

    /// Nanoseconds to move a line among this number of threads, if each has a CPU: the mean of a domain's pairs where one domain
    /// has a CPU for each, else that of all pairs. `None` where they are more than the CPUs, or no machine was told.
    pub(crate) fn line_among_ns(&self, threads: usize) -> Option<f64> {
        let domain_ns = self.domain_ns.filter(|_| threads <= self.cpus)?;
        Some(if threads * self.domains <= self.cpus { domain_ns } else { self.line_ns })
    }

    /// Whether the hand-overs of this mode were measured.
    #[must_use]
    pub fn is_measured(&self, mode: Mode) -> bool {
        !self.measured[mode as usize].is_empty()
    }

    /// Nanoseconds from one holder to the next where this number of threads waits in this mode and none of them sleeps.
    /// Between numbers
    /// of threads that were measured, and beyond them, the cost is reckoned and put right by what was measured beside.
    #[must_use]
    pub fn hand_over_ns(&self, mode: Mode, waiting: f64) -> f64 {
        let ratio = |&(threads, ns): &(u32, f64)| (f64::from(threads), ns / self.reckoned_ns(mode, f64::from(threads)));
        self.reckoned_ns(mode, waiting) * between(self.measured[mode as usize].iter().map(ratio), waiting)
    }

    /// Those who poll take the line from each other, in Park as in Spin.
    fn reckoned_ns(&self, mode: Mode, waiting: f64) -> f64 {
        self.line_ns
            * match mode {
                Mode::Spin | Mode::Park => 1.0 + waiting / 2.0,
                Mode::Queue => QUEUE_TRANSFERS,
            }
    }

    /// Makes these the costs that all locks of this process decide by, until others are set; from each lock's next window on. A
    /// value that was ever set is kept for ever.
    pub fn set_for_process(self) {
        process::set(self);
    }

    /// Those that the locks of this process decide by: [`Params::ASSUMED`] if none were set.
    #[must_use]
    pub fn of_process() -> &'static Self {
        process::get()
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::ASSUMED
    }
}

#[cfg(feature = "machine")]
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// The y at `x` on straight lines between points of ascending x; that of the nearest one outside of them, and 1 if there is none.
fn between(points: impl Iterator<Item = (f64, f64)>, x: f64) -> f64 {
    let mut before: Option<(f64, f64)> = None;
    for (at, y) in points {
        match before {
            _ if at < x => before = Some((at, y)),
            Some((from, y_from)) => return y_from + (y - y_from) * (x - from) / (at - from),
            None => return y,
        }
    }
    before.map_or(1.0, |(_, y)| y)
}

#[cfg(all(test, feature = "machine", not(loom)))]
mod tests {
    use std::collections::BTreeMap;

    use corecast_base::CpuId;
    use corecast_machine::{CostMatrix, Cpu, Topology};

    use super::*;

    fn machine(cpus: u32) -> Machine {
        let cpus = (0..cpus).map(|id| Cpu { l3: Some(id / 2), ..Cpu::flat(CpuId::new(id)) }).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    #[test]
    fn without_a_measurement_costs_are_reckoned_from_a_line() {
        let params = Params::default();
        let ns = |mode, waiting| params.hand_over_ns(mode, waiting) / ASSUMED_LINE_NS;
        assert_eq!([ns(Mode::Spin, 0.0), ns(Mode::Spin, 4.0), ns(Mode::Park, 4.0)], [1.0, 3.0, 3.0]);
        assert_eq!([ns(Mode::Queue, 1.0), ns(Mode::Queue, 100.0)], [3.0, 3.0]);
        assert!(!params.is_measured(Mode::Spin));
        assert_eq!((params.wake_ns(), params.domains()), (20_000.0, 1));
    }

    #[test]
    fn a_machine_tells_lines_wake_ups_and_domains() {
        let mut machine = machine(4);
        // Assumed: 10 + 35 within a cache, 30 + 120 beyond; two of three CPUs are beyond.
        let params = Params::of(&machine);
        assert_eq!((params.near_ns(), params.far_ns(), params.domains()), (45.0, 150.0, 2));
        assert!((params.line_ns - 115.0).abs() < 1e-9, "{}", params.line_ns);
        machine.extended.bounce = Some(CostMatrix::from_fn(4, |i, j| if i == j { 0.0 } else { 7.0 }).expect("costs"));
        machine.extended.wake_ns = Some(5000.0);
        let params = Params::of(&machine);
        assert_eq!((params.line_ns, params.near_ns(), params.far_ns(), params.wake_ns()), (7.0, 7.0, 7.0, 5000.0));
        machine.unit = Unit::Cycles;
        let params = Params::of(&machine);
        assert_eq!((params.line_ns, params.wake_ns(), params.domains()), (ASSUMED_LINE_NS, 5000.0, 2));
        assert_eq!(Params::of(&self::machine(1)).line_ns, ASSUMED_LINE_NS, "there is no pair");
    }

    #[test]
    fn lines_move_within_a_domain_while_it_has_a_cpu_for_each() {
        let mut machine = machine(4);
        let lines = |machine: &Machine| [1, 2, 3, 4, 5].map(|threads| Params::of(machine).line_among_ns(threads));
        let [near, far] = [Some(45.0), Some(115.0)];
        assert_eq!(lines(&machine), [near, near, far, far, None]);
        machine.unit = Unit::Cycles;
        assert_eq!(lines(&machine), [None; 5]);
        assert_eq!(lines(&self::machine(1)), [None; 5], "there is no pair");
        assert_eq!(Params::ASSUMED.line_among_ns(0), None);
    }

    #[test]
    fn measurements_count_and_put_right_what_was_not_measured() {
        let mut machine = machine(4);
        let curve = vec![(1, 230.0), (3, 575.0)];
        machine.extended.lock_hand_over_ns =
            BTreeMap::from([("spin".to_owned(), curve), ("other".to_owned(), vec![(1, 9.0)])]);
        let params = Params::of(&machine);
        let spin = |waiting| params.hand_over_ns(Mode::Spin, waiting);
        // Reckoned: 172.5 for 1, 230 for 2, 287.5 for 3, 345 for 4.
        for (waiting, expected) in
            [(1.0, 230.0), (3.0, 575.0), (2.0, 230.0 * 5.0 / 3.0), (4.0, 690.0), (0.0, 115.0 * 4.0 / 3.0)]
        {
            assert!((spin(waiting) - expected).abs() < 1e-9, "{waiting}: {}", spin(waiting));
        }
        assert_eq!(params.hand_over_ns(Mode::Queue, 3.0), 345.0, "reckoned");
        assert_eq!(Mode::ALL.map(|mode| params.is_measured(mode)), [true, false, false]);
    }

    #[test]
    fn the_process_has_those_that_were_set_last() {
        let params = Params::of(&machine(2));
        params.clone().set_for_process();
        let set = Params::of_process();
        assert_eq!(set, &params);
        Params::default().set_for_process();
        assert_eq!(Params::of_process(), &Params::ASSUMED);
        params.set_for_process();
        assert!(std::ptr::eq(Params::of_process(), set), "a value is kept once");
        Params::default().set_for_process();
    }
}
