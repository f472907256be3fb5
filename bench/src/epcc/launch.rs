//! The programs: how they are built, and one launch of them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use corecast::CpuSet;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use tempfile::TempDir;

use crate::launches::serves;
use crate::program::{self, Told, without_shims};

const SOURCE: &str = include_str!("epcc.c");
/// The compiler; its runtime is libgomp.
pub(super) const COMPILER: &str = "gcc";
/// A launch that takes longer hangs. Eight threads on two CPUs beside busy processes take a minute or two.
const LIMIT: Duration = Duration::from_secs(300);
/// The end of the lines of a program that say what a construct costs: version 4.0 of EPCC's programs writes the first kind, and
/// older ones, which know no median, the second.
const VALUES: [&str; 2] = [" median_ovrhd", " overhead"];

/// A program that measures constructs.
#[derive(Debug)]
pub(super) struct Program {
    path: PathBuf,
    kind: Kind,
    _folder: TempDir,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Own,
    Upstream,
}

/// How long a launch measures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) outer_repetitions: u64,
    pub(super) test_us: f64,
}

/// Builds the benchmark's own program.
pub(super) fn own() -> Result<Program, BenchError> {
    let folder = folder()?;
    let source = folder.path().join("epcc.c");
    fs::write(&source, SOURCE).map_err(Failure::while_doing("write the benchmark's source"))?;
    compile(folder, Kind::Own, &[source.as_os_str()])
}

/// Builds EPCC's `syncbench` from its sources in this folder.
pub(super) fn upstream(sources: &Path) -> Result<Program, BenchError> {
    let [main, common] = ["syncbench.c", "common.c"].map(|name| sources.join(name));
    if let Some(missing) = [&main, &common].into_iter().find(|path| !path.is_file()) {
        return Err(BenchError::Program(format!("there is no {}", missing.display())));
    }
    // GCC 12 has no such function, and the program only measures what it returns.
    let hint = "-Domp_init_lock_with_hint(lock,hint)=omp_init_lock(lock)";
    compile(folder()?, Kind::Upstream, &[hint.as_ref(), main.as_os_str(), common.as_os_str(), "-lm".as_ref()])
}

fn folder() -> Result<TempDir, BenchError> {
    let made = tempfile::Builder::new().prefix("corecast-epcc-").tempdir();
    Ok(made.map_err(Failure::while_doing("make a temporary folder"))?)
}

fn compile(folder: TempDir, kind: Kind, arguments: &[&OsStr]) -> Result<Program, BenchError> {
    let path = folder.path().join("epcc");
    let mut command = Command::new(COMPILER);
    command.args(["-O2", "-fopenmp", "-o"]).arg(&path).args(arguments);
    let output = command.output().map_err(Failure::while_doing("start gcc, which builds OpenMP programs"))?;
    if output.status.success() {
        return Ok(Program { path, kind, _folder: folder });
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let first = errors.lines().find(|line| line.contains("error")).unwrap_or(&errors).to_owned();
    Err(BenchError::Failed(Failure::refused(format!("gcc does not build the program: {first}"))))
}

impl Program {
    /// The overheads of all constructs in one launch on these CPUs, in microseconds, in the order of the program.
    pub(super) fn launch(
        &self,
        threads: usize,
        effort: Effort,
        object: Option<&Path>,
        cpus: &CpuSet,
        options: &Options,
    ) -> Result<Vec<(String, f64)>, BenchError> {
        let values = values(&run(self.command(threads, effort, object), cpus, options)?.output);
        if values.is_empty() {
            return Err(BenchError::Failed(Failure::refused("the program told no overhead")));
        }
        Ok(values)
    }

    /// A launch that is not timed: the object has to serve barriers.
    pub(super) fn check_served(
        &self,
        threads: usize,
        object: &Path,
        cpus: &CpuSet,
        options: &Options,
    ) -> Result<(), BenchError> {
        let mut command = self.command(threads, Effort { outer_repetitions: 1, test_us: 1.0 }, Some(object));
        command.env("CORECAST_SHIM_STATS", "1");
        let told = run(command, cpus, options)?.errors;
        if serves(&told, "barriers: served ") {
            return Ok(());
        }
        let why = format!("{} serves no barrier of the program", object.display());
        Err(BenchError::Failed(Failure::refused(why)))
    }

    /// The program with these numbers, without the wishes of this process's environment.
    fn command(&self, threads: usize, effort: Effort, object: Option<&Path>) -> Command {
        let mut command = Command::new(&self.path);
        let Effort { outer_repetitions, test_us } = effort;
        let numbers = [outer_repetitions.to_string(), test_us.to_string()];
        match self.kind {
            Kind::Own => command.arg(threads.to_string()).args(numbers),
            Kind::Upstream => {
                let [repetitions, test_time] = numbers;
                command.args(["--outer-repetitions", &repetitions, "--test-time", &test_time])
            }
        };
        without_shims(&mut command);
        command.env("OMP_NUM_THREADS", threads.to_string()).env("OMP_DYNAMIC", "false");
        if let Some(object) = object {
            command.env("LD_PRELOAD", object);
        }
        command
    }
}

/// The words of a command that may run on these CPUs only. It is killed if it takes too long, or if the user gives up.
fn run(command: Command, cpus: &CpuSet, options: &Options) -> Result<Told, BenchError> {
    let told = program::run(command, cpus, LIMIT, &|| options.cancel.is_cancelled())?;
    if told.has_succeeded {
        Ok(told)
    } else {
        Err(BenchError::Failed(Failure::Wrong(format!("the program ends with '{}'", told.output.trim()))))
    }
}

/// The constructs that a program tells, each with its overhead in microseconds. If it tells medians, only these.
fn values(text: &str) -> Vec<(String, f64)> {
    let told = |kind: &str| -> Vec<(String, f64)> {
        let value = |line: &str| {
            let (name, rest) = line.split_once(kind)?;
            let number = rest.trim_start().strip_prefix('=')?.split_whitespace().next()?;
            Some((name.trim().to_owned(), number.parse().ok()?))
        };
        text.lines().filter_map(value).collect()
    };
    VALUES.into_iter().map(told).find(|values| !values.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_read_and_means_where_there_are_none() {
        let new = "BARRIER overhead     = 3.1 microseconds +/- 8.8\nBARRIER median_ovrhd = 0.200000 microseconds \n";
        assert_eq!(values(new), [("BARRIER".to_owned(), 0.2)]);
        let old =
            "\nPARALLEL FOR time         = 4.5 microseconds\nPARALLEL FOR overhead     = -1.25 microseconds +/- 1\n";
        assert_eq!(values(old), [("PARALLEL FOR".to_owned(), -1.25)]);
        assert_eq!(values("wrong: 3 values\nBARRIER overhead = much\n"), []);
    }

    #[test]
    fn a_program_runs_on_the_cpus_that_are_named() {
        let cpu = corecast::machine::pin::affinity().expect("own mask").as_slice()[0];
        let mut command = Command::new("grep");
        command.args(["Cpus_allowed_list", "/proc/self/status"]);
        let told = run(command, &CpuSet::from_iter([cpu]), &Options::default()).expect("it ends").output;
        assert_eq!(told.split_whitespace().collect::<Vec<_>>(), ["Cpus_allowed_list:".to_owned(), cpu.to_string()]);
    }

    #[test]
    fn a_folder_without_the_sources_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = upstream(folder.path()).expect_err("there are no sources").to_string();
        assert!(error.contains("syncbench.c"), "{error}");
    }
}
