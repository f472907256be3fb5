//! `corecast sim`: corecast's own code on a simulated machine.

use corecast_sim::Algorithm;
use serde::Serialize;

use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::{number_arg, printable};

use crate::simulated::{Described, PRESETS, Point, Row, describe, sweep};

/// Options of `sim`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Simulated,
}

/// The programs.
#[derive(Clone, Debug, clap::Subcommand)]
enum Simulated {
    /// Let threads compete for a lock, each on a CPU of its own.
    ///
    /// The locks are those of corecast, built from the same sources. Their accesses to memory go to a model of cache coherence
    /// with virtual time: compare locks by it, and count the lines that move; its times are no measurement.
    #[command(
        after_help = "Examples:\n  corecast sim locks --machine opteron-4x12 --cpus 1,6,12,24,48 --quick\n  corecast sim locks --what-if interconnect=0.5 --locks mcs,ticket --json"
    )]
    Locks(Locks),
    /// Play one point of a sweep, as the sweep's own process.
    #[command(hide = true)]
    Point {
        /// The point, as JSON.
        point: String,
    },
}

/// Options of `sim locks`.
#[derive(Clone, Debug, clap::Args)]
struct Locks {
    /// The machine: opteron-4x12, xeon-8x10, or a corecast-machine/1 model file.
    #[arg(long, value_name = "MACHINE", default_value = PRESETS[0].name)]
    machine: String,
    /// The numbers of threads, each on one of the first CPUs [default: 1, 2, 4 and so on, and all].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = number_arg::within::<usize>(1..=4096))]
    cpus: Vec<usize>,
    /// Take only these locks.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    locks: Vec<Algorithm>,
    /// The time that a holder computes for, beyond reading and writing a line.
    #[arg(long, value_name = "NS", default_value_t = 0, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    inside_ns: u64,
    /// The time for which a thread computes between two acquisitions, and up to half of it more.
    #[arg(long, value_name = "NS", default_value_t = 100, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    outside_ns: u64,
    /// Change the machine: interconnect=F multiplies the time by which far CPUs and memories take longer than near ones.
    #[arg(long, value_name = "WHAT=FACTOR", value_parser = interconnect)]
    what_if: Option<f64>,
    /// A tenth of the virtual time.
    #[arg(long)]
    quick: bool,
    /// The seed of the threads' begins and pauses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Virtual microseconds before acquisitions count, and in which they do.
const WARM_UP_US: u64 = 2000;
const DURATION_US: u64 = 2000;

/// The outcome.
#[derive(Debug, Serialize)]
struct Outcome {
    simulated: bool,
    version: &'static str,
    machine: String,
    costs: String,
    cpus: usize,
    interconnect: f64,
    seed: u64,
    warm_up_us: u64,
    duration_us: u64,
    inside_ns: u64,
    outside_ns: u64,
    rows: Vec<Row>,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    match &arguments.what {
        Simulated::Locks(locks) => locks.run(output),
        Simulated::Point { point } => {
            let point: Point = serde_json::from_str(point).map_err(Failure::input)?;
            output.json(&point.play()?)
        }
    }
}

impl Locks {
    fn run(&self, output: &Output) -> Result<(), Failure> {
        let described = Described { machine: self.machine.clone(), interconnect: self.what_if.unwrap_or(1.0) };
        let (machine, costs) = described.load()?;
        let cpus = machine.cpus();
        let threads = self.threads(cpus)?;
        let part = if self.quick { 10 } else { 1 };
        let point = Point {
            described,
            lock: String::new(),
            threads: 0,
            warm_up_us: WARM_UP_US / part,
            duration_us: DURATION_US / part,
            inside_ns: self.inside_ns,
            outside_ns: self.outside_ns,
            seed: self.seed,
        };
        let locks = if self.locks.is_empty() { Algorithm::ALL } else { &self.locks };
        let points: Vec<Point> = locks
            .iter()
            .flat_map(|lock| threads.iter().map(|&threads| Point { lock: lock.to_string(), threads, ..point.clone() }))
            .collect();
        let rows = sweep(&points, &mut Meter::start(output), &Interrupt::watch()?)?;
        let Point { described, warm_up_us, duration_us, inside_ns, outside_ns, seed, .. } = point;
        let outcome = Outcome {
            simulated: true,
            version: env!("CARGO_PKG_VERSION"),
            machine: machine.name().to_owned(),
            costs,
            cpus,
            interconnect: described.interconnect,
            seed,
            warm_up_us,
            duration_us,
            inside_ns,
            outside_ns,
            rows,
        };
        if output.is_json() { output.json(&outcome) } else { output.text(&text(&outcome)) }
    }

    /// The numbers of threads, ascending.
    fn threads(&self, cpus: usize) -> Result<Vec<usize>, Failure> {
        if let Some(threads) = self.cpus.iter().find(|&&threads| threads > cpus) {
            return Err(Failure::input(format!("--cpus {threads}: the machine has {cpus} CPUs")));
        }
        let mut threads = self.cpus.clone();
        if threads.is_empty() {
            threads = (0..).map(|power| 1 << power).take_while(|&threads| threads < cpus).collect();
            threads.push(cpus);
        }
        threads.sort_unstable();
        threads.dedup();
        Ok(threads)
    }
}

fn text(outcome: &Outcome) -> String {
    let Outcome { machine, costs, cpus, interconnect, seed, version, .. } = outcome;
    let changed = if *interconnect == 1.0 { String::new() } else { format!(", interconnect x {interconnect}") };
    format!(
        "SIMULATED: {} with {cpus} CPUs{changed}, seed {seed}, corecast {version}\n{}\n{}",
        printable::line(machine),
        printable::line(costs),
        describe(&outcome.rows)
    )
}

/// The factor of `interconnect=F`.
fn interconnect(text: &str) -> Result<f64, String> {
    let factor = text.strip_prefix("interconnect=").and_then(|factor| factor.parse().ok());
    factor
        .filter(|factor: &f64| (0.01..=100.0).contains(factor))
        .ok_or_else(|| "expected interconnect= and a factor from 0.01 to 100, such as interconnect=0.5".to_owned())
}
