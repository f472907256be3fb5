//! `corecast sim trace`: the events of some microseconds of a program.

use corecast_sim::{Algorithm, Contest, Disturbance, Episodes, Stops, WhatIf, trace_barriers, trace_contest};

use super::barriers;
use super::disturbances::stops;
use crate::simulated::{
    AUTO, Described, Fill, Loaded, PRESETS, TraceOptions, TraceOutcome, in_windows, trace_events, trace_picture,
    trace_summary,
};
use crate::svg_arg::SvgArg;
use corecast_cli::failure::Failure;
use corecast_cli::number_arg;
use corecast_cli::output::Output;

/// Options of `sim trace`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Trace {
    #[command(subcommand)]
    program: Traced,
}

/// The programs that can be traced.
#[derive(Clone, Debug, clap::Subcommand)]
enum Traced {
    /// Trace threads that compete for a lock.
    #[command(
        after_help = "Examples:\n  corecast sim trace locks --lock mcs --cpus 8 --us 3 --svg mcs.svg\n  corecast sim trace locks --lock auto --machine xeon-8x10 --cpus 48 --json"
    )]
    Locks(Locks),
    /// Trace the members of a group that meet at a barrier once, from half a microsecond in which they enter.
    #[command(
        after_help = "Example:\n  corecast sim trace barriers --barrier dissemination --cpus 8 --svg barrier.svg"
    )]
    Barriers(Barriers),
}

/// Options of every program that can be traced.
#[derive(Clone, Debug, clap::Args)]
struct Shared {
    /// The machine: opteron-4x12, xeon-8x10, or a corecast-machine/1 model file.
    #[arg(long, value_name = "MACHINE", default_value = PRESETS[0].name)]
    machine: String,
    /// The number of CPUs, each with a thread, from the first CPU on.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = number_arg::within::<usize>(1..=4096))]
    cpus: usize,
    /// The order in which CPUs are taken: as the machine numbers them, or by turns over packages and nodes.
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = Fill::Clusters)]
    fill: Fill,
    /// Take threads off their CPUs before one access in ACCESSES, for up to US microseconds [default US: 1000].
    #[arg(long, value_name = "ACCESSES[:US]", value_parser = stops)]
    preempt: Option<Stops>,
    /// The seed of the threads' begins and pauses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The virtual time that is traced.
    #[arg(long, value_name = "US", default_value_t = 3, value_parser = number_arg::within::<u64>(1..=1000))]
    us: u64,
    #[command(flatten)]
    svg: SvgArg,
}

/// Options of `sim trace locks`.
#[derive(Clone, Debug, clap::Args)]
struct Locks {
    #[command(flatten)]
    shared: Shared,
    /// The lock.
    #[arg(long, value_name = "LOCK")]
    lock: Algorithm,
    /// The virtual time before the window: locks learn, and threads take their first nodes.
    #[arg(long, value_name = "US", default_value_t = 4000, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    after: u64,
    /// Put this number of threads on each CPU, which they share as under Linux's scheduler.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number_arg::within::<usize>(1..=256))]
    threads_per_cpu: usize,
    /// The time that a holder computes for, beyond reading and writing a line.
    #[arg(long, value_name = "NS", default_value_t = 0, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    inside_ns: u64,
    /// The time for which a thread computes between two acquisitions, and up to half of it more.
    #[arg(long, value_name = "NS", default_value_t = 100, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    outside_ns: u64,
}

/// Options of `sim trace barriers`.
#[derive(Clone, Debug, clap::Args)]
struct Barriers {
    #[command(flatten)]
    shared: Shared,
    /// The barrier; auto is the one that a group chooses without a race.
    #[arg(long, value_name = "BARRIER", value_parser = barriers::name)]
    barrier: String,
    /// The times that members have met before: rings of messages have gone round.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number_arg::within::<usize>(0..=1000))]
    warm_up: usize,
}

impl Trace {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        match &self.program {
            Traced::Locks(locks) => locks.run(output),
            Traced::Barriers(barriers) => barriers.run(output),
        }
    }
}

impl Locks {
    fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { shared, lock, after, threads_per_cpu, inside_ns, outside_ns } = self;
        let (inside_ns, outside_ns) = (*inside_ns, *outside_ns);
        let loaded = shared.load(output)?;
        let mut options = shared.options("locks", lock.to_string(), *after);
        options.disturbance.threads_per_cpu = *threads_per_cpu;
        options.threads *= threads_per_cpu;
        (options.inside_ns, options.outside_ns) = (Some(inside_ns), Some(outside_ns));
        let contest = Contest {
            threads: options.threads,
            locks: 1,
            warm_up_us: *after,
            duration_us: shared.us,
            inside_ns,
            outside_ns,
            is_steady: false,
            seed: shared.seed,
            disturbance: options.disturbance,
        };
        let (_, traced) = trace_contest(loaded.machine(), *lock, contest).map_err(Failure::input)?;
        shared.tell(&TraceOutcome::of(&loaded, options, &traced), output)
    }
}

impl Barriers {
    fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { shared, barrier, warm_up } = self;
        let loaded = shared.load(output)?;
        let mut options = shared.options("barriers", barrier.clone(), 0);
        let known = if barrier == AUTO { None } else { Some(barrier.parse().map_err(Failure::input)?) };
        let asked = Episodes {
            members: options.threads,
            warm_up: *warm_up,
            episodes: 1,
            rounds: 0,
            seed: shared.seed,
            model: loaded.model.clone(),
            disturbance: options.disturbance,
            ..Episodes::default()
        };
        let play = |episodes: &Episodes| {
            let after_us = episodes.warm_up as u64 * episodes.window_us;
            trace_barriers(loaded.machine(), known, episodes, shared.us).map(|played| (played, after_us))
        };
        let ((outcome, traced), after_us) = in_windows(asked, play).map_err(Failure::input)?;
        (options.contender, options.after_us) = (outcome.barrier.to_string(), after_us);
        shared.tell(&TraceOutcome::of(&loaded, options, &traced), output)
    }
}

impl Shared {
    /// The machine, once it is known that the outcome has a place.
    fn load(&self, output: &Output) -> Result<Loaded, Failure> {
        self.svg.check(output)?;
        let Self { machine, fill, cpus, .. } = self;
        let what_if = WhatIf::default();
        let described = Described { machine: machine.clone(), what_if, smt: false, fill: *fill, corner: 0 };
        let loaded = described.load()?;
        let all = loaded.machine().cpus();
        match *cpus > all {
            true => Err(Failure::input(format!("--cpus {cpus}: the machine has {all} CPUs"))),
            false => Ok(loaded),
        }
    }

    fn options(&self, program: &'static str, contender: String, after_us: u64) -> TraceOptions {
        let Self { cpus: threads, fill, preempt, seed, us, .. } = *self;
        let disturbance = Disturbance { stops: preempt, ..Disturbance::NONE };
        let (inside_ns, outside_ns) = (None, None);
        TraceOptions { program, contender, threads, fill, seed, disturbance, after_us, us, inside_ns, outside_ns }
    }

    /// Prints the trace as text or as JSON, and writes its picture.
    fn tell(&self, outcome: &TraceOutcome, output: &Output) -> Result<(), Failure> {
        if output.is_json() {
            output.json(outcome)?;
        } else if !self.svg.is_printed() {
            output.text(&trace_summary(outcome))?;
            if !self.svg.is_wanted() {
                output.text(&format!("\n{}", trace_events(outcome)))?;
            }
        }
        self.svg.write(output, || trace_picture(outcome))
    }
}
