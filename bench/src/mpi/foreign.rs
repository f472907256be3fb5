//! Runs of benchmarks that were written elsewhere, without the preload object and with it.
//!
//! They tell numbers that compare with those of others, and nothing is judged by them: an operation with a root is timed by how
//! soon the root may begin the next one, and all repetitions use one buffer. Launches with the object and without it alternate in
//! a random order, and a ratio is the median of the ratios of neighbouring launches.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use corecast::CpuSet;
use corecast_race::Op;
use corecast_race::cancel::Cancel;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::launcher::{Launcher, preload_object};
use corecast_race::options::Options;
use corecast_race::progress::Progress;
use fastrand::Rng;
use serde::Serialize;

use super::suite::{Effort, Program, Values};
use crate::launches::{Samples, collect, in_either_order, serves};
use crate::program::{self, Told, without_shims};

/// A launch that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(300);
/// The lines at the end of a program's words that are told when it fails.
const LAST_LINES: usize = 3;
/// The programs print two digits behind the point: of times below this one at most.
const RESOLUTION_US: f64 = 0.02;

/// The benchmarks of others that are to run.
#[derive(Clone, Debug, Default)]
pub struct MpiForeign {
    /// The folder with OSU's benchmarks in Python.
    pub osu: Option<PathBuf>,
    /// Intel's program `IMB-MPI1`.
    pub imb: Option<PathBuf>,
    /// The launcher of both; by default the `mpirun` beside Intel's program, or the one that the system finds.
    pub launcher: Option<PathBuf>,
}

/// One operation of a benchmark that was written elsewhere.
#[derive(Clone, Debug, Serialize)]
pub struct MpiForeignRow {
    /// Such as `osu_bcast.py` or `IMB-MPI1`.
    pub program: String,
    /// The operation.
    pub op: Op,
    /// The bytes that it carries.
    pub bytes: u64,
    /// The number of ranks.
    pub ranks: usize,
    /// True if ranks share CPUs.
    pub oversubscribed: bool,
    /// The median of the launches without the object, in microseconds: of OSU's the mean of the first rank, of Intel's that of
    /// the slowest one.
    pub without_us: f64,
    /// The median of the launches with it.
    pub with_us: f64,
    /// The first over the second, the median over neighbouring launches: above 1 the object is a gain. `null` if most launches
    /// told a time of less than 0.02 us.
    pub speedup: Option<f64>,
    /// Launches with each.
    pub launches: usize,
}

/// A program that was left out among this number of ranks.
#[derive(Clone, Debug, Serialize)]
pub struct MpiForeignSkip {
    /// Such as `IMB-MPI1`.
    pub program: String,
    /// The number of ranks.
    pub ranks: usize,
    /// Why.
    pub reason: String,
}

/// All of them, ready to run.
pub(super) struct Foreign {
    programs: Vec<Program>,
    launcher: PathBuf,
    family: &'static Launcher,
    object: PathBuf,
    cpus: CpuSet,
    cancel: Cancel,
}

/// The outcome of all launches.
#[derive(Default)]
pub(super) struct Ran {
    pub(super) rows: Vec<MpiForeignRow>,
    pub(super) left_out: Vec<MpiForeignSkip>,
}

impl MpiForeign {
    /// Those that are named, for the operations of the options, after a launch of each; `None` if none is named.
    ///
    /// # Errors
    /// [`BenchError::Program`] if a folder or a program is not what it should be.
    pub(super) fn open(&self, cpus: &CpuSet, options: &Options) -> Result<Option<Foreign>, BenchError> {
        let Self { osu, imb, launcher } = self;
        if osu.is_none() && imb.is_none() {
            return Ok(None);
        }
        let mut programs = osu.as_deref().map_or_else(|| Ok(Vec::new()), |at| Program::of_osu(at, &options.ops))?;
        programs.extend(imb.as_deref().map(|path| Program::of_intel(path, &options.ops)).transpose()?);
        let launcher = launcher.clone().unwrap_or_else(|| usual_launcher(imb.as_deref()));
        let family = Launcher::of(&launcher).map_err(|failure| BenchError::Program(failure.to_string()))?;
        let object = preload_object().map_err(BenchError::Program)?;
        let (cpus, cancel) = (cpus.clone(), options.cancel.clone());
        let foreign = Foreign { programs, launcher, family, object, cpus, cancel };
        foreign.check(options.participants[0])?;
        Ok(Some(foreign))
    }
}

/// The launcher that comes with Intel's program, or the one that the system finds.
fn usual_launcher(imb: Option<&Path>) -> PathBuf {
    const USUAL: &str = "mpirun";
    let beside = imb.and_then(Path::parent).map(|folder| folder.join(USUAL));
    beside.filter(|launcher| launcher.is_file()).unwrap_or_else(|| USUAL.into())
}

impl Foreign {
    /// Launches each program once without the object and once with it, untimed. The object has to serve something.
    fn check(&self, ranks: usize) -> Result<(), BenchError> {
        let effort = Effort { ranks, repetitions: 100, most_bytes: 8 };
        for program in &self.programs {
            let failed = |failure| match failure {
                Failure::Aborted => BenchError::Cancelled,
                failure => BenchError::Program(format!("{}: {failure}", program.name())),
            };
            self.launch(program, effort, false).map_err(failed)?;
            let mut command = self.command(program, effort, true);
            command.env("CORECAST_SHIM_STATS", "1");
            let told = self.told(program, command).map_err(failed)?;
            if !serves(&told.errors, ": served ") {
                let why = format!("{}: {} serves nothing of it", program.name(), self.object.display());
                return Err(BenchError::Program(why));
            }
        }
        Ok(())
    }

    /// Runs all of them with each number of ranks.
    ///
    /// # Errors
    /// [`BenchError::Cancelled`].
    pub(super) fn run(&self, options: &Options, seed: u64, progress: &mut dyn Progress) -> Result<Ran, BenchError> {
        let of_ranks = |&ranks: &usize| self.programs.iter().map(move |program| (ranks, program));
        let all: Vec<(usize, &Program)> = options.participants.iter().flat_map(of_ranks).collect();
        let (mut random, mut ran) = (Rng::with_seed(seed), Ran::default());
        for (at, &(ranks, program)) in all.iter().enumerate() {
            let (name, oversubscribed) = (program.name(), ranks > self.cpus.len());
            progress.step(at as f64 / all.len() as f64, &format!("{name}, {ranks} ranks"));
            match self.samples(program, self.effort(ranks, options), options.quick, &mut random) {
                Ok(samples) => ran.rows.extend(samples.iter().map(|one| row(one, &name, ranks, oversubscribed))),
                Err(Failure::Aborted) => return Err(BenchError::Cancelled),
                Err(failure) => {
                    ran.left_out.push(MpiForeignSkip { program: name, ranks, reason: failure.to_string() });
                }
            }
        }
        progress.step(1.0, "done");
        Ok(ran)
    }

    /// Ranks that share CPUs repeat less: MPICH's take 15 ms for a barrier.
    fn effort(&self, ranks: usize, options: &Options) -> Effort {
        let is_long = !options.quick && ranks <= self.cpus.len();
        let most_bytes = options.sizes.iter().copied().max().unwrap_or(1);
        Effort { ranks, repetitions: if is_long { 10_000 } else { 1000 }, most_bytes }
    }

    /// The values of launches without the object and with it.
    fn samples(
        &self,
        program: &Program,
        effort: Effort,
        is_quick: bool,
        random: &mut Rng,
    ) -> Result<Vec<Samples<(Op, u64)>>, Failure> {
        let mut samples = Vec::new();
        for _ in 0..if is_quick { 3 } else { 11 } {
            let run = |with_object| self.launch(program, effort, with_object);
            let [without, with] = in_either_order(random.bool(), run)?;
            collect(&mut samples, without, &with);
        }
        Ok(samples)
    }

    fn launch(&self, program: &Program, effort: Effort, with_object: bool) -> Result<Values, Failure> {
        let with = if with_object { " with the object" } else { "" };
        let told = self.told(program, self.command(program, effort, with_object));
        told.map(|told| program.values(&told.output)).map_err(|failure| match failure {
            Failure::Ended(how) => Failure::Ended(format!("{how}{with}")),
            failure => failure,
        })
    }

    fn command(&self, program: &Program, effort: Effort, with_object: bool) -> Command {
        let oversubscribed = effort.ranks > self.cpus.len();
        let object = with_object.then_some(self.object.as_path());
        let mut command = self.family.command(&self.launcher, effort.ranks, oversubscribed, object);
        without_shims(&mut command);
        program.extend(&mut command, effort);
        command
    }

    /// The words of a launch that has told times.
    fn told(&self, program: &Program, command: Command) -> Result<Told, Failure> {
        let told = program::run(command, &self.cpus, LIMIT, &|| self.cancel.is_cancelled())?;
        let has_values = !program.values(&told.output).is_empty();
        if told.has_succeeded && has_values {
            return Ok(told);
        }
        let how = if told.has_succeeded { "it tells no times" } else { "it fails" };
        Err(Failure::Ended(format!("{how} ('{}')", reason(&told))))
    }
}

/// The first line about an error, or the last lines: launchers add many of their own behind.
fn reason(told: &Told) -> String {
    let lines = told.output.lines().chain(told.errors.lines()).map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let is_error = |line: &&&str| ["error", "exception"].iter().any(|word| line.to_lowercase().contains(word));
    let last = || lines[lines.len().saturating_sub(LAST_LINES)..].join(" | ");
    lines.iter().find(is_error).map_or_else(last, |line| (*line).to_owned())
}

fn row(samples: &Samples<(Op, u64)>, program: &str, ranks: usize, oversubscribed: bool) -> MpiForeignRow {
    let ((op, bytes), [without_us, with_us]) = (samples.of, samples.medians());
    let (speedup, launches) = (samples.ratio(RESOLUTION_US), samples.pairs.len());
    MpiForeignRow {
        program: program.to_owned(),
        op,
        bytes,
        ranks,
        oversubscribed,
        without_us,
        with_us,
        speedup,
        launches,
    }
}
