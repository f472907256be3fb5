//! `corecast bench epcc`: what OpenMP constructs cost with the preload object, and without it.
//!
//! The program is EPCC's idea (J. M. Bull, Measuring Synchronisation and Scheduling Overheads in OpenMP, EWOMP 1999), written
//! anew: it runs as a user's program does, in a process of its own, built by the C compiler that is here. Each launch takes
//! medians over its outer repetitions; launches with the object and without it alternate in a random order, and a ratio is the
//! median of the ratios of neighbouring launches. EPCC's own program takes part if its sources are named.

mod gates;
mod launch;
mod published;

use std::path::{Path, PathBuf};

use corecast::CpuSet;
use corecast::machine::Machine;
use serde::Serialize;

use self::gates::Evidence;
use self::launch::{COMPILER, Effort, Program, own, upstream};
pub use self::published::EPCC_PRESET;
use crate::launches::{Samples, collect, in_either_order};
use crate::published::{PublishedFigure, smelt_participants};
use corecast_race::error::BenchError;
use corecast_race::gate::Gate;
use corecast_race::options::Options;
use corecast_race::progress::Progress;

/// The most threads of a team.
pub const MAX_EPCC_THREADS: usize = 1024;

/// Settings of a run of its own.
#[derive(Clone, Debug)]
pub struct EpccOptions {
    /// The preload object, `libcorecast_omp.so`.
    pub object: PathBuf,
    /// The sizes of teams; 2, 4 and 8 if there are none, and as many as there are CPUs.
    pub threads: Vec<usize>,
    /// Takes the team of the published experiment if no size is named.
    pub preset: bool,
    /// The folder of EPCC's `syncbench.c` and `common.c`, which is measured in place of the benchmark's own program.
    pub sources: Option<PathBuf>,
}

/// The outcome of `corecast bench epcc`.
#[derive(Clone, Debug, Serialize)]
pub struct EpccReport {
    /// The machine's name.
    pub machine: String,
    /// The commit this was built from, if it was in a repository.
    pub commit: Option<String>,
    /// The seed of the order of launches.
    pub seed: u64,
    /// True if it was a short run.
    pub quick: bool,
    /// Busy processes beside all launches and blocks.
    pub busy: usize,
    /// The experiment that was repeated; `null` for the usual run.
    pub preset: Option<&'static str>,
    /// The compiler of the program, whose runtime is libgomp.
    pub compiler: String,
    /// The preload object.
    pub object: String,
    /// Launches of each kind for each size.
    pub launches: usize,
    /// The repetitions that each launch takes its medians over.
    pub outer_repetitions: u64,
    /// One entry for each construct and size.
    pub rows: Vec<EpccRow>,
    /// Figures that the authors of Smelt have published.
    pub published: Vec<PublishedFigure>,
    /// The demands, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// One construct in teams of one size.
#[derive(Clone, Debug, Serialize)]
pub struct EpccRow {
    /// Its name in EPCC's programs.
    pub construct: String,
    /// The threads of the team.
    pub threads: usize,
    /// True if there are fewer CPUs than threads.
    pub oversubscribed: bool,
    /// The overhead without the object, in microseconds: the median of all launches.
    pub alone_us: f64,
    /// The overhead with the object, in microseconds: the median of all launches.
    pub shim_us: f64,
    /// How many times the overhead with the object the one without it is: the median of the ratios of neighbouring launches.
    /// `null` where most launches found an overhead of less than 5 ns with or without the object: such a ratio says nothing.
    pub ratio: Option<f64>,
    /// Launches with each.
    pub launches: usize,
}

/// Overheads below this are no larger than what a launch differs from the next by, in microseconds: 1 % of the delay that each is
/// the difference to is a nanosecond, and a median without the construct may exceed the one with it.
const RESOLUTION_US: f64 = 0.005;

/// Measures constructs without the preload object and with it.
///
/// # Errors
/// [`BenchError::Participants`] for a team that cannot be, [`BenchError::Cancelled`], or [`BenchError::Failed`] if the
/// compiler is not here, or a launch fails.
pub fn epcc(
    machine: &Machine,
    settings: &EpccOptions,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<EpccReport, BenchError> {
    let cpus = options.usable_cpus(machine)?;
    let sizes = sizes(settings, cpus.len())?;
    let program = settings.sources.as_deref().map_or_else(own, upstream)?;
    program.check_served(sizes[0], &settings.object, &cpus, options)?;
    let ((launches, effort), seed) = (effort(options.quick, options.busy > 0), options.seed_or_draw());
    let object = settings.object.as_path();
    let run = Run { program: &program, object, sizes: &sizes, launches, effort, cpus: &cpus, options };
    let samples = run.samples(seed, progress)?;
    progress.step(1.0, "done");
    let (cpus, busy) = (cpus.len(), options.busy);
    let evidence = Evidence { rows: samples.iter().map(|samples| row(samples, cpus)).collect(), cpus, busy };
    Ok(EpccReport {
        machine: machine.name.clone(),
        commit: options.commit.clone(),
        seed,
        quick: options.quick,
        busy,
        preset: settings.preset.then_some(EPCC_PRESET),
        compiler: COMPILER.to_owned(),
        object: settings.object.display().to_string(),
        launches,
        outer_repetitions: effort.outer_repetitions,
        published: published::figures(|construct| evidence.of_many(construct).ok()),
        gates: gates::gates(&evidence),
        rows: evidence.rows,
    })
}

/// The launches of a program in teams of each size.
struct Run<'a> {
    program: &'a Program,
    object: &'a Path,
    sizes: &'a [usize],
    /// Of each kind for each size.
    launches: usize,
    effort: Effort,
    cpus: &'a CpuSet,
    options: &'a Options,
}

impl Run<'_> {
    /// The overheads of all of them, with and without the object in a random order.
    fn samples(&self, seed: u64, progress: &mut dyn Progress) -> Result<Vec<Samples<Team>>, BenchError> {
        let (launches, sizes) = (self.launches, self.sizes);
        let (mut random, mut samples) = (fastrand::Rng::with_seed(seed), Vec::new());
        for launch in 0..launches {
            for (at, &threads) in sizes.iter().enumerate() {
                let share = (launch * sizes.len() + at) as f64 / (launches * sizes.len()) as f64;
                progress.step(share, &format!("constructs of {threads} threads, launch {} of {launches}", launch + 1));
                let run = |shim: bool| {
                    let told =
                        self.program.launch(threads, self.effort, shim.then_some(self.object), self.cpus, self.options);
                    told.map(|told| of_team(told, threads))
                };
                let [alone, shim] = in_either_order(random.bool(), run)?;
                collect(&mut samples, alone, &shim);
            }
        }
        Ok(samples)
    }
}

/// Launches, and how long each measures. The authors of Smelt have taken 5,000 outer repetitions. One is long enough that the
/// fork and the join around it, which take 40 us where threads share CPUs, are a small part of what a barrier is said to cost.
///
/// Beside busy processes launches differ more than the repetitions of one: the scheduler gives a launch its CPUs. More and
/// shorter ones take the same time. The worst ratio of the served constructs, 4 threads beside two processes on 2 CPUs, was
/// 1.74, 1.32 and 1.32 of five launches each, and 0.85 of 14.
fn effort(is_quick: bool, is_busy: bool) -> (usize, Effort) {
    let (launches, effort) = match is_quick {
        true => (5, Effort { outer_repetitions: 100, test_us: 1000.0 }),
        false => (11, Effort { outer_repetitions: 5000, test_us: 250.0 }),
    };
    if !is_busy {
        return (launches, effort);
    }
    let shorter = Effort { outer_repetitions: effort.outer_repetitions / MORE_WHERE_BUSY as u64, ..effort };
    (MORE_WHERE_BUSY * launches, shorter)
}

/// How many times as many launches there are beside busy processes.
const MORE_WHERE_BUSY: usize = 5;

fn sizes(settings: &EpccOptions, cpus: usize) -> Result<Vec<usize>, BenchError> {
    let wanted = &settings.threads;
    if let Some(&participants) = wanted.iter().find(|&&threads| !(2..=MAX_EPCC_THREADS).contains(&threads)) {
        return Err(BenchError::Participants { participants, most: MAX_EPCC_THREADS });
    }
    if !wanted.is_empty() {
        return Ok(wanted.clone());
    }
    if settings.preset {
        return Ok(smelt_participants(cpus));
    }
    let mut sizes = vec![2, 4, 8, cpus.clamp(2, MAX_EPCC_THREADS)];
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

/// The construct and the threads that overheads are of.
type Team = (String, usize);

fn of_team(told: Vec<(String, f64)>, threads: usize) -> Vec<(Team, f64)> {
    told.into_iter().map(|(construct, overhead_us)| ((construct, threads), overhead_us)).collect()
}

fn row(samples: &Samples<Team>, cpus: usize) -> EpccRow {
    let ((construct, threads), [alone_us, shim_us]) = (&samples.of, samples.medians());
    EpccRow {
        construct: construct.clone(),
        threads: *threads,
        oversubscribed: *threads > cpus,
        alone_us,
        shim_us,
        ratio: samples.ratio(RESOLUTION_US),
        launches: samples.pairs.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_have_a_size_that_can_be() {
        let sizes = |threads: &[usize], preset, cpus| {
            let (object, threads) = (PathBuf::new(), threads.to_vec());
            super::sizes(&EpccOptions { object, threads, preset, sources: None }, cpus)
        };
        assert_eq!(sizes(&[], false, 2).expect("the usual"), [2, 4, 8]);
        assert_eq!(sizes(&[], false, 24).expect("the usual"), [2, 4, 8, 24]);
        assert_eq!(sizes(&[3], true, 2).expect("as wanted"), [3]);
        assert_eq!([1, 16, 64].map(|cpus| sizes(&[], true, cpus).expect("of the experiment")), [[2], [16], [20]]);
        for wrong in [0, 1, MAX_EPCC_THREADS + 1] {
            assert!(
                matches!(sizes(&[2, wrong], false, 2), Err(BenchError::Participants { participants, .. }) if participants == wrong)
            );
        }
    }
}
