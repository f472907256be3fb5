//! `corecast bench streamcluster`: online clustering, which is bound by barriers, with the barrier shim preloaded and without.
//!
//! The experiment of Smelt (Kaestle et al., OSDI 2016, figure 13) with PARSEC's input sizes and a kernel of our own. Contenders
//! are the kernel on `pthread_barrier_t`, the same with the shim, the same with a shim that passes everything on, and builds with
//! a barrier made of a mutex and a condition variable, as PARSEC's own, and with an MCS tree. They run in turns, in an order
//! drawn anew for each round, and all must print the same result. The size `rounds` leaves out the clustering: threads do nothing
//! but meet.

mod gates;
mod program;
mod published;
mod report;
mod size;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use corecast::machine::Machine;

use self::gates::{Evidence, ratio};
use self::program::{Kernels, Outcome};
pub use self::published::STREAM_CLUSTER_PRESET;
pub use self::report::{StreamClusterCell, StreamClusterReport, StreamClusterRow};
pub use self::size::StreamClusterSize;
use crate::counts::or_usual;
use crate::published::smelt_participants;
use crate::stats::{least, median, most};
use crate::turns::{Raced, Situation, TurnOrder};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use corecast_race::progress::{Part, Progress};

/// The options of the benchmark.
#[derive(Clone, Debug)]
pub struct StreamClusterOptions {
    /// CPUs, contenders, seed, and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The preload object with the barrier, or why there is none.
    pub object: Result<PathBuf, String>,
    /// Takes the threads and the contenders of the published experiment where none is named.
    pub preset: bool,
    /// The numbers of threads; the number of CPUs, twice and four times that by default.
    pub threads: Vec<usize>,
    /// How much is clustered.
    pub size: StreamClusterSize,
    /// Rounds; 11 by default, 5 if quick.
    pub rounds: Option<usize>,
    /// PARSEC's folder, if its own program is to run as well.
    pub parsec: Option<PathBuf>,
}

/// A contender: a program and what is preloaded.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Contender {
    name: &'static str,
    program: Program,
    shim: Shim,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Program {
    /// Our kernel with this barrier.
    Kernel(&'static str),
    Parsec,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shim {
    None,
    /// Loaded, and off.
    PassThrough,
    Barrier,
}

const CONTENDERS: [Contender; 7] = [
    Contender { name: "pthread", program: Program::Kernel("pthread"), shim: Shim::None },
    Contender { name: "shim", program: Program::Kernel("pthread"), shim: Shim::Barrier },
    Contender { name: "pass-through", program: Program::Kernel("pthread"), shim: Shim::PassThrough },
    Contender { name: "condvar", program: Program::Kernel("condvar"), shim: Shim::None },
    Contender { name: "mcs", program: Program::Kernel("mcs"), shim: Shim::None },
    Contender { name: "parsec", program: Program::Parsec, shim: Shim::None },
    Contender { name: "parsec-shim", program: Program::Parsec, shim: Shim::Barrier },
];

impl Contender {
    /// The contender that it is compared with.
    fn plain(self) -> &'static str {
        if self.program == Program::Parsec { "parsec" } else { "pthread" }
    }
}

/// Clusters with each contender.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine or the run is cancelled.
pub fn stream_cluster(
    machine: &Machine,
    wanted: &StreamClusterOptions,
    progress: &mut dyn Progress,
) -> Result<StreamClusterReport, BenchError> {
    let options = &wanted.options;
    let cpus = options.usable_cpus(machine)?.len();
    let contenders = chosen(wanted)?;
    let threads = threads(wanted, cpus);
    let field = Field {
        contenders: &contenders,
        kernels: &Kernels::build(),
        wanted,
        rounds: wanted.rounds.unwrap_or(if options.quick { 5 } else { 11 }),
        seed: options.seed_or_draw(),
    };
    let mut order = TurnOrder::new(options, field.seed);
    let mut cells = Vec::new();
    for (at, &count) in threads.iter().enumerate() {
        let part = &mut Part::of(progress, at, threads.len());
        let mut cell = Cell { field: &field, threads: count, result: [None, None], part };
        let rows = rows(&contenders, &order.race(contenders.len(), &mut cell)?);
        cells.push(StreamClusterCell { threads: count, oversubscribed: count > cpus, rows });
    }
    progress.step(1.0, "done");
    Ok(StreamClusterReport {
        machine: machine.name.clone(),
        commit: options.commit.clone(),
        seed: field.seed,
        quick: options.quick,
        busy: options.busy,
        preset: wanted.preset.then_some(STREAM_CLUSTER_PRESET),
        size: wanted.size.name(),
        rounds: field.rounds,
        published: if wanted.size == StreamClusterSize::Rounds { Vec::new() } else { published::figures(&cells) },
        gates: gates::gates(&Evidence { cells: &cells, size: wanted.size, cpus, busy: options.busy }),
        cells,
    })
}

/// Those that are named; of an experiment those that it had, else all.
fn chosen(wanted: &StreamClusterOptions) -> Result<Vec<Contender>, BenchError> {
    let is_all = !wanted.preset || !wanted.options.contenders.is_empty();
    let is_meant = |contender: &Contender| {
        let is_here = contender.program != Program::Parsec || wanted.parsec.is_some();
        is_here && (is_all || published::CONTENDERS.contains(&contender.name))
    };
    wanted.options.chosen(CONTENDERS.into_iter().filter(is_meant).collect(), |contender| contender.name)
}

fn threads(wanted: &StreamClusterOptions, cpus: usize) -> Vec<usize> {
    or_usual(&wanted.threads, || match wanted.preset {
        true => smelt_participants(cpus),
        false => vec![cpus.max(2), 2 * cpus, 4 * cpus],
    })
}

/// The things that all cells share.
struct Field<'a> {
    contenders: &'a [Contender],
    kernels: &'a Result<Kernels, Failure>,
    wanted: &'a StreamClusterOptions,
    rounds: usize,
    seed: u64,
}

/// One number of threads.
struct Cell<'a> {
    field: &'a Field<'a>,
    threads: usize,
    /// The first result of our kernel, and of PARSEC's program.
    result: [Option<String>; 2],
    part: &'a mut dyn Progress,
}

impl Cell<'_> {
    fn run(&self, contender: Contender, size: StreamClusterSize) -> Result<Outcome, Failure> {
        let variables = variables(contender.shim, &self.field.wanted.object)?;
        match (contender.program, self.field.wanted.parsec.as_deref()) {
            (Program::Kernel(name), _) => {
                let kernels = self.field.kernels.as_ref().map_err(Clone::clone)?;
                kernels.run(name, size, self.threads, self.field.seed, &variables)
            }
            (Program::Parsec, folder) => {
                let folder = folder.unwrap_or(Path::new("."));
                program::run_parsec(&program::parsec(folder)?, size, self.threads, &variables)
            }
        }
    }
}

impl Situation for Cell<'_> {
    type Block = Outcome;

    /// A small run tells whether it can take part.
    fn prepare(&mut self, at: usize) -> Result<(), Failure> {
        let is_round = self.field.wanted.size == StreamClusterSize::Rounds;
        self.run(self.field.contenders[at], if is_round { StreamClusterSize::Rounds } else { StreamClusterSize::Tiny })
            .map(drop)
    }

    fn wants_round(&mut self, rounds: usize) -> bool {
        self.part.step(rounds as f64 / self.field.rounds as f64, &format!("{} threads", self.threads));
        rounds < self.field.rounds
    }

    fn block(&mut self, at: usize) -> Result<Outcome, Failure> {
        let contender = self.field.contenders[at];
        let outcome = self.run(contender, self.field.wanted.size)?;
        let first = &mut self.result[usize::from(contender.program == Program::Parsec)];
        let first = first.get_or_insert_with(|| outcome.result.clone());
        if *first == outcome.result {
            return Ok(outcome);
        }
        Err(Failure::Wrong(format!("{}, and another contender found {first}", outcome.result)))
    }
}

fn variables(shim: Shim, object: &Result<PathBuf, String>) -> Result<Vec<(&'static str, OsString)>, Failure> {
    if shim == Shim::None {
        return Ok(Vec::new());
    }
    let object = object.as_ref().map_err(|why| Failure::Refused(why.clone()))?;
    let mut variables = vec![("LD_PRELOAD", object.into()), ("CORECAST_SHIM", "barrier".into())];
    variables.extend((shim == Shim::PassThrough).then(|| ("CORECAST_SHIM_OFF", "1".into())));
    Ok(variables)
}

fn rows(contenders: &[Contender], raced: &[Raced<Outcome>]) -> Vec<StreamClusterRow> {
    let mut rows: Vec<_> = contenders.iter().zip(raced).map(|(contender, raced)| row(*contender, raced)).collect();
    for (at, contender) in contenders.iter().enumerate() {
        let plain = rows.iter().find(|row| row.contender == contender.plain());
        rows[at].speed_up = plain.and_then(|plain| ratio(plain, &rows[at]));
    }
    rows
}

fn row(contender: Contender, raced: &Raced<Outcome>) -> StreamClusterRow {
    let times: Vec<f64> = raced.blocks.iter().map(|outcome| outcome.seconds).collect();
    let first = raced.blocks.first();
    StreamClusterRow {
        contender: contender.name,
        ours: contender.shim == Shim::Barrier,
        seconds: median(&times),
        least_seconds: least(times.iter().copied()),
        most_seconds: most(times.iter().copied()),
        speed_up: None,
        barriers: first.and_then(|outcome| outcome.barriers),
        result: first.map(|outcome| outcome.result.clone()),
        skipped: raced.skipped(),
        failed: raced.has_failed(),
        times,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;

    #[test]
    fn programs_without_a_shim_are_measured_and_what_is_missing_is_told() {
        let wanted = StreamClusterOptions {
            options: Options { quick: true, ..Options::default() },
            object: Err("there is no object".to_owned()),
            preset: false,
            threads: vec![2],
            size: StreamClusterSize::Tiny,
            rounds: Some(2),
            parsec: None,
        };
        let report = stream_cluster(&this_machine(), &wanted, &mut ()).expect("it runs");
        let rows = &report.cells[0].rows;
        assert_eq!(
            rows.iter().map(|row| row.contender).collect::<Vec<_>>(),
            CONTENDERS[..5].iter().map(|c| c.name).collect::<Vec<_>>()
        );
        assert_eq!(rows[1].skipped.as_deref(), Some("there is no object"));
        if let Some(why) = &rows[0].skipped {
            return corecast_testing::skipped("the clustering kernel", why);
        }
        assert!(rows[0].seconds > Some(0.0) && rows[0].speed_up == Some(1.0), "{:?}", rows[0]);
        assert!(rows[0].result == rows[4].result && rows[0].result.is_some(), "{rows:?}");
    }

    #[test]
    fn an_experiment_has_its_threads_and_barriers() {
        let wanted = StreamClusterOptions {
            options: Options { quick: true, ..Options::default() },
            object: Err("there is no object".to_owned()),
            preset: true,
            threads: Vec::new(),
            size: StreamClusterSize::Tiny,
            rounds: Some(1),
            parsec: None,
        };
        let machine = this_machine();
        let report = stream_cluster(&machine, &wanted, &mut ()).expect("it runs");
        let cpus = wanted.options.usable_cpus(&machine).expect("there are some").len();
        assert_eq!(report.cells.iter().map(|cell| cell.threads).collect::<Vec<_>>(), smelt_participants(cpus));
        let names: Vec<&str> = report.cells[0].rows.iter().map(|row| row.contender).collect();
        assert_eq!(names, ["pthread", "shim", "condvar", "mcs"]);
        assert_eq!((report.preset, report.published.len()), (Some(STREAM_CLUSTER_PRESET), 7));
    }

    #[test]
    fn parsec_is_asked_for_by_its_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let wanted = StreamClusterOptions {
            options: Options { quick: true, contenders: vec!["parsec".to_owned()], ..Options::default() },
            object: Err("there is no object".to_owned()),
            preset: false,
            threads: vec![2],
            size: StreamClusterSize::Tiny,
            rounds: Some(1),
            parsec: Some(folder.path().to_owned()),
        };
        let report = stream_cluster(&this_machine(), &wanted, &mut ()).expect("it runs");
        let why = report.cells[0].rows[0].skipped.clone().expect("there is no such program");
        assert!(why.contains("no program streamcluster"), "{why}");
    }
}
