//! Reads a model file: first checks that it is one, then reads field by field.
//!
//! Several passes over the text, each looking at some fields only: a foreign file is refused before anything of it is
//! kept in memory, and an error tells line and column.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use corecast_base::{CpuId, MAX_CPU_ID};
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;

use super::{KNOWN_FIELDS, MAX_LEN_BYTES, ModelError, ModelFileError, SCHEMA};
use crate::bounded_file::read_bounded;
use crate::cost_matrix::CostMatrix;
use crate::extended::Extended;
use crate::machine::{Machine, Provenance};
use crate::topology::{CoreKind, Cpu};
use crate::unit::Unit;

/// The machine of a model file.
///
/// # Errors
///
/// If the path is not a regular file of at most [`MAX_LEN_BYTES`], the system refuses to read it, or it is not a model:
/// see [`ModelError`]. The error names the file.
pub fn read(path: &Path) -> Result<Machine, ModelFileError> {
    read_bounded(path, MAX_LEN_BYTES)
        .map_err(ModelError::NotRead)
        .and_then(parse)
        .map_err(|problem| ModelFileError { path: path.to_owned(), problem })
}

/// The machine that this text describes.
///
/// # Errors
///
/// If it is not a model: see [`ModelError`].
pub fn parse(text: impl AsRef<[u8]>) -> Result<Machine, ModelError> {
    let text = text.as_ref();
    if text.len() as u64 > MAX_LEN_BYTES {
        return Err(ModelError::TooLarge { len_bytes: text.len() });
    }
    check_schema(text)?;
    let core: CoreFields = serde_json::from_slice(text).map_err(ModelError::Field)?;
    let mut extended: Extended = serde_json::from_slice(text).map_err(ModelError::Field)?;
    extended.other = serde_json::from_slice::<UnknownFields>(text).map_err(ModelError::Field)?.0;
    let machine = Machine {
        name: core.name,
        unit: core.unit,
        send: matrix("send", core.send)?,
        receive: matrix("receive", core.receive)?,
        cpus: core.cpus.into_iter().map(Cpu::from).collect(),
        provenance: core.provenance,
        extended,
    };
    machine.check().map_err(ModelError::Machine)?;
    Ok(machine)
}

fn matrix(field: &'static str, rows: Vec<Vec<Option<f64>>>) -> Result<CostMatrix, ModelError> {
    rows.try_into().map_err(|cause| ModelError::Costs { field, cause })
}

/// Whether the text is JSON at all, and of this schema.
fn check_schema(text: &[u8]) -> Result<(), ModelError> {
    let foreign = |found: String| Err(ModelError::Foreign { found });
    match serde_json::from_slice::<SchemaField>(text) {
        Ok(SchemaField(Some(Value::String(schema)))) if schema == SCHEMA => Ok(()),
        Ok(SchemaField(Some(schema))) => foreign(format!("schema {}", shortened(&schema.to_string()))),
        Ok(SchemaField(None)) => foreign("an object without `schema`".to_owned()),
        Err(error) => match error.classify() {
            Category::Eof => Err(ModelError::Truncated(error)),
            Category::Data => foreign("something other than an object".to_owned()),
            Category::Syntax | Category::Io => Err(ModelError::NotJson(error)),
        },
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// The fields that every model has.
#[derive(serde::Deserialize)]
struct CoreFields {
    name: String,
    unit: Unit,
    cpus: Vec<CpuFields>,
    send: Vec<Vec<Option<f64>>>,
    receive: Vec<Vec<Option<f64>>>,
    provenance: Provenance,
}

#[derive(serde::Deserialize)]
struct CpuFields {
    #[serde(deserialize_with = "cpu_id")]
    id: u32,
    numa: u32,
    /// True if the writer did not know the node, and `numa` is a stand-in for readers that want one.
    #[serde(default)]
    numa_assumed: bool,
    core: Option<u32>,
    package: Option<u32>,
    l2: Option<u32>,
    l3: Option<u32>,
    kind: Option<CoreKind>,
}

fn cpu_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let id = u32::deserialize(deserializer)?;
    if id > MAX_CPU_ID {
        return Err(D::Error::custom(format!("CPU id {id} is above {MAX_CPU_ID}, the highest one believed")));
    }
    Ok(id)
}

impl From<CpuFields> for Cpu {
    fn from(fields: CpuFields) -> Self {
        Self {
            id: CpuId::new(fields.id),
            core: fields.core,
            package: fields.package,
            numa: (!fields.numa_assumed).then_some(fields.numa),
            l2: fields.l2,
            l3: fields.l3,
            kind: fields.kind,
        }
    }
}

/// The field `schema` of an object; everything else is only checked to be JSON.
struct SchemaField(Option<Value>);

impl<'de> Deserialize<'de> for SchemaField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut schema = None;
        deserializer.deserialize_map(EachField(|key: &str| key == "schema", |_, value| schema = Some(value)))?;
        Ok(Self(schema))
    }
}

/// The fields of an object that this version does not know.
struct UnknownFields(BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for UnknownFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut other = BTreeMap::new();
        let is_unknown = |key: &str| !KNOWN_FIELDS.contains(&key);
        deserializer.deserialize_map(EachField(is_unknown, |key, value| {
            other.insert(key, value);
        }))?;
        Ok(Self(other))
    }
}

/// Hands the fields that the first function wants to the second and passes over the others.
struct EachField<W, F>(W, F);

impl<'de, W: Fn(&str) -> bool, F: FnMut(String, Value)> Visitor<'de> for EachField<W, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<String>()? {
            if self.0(&key) {
                self.1(key, fields.next_value()?);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = r#"{
        "schema": "corecast-machine/1", "name": "two", "unit": "ns",
        "cpus": [{"id": 0, "numa": 0, "core": 0}, {"id": 4, "numa": 1, "smell": "none"}],
        "send": [[0, 10.5], [11, 0]],
        "receive": [[0, 30], [31, 0]],
        "provenance": {"kind": "measured", "source": "by hand", "groups": "documented", "split": "none"},
        "wake_ns": 5000.0,
        "colour": {"of": ["the", "case"]}
    }"#;

    /// Its CPU 1 is none of the model.
    const RACE: &str = r#""races": [{"operation": "barrier", "algorithm": "tree", "members": [0, 1], "predicted": 1,
        "measured": 2, "ratio": "any", "date": "", "colour": 3}]"#;

    #[test]
    fn a_model_with_unknown_fields_is_read_and_they_are_kept() {
        let machine = parse(MODEL).expect("a model");
        assert_eq!(machine.send.get(0, 1), 10.5);
        assert_eq!(machine.cpus[1].numa, Some(1));
        assert_eq!(machine.extended.wake_ns, Some(5000.0));
        assert_eq!(machine.provenance.other["split"], "none");
        assert_eq!(machine.extended.other.keys().collect::<Vec<_>>(), ["colour"]);
    }

    #[test]
    fn a_text_that_is_not_a_model_is_refused_with_the_expected_form() {
        let deep = "[".repeat(100_000);
        for (text, expected) in [
            ("", "truncated"),
            ("{\"schema\": \"corecast-mach", "truncated"),
            (&MODEL[..MODEL.len() - 20], "truncated"),
            ("hello", "not JSON"),
            ("\u{feff}{}", "not JSON"),
            (deep.as_str(), "found something other than an object"),
            ("{} {}", "not JSON"),
            ("[1, 2]", "not a machine model: expected an object"),
            ("[\"corecast-machine/1\"]", "not a machine model: expected an object"),
            ("null", "not a machine model: expected an object"),
            ("{\"root\": 3}", "an object without `schema`"),
            ("{\"schema\": 7}", "found schema 7"),
            ("{\"schema\": \"corecast-machine/2\"}", "found schema \"corecast-machine/2\""),
        ] {
            let error = parse(text).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn every_broken_rule_is_named() {
        for (from, to, expected) in [
            ("\"name\": \"two\",", "", "missing field `name`"),
            ("\"unit\": \"ns\",", "", "missing field `unit`"),
            ("\"ns\"", "\"hours\"", "unknown variant `hours`, expected `ns` or `cycles`"),
            ("\"send\": [[0, 10.5], [11, 0]],", "", "missing field `send`"),
            ("\"provenance\"", "\"origin\"", "missing field `provenance`"),
            ("\"numa\": 1, ", "", "missing field `numa`"),
            ("\"numa\": 1", "\"numa\": -1", "expected u32"),
            ("\"id\": 4", "\"id\": 0", "CPU 0 is listed twice"),
            ("\"id\": 4", "\"id\": 70000", "CPU id 70000 is above"),
            ("[[0, 10.5], [11, 0]]", "[[0, 10.5]]", "`send`: row 0 has 2 entries"),
            ("[[0, 10.5], [11, 0]]", "[[0]]", "`send` has 1 rows, expected 2"),
            ("[[0, 30], [31, 0]]", "[[0, 30], [31]]", "`receive`: row 1 has 1 entries"),
            ("10.5", "-10.5", "`send`: entry [0][1] is -10.5"),
            ("10.5", "null", "`send`: entry [0][1] is null"),
            ("10.5", "NaN", "not JSON"),
            ("10.5", "1e999", "number out of range"),
            ("10.5", "\"10\"", "invalid type: string"),
            ("[31, 0]", "[31, 1]", "`receive`: entry [1][1] on the diagonal is 1"),
            ("5000.0", "-1", "`wake_ns` is -1"),
            ("\"wake_ns\": 5000.0", "\"bounce\": [[0]]", "`bounce` has 1 rows, expected 2"),
            ("\"wake_ns\": 5000.0", "\"readers\": [[1, -2]]", "`readers` is -2"),
            ("\"wake_ns\": 5000.0", "\"readers\": [[1, 1e16]]", "`readers` is 1"),
            ("\"wake_ns\": 5000.0", "\"readers\": [[1, null]]", "invalid type: null"),
            ("\"wake_ns\": 5000.0", "\"fetch_add\": [[2, 1], [1, 1]]", "`fetch_add` has k = 1 after 2"),
            ("\"wake_ns\": 5000.0", "\"fan_out\": [[4000000000, 1]]", "`fan_out` has k = 4000000000"),
            ("\"wake_ns\": 5000.0", "\"fan_in\": [[1]]", "invalid length 1"),
            ("\"wake_ns\": 5000.0", "\"lock_hand_over_ns\": 7", "expected a map"),
            ("\"wake_ns\": 5000.0", "\"lock_hand_over_ns\": {\"spin\": []}", "`lock_hand_over_ns` of spin is empty"),
            ("\"wake_ns\": 5000.0", "\"lock_hand_over_ns\": {\"spin\": [[2, 9], [1, 9]]}", "of spin has k = 1 after 2"),
            (
                "\"wake_ns\": 5000.0",
                "\"lock_hand_over_ns\": {\"park\": [[1, -9]]}",
                "`lock_hand_over_ns` of park has a cost of -9",
            ),
            (
                "\"wake_ns\": 5000.0",
                "\"lock_hand_over_ns\": {\"spin\": [[1, 0]]}",
                "`lock_hand_over_ns` of spin has a cost of 0 for k = 1",
            ),
            ("\"wake_ns\": 5000.0", "\"races\": 7", "expected a sequence"),
            ("\"wake_ns\": 5000.0", "\"races\": [{}]", "missing field `operation`"),
            ("\"wake_ns\": 5000.0", RACE, "in `races`, `barrier` by `tree` has member CPU 1, which is not among"),
            ("\"name\"", "\"unit\": \"ns\", \"name\"", "duplicate field `unit`"),
        ] {
            assert!(MODEL.contains(from), "{from}");
            let error = parse(MODEL.replacen(from, to, 1)).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
        let empty = MODEL.replace("[[0, 10.5], [11, 0]]", "[]").replace("[[0, 30], [31, 0]]", "[]");
        let cpus = &empty[empty.find("[{").expect("CPUs")..=empty.find("}]").expect("CPUs") + 1];
        let error = parse(empty.replace(cpus, "[]")).expect_err("no CPU").to_string();
        assert!(error.contains("`cpus` is empty"), "{error}");
    }

    #[test]
    fn a_device_or_too_large_file_is_refused_unread() {
        let error = read(Path::new("/dev/zero")).expect_err("endless").to_string();
        assert_eq!(
            error,
            "machine model /dev/zero: this is not a regular file, expected a machine model of schema corecast-machine/1"
        );
        let folder = tempfile::tempdir().expect("a folder");
        read(folder.path()).expect_err("a folder is no file");
        let missing = read(&folder.path().join("none.json")).expect_err("missing").to_string();
        assert!(missing.contains("none.json") && missing.contains("No such file"), "{missing}");

        let large = folder.path().join("large.json");
        std::fs::File::create(&large).expect("a file").set_len(100 << 20).expect("a sparse file");
        let error = read(&large).expect_err("100 MB").to_string();
        assert!(error.contains("large.json") && error.contains("larger than 67108864 bytes"), "{error}");
    }
}
