//! `corecast run`: starts a program several times, as the members of a group, or once with corecast under its locks, barriers and
//! collectives.
//!
//! The group's memory has no name unless one is asked for: the processes inherit a descriptor of it, and its number, their
//! rank and the number of members in their environment. When the last of them ends, nothing is left. With `--shim` and without
//! `-n` there is no group: the program takes the place of this one, so that its exit status and signals are its own.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use corecast::base::rendezvous::{self, HostedRegion, RendezvousError, SocketDir};
use corecast::mpi::{Launcher, launcher};
use corecast::processes::{FD_VARIABLE, Founding, RANK_VARIABLE, SIZE_VARIABLE};
use corecast::{Barrier, CpuSet, Group, Wait, machine};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Signal, getpid, kill_process};

use crate::failure::Failure;
use crate::forwarding::Signals;
use crate::members::Members;
use crate::output::Output;
use crate::shim_args::ShimArgs;
use crate::{bytes_arg, cpus_arg, file_limit};

/// A shell reports a program that a signal killed as this number plus the signal's.
const KILLED: i32 = 128;

/// The most that may be set aside, in bytes: 64 GiB, which a group takes twice.
const MOST_ROOM: u64 = 64 << 30;

/// Options of `run`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Start N processes [default: one for each CPU].
    #[arg(short = 'n', long, value_name = "N")]
    members: Option<usize>,
    /// Host the group under this name as well, for other processes to look at.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Plan for these CPUs only, such as 0-3,8 [default: all that may be used].
    #[arg(long, value_name = "LIST", value_parser = cpus_arg::parse)]
    cpus: Option<CpuSet>,
    /// Bind each member to its CPU [default: where no two members share one].
    #[arg(long, conflicts_with = "no_pin")]
    pin: bool,
    /// Bind no member to a CPU.
    #[arg(long)]
    no_pin: bool,
    /// How members wait: adaptive, spin, yield or park.
    #[arg(long, value_name = "POLICY", default_value_t)]
    wait: Wait,
    /// The barrier to use [default: the one that suits the members best].
    #[arg(long, value_name = "NAME")]
    barrier: Option<Barrier>,
    /// Set aside BYTES, such as 64Mi, for objects that members make once they have joined, and for long slices [default: 4Mi].
    #[arg(long, value_name = "BYTES", value_parser = parse_room)]
    room: Option<usize>,
    /// Let the members race when they have joined, as `Builder::race` does; an earlier result is taken.
    #[arg(long, conflicts_with = "barrier")]
    race: bool,
    #[command(flatten)]
    shims: ShimArgs,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

fn parse_room(text: &str) -> Result<usize, String> {
    let room = bytes_arg::parse(text)?;
    if room as u64 > MOST_ROOM { Err(format!("expected {}Mi at most", MOST_ROOM >> 20)) } else { Ok(room) }
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let variables = arguments.shims.variables(arguments.program())?;
    if arguments.shims.are_given() && arguments.members.is_none() {
        return run_alone(arguments, variables);
    }
    let signals = Signals::held()?;
    let founding = arguments.found()?;
    let meeting = arguments.name.as_deref().map(|name| host(name, &founding)).transpose()?;
    let fd = inheritable(&founding)
        .map_err(|error| Failure::environment(format!("cannot give the group's memory to its members: {error}")))?;
    let ended = start_and_wait(arguments, &founding, &Inheritance { fd, variables }, signals, output);
    drop(meeting);
    let Ends { first, has_leader_failed } = ended?;
    if has_leader_failed && Launcher::from_env().is_some() {
        end_as_killed();
    }
    first
}

/// How the members ended.
struct Ends {
    /// The first failure.
    first: Result<(), Failure>,
    /// True if a signal has killed member 0, or it has ended with an exit code other than 0.
    has_leader_failed: bool,
}

/// Ends this process by a signal. To an MPI's launcher it is member 0, and launchers take an exit code for the program's own:
/// Hydra then lets the other nodes wait for ever, and Open MPI ends a job that was to survive. The code that a member has ended
/// with was told when it did.
fn end_as_killed() {
    // Nothing else can be done about a refusal than to return the exit code.
    let _ = kill_process(getpid(), Signal::KILL);
}

/// The things that the processes inherit beside this one's environment.
struct Inheritance {
    /// The group's memory.
    fd: OwnedFd,
    /// Of the preload objects.
    variables: Vec<(&'static str, OsString)>,
}

/// Runs the program in the place of this process. Returns only if it cannot.
fn run_alone(arguments: &Arguments, variables: Vec<(&'static str, OsString)>) -> Result<(), Failure> {
    if let Some(option) = arguments.of_a_group() {
        return Err(Failure::input(format!("`{option}` is for a group of processes: give their number, `-n N`, too")));
    }
    file_limit::let_through()?;
    let error = arguments.command().envs(variables).exec();
    Err(arguments.not_started(&error))
}

impl Arguments {
    fn program(&self) -> &OsStr {
        self.program.first().expect("clap requires a program")
    }

    /// The program with its arguments, to be started.
    fn command(&self) -> Command {
        let mut command = Command::new(self.program());
        command.args(&self.program[1..]);
        command
    }

    fn not_started(&self, error: &io::Error) -> Failure {
        Failure::input(format!("cannot start {}: {error}", self.program().to_string_lossy()))
    }

    /// An option that was given and has a meaning for a group only.
    fn of_a_group(&self) -> Option<&'static str> {
        let given = [
            (self.name.is_some(), "--name"),
            (self.cpus.is_some(), "--cpus"),
            (self.pin, "--pin"),
            (self.no_pin, "--no-pin"),
            (self.barrier.is_some(), "--barrier"),
            (self.room.is_some(), "--room"),
            (self.race, "--race"),
        ];
        given.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
    }

    fn found(&self) -> Result<Founding, Failure> {
        let machine = machine::detect()?;
        let cpus = cpus_arg::choose(self.cpus.as_ref(), machine.cpu_set(), "this machine")?;
        let mut builder = Group::builder(&machine).cpus(cpus).wait(self.wait).race(self.race);
        if let Some(members) = self.members {
            builder = builder.members(members);
        }
        if self.pin || self.no_pin {
            builder = builder.pin(self.pin);
        }
        if let Some(barrier) = self.barrier {
            builder = builder.barrier(barrier);
        }
        if let Some(room) = self.room {
            builder = builder.room_bytes(room);
        }
        Ok(builder.found()?)
    }

    fn start(&self, rank: usize, members: usize, inherited: &Inheritance) -> Result<Child, Failure> {
        let mut command = self.command();
        if rank > 0 {
            // An MPI job that starts this program has one process here: member 0.
            without_launcher(&mut command);
        }
        command.env(FD_VARIABLE, inherited.fd.as_raw_fd().to_string());
        command.env(RANK_VARIABLE, rank.to_string()).env(SIZE_VARIABLE, members.to_string());
        command.envs(inherited.variables.iter().map(|(name, value)| (name, value)));
        command.spawn().map_err(|error| self.not_started(&error))
    }
}

/// Takes away the variables by which an MPI's launcher reaches the processes that it started.
fn without_launcher(command: &mut Command) {
    let is_launchers =
        |name: &OsStr| launcher::VARIABLES.iter().any(|of| name.as_encoded_bytes().starts_with(of.as_bytes()));
    env::vars_os().filter(|(name, _)| is_launchers(name)).for_each(|(name, _)| {
        command.env_remove(name);
    });
}

fn host(name: &str, founding: &Founding) -> Result<HostedRegion, Failure> {
    let hosted = rendezvous::host(&SocketDir::of_user(), name, founding.region().clone());
    hosted.map_err(|error| match error {
        RendezvousError::BadName(_) | RendezvousError::PathTooLong { .. } | RendezvousError::Exists(_) => {
            Failure::input(error)
        }
        _ => Failure::environment(error),
    })
}

/// A descriptor of the group that every child keeps.
fn inheritable(founding: &Founding) -> io::Result<OwnedFd> {
    let fd = founding.share()?;
    fcntl_setfd(&fd, FdFlags::empty())?;
    Ok(fd)
}

/// Starts the processes and waits for all of them; none is killed because another one ended.
fn start_and_wait(
    arguments: &Arguments,
    founding: &Founding,
    inherited: &Inheritance,
    signals: Signals,
    output: &Output,
) -> Result<Ends, Failure> {
    let started =
        signals.let_through(|is_interrupted| start_all(arguments, founding.members(), inherited, is_interrupted))?;
    let members = started?;
    signals.forward(members.list(), *output)?;
    let (mut first, mut has_leader_failed) = (Ok(()), false);
    for (rank, status) in members.ends().map_err(not_awaited)? {
        // If it had not joined yet, it will not: the others need not wait for it. Where one has damaged the memory, members
        // that come are told that.
        let _ = founding.give_up(rank);
        has_leader_failed |= rank == 0 && status.as_ref().is_ok_and(|status| !status.success());
        let untold = |error| Some(Failure::environment(format!("how rank {rank} ended is not known: {error}")));
        if let Some(failure) = status.map_or_else(untold, |status| failure_of(rank, status)) {
            // At once, as the others may go on for long.
            output.remark(&failure.to_string());
            first = first.and(Err(failure));
        }
    }
    Ok(Ends { first, has_leader_failed })
}

fn not_awaited(error: io::Error) -> Failure {
    Failure::environment(format!("cannot start a thread to wait for each member: {error}"))
}

/// The processes of all members, or none.
fn start_all(
    arguments: &Arguments,
    members: usize,
    inherited: &Inheritance,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Members, Failure> {
    let mut started = Members::default();
    for rank in 0..members {
        if is_interrupted() {
            return Err(Failure::Interrupted);
        }
        started.add(arguments.start(rank, members, inherited)?);
    }
    Ok(started)
}

/// How a process ended, if not well.
fn failure_of(rank: usize, status: ExitStatus) -> Option<Failure> {
    let (how, code) = match (status.code(), status.signal()) {
        (Some(0), _) => return None,
        (Some(code), _) => (format!("ended with exit code {code}"), code),
        (None, Some(signal)) => (format!("was killed by signal {}", told(signal)), KILLED + signal),
        (None, None) => (format!("ended with {status}"), 1),
    };
    Some(Failure::Ended { words: format!("rank {rank} {how}"), code: u8::try_from(code).unwrap_or(1) })
}

/// A signal by number, and by name where that is well known.
fn told(signal: i32) -> String {
    let known = [
        (Signal::HUP, "HUP"),
        (Signal::INT, "INT"),
        (Signal::QUIT, "QUIT"),
        (Signal::ILL, "ILL"),
        (Signal::ABORT, "ABRT"),
        (Signal::BUS, "BUS"),
        (Signal::FPE, "FPE"),
        (Signal::KILL, "KILL"),
        (Signal::SEGV, "SEGV"),
        (Signal::PIPE, "PIPE"),
        (Signal::TERM, "TERM"),
    ];
    let name = known.iter().find(|(known, _)| known.as_raw() == signal).map(|(_, name)| format!(" (SIG{name})"));
    format!("{signal}{}", name.unwrap_or_default())
}
