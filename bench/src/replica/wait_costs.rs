//! The system calls for the sake of waiting, for each command, where every node has a client that writes without a break.
//!
//! Such clients poll for their results and drive their nodes meanwhile, so no thread has to be woken, and none should sleep
//! but each node's own thread, which looks after the node once in a while. With fewer CPUs than clients they have to give way to
//! each other, so there the counts say nothing and are not taken.

use std::thread;

use corecast::base::sync::{AtomicBool, Fences, Ordering};
use corecast::base::wait::Wait;
use corecast::base::{Clock, CpuId};
use corecast::machine::pin;
use corecast::replica::kv::{Compact, CompactSet};
use corecast::replica::{Node, Replicated, Session};

use super::host::Setting;
use super::ours::config;
use super::play::value_of;
use super::report::WaitRow;
use super::series::{Series, forms};
use corecast_race::failure::Failure;

/// Replicas, each with a client.
const REPLICAS: usize = 2;
/// Commands of the client that counts: before, and while it counts.
const WARM_UP: u64 = 5_000;
const COMMANDS: u64 = 200_000;
const QUICK_COMMANDS: u64 = 50_000;

/// A row for each form, unless there are too few CPUs.
pub(super) fn waits(cpus: &[CpuId], is_quick: bool, wait: Wait) -> Result<Vec<WaitRow>, Failure> {
    if cpus.len() < REPLICAS {
        return Ok(Vec::new());
    }
    let commands = if is_quick { QUICK_COMMANDS } else { COMMANDS };
    let setting = Setting { members: REPLICAS, clients: REPLICAS, cpus: cpus.to_vec(), wait };
    forms().map(|series| counted(series, &setting, commands)).collect()
}

fn counted(series: &Series, setting: &Setting, commands: u64) -> Result<WaitRow, Failure> {
    let first = Replicated::create(&config(series, setting), Compact::default()).map_err(Failure::refused)?;
    let fd = first.share().map_err(Failure::while_doing("share a group"))?;
    let other = Replicated::attach_fd(&config(series, setting), fd).map_err(Failure::refused)?;
    let (nodes, is_over) = ([first, other], AtomicBool::new(false));
    thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let _pinned = pin::pin(setting.cpus[1]).map_err(Failure::refused)?;
            let mut session = nodes[1].session().map_err(Failure::refused)?;
            // ORDERING: Relaxed, the flag says everything
            (0..).take_while(|_| !is_over.load(Ordering::Relaxed)).try_for_each(|number| write(&mut session, number))
        });
        let over = Over(&is_over);
        let row = measured(series, &nodes, setting.cpus[0], commands);
        drop(over);
        beside.join().expect("no client panics")?;
        row
    })
}

/// Ends the client beside when it is dropped, also by a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        // ORDERING: Relaxed, the flag says everything
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Writes at the first node, and counts meanwhile.
fn measured(series: &Series, nodes: &[Node<Compact>; REPLICAS], cpu: CpuId, commands: u64) -> Result<WaitRow, Failure> {
    let _pinned = pin::pin(cpu).map_err(Failure::refused)?;
    let mut session = nodes[0].session().map_err(Failure::refused)?;
    (0..WARM_UP).try_for_each(|number| write(&mut session, number))?;
    let (began, before) = (Clock::get().ticks(), Counts::of(nodes));
    (0..commands).try_for_each(|number| write(&mut session, number))?;
    let (after, took) = (Counts::of(nodes), Clock::get().ticks() - began);
    let all = after.commands - before.commands;
    let each = |of: fn(&Counts) -> u64| (of(&after) - of(&before)) as f64 / all as f64;
    Ok(WaitRow {
        protocol: series.name.to_owned(),
        replicas: REPLICAS,
        commands: all,
        seconds: Clock::get().ns(took) / 1e9,
        sleeps: each(|counts| counts.sleeps),
        yields: each(|counts| counts.yields),
        wakes: each(|counts| counts.wakes),
        fences: each(|counts| counts.fences),
        system_calls: each(|counts| counts.sleeps + counts.yields + counts.wakes + counts.fences),
    })
}

fn write(session: &mut Session<Compact>, number: u64) -> Result<(), Failure> {
    let set = CompactSet { key: (number % 64).to_le_bytes(), value: value_of(number % 64, number) };
    session.execute(&set).map(drop).map_err(Failure::refused)
}

/// The counts of both nodes together.
#[derive(Default)]
struct Counts {
    commands: u64,
    sleeps: u64,
    yields: u64,
    wakes: u64,
    /// Of this process.
    fences: u64,
}

impl Counts {
    fn of(nodes: &[Node<Compact>]) -> Self {
        let mut sum = Self { fences: Fences::heavy_calls(), ..Self::default() };
        for status in nodes.iter().map(Node::status) {
            let waits = status.counters.waits;
            sum.commands = sum.commands.max(status.applied);
            sum.sleeps += waits.sleeps;
            sum.yields += waits.yields;
            sum.wakes += waits.wakes;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::options::Options;

    #[test]
    fn a_row_of_each_form_is_counted_where_there_are_cpus() {
        let usable = Options::default().usable_cpus(&this_machine());
        let cpus: Vec<CpuId> = usable.expect("CPUs").iter().collect();
        let rows = waits(&cpus, true, Wait::Adaptive).expect("a group");
        assert_eq!(rows.len(), if cpus.len() < REPLICAS { 0 } else { forms().count() });
        for row in rows {
            let sum = row.sleeps + row.yields + row.wakes + row.fences;
            assert!(row.commands >= QUICK_COMMANDS && (row.system_calls - sum).abs() < 1e-9, "{row:?}");
        }
        assert!(waits(&cpus[..1], true, Wait::Adaptive).expect("nothing to do").is_empty());
    }
}
