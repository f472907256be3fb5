//! `corecast kv replica`: one process of a store that `kv serve` serves.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::sync::Mutex;

use rustix::net::sockopt::socket_acceptconn;

use super::store_options::StoreOptions;
use crate::failure::Failure;
use crate::interrupt;
use crate::kv::local::Local;
use crate::kv::server::Server;

/// What a replica says on standard output once it serves.
pub(super) const READY: &str = "ready";

/// Options of `kv replica`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,
    /// The slot of this process, from 0.
    #[arg(long, value_name = "N")]
    slot: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let listener = inherited_socket()?;
    let replica = open(arguments)?;
    let failed = |error| Failure::environment(format!("cannot serve clients any more: {error}"));
    let (server, stopper) = Server::new(replica, vec![listener], arguments.store.max_clients).map_err(failed)?;
    let stopper = Mutex::new(Some(stopper));
    interrupt::on_first(move || drop(stopper.lock().map(|mut stopper| stopper.take())))?;
    // `kv serve` may be gone: it is served all the same.
    let _ = writeln!(io::stdout(), "{READY}").and_then(|()| io::stdout().flush());
    server.run().map_err(failed)
}

/// The socket that this process was given as its standard input.
fn inherited_socket() -> Result<UnixListener, Failure> {
    let stdin = io::stdin();
    if !socket_acceptconn(&stdin).unwrap_or(false) {
        return Err(Failure::input("standard input is no listening socket: `corecast kv serve` starts this command"));
    }
    let socket = stdin.as_fd().try_clone_to_owned();
    Ok(socket.map_err(|error| Failure::environment(format!("cannot take the socket: {error}")))?.into())
}

/// The replica of this process.
fn open(arguments: &Arguments) -> Result<Local, Failure> {
    let store = &arguments.store;
    if store.replicas > 1 || store.data.is_some() {
        return Err(Failure::input("only --replicas 1 without --data is there yet"));
    }
    Ok(Local::default())
}
