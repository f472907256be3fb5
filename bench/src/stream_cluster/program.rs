//! The programs that cluster: our kernel, built with the C compiler that is here, and PARSEC's, if the user has it.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::size::StreamClusterSize;
use crate::bound::end_with_parent;
use corecast_race::failure::Failure;

const SOURCE: &str = include_str!("kernel.c");
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];
/// The barriers of the kernel, by the number that its source knows them by.
pub(super) const KERNELS: [&str; 3] = ["pthread", "condvar", "mcs"];
/// The longest time that a run may take.
const LIMIT: Duration = Duration::from_secs(1200);
const LOOK: Duration = Duration::from_millis(2);
/// Where PARSEC's own build puts its programs, below its folder.
const PARSEC_INST: &str = "pkgs/kernels/streamcluster/inst";
const PARSEC_PROGRAM: &str = "streamcluster";

/// The outcome of one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) seconds: f64,
    pub(super) barriers: Option<u64>,
    /// The same for all programs that are right.
    pub(super) result: String,
}

/// Our kernel with each of its barriers.
pub(super) struct Kernels {
    folder: TempDir,
}

impl Kernels {
    /// Builds them.
    ///
    /// # Errors
    /// The compiler's first error.
    pub(super) fn build() -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::while_doing("make a temporary folder"))?;
        let source = folder.path().join("kernel.c");
        std::fs::write(&source, SOURCE).map_err(Failure::while_doing("write the kernel's source"))?;
        let kernels = Self { folder };
        for (number, name) in KERNELS.iter().enumerate() {
            build_one(&source, number, &kernels.path(name))?;
        }
        Ok(kernels)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs one of them.
    pub(super) fn run(
        &self,
        name: &str,
        size: StreamClusterSize,
        threads: usize,
        seed: u64,
        variables: &[(&'static str, OsString)],
    ) -> Result<Outcome, Failure> {
        let mut command = Command::new(self.path(name));
        if let Some(numbers) = size.numbers() {
            command.args(numbers.map(|number| number.to_string())).arg(seed.to_string());
        }
        command.arg(threads.to_string());
        let (told, _) = ended(command.envs(variables.iter().cloned()))?;
        outcome(&told).ok_or_else(|| Failure::Wrong(format!("the kernel said '{}'", told.trim())))
    }
}

fn build_one(source: &Path, number: usize, program: &Path) -> Result<(), Failure> {
    let mut why = String::new();
    for compiler in COMPILERS {
        let mut command = Command::new(compiler);
        command.args(["-O3", "-pthread", &format!("-DBARRIER={number}"), "-o"]).arg(program).arg(source).arg("-lm");
        match command.output() {
            Ok(done) if done.status.success() => return Ok(()),
            Ok(done) => why = String::from_utf8_lossy(&done.stderr).lines().next().unwrap_or_default().to_owned(),
            Err(error) if why.is_empty() => why = format!("{compiler}: {error}; apt-get install gcc"),
            Err(_) => {}
        }
    }
    Err(Failure::Refused(why))
}

/// The kernel's line.
fn outcome(told: &str) -> Option<Outcome> {
    let words: Vec<&str> = told.split_whitespace().collect();
    let [seconds, cost, medians, checksum, barriers] = words.try_into().ok()?;
    let result = format!("cost {cost}, {medians} medians, checksum {checksum}");
    Some(Outcome { seconds: seconds.parse().ok()?, barriers: Some(barriers.parse().ok()?), result })
}

/// PARSEC's program: the folder itself, or what its build has put below it.
///
/// # Errors
/// The places that were looked at.
pub(super) fn parsec(folder: &Path) -> Result<PathBuf, Failure> {
    let built = std::fs::read_dir(folder.join(PARSEC_INST)).into_iter().flatten().filter_map(Result::ok);
    let built = built.map(|build| build.path().join("bin").join(PARSEC_PROGRAM));
    let mut places = [folder.join(PARSEC_PROGRAM), folder.join("bin").join(PARSEC_PROGRAM)].into_iter().chain(built);
    let absent = || format!("there is no program {PARSEC_PROGRAM} in {} and its {PARSEC_INST}", folder.display());
    places.find(|path| path.is_file()).ok_or_else(|| Failure::Refused(absent()))
}

/// Runs PARSEC's program, whose result is the file that it writes.
pub(super) fn run_parsec(
    program: &Path,
    size: StreamClusterSize,
    threads: usize,
    variables: &[(&'static str, OsString)],
) -> Result<Outcome, Failure> {
    let numbers = size.numbers().ok_or_else(|| Failure::Refused("PARSEC's program clusters points".to_owned()))?;
    let folder = tempfile::tempdir().map_err(Failure::while_doing("make a temporary folder"))?;
    let mut command = Command::new(program);
    command.args(numbers.map(|number| number.to_string())).args(["none", "out.txt", &threads.to_string()]);
    let (_, seconds) = ended(command.current_dir(folder.path()).envs(variables.iter().cloned()))?;
    let written = std::fs::read(folder.path().join("out.txt")).map_err(Failure::while_doing("read PARSEC's result"))?;
    Ok(Outcome { seconds, barriers: None, result: format!("out.txt, {:016x}", checksum(&written)) })
}

/// Fowler, Noll and Vo's.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Runs a program to its end; its words, and how long it took, in seconds.
fn ended(command: &mut Command) -> Result<(String, f64), Failure> {
    let started = Instant::now();
    let command = end_with_parent(command).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(Failure::while_doing("start a clustering program"))?;
    let status = loop {
        match child.try_wait().map_err(Failure::while_doing("wait for a clustering program"))? {
            Some(status) => break status,
            None if started.elapsed() > LIMIT => {
                // It may end by itself at this moment.
                let _ = child.kill();
                let _ = child.wait();
                return Err(Failure::Hung { missing: vec![0], limit_ms: LIMIT.as_millis() });
            }
            None => thread::sleep(LOOK),
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    if !status.success() {
        return Err(Failure::Ended(format!("a clustering program ended with {status}")));
    }
    let mut told = String::new();
    let mut words = child.stdout.take().expect("it is piped");
    words.read_to_string(&mut told).map_err(Failure::while_doing("read a clustering program's result"))?;
    Ok((told, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_testing::skipped;

    #[test]
    fn all_barriers_give_the_same_result() {
        let kernels = match Kernels::build() {
            Ok(kernels) => kernels,
            Err(failure) => return skipped("the clustering kernel", failure),
        };
        for threads in [1, 3] {
            let run = |name| kernels.run(name, StreamClusterSize::Tiny, threads, 5, &[]).expect("it runs");
            let all = KERNELS.map(run);
            assert!(all.iter().all(|one| one.result == all[0].result && one.barriers == all[0].barriers), "{all:?}");
            assert!(all[0].barriers > Some(10), "{all:?}");
        }
    }

    #[test]
    fn threads_meet_again_and_again_at_every_barrier() {
        let kernels = match Kernels::build() {
            Ok(kernels) => kernels,
            Err(failure) => return skipped("the clustering kernel", failure),
        };
        for name in KERNELS {
            let outcome = kernels.run(name, StreamClusterSize::Rounds, 3, 5, &[]).expect("it runs");
            assert!(outcome.seconds > 0.0 && outcome.result.ends_with("checksum 0"), "{name}: {outcome:?}");
        }
    }

    #[test]
    fn words_that_are_no_result_are_noticed() {
        let line = "0.5 1.25e+03 12 00ff 77\n";
        let found = outcome(line).expect("a result");
        assert_eq!((found.seconds, found.barriers), (0.5, Some(77)));
        assert_eq!(found.result, "cost 1.25e+03, 12 medians, checksum 00ff");
        assert_eq!([outcome(""), outcome("1 2 3"), outcome("a b c d e")], [None, None, None]);
        let absent = parsec(Path::new("/nowhere")).expect_err("there is none").to_string();
        assert!(absent.contains("/nowhere"), "{absent}");
    }
}
