//! `corecast serve`: plans for many programs, over a local socket.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use corecast::plan::service::{BindError, FolderError, Options, Server, default_path};
use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt;
use crate::machine_args::MachineArgs;
use crate::output::Output;
use crate::printable;

/// The longest time that can be given, in seconds: a day.
const MAX_SECONDS: u64 = 24 * 60 * 60;

/// Options of `serve`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// Listen at this path [default: corecast/plan.sock below $XDG_RUNTIME_DIR, or corecast-UID/plan.sock below the
    /// directory for temporary files].
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Drop a client that takes longer than S seconds to send a request or to read an answer.
    #[arg(long, value_name = "S", default_value_t = Options::default().idle_timeout.as_secs(), value_parser = seconds())]
    idle_timeout: u64,
    /// End a search after S seconds with the best plan found.
    #[arg(long, value_name = "S", default_value_t = Options::default().search_limit.as_secs(), value_parser = seconds())]
    search_limit: u64,
    /// Serve at most N clients at once.
    #[arg(long, value_name = "N", default_value_t = Options::default().max_clients, value_parser = clients())]
    max_clients: usize,
}

fn seconds() -> RangedU64ValueParser<u64> {
    RangedU64ValueParser::new().range(1..=MAX_SECONDS)
}

fn clients() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=4096)
}

/// The message that is written once clients can connect.
#[derive(Debug, Serialize)]
struct Ready {
    machine: String,
    origin: String,
    socket: PathBuf,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let model = arguments.machine.model(output)?;
    let path = arguments.socket.clone().map_or_else(default_path, Ok)?;
    let options = Options {
        idle_timeout: Duration::from_secs(arguments.idle_timeout),
        search_limit: Duration::from_secs(arguments.search_limit),
        max_clients: arguments.max_clients,
        ..Options::default()
    };
    let ready = Ready { machine: model.machine.name.clone(), origin: model.origin, socket: path };
    let server = Server::bind(&ready.socket, model.machine, options)?;
    let stopper = server.stopper();
    interrupt::on_first(move || stopper.stop())?;
    say(&ready, output)?;
    server.serve().map_err(|error| Failure::environment(format!("cannot serve plans any more: {error}")))
}

fn say(ready: &Ready, output: &Output) -> Result<(), Failure> {
    if output.is_json() {
        return output.json(ready);
    }
    let words = format!("serving plans for {} at {}", ready.machine, ready.socket.display());
    output.text(&printable::line(&words))
}

impl From<BindError> for Failure {
    fn from(error: BindError) -> Self {
        match error {
            BindError::NoSocket { .. } => Self::input(error),
            _ => Self::environment(error),
        }
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        Self::environment(error).with_help("--socket names another path")
    }
}
