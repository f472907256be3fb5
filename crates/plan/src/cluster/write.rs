//! Writes a cluster file: whole, or not at all, and with every field that was read.

use std::path::Path;

use corecast_machine::write_atomically;
use serde_json::{Map, Value, json};

use super::file::{ClusterFileError, ClusterTextError, MAX_LEN_BYTES, SCHEMA};
use super::model::{Arrival, ClusterModel, MachineKind, MachineSource, Nic, NodeRun, Tier};
use super::parameter::Parameter;

/// Writes the model of a cluster to a file, replacing it in one step.
///
/// # Errors
///
/// If [`ClusterModel::check`] fails, the text would be larger than the reader accepts, or the system refuses, as on a full
/// disk. The file is then as it was before. The error names the file.
pub fn write(model: &ClusterModel, path: &Path) -> Result<(), ClusterFileError> {
    render(model)
        .and_then(|text| write_atomically(path, text.as_bytes()).map_err(ClusterTextError::NotWritten))
        .map_err(|problem| ClusterFileError { path: path.to_owned(), problem })
}

/// The text of a cluster's file.
///
/// # Errors
///
/// If [`ClusterModel::check`] fails, or the text would be larger than the reader accepts.
pub fn render(model: &ClusterModel) -> Result<String, ClusterTextError> {
    model.check()?;
    let mut text = serde_json::to_string_pretty(&cluster(model)).expect("a checked model has only what JSON can say");
    text.push('\n');
    if text.len() as u64 > MAX_LEN_BYTES {
        return Err(ClusterTextError::TooLarge { len_bytes: text.len() });
    }
    Ok(text)
}

/// An object of these fields, those that are `None` left out, and of the unknown ones.
fn object<const N: usize>(fields: [(&str, Option<Value>); N], other: &Map<String, Value>) -> Value {
    let known = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let mut object: Map<String, Value> = other.clone();
    object.extend(known);
    Value::Object(object)
}

fn cluster(model: &ClusterModel) -> Value {
    let machines = model.machines.iter().map(|(name, machine)| (name.clone(), kind(machine))).collect();
    let fields = [
        ("schema", Some(json!(SCHEMA))),
        ("name", Some(json!(model.name))),
        ("machines", Some(Value::Object(machines))),
        ("nodes", Some(model.nodes.iter().map(run).collect())),
        ("tiers", Some(model.tiers.iter().map(tier).collect())),
        ("nic", model.nic.as_ref().map(nic)),
        ("arrival", model.arrival.as_ref().map(arrival)),
    ];
    object(fields, &model.other)
}

fn kind(kind: &MachineKind) -> Value {
    let (key, machine) = match &kind.machine {
        MachineSource::File(path) => ("file", path),
        MachineSource::Synthetic(text) => ("synthetic", text),
    };
    let fields = [
        (key, Some(json!(machine))),
        ("members", kind.members.map(|members| json!(members))),
        ("reduce_byte_ns", kind.reduce_byte_ns.as_ref().map(parameter)),
        ("broadcast_byte_ns", kind.broadcast_byte_ns.as_ref().map(parameter)),
        ("combine_byte_ns", kind.combine_byte_ns.as_ref().map(parameter)),
    ];
    object(fields, &kind.other)
}

fn run(run: &NodeRun) -> Value {
    let place = run.place.map(|place| json!(place));
    object([("kind", Some(json!(run.kind))), ("count", Some(json!(run.count))), ("place", place)], &run.other)
}

fn tier(tier: &Tier) -> Value {
    let name = ("name", Some(json!(tier.name)));
    let size = ("size", tier.size.map(|size| json!(size)));
    let mut known = Map::new();
    known.extend(tier.parameters().into_iter().map(|(name, of)| (name.to_owned(), parameter(of))));
    known.extend(tier.other.clone());
    object([name, size], &known)
}

fn nic(nic: &Nic) -> Value {
    let curve = nic.curve.iter().map(|(lanes, cost)| json!([lanes, parameter(cost)])).collect();
    object([("bytes", Some(json!(nic.bytes))), ("curve", Some(curve))], &nic.other)
}

fn arrival(arrival: &Arrival) -> Value {
    object(arrival.parameters().map(|(name, of)| (name, Some(parameter(of)))), &arrival.other)
}

fn parameter(parameter: &Parameter) -> Value {
    let fields = [
        ("value", Some(json!(parameter.value))),
        ("provenance", Some(json!(parameter.provenance.name()))),
        ("source", (!parameter.source.is_empty()).then(|| json!(parameter.source))),
    ];
    object(fields, &parameter.other)
}
