//! The parameters of a simulated machine, from what `cc` has measured and from a machine's model.
//!
//! Only what was measured is told. A parameter with a time for each distance is left out where a class of distance has no pair
//! among the CPUs at hand; `service` and `kappa` need two packages; loads of lines that two others share need a third CPU.

mod contention;

use corecast::base::CpuId;
use corecast::machine::{
    ByDistance, Coherence, Curve, MOST_AHEAD, Machine, Origin, Parameter, SmtCosts, StateCosts, SystemCosts, Unit,
    distance_classes,
};

use super::home::Home;
use super::report::{CoherenceCell, CoherenceGroup, CoherenceReport, Placement};
use super::system::SystemTimes;
use crate::stats::median;

/// The cases that parameters come from.
pub(super) const CASES: [&str; 24] = [
    "load-modified",
    "load-exclusive",
    "load-shared-elsewhere",
    "load-owned-elsewhere",
    "load-invalid",
    "load-own-cache",
    "store-modified",
    "store-exclusive",
    "store-shared",
    "store-owned-there",
    "cas-modified",
    "fai-modified",
    "swap-modified",
    "cas-exclusive",
    "fai-exclusive",
    "cas-shared",
    "fai-shared",
    "cas-owned-there",
    "fai-owned-there",
    "fai-own-cache",
    "pause",
    "fai-contended-1",
    "fai-contended-8",
    "fai-contended-64",
];
/// The measurements, and the machine that they are of.
pub(super) struct Measured<'a> {
    pub(super) machine: &'a Machine,
    pub(super) report: &'a CoherenceReport,
    pub(super) system: SystemTimes,
    /// A look at the clock and a pause, in nanoseconds.
    pub(super) look: Option<f64>,
    /// The time from one store to the next, by class of distance, in nanoseconds.
    pub(super) gap: Vec<(usize, f64)>,
    /// The loads of a CPU that are under way together, and the factor by which another CPU of its core slows it down.
    pub(super) ahead: Option<f64>,
    pub(super) slowdown: Option<f64>,
}

impl Measured<'_> {
    /// All parameters that were measured, in nanoseconds.
    pub(super) fn coherence(&self) -> Coherence {
        let known = self.classes();
        let read_modify_write = StateCosts {
            modified: self.by_pair(&known, &["cas-modified", "fai-modified", "swap-modified"]),
            owned: self.by_pair(&known, &["cas-owned-there", "fai-owned-there"]),
            exclusive: self.by_pair(&known, &["cas-exclusive", "fai-exclusive"]),
            shared: self.by_pair(&known, &["cas-shared", "fai-shared"]),
        };
        let load = StateCosts {
            modified: self.by_pair(&known, &["load-modified"]),
            owned: self.by_sharers(&known, "load-owned-elsewhere", false),
            exclusive: self.by_pair(&known, &["load-exclusive"]),
            shared: self.by_sharers(&known, "load-shared-elsewhere", true),
        };
        let [service, kappa] = self.contended(&known, &read_modify_write.modified).map(of_time);
        Coherence {
            memory: self.memory(&known),
            hit: of_time(self.alone("load-own-cache")),
            read_modify_write_hit: of_time(self.alone("fai-own-cache")),
            pause: of_time(self.alone("pause").filter(is_time)),
            look: of_time(self.look().filter(is_time)),
            ahead: self.ahead.map(|number| Parameter { value: count_ahead(number), origin: Origin::Measured }),
            gap: by_class(&known, self.gap.iter().copied()),
            beta: self.beta(&load.modified).and_then(|share| of_time(Some(share))),
            service,
            kappa,
            system: self.system(),
            smt: SmtCosts { slowdown: of_time(self.slowdown), line: of_time(self.line_of_core()) },
            contended: self.contended_rows(),
            store: self.stores(&known),
            load,
            read_modify_write,
            ..known
        }
    }

    fn stores(&self, known: &Coherence) -> StateCosts {
        StateCosts {
            modified: self.by_pair(known, &["store-modified"]),
            owned: self.by_pair(known, &["store-owned-there"]),
            exclusive: self.by_pair(known, &["store-exclusive"]),
            shared: self.by_pair(known, &["store-shared"]),
        }
    }

    /// The classes of distance, and no parameter.
    fn classes(&self) -> Coherence {
        let classes = distance_classes(self.machine);
        let mut distances = vec![vec![0; self.machine.cpus.len()]; self.machine.cpus.len()];
        for (number, class) in classes.iter().enumerate() {
            class.pairs.iter().for_each(|&(one, other)| distances[one][other] = number as u8);
        }
        let mut names: Vec<String> = classes.iter().map(|class| class.name.to_owned()).collect();
        if names.is_empty() {
            names.push("alone".to_owned());
        }
        Coherence::unknown(Unit::Ns, names, distances)
    }

    /// A look at the clock before a pause: the time of both, without that of a pause.
    fn look(&self) -> Option<f64> {
        Some(self.look? - self.alone("pause").unwrap_or(0.0))
    }

    fn system(&self) -> SystemCosts {
        let SystemTimes { sleep, wake, hand_over, spread } = self.system;
        let model = &self.machine.extended;
        let give_way = model.yield_ns.filter(is_time);
        // The call that gives the CPU away is in the time of a hand-over.
        let switch = hand_over.map(|ns| (ns - give_way.unwrap_or(0.0)).max(0.0));
        SystemCosts {
            sleep: of_time(sleep),
            wake: of_time(wake),
            woken: of_time(model.wake_ns),
            give_way: of_time(give_way),
            switch: of_time(switch),
            switch_spread: of_time(spread),
            ..SystemCosts::default()
        }
    }

    /// A load of a line that another CPU of the core has written.
    fn line_of_core(&self) -> Option<f64> {
        let core = |cpu: u32| self.machine.cpus[self.machine.position(CpuId::new(cpu))?].core;
        let of_core = |group: &&CoherenceGroup| match *group.cpus.as_slice() {
            [one, other, ..] => core(one).is_some() && core(one) == core(other),
            _ => false,
        };
        let groups = self.groups(Placement::Pair).filter(of_core);
        median(&groups.filter_map(|group| cell(group, "load-modified").and_then(time)).collect::<Vec<_>>())
    }

    fn groups(&self, placement: Placement) -> impl DoubleEndedIterator<Item = &CoherenceGroup> {
        self.report.groups.iter().filter(move |group| group.placement == placement)
    }

    fn alone(&self, case: &str) -> Option<f64> {
        self.groups(Placement::Alone).find_map(|group| cell(group, case).and_then(time))
    }

    /// The median of these cases for the pair of each class, whose lines lie near the first of it.
    fn by_pair(&self, known: &Coherence, cases: &[&str]) -> ByDistance {
        let near = self.groups(Placement::Pair).filter(|group| matches!(group.home, None | Some(Home::First)));
        let mut samples = Vec::new();
        for group in near {
            let &[first, second, ..] = group.cpus.as_slice() else { continue };
            let Some(class) = self.class(known, first, second) else { continue };
            samples.extend(cases.iter().filter_map(|case| Some((class, time(cell(group, case)?)?))));
        }
        by_class(known, samples.into_iter())
    }

    /// A load of a line of which the first CPU of the pair and a third one have copies. It is answered by the nearest of them,
    /// or by the first, which owns the line.
    fn by_sharers(&self, known: &Coherence, case: &str, by_nearest: bool) -> ByDistance {
        let sample = |group: &CoherenceGroup| {
            let [owner, reader, sharer] = *group.cpus.get(..3)? else { return None };
            let found = group.cells.iter().find(|cell| cell.case == case && cell.sharers == 1)?;
            let (owner, sharer) = (self.class(known, owner, reader)?, self.class(known, sharer, reader)?);
            Some((if by_nearest { owner.min(sharer) } else { owner }, time(found)?))
        };
        by_class(known, self.groups(Placement::Pair).filter_map(sample))
    }

    /// The class of two CPUs.
    fn class(&self, known: &Coherence, one: u32, other: u32) -> Option<usize> {
        let position = |cpu: u32| self.machine.position(CpuId::new(cpu));
        Some(usize::from(known.distances[position(one)?][position(other)?]))
    }

    /// The first CPU of each pair loads what lies near it, or near the other: memory of its own node is as near as can be.
    fn memory(&self, known: &Coherence) -> ByDistance {
        let (mut own, mut samples) = (Vec::new(), Vec::new());
        for group in self.groups(Placement::Pair) {
            let &[first, second, ..] = group.cpus.as_slice() else { continue };
            let Some(ns) = cell(group, "load-invalid").and_then(time) else { continue };
            match group.home {
                None | Some(Home::First) => own.push(ns),
                Some(Home::Second) => samples.extend(self.class(known, first, second).map(|class| (class, ns))),
                Some(Home::Elsewhere) => {}
            }
        }
        let own = median(&own)?;
        // No CPU asks for memory at a distance at which all pairs are of one node.
        let nodes = self.machine.numa_nodes();
        for (class, pairs) in distance_classes(self.machine).iter().enumerate() {
            let is_of_one = |&(one, other): &(usize, usize)| nodes[one] == nodes[other];
            if class == 0 || pairs.pairs.iter().all(is_of_one) {
                samples.push((class, own));
            }
        }
        by_class(known, samples.into_iter())
    }

    /// The share of a load that further readers of a line wait for, from the time until the last of several has read it.
    fn beta(&self, load: &ByDistance) -> Option<f64> {
        let curve: &Curve = self.machine.extended.readers.as_ref().filter(|_| self.machine.unit == Unit::Ns)?;
        let (&(few, first), &(many, last)) = (curve.first()?, curve.last()?);
        let one = load.as_ref()?.value.first().copied().filter(|&ns| ns > 0.0)?;
        (many > few).then(|| ((last - first) / f64::from(many - few) / one).clamp(0.0, 1.0))
    }
}

fn cell<'a>(group: &'a CoherenceGroup, case: &str) -> Option<&'a CoherenceCell> {
    group.cells.iter().find(|cell| cell.case == case)
}

/// That a time is not none once it is [`rounded`]: a polling loop must take some.
fn is_time(ns: &f64) -> bool {
    rounded(*ns) > 0.0
}

/// The median; what takes less than the timer takes no time.
fn time(cell: &CoherenceCell) -> Option<f64> {
    cell.times.as_ref().map(|times| times.p50_ns.max(0.0))
}

/// The median of the samples of each class; nothing if a class has none.
fn by_class(known: &Coherence, samples: impl Iterator<Item = (usize, f64)>) -> ByDistance {
    let mut classes = vec![Vec::new(); known.classes.len()];
    samples.for_each(|(class, ns)| classes[class].push(ns));
    let value: Option<Vec<f64>> = classes.iter().map(|times| median(times).map(rounded)).collect();
    value.map(|value| Parameter { value, origin: Origin::Measured })
}

/// The whole number of loads under way: none, where each waits for the one before.
fn count_ahead(number: f64) -> u32 {
    let whole = (number.round() as u32).min(MOST_AHEAD);
    if whole > 1 { whole } else { 0 }
}

fn of_time(number: Option<f64>) -> Option<Parameter<f64>> {
    number.map(|number| Parameter { value: rounded(number), origin: Origin::Measured })
}

/// To hundredths: no timer tells more, and people read it.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use corecast::machine::{Contended, Cpu, Topology};

    use super::super::distribution::Distribution;
    use super::*;

    fn cell(case: &str, sharers: usize, ns: f64, handed: Option<f64>) -> CoherenceCell {
        CoherenceCell {
            case: case.to_owned(),
            number: None,
            operation: String::new(),
            lines: String::new(),
            handed,
            sharers,
            times: Distribution::of([ns].into_iter()),
            skipped: None,
        }
    }

    fn group(placement: Placement, home: Option<Home>, cpus: &[u32], cells: &[(&str, f64)]) -> CoherenceGroup {
        let sharers = |case: &str| usize::from(case.ends_with("elsewhere"));
        let cells = cells.iter().map(|&(case, ns)| cell(case, sharers(case), ns, Some(0.5))).collect();
        CoherenceGroup { placement, distance: None, home, clusters: None, cpus: cpus.to_vec(), cells }
    }

    /// Two packages of two CPUs each.
    fn machine() -> Machine {
        let cpu = |id: u32| Cpu { package: Some(id / 2), numa: Some(id / 2), ..Cpu::flat(CpuId::new(id)) };
        Machine::from_topology(&Topology { cpus: (0..4).map(cpu).collect(), ..Topology::default() })
    }

    fn coherence(machine: &Machine, groups: Vec<CoherenceGroup>) -> Coherence {
        let report = CoherenceReport {
            machine: String::new(),
            commit: None,
            seed: 1,
            quick: true,
            timers: Vec::new(),
            groups,
            published: Vec::new(),
        };
        let system = SystemTimes { sleep: Some(700.0), wake: None, hand_over: Some(1500.004), spread: Some(200.0) };
        let gap = [6.001, 20.0].into_iter().enumerate().take(distance_classes(machine).len()).collect();
        Measured { machine, report: &report, system, look: Some(31.5), gap, ahead: Some(9.6), slowdown: None }
            .coherence()
    }

    fn values(parameter: &ByDistance) -> Option<&[f64]> {
        parameter.as_ref().map(|parameter| parameter.value.as_slice())
    }

    #[test]
    fn every_class_has_the_time_of_its_pair_and_memory_that_of_its_home() {
        let near = [("load-modified", 40.0), ("cas-modified", 50.0), ("fai-modified", 44.0), ("load-invalid", 90.0)];
        let far = [("load-modified", 140.0), ("fai-modified", 160.0), ("load-invalid", 95.0)];
        let groups = vec![
            group(Placement::Alone, None, &[0], &[("load-own-cache", 1.234_5), ("pause", -1.0)]),
            group(Placement::Pair, Some(Home::First), &[0, 1, 2, 3], &near),
            group(Placement::Pair, Some(Home::First), &[0, 2, 1, 3], &far),
            group(
                Placement::Pair,
                Some(Home::Second),
                &[0, 2, 1, 3],
                &[("load-invalid", 150.0), ("load-modified", 9.0)],
            ),
        ];
        let found = coherence(&machine(), groups);
        assert_eq!(found.classes, ["same NUMA node", "different packages"]);
        assert_eq!(found.distances[0], [0, 0, 1, 1]);
        assert_eq!(values(&found.load.modified), Some(&[40.0, 140.0][..]));
        assert_eq!(values(&found.read_modify_write.modified), Some(&[47.0, 160.0][..]));
        assert_eq!(values(&found.memory), Some(&[92.5, 150.0][..]));
        assert_eq!(found.hit.map(|hit| hit.value), Some(1.23));
        assert_eq!(found.ahead.map(|ahead| (ahead.value, ahead.origin)), Some((10, Origin::Measured)));
        assert_eq!(values(&found.gap), Some(&[6.0, 20.0][..]));
        assert_eq!(found.look.map(|look| look.value), Some(31.5), "its pause takes no time");
        assert_eq!(found.smt, SmtCosts::default(), "no two share a core");
        assert_eq!([0.4, 1.2, 1.6, 99.0].map(count_ahead), [0, 0, 2, MOST_AHEAD]);
        assert_eq!(found.pause, None, "a polling loop that takes no time makes no machine");
        assert_eq!((found.load.exclusive, found.service, found.system.wake), (None, None, None));
        assert_eq!(found.system.switch.map(|switch| (switch.value, switch.origin)), Some((1500.0, Origin::Measured)));
    }

    #[test]
    fn a_class_without_a_pair_leaves_the_parameter_out() {
        let groups =
            vec![group(Placement::Pair, None, &[0, 1], &[("load-modified", 40.0), ("load-shared-elsewhere", 9.0)])];
        let found = coherence(&machine(), groups);
        assert_eq!((found.load.modified, found.load.shared), (None, None));
    }

    #[test]
    fn a_load_that_the_nearest_holder_answers_is_of_its_class() {
        let shared = |ns| [("load-shared-elsewhere", ns), ("load-owned-elsewhere", ns)];
        let groups = vec![
            group(Placement::Pair, None, &[0, 1, 2], &shared(30.0)),
            // The third CPU is in the package of the second, which is measured.
            group(Placement::Pair, None, &[0, 2, 3], &shared(50.0)),
            group(Placement::Pair, None, &[0, 2, 1], &shared(200.0)),
        ];
        let found = coherence(&machine(), groups);
        assert_eq!(values(&found.load.shared), Some(&[40.0, 200.0][..]));
        assert_eq!(values(&found.load.owned), Some(&[30.0, 125.0][..]));
    }

    #[test]
    fn a_line_of_a_core_comes_in_the_time_of_a_pair_that_shares_it() {
        let cpu = |id: u32| Cpu { core: Some(id / 2), ..Cpu::flat(CpuId::new(id)) };
        let machine = Machine::from_topology(&Topology { cpus: (0..4).map(cpu).collect(), ..Topology::default() });
        let pair = |cpus: &[u32], ns| group(Placement::Pair, None, cpus, &[("load-modified", ns)]);
        let found = coherence(&machine, vec![pair(&[0, 1], 12.0), pair(&[0, 2], 60.0)]);
        let line = found.smt.line.map(|line| (line.value, line.origin));
        assert_eq!((line, found.smt.slowdown), (Some((12.0, Origin::Measured)), None));
    }

    #[test]
    fn contention_is_told_by_how_much_slower_lines_move_than_between_two() {
        let pair = |cpus: &[u32], ns| group(Placement::Pair, None, cpus, &[("fai-modified", ns)]);
        let contended = |one, many| {
            let cells = [("fai-contended-1", one), ("fai-contended-64", many)];
            let clusters = group(Placement::Clusters, None, &[0, 1, 2, 3], &cells);
            let clusters = CoherenceGroup { clusters: Some(2), ..clusters };
            coherence(&machine(), vec![pair(&[0, 1], 60.0), pair(&[0, 2], 150.0), clusters])
        };
        // Of 12 pairs 8 are far: a line moves every 120 ns without contention, and each CPU's increment takes 240 at a half.
        let found = contended(240.0, 60.0);
        assert_eq!((found.kappa.map(|kappa| kappa.value), found.service), (Some(0.0), None));
        let found = contended(640.0, 180.0);
        assert_eq!(found.kappa.map(|kappa| kappa.value), Some(2.0));
        assert_eq!(found.service.map(|service| service.value), Some(135.0));
        let row = |lines, time| Contended { clusters: 2, cpus: vec![0, 1, 2, 3], lines, time, handed: 0.5 };
        assert_eq!(found.contended, [row(1, 640.0), row(64, 180.0)], "as they were measured");
        let one = Machine::from_topology(&Topology {
            cpus: [0, 1].map(|id| Cpu::flat(CpuId::new(id))).to_vec(),
            ..Topology::default()
        });
        let clusters = group(Placement::Clusters, None, &[0, 1], &[("fai-contended-1", 500.0)]);
        let found = coherence(&one, vec![pair(&[0, 1], 60.0), clusters]);
        assert_eq!((found.kappa, found.service), (None, None), "one package says nothing of others");
    }

    #[test]
    fn a_model_that_was_measured_gives_what_it_knows() {
        let mut machine = machine();
        let pairs = || {
            vec![
                group(Placement::Pair, None, &[0, 1], &[("load-modified", 40.0)]),
                group(Placement::Pair, None, &[0, 2], &[("load-modified", 140.0)]),
            ]
        };
        machine.extended.readers = Some(vec![(1, 50.0), (3, 66.0)]);
        machine.extended.wake_ns = Some(5000.0);
        machine.extended.yield_ns = Some(300.0);
        let found = coherence(&machine, pairs());
        assert_eq!(found.beta.map(|beta| beta.value), Some(0.2));
        assert_eq!(found.system.woken.map(|woken| woken.value), Some(5000.0));
        let SystemCosts { give_way, switch, switch_spread, .. } = found.system;
        assert_eq!(
            [give_way, switch, switch_spread].map(|time| time.map(|time| time.value)),
            [300.0, 1200.0, 200.0].map(Some)
        );
    }
}
