//! Figures of the machine at hand, by its benchmarks.

use std::time::Duration;

use corecast::Machine;
use corecast::collective::Barrier;
use corecast_bench::channels::{self, ChannelOptions};
use corecast_bench::{AtomicOptions, LockOptions, MessageOptions, PairCell, Trip, locks, messages};
use corecast_race::{BenchError, Op, Options, Progress, collectives};
use corecast_sim::{Algorithm, Operation};

use super::compare::Compared;
use super::counterpart::{BYTE_STREAMS, COLLECTIVES, MESSAGE_BYTES, PAUSE_NS, ROUND_TRIP, STREAM, name_of};

/// A figure of each contender, by its name.
pub(super) type Figures = Vec<(String, f64)>;

/// The contender of a race that is what a group does by itself.
const CHOSEN: &str = "corecast";

/// Measures one thing with this number of threads or members.
pub(super) fn measure(
    machine: &Machine,
    what: Compared,
    members: usize,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Figures, BenchError> {
    match what {
        Compared::LocksAlone | Compared::Locks => measured_locks(machine, what, members, options, progress),
        Compared::Barriers => measured_barriers(machine, members, options, progress),
        Compared::Collectives => measured_collectives(machine, members, options, progress),
        Compared::Messages => measured_messages(machine, members, options, progress),
        Compared::Atomics => measured_atomics(machine, members, options, progress),
    }
}

/// The locks of corecast, by name.
fn measured_locks(
    machine: &Machine,
    what: Compared,
    threads: usize,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Figures, BenchError> {
    let contenders: Vec<String> = Algorithm::ALL.iter().map(ToString::to_string).collect();
    let asked = LockOptions {
        options: Options { contenders, ..options.clone() },
        threads: vec![threads],
        locks: vec![1],
        holds: vec![Duration::ZERO],
        pinned: vec![true],
        ..LockOptions::default()
    };
    let report = locks(machine, &asked, progress)?;
    Ok(match what {
        Compared::LocksAlone => {
            report.pairs.into_iter().filter_map(|row| Some((row.contender, row.median_ns?))).collect()
        }
        _ => {
            let rows = report.cells.into_iter().flat_map(|cell| cell.rows);
            rows.filter_map(|row| Some((row.contender, row.mops?))).collect()
        }
    })
}

/// The barriers of corecast, by name.
fn measured_barriers(
    machine: &Machine,
    members: usize,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Figures, BenchError> {
    let named = |barrier: &Barrier| format!("corecast/{barrier}");
    let contenders: Vec<String> = Barrier::ALL.iter().map(named).collect();
    let asked =
        Options { ops: vec![Op::Barrier], participants: vec![members], contenders, external: false, ..options.clone() };
    let rows = collectives(machine, &asked, progress)?.groups.into_iter().flat_map(|group| group.rows);
    Ok(rows
        .filter_map(|row| {
            let barrier = row.contender.strip_prefix("corecast/")?.to_owned();
            Some((barrier, row.summary?.median_ns))
        })
        .collect())
}

/// Operations of a group as it is by itself, by operation and length. Those with a root are timed by another clock where members
/// share CPUs, and left out there.
fn measured_collectives(
    machine: &Machine,
    members: usize,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Figures, BenchError> {
    let mut figures = Figures::new();
    for (operation, words) in COLLECTIVES {
        options.go_on()?;
        let op = match operation {
            Operation::Broadcast => Op::Broadcast,
            Operation::Reduce => Op::Reduce,
            Operation::Allreduce => Op::Allreduce,
        };
        let asked = Options {
            ops: vec![op],
            sizes: vec![words * size_of::<u64>()],
            participants: vec![members],
            contenders: vec![CHOSEN.to_owned()],
            external: false,
            ..options.clone()
        };
        let groups = collectives(machine, &asked, progress)?.groups;
        let groups = groups.into_iter().filter(|group| !(op.is_rooted() && group.oversubscribed));
        let mut rows = groups.flat_map(|group| group.rows).filter(|row| row.contender == CHOSEN);
        figures.extend(rows.find_map(|row| Some((name_of(operation, words), row.summary?.median_ns))));
    }
    Ok(figures)
}

/// Messages of `ump` there and back and in a stream, and streams of bytes.
fn measured_messages(
    machine: &Machine,
    threads: usize,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Figures, BenchError> {
    let trips = MessageOptions {
        options: Options { contenders: vec!["ump".to_owned()], ..options.clone() },
        pairs: vec![1],
        bytes: vec![MESSAGE_BYTES],
        clients: vec![1],
        strides: vec![threads],
        work: vec![Duration::ZERO],
        ..MessageOptions::default()
    };
    let pairs = messages(machine, &trips, progress)?.pairs;
    options.go_on()?;
    let trip = |cell: PairCell| {
        let name = if cell.trip == Trip::RoundTrip { ROUND_TRIP } else { STREAM };
        Some((name.to_owned(), cell.rows.into_iter().next()?.summary?.median_ns))
    };
    let mut figures: Vec<(String, f64)> = pairs.into_iter().filter_map(trip).collect();
    let contenders = BYTE_STREAMS.map(|(measured, ..)| measured.to_owned()).to_vec();
    let streams =
        ChannelOptions { contenders, sizes: vec![MESSAGE_BYTES], receivers: vec![1], ..ChannelOptions::default() };
    let rows = channels::race(machine, options, &streams, progress)?.groups.into_iter().flat_map(|group| group.rows);
    figures.extend(rows.filter_map(|row| {
        let (_, name, _) = BYTE_STREAMS.iter().find(|(measured, ..)| *measured == row.contender)?;
        Some(((*name).to_owned(), row.summary?.median_ns))
    }));
    Ok(figures)
}

/// Calls of both threads, by operation.
fn measured_atomics(
    machine: &Machine,
    threads: usize,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Figures, BenchError> {
    let pause = Some(Duration::from_nanos(PAUSE_NS));
    let asked = AtomicOptions { options: options.clone(), threads: vec![threads], pause };
    let rows = corecast_bench::atomics(machine, &asked, progress)?.cells.into_iter().flat_map(|cell| cell.rows);
    Ok(rows.filter_map(|row| Some((row.contender.to_owned(), row.mops?))).collect())
}
