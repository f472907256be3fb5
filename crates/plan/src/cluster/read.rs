//! Reads a cluster file: first checks that it is one, then reads field by field.

use std::path::Path;

use corecast_machine::read_bounded;
use serde_json::Value;
use serde_json::error::Category;

use super::field::{Field, FieldError};
use super::file::{ClusterFileError, ClusterTextError, MAX_LEN_BYTES, SCHEMA};
use super::model::{Arrival, ClusterModel, MachineKind, MachineSource, Nic, NodeRun, Tier};
use super::parameter::{Parameter, Provenance};

/// The fields of the outermost object that this version knows.
const FIELDS: [&str; 7] = ["schema", "name", "machines", "nodes", "tiers", "nic", "arrival"];
const OF_KINDS: [&str; 6] = ["file", "synthetic", "members", "reduce_byte_ns", "broadcast_byte_ns", "combine_byte_ns"];
const OF_RUNS: [&str; 3] = ["kind", "count", "place"];
const OF_TIERS: [&str; 11] = [
    "name",
    "size",
    "latency_ns",
    "send_ns",
    "receive_ns",
    "gap_ns",
    "exchange_ns",
    "byte_ns",
    "eager_bytes",
    "rendezvous_ns",
    "spread_ns",
];
const OF_NIC: [&str; 2] = ["bytes", "curve"];
const OF_ARRIVAL: [&str; 3] = ["mean_ns", "tail_share", "tail_ns"];
const OF_PARAMETERS: [&str; 3] = ["value", "provenance", "source"];

/// The form of a parameter, for errors.
const PARAMETER: &str = "an object with `value` and `provenance`";

/// The cluster of a file.
///
/// # Errors
///
/// If the path is not a regular file of at most [`MAX_LEN_BYTES`], the system refuses to read it, or it is no cluster model: see
/// [`ClusterTextError`]. The error names the file.
pub fn read(path: &Path) -> Result<ClusterModel, ClusterFileError> {
    read_bounded(path, MAX_LEN_BYTES)
        .map_err(ClusterTextError::NotRead)
        .and_then(parse)
        .map_err(|problem| ClusterFileError { path: path.to_owned(), problem })
}

/// The cluster that this text describes.
///
/// # Errors
///
/// If it is no cluster model: see [`ClusterTextError`].
pub fn parse(text: impl AsRef<[u8]>) -> Result<ClusterModel, ClusterTextError> {
    let text = text.as_ref();
    if text.len() as u64 > MAX_LEN_BYTES {
        return Err(ClusterTextError::TooLarge { len_bytes: text.len() });
    }
    let value: Value = serde_json::from_slice(text).map_err(|error| match error.classify() {
        Category::Eof => ClusterTextError::Truncated(error),
        _ => ClusterTextError::NotJson(error),
    })?;
    check_schema(&value)?;
    let model = cluster(&Field::whole(&value))?;
    model.check()?;
    Ok(model)
}

fn check_schema(value: &Value) -> Result<(), ClusterTextError> {
    let found = match value {
        Value::Object(fields) => match fields.get("schema") {
            Some(Value::String(schema)) if schema == SCHEMA => return Ok(()),
            Some(schema) => format!("schema {schema}").chars().take(80).collect(),
            None => "an object without `schema`".to_owned(),
        },
        _ => "something other than an object".to_owned(),
    };
    Err(ClusterTextError::Foreign { found })
}

fn cluster(field: &Field<'_>) -> Result<ClusterModel, FieldError> {
    let list = |key| field.required(key, "a list")?.entries();
    let name = field.required("name", "a text")?.text()?;
    let machines = field.required("machines", "an object of machines by kind")?.members()?;
    Ok(ClusterModel {
        name,
        machines: machines.into_iter().map(|(name, of)| Ok((name.to_owned(), kind(&of)?))).collect::<Result<_, _>>()?,
        nodes: list("nodes")?.iter().map(run).collect::<Result<_, _>>()?,
        tiers: list("tiers")?.iter().map(tier).collect::<Result<_, _>>()?,
        nic: field.optional("nic")?.map(|field| nic(&field)).transpose()?,
        arrival: field.optional("arrival")?.map(|field| arrival(&field)).transpose()?,
        other: field.others(&FIELDS)?,
    })
}

fn kind(field: &Field<'_>) -> Result<MachineKind, FieldError> {
    let machine = match (field.optional("file")?, field.optional("synthetic")?) {
        (Some(file), None) => MachineSource::File(file.text()?),
        (None, Some(synthetic)) => MachineSource::Synthetic(synthetic.text()?),
        _ => return Err(field.error("an object with either `file` or `synthetic`")),
    };
    Ok(MachineKind {
        machine,
        members: field.optional("members")?.map(|members| members.small_number()).transpose()?,
        reduce_byte_ns: optional(field, "reduce_byte_ns")?,
        broadcast_byte_ns: optional(field, "broadcast_byte_ns")?,
        combine_byte_ns: optional(field, "combine_byte_ns")?,
        other: field.others(&OF_KINDS)?,
    })
}

fn run(field: &Field<'_>) -> Result<NodeRun, FieldError> {
    Ok(NodeRun {
        kind: field.required("kind", "a kind of machine")?.text()?,
        count: field.required("count", "a number of nodes")?.whole_number()?,
        place: field.optional("place")?.map(|place| place.whole_number()).transpose()?,
        other: field.others(&OF_RUNS)?,
    })
}

fn tier(field: &Field<'_>) -> Result<Tier, FieldError> {
    Ok(Tier {
        name: field.required("name", "a text")?.text()?,
        size: field.optional("size")?.map(|size| size.whole_number()).transpose()?,
        latency_ns: required(field, "latency_ns")?,
        send_ns: required(field, "send_ns")?,
        receive_ns: required(field, "receive_ns")?,
        gap_ns: optional(field, "gap_ns")?,
        exchange_ns: optional(field, "exchange_ns")?,
        byte_ns: required(field, "byte_ns")?,
        eager_bytes: optional(field, "eager_bytes")?,
        rendezvous_ns: optional(field, "rendezvous_ns")?,
        spread_ns: optional(field, "spread_ns")?,
        other: field.others(&OF_TIERS)?,
    })
}

fn nic(field: &Field<'_>) -> Result<Nic, FieldError> {
    let point = |point: &Field<'_>| match point.entries()?.as_slice() {
        [lanes, cost] => Ok((lanes.small_number()?, parameter(cost)?)),
        _ => Err(point.error("a pair of a number of lanes and its cost")),
    };
    Ok(Nic {
        bytes: field.required("bytes", "a number of bytes")?.whole_number()?,
        curve: field.required("curve", "a list")?.entries()?.iter().map(point).collect::<Result<_, _>>()?,
        other: field.others(&OF_NIC)?,
    })
}

fn arrival(field: &Field<'_>) -> Result<Arrival, FieldError> {
    Ok(Arrival {
        mean_ns: required(field, "mean_ns")?,
        tail_share: required(field, "tail_share")?,
        tail_ns: required(field, "tail_ns")?,
        other: field.others(&OF_ARRIVAL)?,
    })
}

fn required(field: &Field<'_>, key: &str) -> Result<Parameter, FieldError> {
    parameter(&field.required(key, PARAMETER)?)
}

fn optional(field: &Field<'_>, key: &str) -> Result<Option<Parameter>, FieldError> {
    field.optional(key)?.map(|field| parameter(&field)).transpose()
}

fn parameter(field: &Field<'_>) -> Result<Parameter, FieldError> {
    let other = field.others(&OF_PARAMETERS).map_err(|_| field.error(PARAMETER))?;
    let provenance = field.required("provenance", "measured, published or assumed")?;
    let name = provenance.text()?;
    let known = Provenance::ALL.into_iter().find(|provenance| provenance.name() == name);
    Ok(Parameter {
        value: field.required("value", "a number")?.number()?,
        provenance: known.ok_or_else(|| provenance.error("measured, published or assumed"))?,
        source: field.optional("source")?.map(|source| source.text()).transpose()?.unwrap_or_default(),
        other,
    })
}
