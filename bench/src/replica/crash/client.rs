//! A client: random operations on the keys that all share, and increments of a counter of its own.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use corecast::base::sync::{AtomicBool, Ordering};
use corecast::replica::kv::{Answer, Condition, Key, Op, Out, Query, Store, Value};
use corecast::replica::linearizability::{RegisterAnswer, RegisterOp};
use corecast::replica::{ExecuteError, Level, Medium, Node, ReadError, Session};

use super::history::{Call, OWN, Recorder, now_ns};
use super::node::CLIENTS;
use super::plan::{GENERATION, KEYS, NodePlan};

/// The time after which a request is sent again.
const RESEND: Duration = Duration::from_secs(1);
/// The time after which a client that shall stop gives a request up.
const GIVE_UP: Duration = Duration::from_secs(12);
/// The longest value, in bytes.
const LONGEST: usize = 1500;

/// One client.
pub(super) struct Client<M: Medium> {
    number: u64,
    began_ns: u64,
    node: Node<Store, M>,
    session: Session<Store, M>,
    recorder: Recorder,
    random: fastrand::Rng,
    /// Values that it has written so far.
    written: u64,
    /// The value that it saw last, by key.
    seen: HashMap<u64, Option<u64>>,
}

impl<M: Medium> Client<M> {
    pub(super) fn open(plan: &NodePlan, node: Node<Store, M>, number: u64) -> Result<Self, String> {
        let recorder = Recorder::create(&plan.history(number)).map_err(|error| error.to_string())?;
        let session = node.session().map_err(|error| error.to_string())?;
        let random = fastrand::Rng::with_seed(plan.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (began_ns, seen) = (plan.began_ns, HashMap::new());
        Ok(Self { number, began_ns, node, session, recorder, random, written: 0, seen })
    }

    /// Works until it shall stop. The error says why its node or its session has ended.
    pub(super) fn work(&mut self, is_stopping: &AtomicBool) -> Result<(), String> {
        while !has_to_stop(is_stopping) {
            let call = self.next_call();
            self.recorder.call(&call).map_err(|error| error.to_string())?;
            let answer = match call.op {
                RegisterOp::Get => read(&self.node, call.key)?,
                _ => self.write(&call, is_stopping)?,
            };
            if let RegisterAnswer::Value(value) = answer {
                self.seen.insert(call.key, value);
            }
            self.recorder.returned(answer).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn next_call(&mut self) -> Call {
        let generation = generation(self.began_ns);
        let key = generation * KEYS + self.random.u64(..KEYS);
        let new = self.number << 32 | self.written;
        let (key, op) = match self.random.u8(..100) {
            0..30 => return Call { key: OWN, op: RegisterOp::Increment },
            30..55 => (key, RegisterOp::Get),
            55..80 => (key, RegisterOp::Set(new)),
            80..95 => (key, RegisterOp::CompareAndSet { old: self.seen.get(&key).copied().flatten(), new }),
            _ => (key, RegisterOp::Delete),
        };
        self.written += 1;
        Call { key, op }
    }

    fn write(&mut self, call: &Call, is_stopping: &AtomicBool) -> Result<RegisterAnswer, String> {
        let op = self.operation(call);
        let began = Instant::now();
        let mut result = self.session.execute_timeout(&op, RESEND);
        while let Err(ExecuteError::Unknown { .. } | ExecuteError::NoRoom) = result {
            if has_to_stop(is_stopping) && began.elapsed() > GIVE_UP {
                return Err("a request without an answer".to_owned());
            }
            result = match result {
                Err(ExecuteError::Unknown { rid }) => self.session.resume(rid, RESEND),
                _ => self.session.execute_timeout(&op, RESEND),
            };
        }
        let (out, _) = result.map_err(|error| error.to_string())?;
        answer(call.op, out)
    }

    fn operation(&self, call: &Call) -> Op {
        let key = name_of(call.key, self.number);
        match call.op {
            RegisterOp::Set(new) => Op::Set { key, value: value_of(new), condition: Condition::Always },
            RegisterOp::CompareAndSet { old: None, new } => {
                Op::Set { key, value: value_of(new), condition: Condition::Absent }
            }
            RegisterOp::CompareAndSet { old: Some(old), new } => {
                Op::CompareAndSet { key, old: value_of(old), new: value_of(new) }
            }
            RegisterOp::Delete => Op::Delete { keys: vec![key] },
            RegisterOp::Increment | RegisterOp::Get => Op::Increment { key, by: 1 },
        }
    }
}

/// Reads all that the clients of the first `processes` processes may have written, as client `number`.
pub(super) fn read_all<M: Medium>(
    plan: &NodePlan,
    node: &Node<Store, M>,
    number: u64,
    processes: u64,
) -> Result<(), String> {
    let mut recorder = Recorder::create(&plan.history(number)).map_err(|error| error.to_string())?;
    for key in 0..(generation(plan.began_ns) + 1) * KEYS {
        recorder.call(&Call { key, op: RegisterOp::Get }).map_err(|error| error.to_string())?;
        let answer = read(node, key)?;
        recorder.returned(answer).map_err(|error| error.to_string())?;
    }
    for client in 0..processes * CLIENTS {
        // The key of a counter stands for its client: see `judge`.
        recorder.call(&Call { key: counter_key(client), op: RegisterOp::Get }).map_err(|error| error.to_string())?;
        let answer = read(node, counter_key(client))?;
        recorder.returned(answer).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The key under which a history has a read of the counter of a client.
pub(super) fn counter_key(client: u64) -> u64 {
    OWN - 1 - client
}

/// The client whose counter this key stands for; `None` for a key that all share.
pub(super) fn counter_of(key: u64) -> Option<u64> {
    (key >= OWN >> 1 && key != OWN).then(|| OWN - 1 - key)
}

/// Tells clients to stop.
pub(super) fn stop(is_stopping: &AtomicBool) {
    // ORDERING: Relaxed, the flag publishes nothing but itself
    is_stopping.store(true, Ordering::Relaxed);
}

fn has_to_stop(is_stopping: &AtomicBool) -> bool {
    // ORDERING: Relaxed, the flag publishes nothing but itself
    is_stopping.load(Ordering::Relaxed)
}

fn generation(began_ns: u64) -> u64 {
    now_ns().saturating_sub(began_ns) / GENERATION.as_nanos() as u64
}

fn read<M: Medium>(node: &Node<Store, M>, key: u64) -> Result<RegisterAnswer, String> {
    loop {
        match node.read(Level::Linearizable, &Query::Get(name_of(key, 0))) {
            Ok((Answer::Value(value), _)) => {
                return Ok(RegisterAnswer::Value(value.as_ref().map(number_of).transpose()?));
            }
            Ok((other, _)) => return Err(format!("an answer to another question: {other:?}")),
            Err(ReadError::Lagging { .. } | ReadError::Unconfirmed { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// The key in the store; `client` has the counter if it is its own.
fn name_of(key: u64, client: u64) -> Key {
    let name = match counter_of(key) {
        _ if key == OWN => format!("own{client}"),
        Some(client) => format!("own{client}"),
        None => format!("k{key}"),
    };
    Key::try_from(name.as_str()).expect("a short name")
}

/// The value that stands for a number: its digits, and for some numbers so much more that it does not fit the line of the log.
fn value_of(number: u64) -> Value {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let more = if mixed % 7 == 0 { mixed as usize % LONGEST } else { 0 };
    let text = format!("{number}{}", "-".repeat(more));
    Value::try_from(text.as_str()).expect("a short value")
}

/// The number of a value, which has to be exactly the one that stands for it.
fn number_of(value: &Value) -> Result<u64, String> {
    let text = std::str::from_utf8(value).map_err(|error| error.to_string())?;
    let number = text.trim_end_matches('-').parse().map_err(|_| format!("a value that nobody wrote: {value:?}"))?;
    let is_counter = text.len() < 8;
    if is_counter || value_of(number) == *value { Ok(number) } else { Err(format!("a damaged value: {value:?}")) }
}

fn answer(op: RegisterOp, out: Out) -> Result<RegisterAnswer, String> {
    Ok(match (op, out) {
        (RegisterOp::Set(_), Out::Done) => RegisterAnswer::Done,
        (RegisterOp::CompareAndSet { .. }, Out::Done) => RegisterAnswer::Was(true),
        (RegisterOp::CompareAndSet { .. }, Out::Refused) => RegisterAnswer::Was(false),
        (RegisterOp::Delete, Out::Count(count)) => RegisterAnswer::Was(count == 1),
        (RegisterOp::Increment, Out::Integer(number)) => RegisterAnswer::Number(number),
        (op, out) => return Err(format!("a wrong answer: {op:?} -> {out:?}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_for_their_numbers() {
        for number in (0..200).map(|at| 3 << 32 | at) {
            assert_eq!(number_of(&value_of(number)), Ok(number));
        }
        assert!(number_of(&Value::try_from("12884901889-").expect("short")).is_err());
        assert!((0..1000).any(|at| value_of(3 << 32 | at).len() > 1000));
    }

    #[test]
    fn counters_have_keys_of_their_own() {
        assert_eq!(counter_of(counter_key(17)), Some(17));
        assert_eq!((counter_of(OWN), counter_of(3)), (None, None));
        assert_eq!((name_of(OWN, 17), name_of(counter_key(17), 0)), (name_of(OWN, 17), name_of(OWN, 17)));
    }
}
