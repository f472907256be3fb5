//! A machine to simulate, with what is told of its parameters: which were measured, which published, which assumed.

use corecast_sim_core::{ByState, Costs, Machine, MachineError, System, TICKS, Ticks};
use measured_machine::{
    ByDistance, Coherence, CoherenceProtocol, Origin, Parameter, SmtCosts, StateCosts, SystemCosts, Unit,
};

/// A machine to simulate, and all its parameters with where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The machine.
    pub machine: Machine,
    /// All its parameters, as a model file has them.
    pub coherence: Coherence,
}

/// A parameter of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Its name, as in a model file: `load.modified`.
    pub parameter: String,
    /// Its value, or its values by distance, the nearest first.
    pub values: Vec<f64>,
    /// The unit: `ns`, `cycles`, `stores`, or nothing for factors.
    pub unit: &'static str,
    /// Where it comes from.
    pub origin: Origin,
}

/// The accesses whose times by state and distance David, Guerraoui and Trigonakis published, and those of memory and of loads
/// that hit.
const PUBLISHED: [&str; 5] = ["load", "store", "read_modify_write", "memory", "hit"];

impl Described {
    /// One of the published machines: which parameters are assumed is told in [`corecast_sim_core::published`].
    #[must_use]
    pub fn published(machine: Machine) -> Self {
        let of_table = |name: &str| PUBLISHED.contains(&name.split('.').next().unwrap_or(name));
        let origin = |name: &str| if of_table(name) { Origin::Published } else { Origin::Assumed };
        let classes = machine.costs().memory.len();
        let names = (0..classes).map(|class| format!("distance {class}")).collect();
        Self::new(machine, Unit::Cycles, names, &origin)
    }

    /// The same machine with other costs: a parameter whose values differ is assumed.
    ///
    /// # Errors
    /// [`MachineError`] if the costs make no machine.
    pub fn with_costs(self, costs: Costs) -> Result<Self, MachineError> {
        let Self { machine, coherence } = self;
        let machine = machine.with_costs(costs)?;
        Ok(Self::with_machine(machine, &coherence, &|_| Origin::Assumed))
    }

    /// Another machine of the same classes: a parameter that is the same keeps its origin, and `fresh` tells those of the others.
    pub(crate) fn with_machine(machine: Machine, coherence: &Coherence, fresh: &dyn Fn(&str) -> Origin) -> Self {
        let (unit, classes) = (coherence.unit, coherence.classes.clone());
        let before = explain(coherence);
        let after = explain(&Self::new(machine.clone(), unit, classes.clone(), &|_| Origin::Assumed).coherence);
        let of = |known: &[Explained], name: &str| known.iter().find(|known| known.parameter == name).cloned();
        let protocol = coherence.protocol.map_or(Origin::Assumed, |protocol| protocol.origin);
        let origin = |name: &str| match (of(&before, name), of(&after, name)) {
            (Some(before), Some(after)) if before.values == after.values => before.origin,
            (None, None) => protocol,
            _ => fresh(name),
        };
        let described = Self::new(machine, unit, classes, &origin);
        let (contended, other) = (coherence.contended.clone(), coherence.other.clone());
        Self { coherence: Coherence { contended, other, ..described.coherence }, ..described }
    }

    /// A machine whose parameters come from what `origin` says of their names.
    pub(crate) fn new(machine: Machine, unit: Unit, classes: Vec<String>, origin: &dyn Fn(&str) -> Origin) -> Self {
        let coherence = coherence(&machine, unit, classes, origin);
        Self { machine, coherence }
    }
}

/// The parameters of a machine one by one, in the order of a model file.
#[must_use]
pub fn explain(coherence: &Coherence) -> Vec<Explained> {
    let time = match coherence.unit {
        Unit::Ns => "ns",
        Unit::Cycles => "cycles",
    };
    let explained = |(parameter, values, origin): (String, Vec<f64>, Origin)| {
        let unit = match parameter.as_str() {
            "beta" | "kappa" | "smt.slowdown" => "",
            "store_buffer" => "stores",
            "ahead" => "accesses",
            _ => time,
        };
        Explained { parameter, values, unit, origin }
    };
    coherence.parameters().into_iter().map(explained).collect()
}

fn coherence(machine: &Machine, unit: Unit, classes: Vec<String>, origin: &dyn Fn(&str) -> Origin) -> Coherence {
    let costs = machine.costs();
    let number = |name: &str, value: f64| Some(Parameter { value, origin: origin(name) });
    let time = |name: &str, ticks: Ticks| number(name, units(ticks));
    let row = |name: &str, times: &[Ticks]| by_distance(name, times, origin);
    let protocol = CoherenceProtocol { directory: costs.protocol.has_directory, owned: costs.protocol.has_owned };
    let count = |name: &str, count: usize| {
        let value = u32::try_from(count).unwrap_or(u32::MAX);
        Some(Parameter { value, origin: origin(name) })
    };
    Coherence {
        units_per_us: Some(machine.units_per_us()),
        protocol: Some(Parameter { value: protocol, origin: origin("protocol") }),
        load: states("load", &costs.load, origin),
        store: states("store", &costs.store, origin),
        read_modify_write: states("read_modify_write", &costs.read_modify_write, origin),
        memory: row("memory", &costs.memory),
        hit: time("hit", costs.hit),
        read_modify_write_hit: time("read_modify_write_hit", costs.read_modify_write_hit),
        pause: time("pause", costs.pause),
        look: (costs.look > 0).then(|| time("look", costs.look)).flatten(),
        hold: time("hold", costs.hold),
        ahead: count("ahead", costs.ahead),
        store_buffer: count("store_buffer", costs.store_buffer),
        gap: row("gap", &costs.gap),
        beta: number("beta", costs.beta),
        service: time("service", costs.service),
        kappa: number("kappa", costs.kappa),
        system: system(costs, origin),
        smt: SmtCosts {
            slowdown: machine.smt().and_then(|smt| number("smt.slowdown", smt.slowdown)),
            line: machine.smt().and_then(|smt| time("smt.line", smt.line)),
        },
        ..Coherence::unknown(unit, classes, distances(machine))
    }
}

fn distances(machine: &Machine) -> Vec<Vec<u8>> {
    // A machine has at most 256 distances.
    let row = |one| (0..machine.cpus()).map(|other| machine.distance(one, other) as u8).collect();
    (0..machine.cpus()).map(row).collect()
}

fn states(access: &str, costs: &ByState, origin: &dyn Fn(&str) -> Origin) -> StateCosts {
    let ByState { modified, owned, exclusive, shared } = costs;
    let row = |state: &str, times: &[Ticks]| by_distance(&format!("{access}.{state}"), times, origin);
    StateCosts {
        modified: row("modified", modified),
        owned: row("owned", owned),
        exclusive: row("exclusive", exclusive),
        shared: row("shared", shared),
    }
}

/// Nothing where the machine has no such times: those of owned lines, without the O of MOESI.
fn by_distance(name: &str, times: &[Ticks], origin: &dyn Fn(&str) -> Origin) -> ByDistance {
    let value: Vec<f64> = times.iter().copied().map(units).collect();
    (!value.is_empty()).then(|| Parameter { value, origin: origin(name) })
}

fn system(costs: &Costs, origin: &dyn Fn(&str) -> Origin) -> SystemCosts {
    let System { sleep, wake, woken, short_idle, give_way, switch, switch_spread, slice, least_slice } = costs.system;
    let time = |name: &str, ticks: Ticks| Some(Parameter { value: units(ticks), origin: origin(name) });
    SystemCosts {
        sleep: time("system.sleep", sleep),
        wake: time("system.wake", wake),
        woken: time("system.woken", woken),
        short_idle: time("system.short_idle", short_idle),
        give_way: time("system.give_way", give_way),
        switch: time("system.switch", switch),
        switch_spread: (switch_spread > 0).then(|| time("system.switch_spread", switch_spread)).flatten(),
        slice: time("system.slice", slice),
        least_slice: time("system.least_slice", least_slice),
    }
}

fn units(ticks: Ticks) -> f64 {
    ticks as f64 / TICKS as f64
}

#[cfg(test)]
mod tests {
    use corecast_sim_core::published;

    use super::*;

    #[test]
    fn a_published_machine_tells_what_is_in_the_tables() {
        let described = Described::published(published::xeon_8x10());
        let explained = explain(&described.coherence);
        let of = |name: &str| explained.iter().find(|known| known.parameter == name).expect("it is listed");
        let load = of("load.modified");
        assert_eq!((load.values.as_slice(), load.unit), (&[109.0, 289.0, 400.0][..], "cycles"));
        assert_eq!([load.origin, of("hit").origin], [Origin::Published; 2]);
        let assumed = ["kappa", "service", "gap", "pause", "read_modify_write_hit", "system.woken"];
        assert_eq!(assumed.map(|name| of(name).origin), [Origin::Assumed; 6]);
        assert_eq!([of("kappa").unit, of("store_buffer").unit], ["", "stores"]);
        assert!(explained.iter().all(|known| known.parameter != "load.owned"), "MESIF has no such state");
    }

    #[test]
    fn what_is_changed_is_no_longer_published() {
        let described = Described::published(published::opteron_4x12());
        let costs = described.machine.costs().clone().with_interconnect(0.5);
        let changed = described.with_costs(costs).expect("a machine");
        let explained = explain(&changed.coherence);
        let of = |name: &str| explained.iter().find(|known| known.parameter == name).expect("it is listed");
        assert_eq!((of("load.modified").values[0], of("load.modified").values[3]), (81.0, 166.5));
        assert_eq!([of("load.modified"), of("hit")].map(|known| known.origin), [Origin::Assumed, Origin::Published]);
    }
}
