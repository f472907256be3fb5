//! The options that all programs of `corecast sim` have: machine, steps, seeds, and where the outcome goes.

use corecast_sim::{Change, Disturbance, WhatIf};

use super::disturbances::Disturbances;
use crate::html_arg::HtmlArg;
use crate::simulated::{
    Described, Fill, Loaded, Outcome, PRESETS, Point, Program, describe, explained, render, rows, sweep,
};
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::meter::Meter;
use corecast_cli::number_arg;
use corecast_cli::output::Output;

/// Options of every program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Shared {
    /// The machine: opteron-4x12, xeon-8x10, or a corecast-machine/1 model file.
    #[arg(long, value_name = "MACHINE", default_value = PRESETS[0].name)]
    machine: String,
    /// The numbers of CPUs, each with a thread, member or client, from the first CPU on [default: 1, 2, 4 and so on, and all].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = number_arg::within::<usize>(1..=4096))]
    pub(super) cpus: Vec<usize>,
    /// The order in which CPUs are taken: as the machine numbers them, which is cluster by cluster on most, or by turns over the
    /// packages, and in each of them over the nodes.
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = Fill::Clusters)]
    fill: Fill,
    /// Change the machine, by one or more of: interconnect=F, which multiplies the time by which far CPUs and memories take
    /// longer than near ones; kappa=F, the factor by which requests between packages that meet take longer; service=NS, the
    /// nanoseconds that a home needs for a request; beta=F, the share of a load's time for which its line serves no other;
    /// protocol=moesi or mesi, whether a written line is shared without being written back (mesif is as mesi here).
    #[arg(long, value_name = "WHAT=VALUE", value_delimiter = ',')]
    what_if: Vec<Change>,
    /// Let CPUs that share a core, by the machine's file, slow each other down and find each other's lines in their cache.
    /// Without it each has a core for itself.
    #[arg(long)]
    smt: bool,
    /// Also play each point with less and with more of what is assumed of the machine: kappa of none and twice, service and beta
    /// of half and twice. Marks contenders that are as good as the best one.
    #[arg(long)]
    corners: bool,
    /// List the parameters of the machine with where each comes from, and play nothing.
    #[arg(long)]
    explain: bool,
    /// A tenth of the virtual time, or of the repetitions, and groups that plan with little effort.
    #[arg(long)]
    pub(super) quick: bool,
    /// The first seed of the threads' begins and pauses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The number of seeds: figures are their medians.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = number_arg::within::<u64>(1..=1000))]
    runs: u64,
    #[command(flatten)]
    disturbances: Disturbances,
    #[command(flatten)]
    html: HtmlArg,
}

/// The part of the time, or of the repetitions, that --quick leaves.
const QUICK: u64 = 10;
/// The slices of each thread that shares a CPU, which are of 3 ms on the published machines, in the time that counts.
const SLICES: u64 = 6;
const QUICK_SLICES: u64 = 3;
const SLICE_US: u64 = 3000;

/// A run of a contender at a step.
#[derive(Clone, Copy)]
struct RunOf {
    corner: usize,
    seed: u64,
    kill_at: Option<u64>,
}

impl Shared {
    /// The machine.
    pub(super) fn load(&self) -> Result<(Described, Loaded), Failure> {
        let described = Described {
            machine: self.machine.clone(),
            what_if: WhatIf::of(&self.what_if).map_err(|error| Failure::input(format!("--what-if: {error}")))?,
            smt: self.smt,
            fill: self.fill,
            corner: 0,
        };
        let loaded = described.load()?;
        Ok((described, loaded))
    }

    /// Plays a program by all contenders with all numbers of threads, and shows the outcome.
    pub(super) fn run(&self, program: &Program, contenders: &[String], output: &Output) -> Result<(), Failure> {
        let machine = self.load()?;
        let steps = self.threads(machine.1.machine().cpus())?;
        self.run_steps(machine, program, (contenders, &steps), output)
    }

    /// The same on a machine that was loaded, at these steps.
    pub(super) fn run_steps(
        &self,
        (described, loaded): (Described, Loaded),
        program: &Program,
        (contenders, steps): (&[String], &[usize]),
        output: &Output,
    ) -> Result<(), Failure> {
        self.html.check()?;
        if let (Fill::Spread, Some(reason)) = (self.fill, program.chooses_cpus()) {
            let program = program.figure().program;
            return Err(Failure::input(format!("--fill spread means nothing for sim {program}: {reason}")));
        }
        let disturbance = self.disturbances.of(program)?;
        if self.explain {
            return explained::tell(&loaded, output);
        }
        let points = self.points(&described, &loaded, program, disturbance, (contenders, steps));
        let played = sweep(&points, &mut Meter::start(output), &Interrupt::watch()?)?;
        let outcome = Outcome {
            simulated: true,
            version: env!("CARGO_PKG_VERSION"),
            figure: program.figure(),
            machine: loaded.machine().name().to_owned(),
            cpus: loaded.machine().cpus(),
            costs: loaded.origin,
            what_if: described.what_if,
            smt: described.smt,
            fill: described.fill,
            seed: self.seed,
            runs: self.runs,
            disturbance,
            kills: self.disturbances.kills(),
            options: program.clone(),
            rows: rows(&points, &played),
        };
        self.html.tell(output, (&outcome, self.seed), describe, render)
    }

    /// A contender after the other, each at its steps.
    fn points(
        &self,
        described: &Described,
        loaded: &Loaded,
        program: &Program,
        disturbance: Disturbance,
        (contenders, steps): (&[String], &[usize]),
    ) -> Vec<Point> {
        let corners = if self.corners { corecast_sim::corners(loaded.machine()).len() } else { 1 };
        let runs = self.runs(corners);
        let mut points = Vec::new();
        for contender in contenders {
            for &step in steps {
                points.extend(runs.iter().map(|&RunOf { corner, seed, kill_at }| Point {
                    described: Described { corner, ..described.clone() },
                    program: program.clone(),
                    contender: contender.clone(),
                    step,
                    seed,
                    disturbance: Disturbance { kill_at, ..disturbance },
                }));
            }
        }
        points
    }

    /// The runs of a contender at a step: each seed, then the first one at each corner beyond the machine as given; and of each
    /// of them one for each kill.
    fn runs(&self, corners: usize) -> Vec<RunOf> {
        let seeds = (0..self.runs).map(|run| (0, self.seed.wrapping_add(run)));
        let corners = (1..corners).map(|corner| (corner, self.seed));
        let kills: Vec<Option<u64>> = match self.disturbances.kills() {
            Some(kills) => kills.accesses().map(Some).collect(),
            None => vec![None],
        };
        let each = seeds.chain(corners);
        each.flat_map(|(corner, seed)| kills.iter().map(move |&kill_at| RunOf { corner, seed, kill_at })).collect()
    }

    /// This time, or number of repetitions, or a tenth of it.
    pub(super) fn shortened(&self, whole: u64) -> u64 {
        if self.quick { whole / QUICK } else { whole }
    }

    /// The virtual times in microseconds before rounds count, and in which they do, or a tenth of them. Where threads share CPUs
    /// these are enough for each of them to have some slices.
    pub(super) fn times_us(&self, warm_up_us: u64, duration_us: u64) -> (u64, u64) {
        let times = [warm_up_us, duration_us].map(|us| self.shortened(us));
        let [warm_up_us, duration_us] = times;
        let sharing = self.disturbances.sharing() as u64;
        if sharing == 1 {
            return (warm_up_us, duration_us);
        }
        let slices = if self.quick { QUICK_SLICES } else { SLICES };
        let least_us = sharing * slices * SLICE_US;
        (warm_up_us.max(least_us / 3), duration_us.max(least_us))
    }

    /// The numbers of threads, ascending: as many on each of these CPUs as share one, of at most this number of CPUs.
    pub(super) fn threads(&self, cpus: usize) -> Result<Vec<usize>, Failure> {
        if let Some(threads) = self.cpus.iter().find(|&&threads| threads > cpus) {
            return Err(Failure::input(format!("--cpus {threads}: the machine has {cpus} CPUs")));
        }
        let sharing = self.disturbances.threads_per_cpu();
        let least = self.disturbances.least_threads();
        if let Some(used) = self.cpus.iter().find(|&&used| used * sharing < least) {
            return Err(Failure::input(format!(
                "--cpus {used}: --kill-at leaves no thread, expected at least {least}"
            )));
        }
        let mut threads = self.cpus.clone();
        if threads.is_empty() {
            threads = (0..).map(|power| 1 << power).take_while(|&threads| threads < cpus).collect();
            threads.push(cpus);
        }
        threads.iter_mut().for_each(|used| *used *= sharing);
        threads.retain(|&threads| threads >= least);
        threads.sort_unstable();
        threads.dedup();
        Ok(threads)
    }
}
