//! `corecast sim check`: locks, channels and collectives where threads lose their CPUs at any access, or are killed there.

use corecast_race::Progress;
use corecast_sim::conformance::{
    CheckedCollective, End, LastStores, Placement, Trial, check_channel, check_channel_killed, check_killed, check_lock,
};
use corecast_sim::{Algorithm, Channel};
use serde::Serialize;

use crate::tell::tell;
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::meter::Meter;
use corecast_cli::number_arg;
use corecast_cli::output::Output;
use corecast_cli::table::{self, table};

/// Options of `sim check`. Without lists all are checked.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Check {
    /// Check these locks only.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    locks: Vec<Algorithm>,
    /// Check these channels only.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    channels: Vec<Channel>,
    /// Check these operations of groups only: barriers, broadcast, reduce, allreduce.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    collectives: Vec<CheckedCollective>,
    /// The number of seeds for each: a seed has its own number of threads and CPUs, and its own stops.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number_arg::within::<u64>(1..=10_000_000))]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Kill a thread at each of its accesses in turn, with the stores that wait then done and lost, in the place of stops. Of a
    /// lock the others must not see each other in it, and need not get it once its holder is dead; ends of channels and members
    /// of groups wait with a limit, and must give up or go on when it is over, with whole messages and right results.
    #[arg(long)]
    kills: bool,
    /// Let threads move among the CPUs of their trial, on the first of which another program computes.
    #[arg(long, conflicts_with = "kills")]
    unpinned: bool,
}

/// The outcome.
#[derive(Debug, Serialize)]
struct Outcome {
    simulated: bool,
    version: &'static str,
    seed: u64,
    seeds: u64,
    kills: bool,
    unpinned: bool,
    rows: Vec<Row>,
}

/// The trials of one thing.
#[derive(Debug, Serialize)]
struct Row {
    kind: &'static str,
    name: String,
    /// The trials that were made: up to the first that failed.
    trials: u64,
    /// The threads that were killed.
    killed: u64,
    /// The seed of the trial that failed.
    failed_seed: Option<u64>,
    /// The fault.
    failed: Option<String>,
}

/// A thing to check.
#[derive(Clone, Copy, Debug)]
enum Subject {
    Lock(Algorithm),
    Channel(Channel),
    Collective(CheckedCollective),
}

impl Check {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let subjects = self.subjects()?;
        let (interrupt, mut meter) = (Interrupt::watch()?, Meter::start(output));
        let mut rows = Vec::new();
        for (place, &subject) in subjects.iter().enumerate() {
            let name = subject.name();
            let mut step = |done: f64| {
                meter.step((place as f64 + done) / subjects.len() as f64, &name);
                if interrupt.is_raised() { Err(Failure::Interrupted) } else { Ok(()) }
            };
            rows.push(self.row(subject, &mut step)?);
        }
        let Self { seed, seeds, kills, unpinned, .. } = *self;
        let failed = rows.iter().filter(|row| row.failed.is_some()).count();
        let version = env!("CARGO_PKG_VERSION");
        tell(output, &Outcome { simulated: true, version, seed, seeds, kills, unpinned, rows }, text)?;
        match failed {
            0 => Ok(()),
            _ => Err(Failure::environment(format!("{} failed", table::many(failed, "row")))),
        }
    }

    fn subjects(&self) -> Result<Vec<Subject>, Failure> {
        let Self { locks, channels, collectives, .. } = self;
        let is_any = locks.is_empty() && channels.is_empty() && collectives.is_empty();
        // A thread that sleeps on a byte does so in a table that all locks of the process share: a kill leaves it there.
        let is_tried = |lock: &Algorithm| !self.kills || *lock != Algorithm::Byte;
        if !locks.is_empty() && !locks.iter().any(is_tried) {
            return Err(Failure::input("--kills does not try byte: expected another lock"));
        }
        let locks = if is_any { Algorithm::ALL } else { locks };
        let channels = if is_any { Channel::ALL } else { channels };
        let collectives = if is_any { CheckedCollective::all().collect() } else { collectives.clone() };
        let locks = locks.iter().copied().filter(is_tried).map(Subject::Lock);
        let channels = channels.iter().copied().map(Subject::Channel);
        Ok(locks.chain(channels).chain(collectives.into_iter().map(Subject::Collective)).collect())
    }

    /// Tries it with all seeds, up to the first that fails.
    fn row(&self, subject: Subject, step: &mut dyn FnMut(f64) -> Result<(), Failure>) -> Result<Row, Failure> {
        let (kind, name) = (subject.kind(), subject.name());
        let mut row = Row { kind, name, trials: 0, killed: 0, failed_seed: None, failed: None };
        for number in 0..self.seeds {
            step(number as f64 / self.seeds as f64)?;
            let seed = self.seed.wrapping_add(number);
            let placement = if self.unpinned { Placement::Unpinned } else { Placement::Pinned };
            let tried = match self.kills {
                true => subject.killed_everywhere(seed, &mut row),
                false => subject.stopped(seed, placement),
            };
            row.trials += u64::from(!self.kills);
            if let Err(failure) = tried {
                (row.failed_seed, row.failed) = (Some(seed), Some(failure));
                break;
            }
        }
        Ok(row)
    }
}

impl Subject {
    fn kind(self) -> &'static str {
        match self {
            Self::Lock(_) => "lock",
            Self::Channel(_) => "channel",
            Self::Collective(_) => "collective",
        }
    }

    fn name(self) -> String {
        match self {
            Self::Lock(lock) => lock.to_string(),
            Self::Channel(channel) => channel.name().to_owned(),
            Self::Collective(collective) => collective.to_string(),
        }
    }

    /// With the stops of a seed. The error in words.
    fn stopped(self, seed: u64, placement: Placement) -> Result<(), String> {
        match self {
            Self::Lock(lock) => check_lock(lock, seed, placement).map_err(|failure| failure.to_string()),
            Self::Channel(channel) => check_channel(channel, seed, placement).map_err(|failure| failure.to_string()),
            Self::Collective(collective) => collective.check(seed, placement).map_err(|failure| failure.to_string()),
        }
    }

    /// A kill of a thread before each of its accesses, of each end of a channel.
    fn killed_everywhere(self, seed: u64, row: &mut Row) -> Result<(), String> {
        for stores in [LastStores::Land, LastStores::Lost] {
            for end in End::ALL {
                for access in 0.. {
                    let is_killed = self.killed(seed, end, access, stores)?;
                    row.trials += 1;
                    if !is_killed {
                        break;
                    }
                    row.killed += 1;
                }
                if !matches!(self, Self::Channel(_)) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// True if a thread was killed, and had not ended before.
    fn killed(self, seed: u64, end: End, access: u64, stores: LastStores) -> Result<bool, String> {
        match self {
            Self::Lock(lock) => {
                // Each has a CPU: threads that share CPUs would poll a lock that is lost for long.
                let placement = Placement::Pinned;
                let trial = Trial { seed, threads: 3, cpus: 4, rounds: 3, one_in: 1, longest_stop_ns: 0, placement };
                let outcome = check_killed(lock, trial, access, stores);
                outcome.map(|outcome| outcome.killed.is_some()).map_err(|failure| failure.to_string())
            }
            Self::Channel(channel) => {
                check_channel_killed(channel, seed, end, access, stores).map_err(|failure| failure.to_string())
            }
            Self::Collective(collective) => {
                collective.check_killed(seed, access, stores).map_err(|failure| failure.to_string())
            }
        }
    }
}

fn text(outcome: &Outcome) -> String {
    let mut table = table(&["kind", "name", ">trials", ">killed", "outcome"]);
    for Row { kind, name, trials, killed, failed, .. } in &outcome.rows {
        let words = failed.clone().unwrap_or_else(|| "holds".to_owned());
        table.add_row([(*kind).to_owned(), name.clone(), trials.to_string(), killed.to_string(), words]);
    }
    let repeats = outcome.rows.iter().filter_map(|Row { kind, name, failed_seed, .. }| {
        let kills = match (outcome.kills, outcome.unpinned) {
            (true, _) => " --kills",
            (_, true) => " --unpinned",
            _ => "",
        };
        Some(format!("again: corecast sim check --{kind}s {name} --seed {} --seeds 1{kills}\n", (*failed_seed)?))
    });
    format!(
        "SIMULATED: threads that are {} at any access, seeds {} to {}, corecast {}\n{}{}",
        match (outcome.kills, outcome.unpinned) {
            (true, _) => "killed",
            (_, true) => "moved between CPUs, and stopped",
            _ => "stopped",
        },
        outcome.seed,
        outcome.seed.wrapping_add(outcome.seeds - 1),
        outcome.version,
        table::text(&table),
        repeats.collect::<String>()
    )
}
