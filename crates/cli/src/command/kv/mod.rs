//! `corecast kv`: a store of several processes, which programs reach as they reach Redis.
//!
//! - `serve`: starts the processes and starts those again that end; `processes`: the processes that it has; `replica`: one of
//!   them;
//! - `entry`: get, set and delete; `watch`: a value as it changes; `bench`: load from many clients;
//! - `store_arg`: which store is meant; `store_options`: how one is kept.

mod bench;
mod entry;
mod processes;
mod replica;
mod serve;
mod store_arg;
mod store_options;
mod watch;

use crate::failure::Failure;
use crate::kv::client::ClientError;
use crate::kv::listener::ListenError;
use crate::output::Output;

/// Options of `kv`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Command {
    /// Serve a store from several processes, one replica each; one that ends is started again.
    #[command(after_help = "Example:\n  corecast kv serve accounts --replicas 3 --resp accounts.sock")]
    Serve(serve::Arguments),
    /// Print the value of a key.
    #[command(after_help = "Example:\n  corecast kv get accounts alice")]
    Get(entry::GetArguments),
    /// Give a key a value.
    #[command(
        after_help = "Example:\n  corecast kv set accounts alice 100 --if-absent\n  corecast kv set pages home --from home.html"
    )]
    Set(entry::SetArguments),
    /// Remove keys and print how many there were.
    #[command(after_help = "Example:\n  corecast kv delete accounts alice bob")]
    Delete(entry::DeleteArguments),
    /// Print the value of a key, and again whenever it has changed.
    #[command(after_help = "Example:\n  corecast kv watch accounts alice --every 100ms")]
    Watch(watch::Arguments),
    /// Put load on a store from many clients, and print what they get.
    #[command(after_help = "Example:\n  corecast kv bench accounts --clients 10 --pipeline 16")]
    Bench(bench::Arguments),
    /// Be a replica of a store that `kv serve` serves; its standard input is the socket.
    #[command(hide = true)]
    Replica(replica::Arguments),
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    match &arguments.command {
        Command::Serve(arguments) => serve::run(arguments, output),
        Command::Get(arguments) => entry::get(arguments, output),
        Command::Set(arguments) => entry::set(arguments, output),
        Command::Delete(arguments) => entry::delete(arguments, output),
        Command::Watch(arguments) => watch::run(arguments, output),
        Command::Bench(arguments) => bench::run(arguments, output),
        Command::Replica(arguments) => replica::run(arguments),
    }
}

impl From<ListenError> for Failure {
    fn from(error: ListenError) -> Self {
        match error {
            ListenError::Name(_) | ListenError::NoSocket(_) | ListenError::Long(_) | ListenError::NoFolder(_) => {
                Self::input(error)
            }
            _ => Self::environment(error),
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::NotServed { .. } => {
                Self::input(error).with_help("`corecast kv serve NAME` serves a store under a name")
            }
            _ => Self::environment(error),
        }
    }
}
