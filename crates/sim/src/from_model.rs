//! A machine to simulate from a machine's model: its parameters where it has them, and else assumed ones.
//!
//! A model tells what messages between two CPUs cost, and with `coherence` also what single accesses do. What it does not tell is
//! assumed from its transfers of lines, as for [`assumed`](crate::assumed()).

use std::collections::BTreeMap;

use corecast_sim_core::{ByState, Costs, Location, Machine, MachineError, Protocol, System, Ticks};
use measured_machine::{ByDistance, Coherence, Machine as Model, Origin, Parameter, StateCosts, SystemCosts, Unit};

use crate::assumed::{self, Known};
use crate::described::Described;
use crate::median::median;

/// Of a model in cycles, which does not tell the clock.
const ASSUMED_CYCLES_PER_US: f64 = 2000.0;
/// The time to look at a line that is there already, which is part of what a model calls receiving.
const POLL_NS: f64 = 10.0;
const POLL_CYCLES: f64 = 40.0;
/// The part of a published one-way time by atomics that a load takes.
const LOAD_OF_DERIVED: f64 = 0.85;
/// Accesses under way at once, where single ones were measured, which overlap with nothing. Reorder buffers of 352 or 512
/// entries, as newer machines have, hold 11 or 16 accesses with 32 instructions each.
const AHEAD: usize = 12;

/// The machine that a model describes. Each parameter is told with where it comes from.
///
/// # Errors
/// [`MachineError`] if it has too many CPUs, or if its parameters make no machine: a pause that takes no time.
pub fn of_model(model: &Model) -> Result<Described, MachineError> {
    let known = known(model);
    match &model.extended.coherence {
        Some(coherence) => of_coherence(&known, model.unit, coherence),
        None => {
            let machine = assumed::assumed(&known)?;
            let near = |ticks: &Ticks| format!("about {:.0} {}", *ticks as f64 / 8.0, model.unit);
            let classes = machine.costs().load.modified.iter().map(near).collect();
            Ok(Described::new(machine, model.unit, classes, &|_| Origin::Assumed))
        }
    }
}

/// The transfers of a model, and the places of its CPUs.
fn known(model: &Model) -> Known {
    let poll = match model.unit {
        Unit::Ns => POLL_NS,
        Unit::Cycles => POLL_CYCLES,
    };
    let is_measured = model.provenance.kind == "measured";
    let transfer = |one: usize, other: usize| match is_measured {
        true => (model.receive.get(one, other) - poll).max(poll),
        false => LOAD_OF_DERIVED * (model.send.get(one, other) + model.receive.get(one, other)),
    };
    let count = model.cpus.len();
    let nodes = numbered(&model.numa_nodes());
    let packages: Vec<u32> =
        model.cpus.iter().zip(&nodes).map(|(cpu, &node)| cpu.package.unwrap_or(node.into())).collect();
    let locations =
        numbered(&packages).into_iter().zip(nodes).map(|(package, node)| Location { package, node }).collect();
    let transfers = (0..count).map(|one| (0..count).map(|other| transfer(one, other)).collect()).collect();
    Known { name: model.name.clone(), units_per_us: per_us(model.unit), locations, transfers }
}

fn per_us(unit: Unit) -> f64 {
    match unit {
        Unit::Ns => 1000.0,
        Unit::Cycles => ASSUMED_CYCLES_PER_US,
    }
}

/// The same groups, numbered from 0 without a gap.
fn numbered(groups: &[u32]) -> Vec<u16> {
    let mut known = groups.to_vec();
    known.sort_unstable();
    known.dedup();
    groups.iter().map(|group| known.binary_search(group).unwrap_or(0) as u16).collect()
}

/// The machine of these parameters. `unit` is that of the model's messages, from which the missing ones are assumed.
fn of_coherence(known: &Known, unit: Unit, coherence: &Coherence) -> Result<Described, MachineError> {
    let per_us = coherence.units_per_us.unwrap_or_else(|| per_us(coherence.unit));
    let factor = if unit == coherence.unit { 1.0 } else { per_us / known.units_per_us };
    let row = match &coherence.load.modified {
        Some(times) => times.value.clone(),
        None => transfers(known, coherence).into_iter().map(|time| time * factor).collect(),
    };
    let costs = given(coherence, assumed::costs(&row, per_us));
    let distance = |one: usize, other: usize| coherence.distances[one][other];
    let machine = Machine::new(&known.name, per_us, known.locations.clone(), distance, costs)?;
    let protocol = coherence.protocol.iter().map(|protocol| ("protocol".to_owned(), protocol.origin));
    let origins: BTreeMap<String, Origin> =
        coherence.parameters().into_iter().map(|(name, _, origin)| (name, origin)).chain(protocol).collect();
    let origin = |name: &str| origins.get(name).copied().unwrap_or(Origin::Assumed);
    let mut described = Described::new(machine, coherence.unit, coherence.classes.clone(), &origin);
    described.coherence.contended.clone_from(&coherence.contended);
    described.coherence.other.clone_from(&coherence.other);
    Ok(described)
}

/// The time of a transfer for each class of distance: the median of its pairs. One without a pair takes as long as the one
/// before it, or the first one that has a pair.
fn transfers(known: &Known, coherence: &Coherence) -> Vec<f64> {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); coherence.classes.len()];
    for (one, row) in coherence.distances.iter().enumerate() {
        for (other, &class) in row.iter().enumerate().filter(|&(other, _)| other != one) {
            times[usize::from(class)].push(known.transfers[one][other]);
        }
    }
    let medians: Vec<Option<f64>> = times.iter_mut().map(|times| median(times)).collect();
    let mut before = medians.iter().copied().flatten().next().unwrap_or(1.0);
    let filled = medians.into_iter().map(|median| {
        before = median.unwrap_or(before);
        before
    });
    filled.collect()
}

/// These costs, but those that the parameters give.
fn given(coherence: &Coherence, costs: Costs) -> Costs {
    let Coherence { load, store, read_modify_write, memory, gap, .. } = coherence;
    let protocol = coherence
        .protocol
        .map(|protocol| Protocol { has_directory: protocol.value.directory, has_owned: protocol.value.owned });
    let protocol = protocol.unwrap_or(costs.protocol);
    let by_state = |known: &StateCosts, assumed: ByState| states(known, assumed, protocol.has_owned);
    Costs {
        load: by_state(load, costs.load),
        store: by_state(store, costs.store),
        read_modify_write: by_state(read_modify_write, costs.read_modify_write),
        memory: row(memory, costs.memory),
        hit: time(coherence.hit, costs.hit),
        ahead: coherence.ahead.map_or(AHEAD, |ahead| ahead.value as usize),
        read_modify_write_hit: time(coherence.read_modify_write_hit, costs.read_modify_write_hit),
        pause: time(coherence.pause, costs.pause),
        look: time(coherence.look, costs.look),
        hold: time(coherence.hold, costs.hold),
        store_buffer: coherence.store_buffer.map_or(costs.store_buffer, |stores| stores.value as usize),
        gap: row(gap, costs.gap),
        beta: coherence.beta.map_or(costs.beta, |beta| beta.value),
        service: time(coherence.service, costs.service),
        kappa: coherence.kappa.map_or(costs.kappa, |kappa| kappa.value),
        protocol,
        system: system(&coherence.system, costs.system),
    }
}

/// Times by state. An owned line costs what a modified one does, if nothing else is known of it.
fn states(known: &StateCosts, assumed: ByState, has_owned: bool) -> ByState {
    let modified = row(&known.modified, assumed.modified);
    let owned = if has_owned { row(&known.owned, modified.clone()) } else { Vec::new() };
    ByState {
        owned,
        exclusive: row(&known.exclusive, assumed.exclusive),
        shared: row(&known.shared, assumed.shared),
        modified,
    }
}

fn row(known: &ByDistance, assumed: Vec<Ticks>) -> Vec<Ticks> {
    known.as_ref().map_or(assumed, |times| times.value.iter().copied().map(rounded).collect())
}

fn time(known: Option<Parameter<f64>>, assumed: Ticks) -> Ticks {
    known.map_or(assumed, |time| rounded(time.value))
}

/// In ticks. Unlike an assumed time a given one may be none.
fn rounded(units: f64) -> Ticks {
    if units == 0.0 { 0 } else { assumed::ticks(units) }
}

fn system(known: &SystemCosts, assumed: System) -> System {
    System {
        sleep: time(known.sleep, assumed.sleep),
        wake: time(known.wake, assumed.wake),
        woken: time(known.woken, assumed.woken),
        short_idle: time(known.short_idle, assumed.short_idle),
        give_way: time(known.give_way, assumed.give_way),
        switch: time(known.switch, assumed.switch),
        switch_spread: time(known.switch_spread, assumed.switch_spread),
        slice: time(known.slice, assumed.slice),
        least_slice: time(known.least_slice, assumed.least_slice),
    }
}

#[cfg(test)]
mod tests {
    use corecast_sim_core::units;
    use measured_machine::{CoherenceProtocol, model_file};

    use super::*;
    use crate::described::explain;

    /// Two packages of one CPU, 60 ns from each other.
    fn model() -> Model {
        let text = r#"{"schema": "corecast-machine/1", "name": "two", "unit": "ns",
            "cpus": [{"id": 0, "numa": 0, "package": 3}, {"id": 1, "numa": 4, "package": 7}],
            "send": [[0, 10], [10, 0]], "receive": [[0, 70], [70, 0]], "provenance": {"kind": "measured"}}"#;
        model_file::parse(text).expect("a model")
    }

    fn with(change: impl FnOnce(&mut Coherence)) -> Model {
        let mut model = model();
        let mut coherence =
            Coherence::unknown(Unit::Ns, vec!["near".to_owned(), "far".to_owned()], vec![vec![0, 1], vec![1, 0]]);
        change(&mut coherence);
        model.extended.coherence = Some(coherence);
        model
    }

    fn measured<T>(value: T) -> Option<Parameter<T>> {
        Some(Parameter { value, origin: Origin::Measured })
    }

    #[test]
    fn without_parameters_all_is_assumed_from_transfers() {
        let described = of_model(&model()).expect("a machine");
        assert_eq!(described.machine.costs().load.modified, [units(60)]);
        assert_eq!((described.machine.location(1).package, described.machine.location(1).node), (1, 1));
        assert!(explain(&described.coherence).iter().all(|known| known.origin == Origin::Assumed));
    }

    #[test]
    fn what_is_known_replaces_what_is_assumed_and_the_rest_follows_from_it() {
        let model = with(|coherence| {
            coherence.load.modified = measured(vec![40.0, 50.0]);
            coherence.store.shared = measured(vec![10.0, 200.0]);
            coherence.hit = measured(0.0);
            coherence.beta = measured(0.5);
            coherence.system.woken = measured(5000.0);
            let protocol = CoherenceProtocol { directory: true, owned: true };
            coherence.protocol = Some(Parameter { value: protocol, origin: Origin::Published });
        });
        let described = of_model(&model).expect("a machine");
        let costs = described.machine.costs();
        assert_eq!(costs.load.modified, [units(40), units(50)]);
        assert_eq!(costs.load.owned, costs.load.modified);
        assert_eq!(costs.store.shared, [units(10), units(200)]);
        assert_eq!(costs.store.modified, [units(36), units(45)], "0.9 of a load's");
        assert_eq!((costs.hit, costs.beta, costs.system.woken), (0, 0.5, units(5000)));
        assert!(costs.protocol.has_directory);
        let origin = |name: &str| explain(&described.coherence).into_iter().find(|known| known.parameter == name);
        let origin = |name: &str| origin(name).expect("it is listed").origin;
        assert_eq!(["load.modified", "beta", "system.woken"].map(origin), [Origin::Measured; 3]);
        assert_eq!(["load.exclusive", "service", "system.wake"].map(origin), [Origin::Assumed; 3]);
        assert_eq!(described.coherence.protocol.expect("there").origin, Origin::Published);
    }

    #[test]
    fn transfers_are_taken_in_the_unit_of_the_parameters() {
        let model = with(|coherence| {
            coherence.unit = Unit::Cycles;
            coherence.units_per_us = Some(3000.0);
        });
        let described = of_model(&model).expect("a machine");
        assert_eq!(described.machine.costs().load.modified, [units(180), units(180)]);
        assert_eq!(described.machine.ticks(1000), units(3000));
    }

    #[test]
    fn a_machine_that_is_told_in_full_comes_back() {
        let described = of_model(&with(|coherence| coherence.memory = measured(vec![80.5, 120.0]))).expect("a machine");
        let mut model = model();
        model.extended.coherence = Some(described.coherence.clone());
        let text = model_file::render(&model).expect("it can be written");
        let again = of_model(&model_file::parse(text).expect("own text")).expect("a machine");
        assert_eq!(again, described);
    }

    #[test]
    fn parameters_that_make_no_machine_are_refused() {
        let error = of_model(&with(|coherence| coherence.pause = measured(0.0))).expect_err("no pause").to_string();
        assert!(error.contains("pause") || error.contains("no time"), "{error}");
    }
}
