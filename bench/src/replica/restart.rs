//! How long it takes until a process in the place of a killed one can be read, with a state of many megabytes.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast::replica::kv::{Answer as Found, Condition, Key, Op, Out, Query, Store, Value};
use corecast::replica::{Config, Level, Node, Replicated};
use serde::{Deserialize, Serialize};

use super::crew::Program;
use super::member::Assignment;
use super::report::RobustRow;
use super::series::Series;
use crate::stats::{Samples, median};
use corecast_race::child::Child;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

/// The name of the row that no store has.
pub(super) const MEMORY: &str = "memory alone";
/// One value of the state.
const VALUE_BYTES: usize = 1 << 20;
/// The most of them that are written: 64 MiB, which the gate asks for.
pub(super) const STATE_BYTES: u64 = 64 << 20;
pub(super) const QUICK_STATE_BYTES: u64 = 8 << 20;

/// The news of a new process that has answered a read: the slot it has, and the bytes of all values.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Restored {
    pub(super) slot: u16,
    pub(super) bytes: u64,
}

fn config(series: &Series) -> Config {
    Config::default().slots(4).placement(series.placement).bulk_bytes(16 << 20)
}

fn key(number: u64) -> Key {
    Key::new(&number.to_le_bytes()).expect("8 bytes are a key")
}

/// Joins, and reads all values.
pub(super) fn join(series: &Series, fd: OwnedFd) -> Result<(Node<Store>, u64), Failure> {
    let node: Node<Store> = Replicated::attach_fd(&config(series), fd).map_err(Failure::refused)?;
    let read = |query: &Query| node.read(Level::Linearizable, query).map_err(Failure::refused);
    let Found::Count(keys) = read(&Query::Size)?.0 else { return Err(Failure::Wrong("no size".to_owned())) };
    let mut bytes = 0;
    for number in 0..keys {
        if let Found::Count(len) = read(&Query::Length(key(number)))?.0 {
            bytes += len;
        }
    }
    Ok((node, bytes))
}

/// Kills the second replica of a group with a state of `bytes` and starts another one, `events` times.
pub(super) fn restarts(
    series: &Series,
    (bytes, events): (u64, usize),
    (program, arguments): &Program,
    abort: &Arc<Abort>,
) -> Result<RobustRow, Failure> {
    let node = Replicated::create(&config(series), Store::default()).map_err(Failure::refused)?;
    fill(&node, bytes)?;
    let start = || {
        let fd = node.share().map_err(Failure::while_doing("share a group"))?;
        let assignment = Assignment::Restore { series: series.name.to_owned() };
        Child::start("a replica".to_owned(), (program, arguments), &assignment, &[fd], abort)
    };
    let mut child = start()?;
    child.await_told::<Restored>()?;
    let mut pauses = Vec::new();
    for _ in 0..events {
        abort.check()?;
        let killed = Instant::now();
        // Dropping it kills it, and waits for its end.
        drop(child);
        child = start()?;
        let restored: Restored = child.await_told()?;
        pauses.push(killed.elapsed().as_secs_f64() * 1e3);
        if restored.bytes != bytes {
            return Err(Failure::Wrong(format!("{} of {bytes} bytes came back", restored.bytes)));
        }
    }
    // Before the other one is killed, which it would wait for.
    let _ = node.clone().leave();
    let contender = RobustRow { contender: series.name.to_owned(), ours: true, replicas: 2, ..RobustRow::default() };
    Ok(row(bytes, &Samples::of(pauses), contender))
}

/// The time of memory alone, for a state of `bytes` that is there: a copy of it in memory that was not touched before. Each
/// process that comes back needs as much, and the bytes are read and written once on their way to it.
pub(super) fn memory_alone((bytes, events): (u64, usize), abort: &Abort) -> Result<RobustRow, Failure> {
    let state = vec![7_u8; bytes as usize];
    let mut pauses = Vec::new();
    for _ in 0..events {
        abort.check()?;
        let begin = Instant::now();
        let copy: Vec<Vec<u8>> = state.chunks(VALUE_BYTES).map(<[u8]>::to_vec).collect();
        pauses.push(begin.elapsed().as_secs_f64() * 1e3);
        drop(copy);
    }
    Ok(row(bytes, &Samples::of(pauses), RobustRow { contender: MEMORY.to_owned(), ..RobustRow::default() }))
}

/// The pauses of restarts in the row of a contender.
fn row(bytes: u64, pauses: &Samples, contender: RobustRow) -> RobustRow {
    RobustRow {
        event: "restart",
        events: pauses.all().len(),
        median_ms: median(pauses.all()),
        p99_ms: pauses.quantile(0.99),
        longest_ms: pauses.most(),
        bytes,
        ..contender
    }
}

fn fill(node: &Node<Store>, bytes: u64) -> Result<(), Failure> {
    let mut session = node.session().map_err(Failure::refused)?;
    let value = Value::new(&vec![7; VALUE_BYTES]).expect("a megabyte is a value");
    for number in 0..bytes / VALUE_BYTES as u64 {
        let op = Op::Set { key: key(number), value: value.clone(), condition: Condition::Always };
        match session.execute_timeout(&op, Duration::from_secs(10)).map_err(Failure::refused)? {
            (Out::Done, _) => {}
            (other, _) => return Err(Failure::Wrong(format!("a set gave {other:?}"))),
        }
    }
    Ok(())
}
