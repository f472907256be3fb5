//! `corecast sim check`: locks where threads lose their CPUs at any access, or are killed there.

use corecast_race::Progress;
use corecast_sim::Algorithm;
use corecast_sim::conformance::{LastStores, Trial, check_killed, check_lock};
use serde::Serialize;

use crate::tell::tell;
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::meter::Meter;
use corecast_cli::number_arg;
use corecast_cli::output::Output;
use corecast_cli::table::{self, table};

/// Options of `sim check`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Check {
    /// Check these locks only.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    locks: Vec<Algorithm>,
    /// The number of seeds for each lock: a seed has its own number of threads and CPUs, and its own stops.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number_arg::within::<u64>(1..=10_000_000))]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Kill a thread at each of its accesses in turn, with the stores that wait then done and lost, in the place of stops. The
    /// others must not see each other in the lock, and need not get it once its holder is dead.
    #[arg(long)]
    kills: bool,
}

/// The outcome.
#[derive(Debug, Serialize)]
struct Outcome {
    simulated: bool,
    version: &'static str,
    seed: u64,
    seeds: u64,
    kills: bool,
    rows: Vec<Row>,
}

/// The trials of a lock.
#[derive(Debug, Serialize)]
struct Row {
    lock: String,
    /// The trials that were made: up to the first that failed.
    trials: u64,
    /// The threads that were killed.
    killed: u64,
    /// The seed of the trial that failed.
    failed_seed: Option<u64>,
    /// The fault.
    failed: Option<String>,
}

impl Check {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let locks = if self.locks.is_empty() { Algorithm::ALL } else { &self.locks };
        // A thread that sleeps on a byte does so in a table that all locks of the process share: a kill leaves it there.
        let is_tried = |lock: &&Algorithm| !self.kills || **lock != Algorithm::Byte;
        let locks: Vec<Algorithm> = locks.iter().filter(is_tried).copied().collect();
        if locks.is_empty() {
            return Err(Failure::input("--kills does not try byte: expected another lock"));
        }
        let (interrupt, mut meter) = (Interrupt::watch()?, Meter::start(output));
        let mut rows = Vec::new();
        for (place, &lock) in locks.iter().enumerate() {
            let mut step = |done: f64| {
                meter.step((place as f64 + done) / locks.len() as f64, lock.name());
                if interrupt.is_raised() { Err(Failure::Interrupted) } else { Ok(()) }
            };
            rows.push(self.row(lock, &mut step)?);
        }
        let Self { seed, seeds, kills, .. } = *self;
        let failed = rows.iter().filter(|row| row.failed.is_some()).count();
        tell(output, &Outcome { simulated: true, version: env!("CARGO_PKG_VERSION"), seed, seeds, kills, rows }, text)?;
        match failed {
            0 => Ok(()),
            _ => Err(Failure::environment(format!("{} failed", table::many(failed, "lock")))),
        }
    }

    /// Tries a lock with all seeds, up to the first that fails.
    fn row(&self, lock: Algorithm, step: &mut dyn FnMut(f64) -> Result<(), Failure>) -> Result<Row, Failure> {
        let mut row = Row { lock: lock.to_string(), trials: 0, killed: 0, failed_seed: None, failed: None };
        for number in 0..self.seeds {
            step(number as f64 / self.seeds as f64)?;
            let seed = self.seed.wrapping_add(number);
            let tried = if self.kills { killed_everywhere(lock, seed, &mut row) } else { check_lock(lock, seed) };
            row.trials += u64::from(!self.kills);
            if let Err(failure) = tried {
                (row.failed_seed, row.failed) = (Some(seed), Some(failure.to_string()));
                break;
            }
        }
        Ok(row)
    }
}

/// A kill of the second of three threads before each of its accesses, each on a CPU: threads that share CPUs would poll a lock
/// that is lost for long.
fn killed_everywhere(lock: Algorithm, seed: u64, row: &mut Row) -> Result<(), corecast_sim::conformance::Failure> {
    let trial = Trial { seed, threads: 3, cpus: 4, rounds: 3, one_in: 1, longest_stop_ns: 0 };
    for stores in [LastStores::Land, LastStores::Lost] {
        for access in 0.. {
            let outcome = check_killed(lock, trial, access, stores)?;
            row.trials += 1;
            if outcome.killed.is_none() {
                break;
            }
            row.killed += 1;
        }
    }
    Ok(())
}

fn text(outcome: &Outcome) -> String {
    let mut table = table(&["lock", ">trials", ">killed", "outcome"]);
    for Row { lock, trials, killed, failed, .. } in &outcome.rows {
        let words = failed.clone().unwrap_or_else(|| "holds".to_owned());
        table.add_row([lock.clone(), trials.to_string(), killed.to_string(), words]);
    }
    let repeats = outcome.rows.iter().filter_map(|row| {
        let kills = if outcome.kills { " --kills" } else { "" };
        Some(format!("again: corecast sim check --locks {} --seed {} --seeds 1{kills}\n", row.lock, row.failed_seed?))
    });
    format!(
        "SIMULATED: threads that are {} at any access, seeds {} to {}, corecast {}\n{}{}",
        if outcome.kills { "killed" } else { "stopped" },
        outcome.seed,
        outcome.seed.wrapping_add(outcome.seeds - 1),
        outcome.version,
        table::text(&table),
        repeats.collect::<String>()
    )
}
