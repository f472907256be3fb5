//! The options that all programs of `corecast sim` have: machine, steps, seeds, and where the outcome goes.

use crate::html_arg::HtmlArg;
use crate::simulated::{Described, Loaded, Outcome, PRESETS, Point, Program, describe, explained, render, rows, sweep};
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
    /// The numbers of threads, members or clients, each on one of the first CPUs [default: 1, 2, 4 and so on, and all].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = number_arg::within::<usize>(1..=4096))]
    pub(super) cpus: Vec<usize>,
    /// Change the machine: interconnect=F multiplies the time by which far CPUs and memories take longer than near ones.
    #[arg(long, value_name = "WHAT=FACTOR", value_parser = interconnect)]
    what_if: Option<f64>,
    /// Also play each point with less and with more of what is assumed of the machine: conflicts of none and twice, homes and
    /// loads of half and twice the time. Marks contenders that are as good as the best one.
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
    html: HtmlArg,
}

/// The part of the time, or of the repetitions, that --quick leaves.
const QUICK: u64 = 10;

impl Shared {
    /// The machine.
    pub(super) fn load(&self) -> Result<(Described, Loaded), Failure> {
        let described =
            Described { machine: self.machine.clone(), interconnect: self.what_if.unwrap_or(1.0), corner: 0 };
        let loaded = described.load()?;
        Ok((described, loaded))
    }

    /// Plays a program by all contenders with all numbers of threads, and shows the outcome.
    pub(super) fn run(&self, program: &Program, contenders: &[String], output: &Output) -> Result<(), Failure> {
        let (_, loaded) = self.load()?;
        self.run_steps(program, contenders, &self.threads(loaded.machine().cpus())?, output)
    }

    /// The same at these steps.
    pub(super) fn run_steps(
        &self,
        program: &Program,
        contenders: &[String],
        steps: &[usize],
        output: &Output,
    ) -> Result<(), Failure> {
        self.html.check()?;
        let (described, loaded) = self.load()?;
        if self.explain {
            return explained::tell(&loaded, output);
        }
        let corners = if self.corners { corecast_sim::corners(loaded.machine()).len() } else { 1 };
        let points = self.points(&described, program, (contenders, steps, corners));
        let played = sweep(&points, &mut Meter::start(output), &Interrupt::watch()?)?;
        let outcome = Outcome {
            simulated: true,
            version: env!("CARGO_PKG_VERSION"),
            figure: program.figure(),
            machine: loaded.machine().name().to_owned(),
            cpus: loaded.machine().cpus(),
            costs: loaded.origin,
            interconnect: described.interconnect,
            seed: self.seed,
            runs: self.runs,
            options: program.clone(),
            rows: rows(&points, &played),
        };
        self.html.tell(output, (&outcome, self.seed), describe, render)
    }

    /// A contender after the other, each at its steps, and of each the seeds, then the corners beyond the machine as given.
    fn points(
        &self,
        described: &Described,
        program: &Program,
        (contenders, steps, corners): (&[String], &[usize], usize),
    ) -> Vec<Point> {
        let point = |contender: &str, step: usize, corner: usize, run: u64| Point {
            described: Described { corner, ..described.clone() },
            program: program.clone(),
            contender: contender.to_owned(),
            step,
            seed: self.seed.wrapping_add(run),
        };
        let mut points = Vec::new();
        for contender in contenders {
            for &step in steps {
                points.extend((0..self.runs).map(|run| point(contender, step, 0, run)));
                points.extend((1..corners).map(|corner| point(contender, step, corner, 0)));
            }
        }
        points
    }

    /// This time, or number of repetitions, or a tenth of it.
    pub(super) fn shortened(&self, whole: u64) -> u64 {
        if self.quick { whole / QUICK } else { whole }
    }

    /// The numbers of threads, ascending, of which there are at most as many as CPUs.
    pub(super) fn threads(&self, cpus: usize) -> Result<Vec<usize>, Failure> {
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

/// The factor of `interconnect=F`.
fn interconnect(text: &str) -> Result<f64, String> {
    let factor = text.strip_prefix("interconnect=").and_then(|factor| factor.parse().ok());
    factor
        .filter(|factor: &f64| (0.01..=100.0).contains(factor))
        .ok_or_else(|| "expected interconnect= and a factor from 0.01 to 100, such as interconnect=0.5".to_owned())
}
