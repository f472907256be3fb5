//! CPUs that share a core, by the model of a machine.

use corecast_sim_core::{Machine, MachineError, Smt, Ticks};
use measured_machine::{Machine as Model, Origin, Unit};

use crate::assumed;
use crate::described::Described;

/// The factor by which two CPUs of a core slow each other down, where the model tells none.
const SLOWDOWN: f64 = 1.6;
/// The time by which a line of another CPU of the core comes later than an own one, where the model tells none.
const LINE_CYCLES: f64 = 20.0;
const LINE_NS: f64 = 10.0;

/// The same machine with CPUs that share the cores of its model; `None` if no two of them do.
///
/// Parameters that the model does not tell are assumed: 1.6 for the slowdown, and for a line of another CPU of the core 20 cycles
/// or 10 ns more than a hit, but no more than the time of a transfer between the two.
///
/// # Errors
/// [`MachineError`] if the model's parameters make no machine.
pub fn with_siblings(described: Described, model: &Model) -> Result<Option<Described>, MachineError> {
    // CPUs of which no core is known have one each, with numbers that no core has.
    let first_free = model.cpus.iter().filter_map(|cpu| cpu.core).max().map_or(0, |core| core as usize + 1);
    let core_of = |cpu: usize| model.cpus[cpu].core.map_or(first_free + cpu, |core| core as usize);
    let Described { machine, coherence } = described;
    let known = model.extended.coherence.as_ref().map(|coherence| coherence.smt.clone()).unwrap_or_default();
    let slowdown = known.slowdown.map_or(SLOWDOWN, |slowdown| slowdown.value);
    let apart = machine.clone().with_smt(Smt { slowdown, line: 0 }, core_of)?;
    let Some(transfer) = nearest_transfer(&apart) else { return Ok(None) };
    let more = if coherence.unit == Unit::Ns { LINE_NS } else { LINE_CYCLES };
    let usual = (machine.costs().hit + assumed::ticks(more)).min(transfer);
    let line = known.line.map_or(usual, |line| assumed::ticks(line.value));
    let machine = machine.with_smt(Smt { slowdown, line }, core_of)?;
    Ok(Some(Described::with_machine(machine, &coherence, &|name| match name {
        "smt.slowdown" => known.slowdown.map_or(Origin::Assumed, |slowdown| slowdown.origin),
        _ => known.line.map_or(Origin::Assumed, |line| line.origin),
    })))
}

/// The least time of a transfer between two CPUs of one core.
fn nearest_transfer(machine: &Machine) -> Option<Ticks> {
    let pairs = (0..machine.cpus()).flat_map(|cpu| machine.siblings(cpu).iter().map(move |&other| (cpu, other)));
    pairs.map(|(cpu, other)| machine.costs().load.modified[machine.distance(cpu, other)]).min()
}

#[cfg(test)]
mod tests {
    use corecast_sim_core::units;
    use measured_machine::model_file;

    use super::*;
    use crate::described::explain;
    use crate::from_model::of_model;

    /// Three CPUs, of which the first two may share a core.
    fn model(cores: [&str; 3], coherence: &str) -> Model {
        let text = format!(
            r#"{{"schema": "corecast-machine/1", "name": "three", "unit": "ns",
            "cpus": [{{"id": 0, "numa": 0{}}}, {{"id": 1, "numa": 0{}}}, {{"id": 2, "numa": 0{}}}],
            "send": [[0, 1, 10], [1, 0, 10], [10, 10, 0]], "receive": [[0, 40, 70], [40, 0, 70], [70, 70, 0]],
            "provenance": {{"kind": "measured"}}{coherence}}}"#,
            cores[0], cores[1], cores[2]
        );
        model_file::parse(&text).expect("a model")
    }

    const SHARED: [&str; 3] = [r#", "core": 4"#, r#", "core": 4"#, r#", "core": 5"#];

    fn found(model: &Model) -> Option<Described> {
        with_siblings(of_model(model).expect("a machine"), model).expect("a machine")
    }

    #[test]
    fn cpus_of_a_core_are_siblings_and_their_costs_are_assumed() {
        let described = found(&model(SHARED, "")).expect("two share a core");
        let machine = &described.machine;
        assert_eq!([0, 1, 2].map(|cpu| machine.siblings(cpu).to_vec()), [vec![1], vec![0], vec![]]);
        assert_eq!(machine.smt(), Some(Smt { slowdown: 1.6, line: units(12) }));
        let listed = explain(&described.coherence);
        let of = |name: &str| listed.iter().find(|known| known.parameter == name).expect("it is listed");
        assert_eq!((of("smt.slowdown").values.as_slice(), of("smt.slowdown").unit), (&[1.6][..], ""));
        assert_eq!((of("smt.line").values.as_slice(), of("smt.line").unit), (&[12.0][..], "ns"));
        assert_eq!([of("smt.slowdown"), of("smt.line")].map(|known| known.origin), [Origin::Assumed; 2]);
        let changed = described.machine.costs().clone().with_interconnect(0.5);
        let again = described.clone().with_costs(changed).expect("a machine");
        assert_eq!(again.machine.smt(), machine.smt(), "it stays when other costs change");
    }

    #[test]
    fn a_model_tells_its_own_costs() {
        let smt = r#", "coherence": {"unit": "ns", "classes": ["near"], "distances": [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
            "smt": {"slowdown": {"value": 1.3, "origin": "measured"}, "line": {"value": 5, "origin": "published"}}}"#;
        let described = found(&model(SHARED, smt)).expect("two share a core");
        assert_eq!(described.machine.smt(), Some(Smt { slowdown: 1.3, line: units(5) }));
        let listed = explain(&described.coherence);
        let origin = |name: &str| listed.iter().find(|known| known.parameter == name).expect("it is listed").origin;
        assert_eq!(["smt.slowdown", "smt.line"].map(origin), [Origin::Measured, Origin::Published]);
    }

    #[test]
    fn a_machine_without_siblings_has_none() {
        assert_eq!(found(&model([r#", "core": 0"#, r#", "core": 1"#, r#", "core": 2"#], "")), None);
        assert_eq!(found(&model(["", "", r#", "core": 0"#], "")), None, "unknown cores are not one");
    }
}
