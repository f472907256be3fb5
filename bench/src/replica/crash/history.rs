//! The requests and answers of a client, as lines of a file that outlives its process.
//!
//! A line is written before the call and another one after the return, each by one system call: a process that is killed loses
//! at most the line of an answer, and the operation counts as unanswered.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use corecast::replica::linearizability::{Operation, RegisterAnswer, RegisterOp, Return};
use rustix::time::{ClockId, clock_gettime};

/// The key of the counter that a client has to itself.
pub(super) const OWN: u64 = u64::MAX;

/// An operation of a client on a key, or on its own counter ([`OWN`]), which it only increments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) key: u64,
    pub(super) op: RegisterOp,
}

/// An operation, and what came of it.
pub(super) type Done = (Call, Operation<RegisterOp, RegisterAnswer>);

/// Nanoseconds of a clock that all processes share.
pub(super) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Writes the history of one client.
pub(super) struct Recorder {
    file: File,
}

impl Recorder {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::create(path)? })
    }

    /// Notes a call, which is to follow.
    pub(super) fn call(&mut self, call: &Call) -> io::Result<()> {
        let (name, old, new) = match call.op {
            RegisterOp::Get => ("get", None, 0),
            RegisterOp::Set(value) => ("set", None, value),
            RegisterOp::Delete => ("delete", None, 0),
            RegisterOp::CompareAndSet { old, new } => ("cas", old, new),
            RegisterOp::Increment => ("increment", None, 0),
        };
        let line = format!("call {} {} {name} {} {new}\n", now_ns(), call.key, Word(old));
        self.file.write_all(line.as_bytes())
    }

    /// Notes the answer to the last call, which has come.
    pub(super) fn returned(&mut self, answer: RegisterAnswer) -> io::Result<()> {
        let at_ns = now_ns();
        let (name, value) = match answer {
            RegisterAnswer::Value(value) => ("value", value),
            RegisterAnswer::Done => ("done", None),
            RegisterAnswer::Was(was) => ("was", Some(u64::from(was))),
            RegisterAnswer::Number(number) => ("number", Some(number as u64)),
        };
        self.file.write_all(format!("return {at_ns} {name} {}\n", Word(value)).as_bytes())
    }
}

/// A number, or `-` for none.
struct Word(Option<u64>);

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(number) => write!(f, "{number}"),
            None => f.write_str("-"),
        }
    }
}

/// The history of a client from the text of its file. A last line that was cut off is left out.
pub(super) fn read(client: u64, text: &str) -> Option<Vec<Done>> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut history: Vec<Done> = Vec::new();
    for line in whole.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["call", at, key, name, old, new] => history.push(read_call(client, at, key, name, old, new)?),
            ["return", at, name, value] => {
                history.last_mut()?.1.returned = Some(Return { at_ns: at.parse().ok()?, answer: answer(name, value)? });
            }
            _ => return None,
        }
    }
    Some(history)
}

fn read_call(client: u64, at: &str, key: &str, name: &str, old: &str, new: &str) -> Option<Done> {
    let new = new.parse().ok()?;
    let op = match name {
        "get" => RegisterOp::Get,
        "set" => RegisterOp::Set(new),
        "delete" => RegisterOp::Delete,
        "cas" => RegisterOp::CompareAndSet { old: word(old)?, new },
        "increment" => RegisterOp::Increment,
        _ => return None,
    };
    let operation = Operation { client, op, call_ns: at.parse().ok()?, returned: None };
    Some((Call { key: key.parse().ok()?, op }, operation))
}

fn answer(name: &str, value: &str) -> Option<RegisterAnswer> {
    let value = word(value)?;
    Some(match name {
        "value" => RegisterAnswer::Value(value),
        "done" => RegisterAnswer::Done,
        "was" => RegisterAnswer::Was(value? == 1),
        "number" => RegisterAnswer::Number(value? as i64),
        _ => return None,
    })
}

fn word(text: &str) -> Option<Option<u64>> {
    if text == "-" { Some(None) } else { text.parse().ok().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("7.history");
        let calls = [
            (RegisterOp::Set(5), Some(RegisterAnswer::Done)),
            (RegisterOp::Get, Some(RegisterAnswer::Value(Some(5)))),
            (RegisterOp::CompareAndSet { old: None, new: 6 }, Some(RegisterAnswer::Was(false))),
            (RegisterOp::Delete, Some(RegisterAnswer::Was(true))),
            (RegisterOp::Increment, None),
        ];
        let mut recorder = Recorder::create(&path).expect("a file");
        for (op, answer) in calls {
            recorder.call(&Call { key: 3, op }).expect("room");
            answer.into_iter().for_each(|answer| recorder.returned(answer).expect("room"));
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let found = read(7, &format!("{text}return 12 do")).expect("well formed");
        let answers = found.iter().map(|(call, done)| (call.op, done.returned.as_ref().map(|found| found.answer)));
        assert_eq!(Vec::from_iter(answers), calls);
        assert!(found.iter().all(|(call, done)| call.key == 3 && done.client == 7));
    }
}
