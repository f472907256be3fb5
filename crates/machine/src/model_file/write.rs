//! Writing a model file: whole, or not at all.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::rows::Rows;
use super::{KNOWN_FIELDS, MAX_LEN_BYTES, ModelError, ModelFileError, SCHEMA};
use crate::atomic_file::write_atomically;
use crate::cost_matrix::CostMatrix;
use crate::extended::Extended;
use crate::machine::{Machine, Provenance};
use crate::topology::CoreKind;
use crate::unit::Unit;

/// Writes the model of a machine to a file, replacing it in one step.
///
/// # Errors
///
/// If [`Machine::check`] fails, the text would be larger than the reader accepts, or the system refuses, as on a full
/// disk. The file is then as it was before. The error names the file.
pub fn write(machine: &Machine, path: &Path) -> Result<(), ModelFileError> {
    render(machine)
        .and_then(|text| write_atomically(path, text.as_bytes()).map_err(ModelError::NotWritten))
        .map_err(|problem| ModelFileError { path: path.to_owned(), problem })
}

/// The text of a machine's model file.
///
/// # Errors
///
/// If [`Machine::check`] fails, or the text would be larger than the reader accepts.
pub fn render(machine: &Machine) -> Result<String, ModelError> {
    machine.check().map_err(ModelError::Machine)?;
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Rows::default());
    ModelFields::of(machine).serialize(&mut serializer).expect("a checked machine has only what JSON can say");
    text.push(b'\n');
    if text.len() as u64 > MAX_LEN_BYTES {
        return Err(ModelError::TooLarge { len_bytes: text.len() });
    }
    Ok(String::from_utf8(text).expect("serde_json writes UTF-8"))
}

/// A model file, field by field in the order of the file.
#[derive(Serialize)]
struct ModelFields<'a> {
    schema: &'static str,
    name: &'a str,
    unit: Unit,
    cpus: Vec<CpuFields>,
    send: &'a CostMatrix,
    receive: &'a CostMatrix,
    provenance: &'a Provenance,
    #[serde(flatten)]
    extended: &'a Extended,
    #[serde(flatten)]
    other: BTreeMap<&'a str, &'a Value>,
}

#[derive(Serialize)]
struct CpuFields {
    id: u32,
    numa: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    numa_assumed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    core: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    l2: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    l3: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<CoreKind>,
}

impl<'a> ModelFields<'a> {
    fn of(machine: &'a Machine) -> Self {
        let stand_ins = machine.numa_nodes();
        let cpus = machine.cpus.iter().zip(stand_ins).map(|(cpu, stand_in)| CpuFields {
            id: cpu.id.get(),
            numa: cpu.numa.unwrap_or(stand_in),
            numa_assumed: cpu.numa.is_none(),
            core: cpu.core,
            package: cpu.package,
            l2: cpu.l2,
            l3: cpu.l3,
            kind: cpu.kind,
        });
        let other = machine.extended.other.iter().map(|(key, value)| (key.as_str(), value));
        Self {
            schema: SCHEMA,
            name: &machine.name,
            unit: machine.unit,
            cpus: cpus.collect(),
            send: &machine.send,
            receive: &machine.receive,
            provenance: &machine.provenance,
            extended: &machine.extended,
            other: other.filter(|(key, _)| !KNOWN_FIELDS.contains(key)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, read};
    use super::*;
    use crate::coherence::{Coherence, CoherenceProtocol, Origin, Parameter};
    use crate::race::RaceCheck;
    use crate::topology::{Cpu, Topology};
    use corecast_base::CpuId;
    use proptest::prelude::*;

    /// A machine with every field there is.
    fn full() -> Machine {
        let near = Cpu { package: Some(0), l2: Some(7), ..Cpu::flat(CpuId::new(9)) };
        let far = Cpu { package: Some(1), kind: Some(CoreKind::Efficiency), ..Cpu::flat(CpuId::new(2)) };
        let cpus = vec![near, far];
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let spread = || Some(CostMatrix::from_rows(vec![vec![0.0, 0.1], vec![1.0 / 3.0, 0.0]]).expect("costs"));
        machine.extended = Extended {
            bounce: spread(),
            send_spread: spread(),
            receive_spread: spread(),
            wake_ns: Some(4321.5),
            yield_ns: Some(300.0),
            pause_ns: Some(40.0),
            fan_out: Some(vec![(1, 10.0), (2, 18.5)]),
            fan_in: Some(vec![(2, 70.0)]),
            readers: Some(vec![(1, 30.0)]),
            fetch_add: Some(vec![(1, 5.0), (2, 66.6)]),
            lock_hand_over_ns: BTreeMap::from([
                ("spin".to_owned(), vec![(1, 80.5)]),
                ("later".to_owned(), vec![(3, 1.0)]),
            ]),
            coherence: Some(coherence()),
            races: vec![RaceCheck {
                operation: "barrier".to_owned(),
                algorithm: "dissemination".to_owned(),
                members: "2,9".parse().expect("a list"),
                predicted: 120.0,
                measured: 150.0,
                date: "2026-01-31T12:00:01Z".to_owned(),
            }],
            fingerprint: Some("00ff".to_owned()),
            measured_at: Some("2026-01-31T12:00:00Z".to_owned()),
            notes: vec!["one".to_owned()],
            warnings: vec!["two \"quoted\"".to_owned()],
            other: BTreeMap::from([("colour".to_owned(), serde_json::json!({"deep": [1, 2]}))]),
        };
        machine
    }

    fn coherence() -> Coherence {
        let parameter = |value| Some(Parameter { value, origin: Origin::Measured });
        let protocol = CoherenceProtocol { directory: false, owned: true };
        let mut coherence = Coherence::unknown(Unit::Ns, vec!["near".to_owned()], vec![vec![0; 2]; 2]);
        coherence.load.modified = Some(Parameter { value: vec![40.5], origin: Origin::Published });
        coherence.protocol = Some(Parameter { value: protocol, origin: Origin::Assumed });
        coherence.system.woken = parameter(30_000.0);
        Coherence { hit: parameter(1.0), kappa: parameter(0.1), ..coherence }
    }

    #[test]
    fn everything_comes_back() {
        assert_eq!(parse(render(&full()).expect("rendered")).expect("own text"), full());
    }

    #[test]
    fn every_field_written_is_known_or_other() {
        let value: Value = serde_json::from_str(&render(&full()).expect("rendered")).expect("JSON");
        let mut written: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
        written.retain(|&field| field != "colour");
        let mut known = KNOWN_FIELDS.to_vec();
        known.sort_unstable();
        assert_eq!(written, known);
    }

    #[test]
    fn one_line_per_cpu_and_row() {
        let text = render(&full()).expect("rendered");
        assert!(text.starts_with("{\n\"schema\": \"corecast-machine/1\",\n"), "{text}");
        assert!(text.contains("\n{\"id\": 2, \"numa\": 1, \"numa_assumed\": true, "), "{text}");
        assert!(text.contains("\"measured\": 150.0, \"ratio\": 1.25, "), "{text}");
        assert!(text.contains("\n[0.0, 0.1],\n[0.3333333333333333, 0.0]],\n"), "{text}");
        assert!(text.ends_with("\n}\n"), "{text}");
    }

    #[test]
    fn a_machine_that_does_not_fit_together_is_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("model.json");
        let broken = Machine { send: CostMatrix::zero(1), ..full() };
        let error = write(&broken, &file).expect_err("one row for two CPUs").to_string();
        assert!(error.contains("model.json") && error.contains("`send` has 1 rows"), "{error}");
        assert!(!file.exists());
        write(&full(), &file).expect("written");
        assert_eq!(read(&file).expect("read"), full());
    }

    proptest! {
        #[test]
        fn costs_come_back_bit_for_bit(costs in proptest::collection::vec(0.0..1e15f64, 9)) {
            let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
            let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
            machine.send = CostMatrix::from_fn(3, |i, j| if i == j { 0.0 } else { costs[3 * i + j] }).expect("costs");
            let back = parse(render(&machine).expect("rendered")).expect("own text");
            prop_assert_eq!(back, machine);
        }
    }
}
