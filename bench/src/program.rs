//! One run of a foreign program: bound to CPUs, and ended at a limit or when the user gives up.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use corecast::CpuSet;
use corecast_race::confine::confine;
use corecast_race::failure::Failure;
use rustix::process::{Pid, Signal, kill_process_group};

/// The time between two looks at whether it has ended.
const LOOK: Duration = Duration::from_millis(5);

/// How long a program that is asked to end may take.
const FAREWELL: Duration = Duration::from_secs(5);

/// The variables by which preload objects are chosen and told what to do.
const SHIM_VARIABLES: [&str; 5] =
    ["LD_PRELOAD", "CORECAST_SHIM", "CORECAST_SHIM_ONLY", "CORECAST_SHIM_OFF", "CORECAST_SHIM_STATS"];

/// Keeps from a program what this process's environment wishes of preload objects.
pub(crate) fn without_shims(command: &mut Command) {
    for variable in SHIM_VARIABLES {
        command.env_remove(variable);
    }
}

/// All that a program prints, and whether it says that it has succeeded.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) output: String,
    pub(crate) errors: String,
    pub(crate) has_succeeded: bool,
}

/// The words of a command that may run on these CPUs only. It is ended, with all processes of its group, if it takes longer than
/// the limit, or once `is_cancelled`.
///
/// # Errors
/// If it cannot be started, or was killed.
pub(crate) fn run(
    mut command: Command,
    cpus: &CpuSet,
    limit: Duration,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Told, Failure> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // A child inherits the mask of the thread that starts it.
    let start = || {
        confine(cpus)?;
        command.spawn().map_err(Failure::while_doing("start the program"))
    };
    let mut child = thread::scope(|scope| scope.spawn(start).join()).expect("to start a program does not panic")?;
    let output = read_aside(child.stdout.take().expect("it was piped"));
    let errors = read_aside(child.stderr.take().expect("it was piped"));
    let outcome = wait(&mut child, limit, is_cancelled);
    if outcome.is_err() {
        end(&mut child);
    }
    let text = |reader: JoinHandle<io::Result<String>>| {
        reader.join().expect("the reader does not panic").map_err(Failure::while_doing("read what it prints"))
    };
    let (output, errors) = (text(output)?, text(errors)?);
    Ok(Told { output, errors, has_succeeded: outcome? })
}

fn read_aside(mut pipe: impl Read + Send + 'static) -> JoinHandle<io::Result<String>> {
    thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    })
}

/// Whether the program succeeds.
fn wait(child: &mut Child, limit: Duration, is_cancelled: &dyn Fn() -> bool) -> Result<bool, Failure> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(Failure::while_doing("wait for the program"))? {
            return Ok(status.success());
        }
        if is_cancelled() {
            return Err(Failure::Aborted);
        }
        if start.elapsed() > limit {
            return Err(Failure::Ended(format!("the program did not end in {} s", limit.as_secs_f64())));
        }
        thread::sleep(LOOK);
    }
}

/// Ends the group: a launcher takes its processes along if it is asked to end, and leaves them behind if it is killed.
fn end(child: &mut Child) {
    // If that is refused it has just ended.
    let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
    let _ = wait(child, FAREWELL, &|| false);
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration, is_cancelled: bool) -> Result<Told, Failure> {
        let cpu = corecast::machine::pin::affinity().expect("a mask").as_slice()[0];
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, &CpuSet::from_iter([cpu]), limit, &|| is_cancelled)
    }

    #[test]
    fn a_program_is_bound_and_its_words_are_read() {
        let long = Duration::from_secs(60);
        let told = shell("nproc; echo wrong >&2; exit 3", long, false).expect("it ends");
        assert_eq!((told.output.trim(), told.errors.trim(), told.has_succeeded), ("1", "wrong", false));
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let hangs = |limit, is_cancelled| shell("sleep 1000 & wait", limit, is_cancelled).expect_err("it hangs");
        assert_eq!(
            hangs(Duration::from_millis(20), false).to_string(),
            Failure::Ended("the program did not end in 0.02 s".to_owned()).to_string()
        );
        assert_eq!(hangs(Duration::from_secs(1000), true), Failure::Aborted);
    }

    #[test]
    fn a_launcher_is_asked_to_end_and_takes_its_processes_along() {
        // Only the shell can end the other process, which is in a group of its own and keeps the output open.
        let script = "set -m; sleep 1000 & trap 'kill $!; exit' TERM; while :; do wait; done";
        let failure = shell(script, Duration::from_millis(200), false).expect_err("it hangs");
        assert!(matches!(failure, Failure::Ended(_)), "{failure}");
    }
}
