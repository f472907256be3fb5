//! Simulated figures beside those measured on the machine at hand: locks, barriers, messages and atomic operations of two.
//!
//! The machine is simulated from its own model; what is measured comes from the benchmarks as they are, and the simulation plays
//! what they do as closely as it can. Both are told with how well they agree.

use std::time::Duration;

use corecast::Machine;
use corecast::collective::Barrier as Measured;
use corecast_bench::channels::{self, ChannelOptions};
use corecast_bench::{AtomicOptions, LockOptions, MessageOptions, PairCell, Trip, locks, messages};
use corecast_race::{BenchError, Op, Options, Progress, collectives};
use corecast_sim::machine::Machine as Simulated;
use corecast_sim::{
    Agreement, Algorithm, AtomicLoad, AtomicOperation, Barrier, BothFigures, Channel, Contest, Disturbance, Episodes,
    Pair, SimError, barriers, contest,
};
use serde::Serialize;

/// Threads of everything that is compared: a machine of two CPUs can measure no more.
const THREADS: usize = 2;
/// Virtual microseconds before acquisitions count, and in which they do.
const WARM_UP_US: u64 = 200;
const DURATION_US: u64 = 1000;
/// The time for which a thread of `bench locks` computes between two acquisitions, in nanoseconds. A simulated one does up to
/// half more.
const OUTSIDE_NS: f64 = 200.0;
const MEAN_OF_SIMULATED: f64 = 1.25;
/// The pause after each atomic operation, in nanoseconds.
const PAUSE_NS: u64 = 100;
/// A message of six words, which fills a line with its header.
const MESSAGE_BYTES: usize = 48;
const ROUND_TRIP: &str = "ump-round-trip";
const STREAM: &str = "ump-stream";
/// Streams of bytes: as the benchmark calls the channel, the row, and the simulated channel.
const BYTE_STREAMS: [(&str, &str, Channel); 2] =
    [("ump-bytes", "ump-bytes-stream", Channel::UmpBytes), ("mcast", "mcast-bytes-stream", Channel::McastBytes)];

/// The things that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Compared {
    /// A lock that nobody else wants, taken and freed.
    LocksAlone,
    /// Two threads that compete for a lock.
    Locks,
    /// Two members at a barrier, over and over.
    Barriers,
    /// Messages of one line between two threads: there and back, and streams.
    Messages,
    /// Two threads that call an atomic operation on one word.
    Atomics,
}

/// The figures of one contender.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ComparedRow {
    /// Its name.
    pub(crate) contender: String,
    /// The figure of the simulated machine; `None` if a run did not end.
    pub(crate) simulated: Option<f64>,
    /// The figure of the real one.
    pub(crate) measured: f64,
    /// The first divided by the second.
    pub(crate) ratio: Option<f64>,
    /// Why there is no simulated figure.
    pub(crate) failed: Option<String>,
}

/// All contenders at one of these things.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Comparison {
    /// The thing that is compared.
    pub(crate) what: Compared,
    /// The unit of its figures.
    pub(crate) unit: &'static str,
    /// True if a higher figure is better.
    pub(crate) higher_is_better: bool,
    /// One for each contender that was measured.
    pub(crate) rows: Vec<ComparedRow>,
    /// The median of the ratios, the least and the greatest.
    pub(crate) ratios: Option<[f64; 3]>,
    /// Spearman's coefficient of the two orders.
    pub(crate) rank_correlation: Option<f64>,
    /// By how much the measured figure of the simulated best is worse than the best.
    pub(crate) choice_loss: Option<f64>,
    /// Whether the median is within 0.8 to 1.25, and no figure off by more than a factor of 2.
    pub(crate) holds: Option<bool>,
}

impl Compared {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [Self::LocksAlone, Self::Locks, Self::Barriers, Self::Messages, Self::Atomics];

    /// Its name, as the command line has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::LocksAlone => "locks-alone",
            Self::Locks => "locks",
            Self::Barriers => "barriers",
            Self::Messages => "messages",
            Self::Atomics => "atomics",
        }
    }

    fn higher_is_better(self) -> bool {
        matches!(self, Self::Locks | Self::Atomics)
    }

    fn unit(self) -> &'static str {
        if self.higher_is_better() { "M/s" } else { "ns" }
    }
}

/// Measures all of these on the machine at hand, and simulates them on `simulated`, which is made of its model.
///
/// # Errors
/// A [`BenchError`] if there are not two CPUs, or the run is cancelled. A simulation without an outcome is a row that says so.
pub(crate) fn compare(
    machine: &Machine,
    simulated: &Simulated,
    asked: &[Compared],
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<Comparison>, BenchError> {
    let measured = |what: Compared, progress: &mut dyn Progress| match what {
        Compared::LocksAlone | Compared::Locks => measured_locks(machine, what, options, progress),
        Compared::Barriers => measured_barriers(machine, options, progress),
        Compared::Messages => measured_messages(machine, options, progress),
        Compared::Atomics => measured_atomics(machine, options, progress),
    };
    let seed = options.seed.unwrap_or(1);
    let one = |what: &Compared| {
        let figures = measured(*what, progress)?;
        options.go_on()?;
        Ok(comparison(*what, figures, |contender| simulate(simulated, *what, contender, seed)))
    };
    asked.iter().map(one).collect()
}

/// The locks of corecast, by name.
fn measured_locks(
    machine: &Machine,
    what: Compared,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<(String, f64)>, BenchError> {
    let contenders: Vec<String> = Algorithm::ALL.iter().map(ToString::to_string).collect();
    let asked = LockOptions {
        options: Options { contenders, ..options.clone() },
        threads: vec![if what == Compared::Locks { THREADS } else { 1 }],
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
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<(String, f64)>, BenchError> {
    let named = |barrier: &Measured| format!("corecast/{barrier}");
    let contenders: Vec<String> = Measured::ALL.iter().map(named).collect();
    let asked =
        Options { ops: vec![Op::Barrier], participants: vec![THREADS], contenders, external: false, ..options.clone() };
    let rows = collectives(machine, &asked, progress)?.groups.into_iter().flat_map(|group| group.rows);
    Ok(rows
        .filter_map(|row| {
            let barrier = row.contender.strip_prefix("corecast/")?.to_owned();
            Some((barrier, row.summary?.median_ns))
        })
        .collect())
}

/// Messages of `ump` there and back and in a stream, and streams of bytes.
fn measured_messages(
    machine: &Machine,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<(String, f64)>, BenchError> {
    let trips = MessageOptions {
        options: Options { contenders: vec!["ump".to_owned()], ..options.clone() },
        pairs: vec![1],
        bytes: vec![MESSAGE_BYTES],
        clients: vec![1],
        strides: vec![THREADS],
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
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<(String, f64)>, BenchError> {
    let pause = Some(Duration::from_nanos(PAUSE_NS));
    let asked = AtomicOptions { options: options.clone(), threads: vec![THREADS], pause };
    let rows = corecast_bench::atomics(machine, &asked, progress)?.cells.into_iter().flat_map(|cell| cell.rows);
    Ok(rows.filter_map(|row| Some((row.contender.to_owned(), row.mops?))).collect())
}

/// The same on the simulated machine.
fn simulate(machine: &Simulated, what: Compared, contender: &str, seed: u64) -> Result<f64, String> {
    let outcome = match what {
        Compared::LocksAlone => contend(machine, contender, 1, 0, seed).map(|mops| 1000.0 / mops),
        Compared::Locks => contend(machine, contender, THREADS, (OUTSIDE_NS / MEAN_OF_SIMULATED) as u64, seed),
        Compared::Barriers => {
            let barrier: Barrier = contender.parse().map_err(|_| "it is not simulated".to_owned())?;
            let episodes = Episodes { members: THREADS, seed, ..Episodes::default() };
            // Those that are measured have no pause between two.
            barriers(machine, Some(barrier), &episodes).map(|outcome| outcome.times.round_ns)
        }
        Compared::Messages => message_ns(machine, contender, seed),
        Compared::Atomics => {
            // The names of the measured operations are those of the simulated ones.
            let operation: AtomicOperation = contender.parse().expect("an operation");
            let load = AtomicLoad {
                threads: THREADS,
                words: 1,
                warm_up_us: WARM_UP_US,
                duration_us: DURATION_US,
                pause_ns: (PAUSE_NS as f64 / MEAN_OF_SIMULATED) as u64,
                seed,
                disturbance: Disturbance::NONE,
            };
            corecast_sim::atomics(machine, operation, load).map(|outcome| outcome.mops())
        }
    };
    outcome.map_err(|error| error.to_string())
}

/// Nanoseconds for a message.
fn message_ns(machine: &Simulated, contender: &str, seed: u64) -> Result<f64, SimError> {
    let stream = BYTE_STREAMS.iter().find(|(_, name, _)| *name == contender);
    let channel = stream.map_or(Channel::Ump, |&(.., channel)| channel);
    let times =
        corecast_sim::messages(machine, channel, Pair { warm_up: 1000, messages: 1000, seed, ..Pair::default() })?;
    Ok(if contender == ROUND_TRIP { times.round_trip_ns } else { times.stream_ns })
}

/// Millions of acquisitions in a second.
fn contend(machine: &Simulated, contender: &str, threads: usize, outside_ns: u64, seed: u64) -> Result<f64, SimError> {
    // The names of the measured locks are those of the simulated ones.
    let algorithm: Algorithm = contender.parse().expect("a lock of corecast");
    let asked = Contest {
        threads,
        locks: 1,
        warm_up_us: WARM_UP_US,
        duration_us: DURATION_US,
        inside_ns: 0,
        outside_ns,
        seed,
        disturbance: Disturbance::NONE,
    };
    contest(machine, algorithm, asked).map(|outcome| outcome.mops())
}

/// Measured figures beside simulated ones.
fn comparison(
    what: Compared,
    measured: Vec<(String, f64)>,
    simulate: impl Fn(&str) -> Result<f64, String>,
) -> Comparison {
    let row = |(contender, measured): (String, f64)| {
        let simulated = simulate(&contender);
        let ratio = simulated.as_ref().ok().map(|simulated| simulated / measured);
        ComparedRow { contender, measured, ratio, failed: simulated.as_ref().err().cloned(), simulated: simulated.ok() }
    };
    let rows: Vec<ComparedRow> = measured.into_iter().map(row).collect();
    let pair = |row: &ComparedRow| {
        let ComparedRow { contender, simulated, measured, .. } = row;
        Some(BothFigures { contender: contender.clone(), simulated: (*simulated)?, measured: *measured })
    };
    let pairs: Vec<BothFigures> = rows.iter().filter_map(pair).collect();
    let agreement = Agreement::of(&pairs, what.higher_is_better());
    let of = |figure: fn(&Agreement) -> f64| agreement.as_ref().map(figure);
    Comparison {
        what,
        unit: what.unit(),
        higher_is_better: what.higher_is_better(),
        ratios: agreement.as_ref().map(|found| [found.median_ratio, found.least_ratio, found.most_ratio]),
        rank_correlation: agreement.as_ref().and_then(|found| found.rank_correlation),
        choice_loss: of(|found| found.choice_loss),
        holds: agreement.as_ref().map(Agreement::holds),
        rows,
    }
}
