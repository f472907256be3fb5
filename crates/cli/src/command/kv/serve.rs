//! `corecast kv serve`: starts the processes of a store, and those again that end.
//!
//! This process opens the socket and serves nobody; every replica's process inherits it, and so does one that is started in the
//! place of a dead one. If this process is killed, the replicas go on.

use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use corecast::region::check_region_name;
use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;

use super::processes::{Event, Processes, told};
use super::replica::READY;
use super::store_options::StoreOptions;
use crate::failure::Failure;
use crate::kv::listener::{BoundListener, PublishedName, make_folder_of, path_of_store};
use crate::output::Output;
use crate::{interrupt, own_program, printable};

/// Options of `kv serve`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Arguments {
    /// The name of the store: letters, digits, dots, underscores and hyphens [default with --resp: that of the socket's file,
    /// without its ending].
    #[arg(required_unless_present = "resp")]
    name: Option<String>,
    #[command(flatten)]
    store: StoreOptions,
    /// Listen at this path for programs that speak the protocol of Redis; only this user may connect [default: in this user's
    /// folder for sockets, where the other subcommands find it by name].
    #[arg(long, value_name = "SOCKET")]
    resp: Option<PathBuf>,
}

/// The message that is written once clients can connect.
#[derive(Debug, Serialize)]
struct Ready<'a> {
    store: &'a str,
    socket: PathBuf,
    /// By slot.
    pids: Vec<u32>,
}

/// The socket, and the name by which the other subcommands find it.
#[derive(Debug)]
struct Place {
    bound: BoundListener,
    #[allow(dead_code, reason = "it goes with this")]
    name: Option<PublishedName>,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    arguments.store.check()?;
    let name = arguments.name()?;
    let place = arguments.listen(&name)?;
    arguments.store.make_data_folder()?;
    let (stop, stopper) = UnixStream::pair().map_err(Failure::environment)?;
    interrupt::on_first(move || {
        // The other end only waits for this.
        let _ = stopper.shutdown(std::net::Shutdown::Both);
    })?;
    let mut processes = Processes::new();
    for slot in 0..arguments.store.replicas {
        let mut child = arguments.start(&name, slot, slot == 0, &place.bound)?;
        let stdout = child.stdout.take().expect("piped");
        processes.add(child)?;
        if !is_ready(slot, stdout, &stop)? {
            return Ok(());
        }
    }
    let ready = Ready { store: &name, socket: place.bound.path().to_owned(), pids: processes.pids() };
    say(&ready, output)?;
    let start = |slot: usize, is_alone: bool| arguments.start(&name, slot, is_alone, &place.bound);
    processes.supervise(&stop, &start, &mut |event| output.remark(&arguments.words_of(event)))
}

impl Arguments {
    /// The name of the store: the given one, or that of the socket's file.
    fn name(&self) -> Result<String, Failure> {
        if let Some(name) = &self.name {
            return Ok(name.clone());
        }
        let stem = self.resp.as_ref().and_then(|resp| resp.file_stem());
        let name = stem.unwrap_or_default().to_string_lossy().into_owned();
        check_region_name(&name)
            .map(|()| name)
            .map_err(|error| Failure::input(error).with_help("`corecast kv serve NAME --resp SOCKET` names the store"))
    }

    fn listen(&self, name: &str) -> Result<Place, Failure> {
        let of_name = path_of_store(name)?;
        make_folder_of(&of_name)?;
        let Some(resp) = &self.resp else {
            return Ok(Place { bound: BoundListener::bind(&of_name, true)?, name: None });
        };
        let bound = BoundListener::bind(resp, false)?;
        let name = Some(PublishedName::publish(&of_name, resp)?);
        Ok(Place { bound, name })
    }

    /// Starts the process of a slot. In a group of its own, so that Ctrl-C comes to this process only, which stops the others in
    /// good order.
    fn start(&self, name: &str, slot: usize, is_alone: bool, bound: &BoundListener) -> Result<Child, Failure> {
        let failed = |error| Failure::environment(format!("cannot start the process of replica {slot}: {error}"));
        let listener: OwnedFd = bound.listener().try_clone().map_err(failed)?.into();
        let mut command = Command::new(own_program::path()?);
        command.args(["kv", "replica"]).args(self.store.words()).args(["--slot", &slot.to_string()]);
        // Only if nobody else may have the store: a group that has lost the host of its name is not found for a moment.
        command.args(is_alone.then_some("--found"));
        // A name may begin with a hyphen.
        command.args(["--", name]);
        command.process_group(0).stdin(Stdio::from(listener)).stdout(Stdio::piped());
        command.spawn().map_err(failed)
    }

    fn words_of(&self, event: &Event) -> String {
        match event {
            Event::Ended { slot, pid, status } => format!("replica {slot}, process {pid}, ended {}", told(*status)),
            Event::Started { slot, pid } => format!("replica {slot} is started again as process {pid}"),
            Event::NotStarted { slot, words } => format!("replica {slot} is not started again yet: {words}"),
            Event::GivenUp { slot } => {
                format!("replica {slot} ended again and again soon after its start, and is not started any more")
            }
            Event::BegunAnew => {
                let begins = if self.store.data.is_some() { "with what its files hold" } else { "empty" };
                format!("no process of the store was left: it begins anew, {begins}")
            }
        }
    }
}

/// Waits until a replica says that it is ready; false if the user wants to stop before.
fn is_ready(slot: usize, stdout: ChildStdout, stop: &UnixStream) -> Result<bool, Failure> {
    let mut fds = [PollFd::new(stop, PollFlags::IN), PollFd::new(&stdout, PollFlags::IN)];
    rustix::io::retry_on_intr(|| poll(&mut fds, None)).map_err(|error| Failure::environment(error.to_string()))?;
    if !fds[0].revents().is_empty() {
        return Ok(false);
    }
    let mut line = String::new();
    // A process that ended has said why on standard error.
    let _ = BufReader::new(stdout).read_line(&mut line);
    let words = format!("the process of replica {slot} ended before it was ready");
    if line.trim_end() == READY { Ok(true) } else { Err(Failure::environment(words)) }
}

fn say(ready: &Ready<'_>, output: &Output) -> Result<(), Failure> {
    if output.is_json() {
        return output.json(ready);
    }
    let Ready { store, socket, pids } = ready;
    let processes: Vec<String> = pids.iter().map(u32::to_string).collect();
    let words = format!("serving {store} at {} by processes {}", socket.display(), processes.join(", "));
    output.text(&printable::line(&words))
}
