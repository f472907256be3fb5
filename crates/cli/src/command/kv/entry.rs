//! `corecast kv get`, `set` and `delete`.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use corecast::replica::kv::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use redis_protocol::resp2::types::{OwnedFrame, Resp2Frame};
use serde::Serialize;

use super::store_arg::StoreArg;
use crate::failure::Failure;
use crate::kv::client::ClientError;
use crate::output::Output;
use crate::printable;

/// Options of `kv get`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct GetArguments {
    #[command(flatten)]
    store: StoreArg,
    /// The key.
    #[arg(value_parser = key_parser())]
    key: OsString,
    /// Write the bytes of the value as they are, without a line break behind them.
    #[arg(long)]
    raw: bool,
}

/// Options of `kv set`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SetArguments {
    #[command(flatten)]
    store: StoreArg,
    /// The key.
    #[arg(value_parser = key_parser())]
    key: OsString,
    /// Its new value.
    #[arg(required_unless_present = "from")]
    value: Option<OsString>,
    /// Take the bytes of a file as the new value, or with `-` those of standard input: up to 16 MiB, of any kind, all of them.
    #[arg(long, value_name = "FILE", conflicts_with = "value")]
    from: Option<PathBuf>,
    /// Only if the key has no value.
    #[arg(long, conflicts_with_all = ["if_present", "if_value"])]
    if_absent: bool,
    /// Only if the key has a value.
    #[arg(long, conflicts_with = "if_value")]
    if_present: bool,
    /// Only if the key has exactly this value.
    #[arg(long, value_name = "OLD")]
    if_value: Option<OsString>,
}

/// Options of `kv delete`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct DeleteArguments {
    #[command(flatten)]
    store: StoreArg,
    /// The keys.
    #[arg(required = true, value_parser = key_parser())]
    keys: Vec<OsString>,
}

/// What `kv get --json` prints, and a line of `kv watch --json`.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    key: String,
    /// Bytes that are no UTF-8 are replaced.
    value: Option<String>,
}

#[derive(Debug, Serialize)]
struct Changed {
    set: bool,
}

#[derive(Debug, Serialize)]
struct Deleted {
    deleted: i64,
}

impl SetArguments {
    /// The bytes of the new value.
    fn value(&self) -> Result<Cow<'_, [u8]>, Failure> {
        match (&self.value, &self.from) {
            (Some(value), _) => Ok(value.as_bytes().into()),
            (None, Some(from)) if from == Path::new("-") => value_from("standard input", io::stdin().lock()),
            (None, Some(from)) => {
                let name = format!("'{}'", printable::line(&from.to_string_lossy()));
                let file = File::open(from).map_err(|error| Failure::input(format!("cannot open {name}: {error}")))?;
                value_from(&name, file)
            }
            (None, None) => unreachable!("one of them is required"),
        }
    }
}

fn value_from(name: &str, from: impl Read) -> Result<Cow<'static, [u8]>, Failure> {
    let mut bytes = Vec::new();
    let read = from.take(MAX_VALUE_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::input(format!("cannot read {name}: {error}")))?;
    if bytes.len() > MAX_VALUE_BYTES {
        return Err(Failure::input(format!("a value has at most {MAX_VALUE_BYTES} bytes, {name} has more")));
    }
    Ok(bytes.into())
}

impl Entry {
    pub(super) fn new(key: &[u8], value: Option<&[u8]>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { key: text(key), value: value.map(text) }
    }
}

/// Reads a key.
pub(super) fn key_parser() -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(|key| match key.as_bytes().len() {
        1..=MAX_KEY_BYTES => Ok(key),
        bytes => Err(format!("a key has 1 to {MAX_KEY_BYTES} bytes, not {bytes}")),
    })
}

/// A bulk string or nothing.
pub(super) fn value_of(reply: OwnedFrame) -> Result<Option<Vec<u8>>, ClientError> {
    match reply {
        OwnedFrame::BulkString(bytes) => Ok(Some(bytes)),
        OwnedFrame::Null => Ok(None),
        other => Err(unexpected(&other)),
    }
}

fn unexpected(reply: &OwnedFrame) -> ClientError {
    ClientError::Protocol(format!("unexpected reply {:?}", reply.kind()))
}

pub(super) fn get(arguments: &GetArguments, output: &Output) -> Result<(), Failure> {
    let key = arguments.key.as_bytes();
    let value = value_of(arguments.store.connect()?.ask(&[b"GET", key])?)?;
    if output.is_json() {
        return output.json(&Entry::new(key, value.as_deref()));
    }
    let Some(value) = value else { return Err(no(format!("there is no key {}", shown(key)))) };
    if arguments.raw { output.bytes(&value) } else { output.text(&String::from_utf8_lossy(&value)) }
}

pub(super) fn set(arguments: &SetArguments, output: &Output) -> Result<(), Failure> {
    let (key, value) = (arguments.key.as_bytes(), &*arguments.value()?);
    let mut client = arguments.store.connect()?;
    let reply = match &arguments.if_value {
        Some(old) => client.ask(&[b"CAS", key, old.as_bytes(), value])?,
        None if arguments.if_absent => client.ask(&[b"SET", key, value, b"NX"])?,
        None if arguments.if_present => client.ask(&[b"SET", key, value, b"XX"])?,
        None => client.ask(&[b"SET", key, value])?,
    };
    let is_set = match reply {
        OwnedFrame::SimpleString(_) | OwnedFrame::Integer(1) => true,
        OwnedFrame::Null | OwnedFrame::Integer(0) => false,
        other => return Err(unexpected(&other).into()),
    };
    if output.is_json() {
        return output.json(&Changed { set: is_set });
    }
    if is_set { Ok(()) } else { Err(no(format!("{} is not set: the condition does not hold", shown(key)))) }
}

pub(super) fn delete(arguments: &DeleteArguments, output: &Output) -> Result<(), Failure> {
    let mut request: Vec<&[u8]> = vec![b"DEL"];
    request.extend(arguments.keys.iter().map(|key| key.as_bytes()));
    let deleted = match arguments.store.connect()?.ask(&request)? {
        OwnedFrame::Integer(deleted) => deleted,
        other => return Err(unexpected(&other).into()),
    };
    if output.is_json() { output.json(&Deleted { deleted }) } else { output.text(&deleted.to_string()) }
}

/// The answer is no, as the exit code tells.
fn no(words: String) -> Failure {
    Failure::Ended { words, code: 1 }
}

fn shown(key: &[u8]) -> String {
    format!("'{}'", printable::line(&String::from_utf8_lossy(key)))
}
