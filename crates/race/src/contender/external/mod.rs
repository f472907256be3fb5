//! Collectives of OpenMP, MPI and Concurrency Kit, in programs of their own: a driver in C for each family of runtimes,
//! kept as source in `driver/`, built when it is first raced and told of each block in a line.
//!
//! - [`runtimes`]: the runtimes that take part, some of them once more behind corecast's preload object, and
//!   which compilers build their drivers;
//! - [`workshop`]: where drivers are built, once for a run;
//! - [`member`]: the harness's threads that stand for the driver's members.
//!
//! A runtime that is not installed is skipped with the command that installs it. docs/design/collective-bench.md says where
//! such a runtime is not equal to a contender in the harness's own process.

mod member;
mod runtimes;
mod workshop;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::{env, thread};

use corecast::base::{Clock, CpuSet};
use tempfile::NamedTempFile;

use self::member::Speaker;
use self::runtimes::{RUNTIMES, Runtime};
use self::workshop::Built;
use super::processes::THREADS_ONLY;
use super::{Contender, Setting, Unfit};
use crate::confine::confine;
use crate::dialogue::Dialogue;
use crate::failure::Failure;
use crate::harness::{Abort, Body};
use crate::launcher::preload_object;
use crate::op::Op;
use crate::place::Place;

pub use self::workshop::Workshop;

/// Memory that looks like a directory.
const MEMORY: &str = "/dev/shm";

/// One runtime at one operation.
struct External {
    runtime: &'static Runtime,
    op: Op,
}

/// Every runtime that has this operation.
pub(super) fn of(op: Op) -> Vec<Box<dyn Contender>> {
    let able = RUNTIMES.iter().filter(|runtime| runtime.ops.contains(&op));
    able.map(|runtime| Box::new(External { runtime, op }) as Box<dyn Contender>).collect()
}

impl Contender for External {
    fn name(&self) -> String {
        self.runtime.name.to_owned()
    }

    fn about(&self) -> String {
        self.runtime.about.to_owned()
    }

    fn is_external(&self) -> bool {
        true
    }

    fn is_only_by_name(&self) -> bool {
        self.runtime.is_preloaded
    }

    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        if self.runtime.only_polls && setting.oversubscribed {
            return Err(Unfit("it only polls: it needs a CPU for each participant".to_owned()));
        }
        if setting.place != Place::Threads && self.runtime.detail.is_some() {
            return Err(Unfit(THREADS_ONLY.to_owned()));
        }
        if !self.runtime.any_length && !setting.is_usual() {
            return Err(Unfit(format!("it carries {} bytes only", self.op.bytes())));
        }
        if setting.bytes == 0 && self.op != Op::Barrier {
            return Err(Unfit("an operation that carries nothing may send nothing".to_owned()));
        }
        let lacks = |why: String| Unfit(format!("{why}; {}", self.runtime.remedy));
        let object = self.runtime.is_preloaded.then(preload_object).transpose().map_err(Unfit)?;
        let workshop = Workshop::open().map_err(Unfit)?;
        let built = workshop.build(self.runtime, abort).map_err(lacks)?;
        let unfit = |failure: Failure| Unfit(failure.to_string());
        let shared = self.runtime.detail.is_none().then(shared_file).transpose().map_err(unfit)?;
        let command = self.command(setting, &built, shared.as_ref().map(NamedTempFile::path), object.as_deref());
        let started = start_on(&setting.cpus, self.runtime.name, command, abort);
        let (dialogue, greeting) = started.map_err(unfit)?;
        if greeting != "ready" {
            return Err(Unfit(format!("{} greets with '{greeting}'", self.runtime.name)));
        }
        // By now every member has mapped it.
        drop(shared);
        let speaker = Speaker::new(dialogue, self.op, setting, Arc::clone(abort));
        Ok(member::bodies(speaker, setting.participants(), workshop))
    }
}

impl External {
    /// How the driver is started among these participants.
    fn command(&self, setting: &Setting<'_>, built: &Built, shared: Option<&Path>, object: Option<&Path>) -> Command {
        let mut command = match built.launcher {
            Some((program, launcher)) => {
                launcher.command(program.as_ref(), setting.participants(), setting.oversubscribed, object)
            }
            None => Command::new(&built.driver),
        };
        if built.launcher.is_some() {
            command.arg(&built.driver);
        }
        let mut cpus = String::new();
        for (rank, cpu) in setting.seats.iter().enumerate() {
            let comma = if rank == 0 { "" } else { "," };
            let place = if setting.bound { cpu.to_string() } else { "-1".to_owned() };
            write!(cpus, "{comma}{place}").expect("a text takes what is written to it");
        }
        let clock = if Clock::get().is_counter() { "counter" } else { "system" };
        command.args([cpus, setting.root.to_string(), clock.to_owned(), setting.patience().polls().to_string()]);
        command.arg(shared.map_or_else(|| self.runtime.detail.unwrap_or_default().as_ref(), Path::as_os_str));
        command
    }
}

/// A file that processes can map; it is to be memory, where there is such a directory.
fn shared_file() -> Result<NamedTempFile, Failure> {
    let directory = Some(PathBuf::from(MEMORY)).filter(|memory| memory.is_dir()).unwrap_or_else(env::temp_dir);
    tempfile::Builder::new().prefix("corecast-driver-").tempfile_in(directory).map_err(Failure::refused)
}

/// Starts a program that may run on these CPUs only: a runtime counts the CPUs that it is given, and waits accordingly.
fn start_on(cpus: &CpuSet, name: &'static str, command: Command, abort: &Abort) -> Result<(Dialogue, String), Failure> {
    // A child inherits the mask of the thread that starts it.
    let start = || {
        confine(cpus)?;
        Dialogue::start(name, command, abort)
    };
    thread::scope(|scope| scope.spawn(start).join()).unwrap_or_else(|_| Err(Failure::NoCrew("it panicked".to_owned())))
}

#[cfg(test)]
mod tests {
    use corecast_testing::skipped;

    use super::runtimes::Toolchain;
    use super::workshop::Source;
    use super::*;

    /// Processes whose operations do nothing.
    const PLANTED: &str = r#"
#include "driver.h"
static bool performs(enum op op, uint64_t bytes) { return op != NO_OP && bytes != 56 + 8; }
static void barrier(struct member *me) { (void)me; }
static void broadcast(struct member *me, uint64_t *value, uint64_t bytes) { (void)me, (void)value, (void)bytes; }
static void reduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    (void)me;
    memcpy(result, value, words * sizeof *value);
}
static void allreduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    reduce(me, value, result, words);
}
int main(int argc, char **argv)
{
    struct arguments arguments = read_arguments(argc, argv);
    struct shared *shared = shared_by_threads(arguments.members);
    int rank = fork() == 0;
    if (rank == 1)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve(&arguments, shared, rank);
    return 0;
}
"#;

    #[test]
    fn operations_that_do_nothing_are_found_out_by_the_driver() {
        let compiler = Toolchain { compiler: "cc", flags: &["-Wall", "-Wextra"], libraries: &[], launcher: None };
        let workshop = Workshop::open().expect("a temporary directory");
        let built = match workshop.compile(&Source { name: "planted.c", text: PLANTED }, &compiler, &Abort::default()) {
            Ok(built) => built,
            Err(why) if why.contains("does not start") => return skipped("a planted driver", why),
            Err(why) => panic!("{why}"),
        };
        let cpu = corecast::machine::pin::affinity().expect("own mask").as_slice()[0];
        let mut command = Command::new(&built.driver);
        command.args([&format!("{cpu},{cpu}"), "1", "system", "0", "-"]);
        let abort = Abort::default();
        let (mut dialogue, greeting) = Dialogue::start("the planted driver", command, &abort).expect("starts");
        assert_eq!(greeting, "ready");
        let mut ask = |command: &str| dialogue.ask(command, &abort).expect("it answers");
        assert!(ask("run barrier 0 10").starts_with("done "));
        assert_eq!(ask("windows reduce 8 2 0 0 0").split(' ').count(), 3);
        assert_eq!(ask("run broadcast 64 1"), "wrong broadcast of 64 bytes is not offered");
        for (op, why) in [
            ("barrier 0", "wrong not all had come"),
            ("broadcast 56", "wrong broadcast: member 0 finds 0, "),
            ("reduce 8", "wrong sum: member 1 finds "),
            ("allreduce 8", "wrong sum: member "),
        ] {
            let answer = ask(&format!("check {op} 100"));
            assert!(answer.starts_with(why), "{op}: {answer}");
        }
    }
}
