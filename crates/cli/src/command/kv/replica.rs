//! `corecast kv replica`: one process of a store that `kv serve` serves.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::sync::Mutex;

use corecast::rendezvous::{RendezvousError, SocketDir};
use corecast::replica::kv::Store;
use corecast::replica::wal::Fsync;
use corecast::replica::{Batched, Config, MAX_SLOTS, Node, OpenError, Placement, Replicated};
use rustix::net::sockopt::socket_acceptconn;

use super::store_options::{FsyncArg, PlacementArg, StoreOptions};
use crate::failure::Failure;
use crate::kv::server::Server;
use crate::{interrupt, number_arg};

/// The word that a replica writes to standard output once it serves.
pub(super) const READY: &str = "ready";

/// Slots beside those of the replicas: a process that comes back takes another one, until its old one is known to be dead.
const SPARE_SLOTS: usize = 4;

/// Options of `kv replica`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Arguments {
    /// The name of the store.
    name: String,
    #[command(flatten)]
    store: StoreOptions,
    /// The slot of this process, from 0.
    #[arg(long, value_name = "N", value_parser = number_arg::within::<usize>(0..=1022))]
    slot: usize,
    /// Make the store unless it is there: no other process has it.
    #[arg(long)]
    found: bool,
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
fn open(arguments: &Arguments) -> Result<Node<Batched<Store>>, Failure> {
    let (config, dir, name) = (arguments.config(), SocketDir::of_user(), &arguments.name);
    if arguments.found {
        match Replicated::create_named(&config, &dir, name, Batched::<Store>::default()) {
            Err(OpenError::Rendezvous(RendezvousError::Exists(_))) => {}
            result => return result.map_err(failure_of),
        }
    }
    Replicated::attach(&config, &dir, name).map_err(failure_of)
}

fn failure_of(error: OpenError) -> Failure {
    match error {
        OpenError::Config(_) | OpenError::Version(_) => Failure::input(error),
        _ => Failure::environment(error),
    }
}

impl Arguments {
    fn config(&self) -> Config {
        let placement = match self.store.placement {
            PlacementArg::Separate => Placement::Separate,
            PlacementArg::Fused => Placement::Fused,
        };
        let slots = (self.store.replicas + SPARE_SLOTS).min(MAX_SLOTS);
        let config = Config::default().slots(slots).placement(placement).bulk_bytes(self.store.bulk as u64);
        let fsync = match self.store.fsync {
            FsyncArg::Always => Fsync::Always,
            FsyncArg::Everysec => Fsync::EverySecond,
            FsyncArg::Never => Fsync::Never,
        };
        match &self.store.data {
            Some(folder) => config.durable(folder, fsync),
            None => config,
        }
    }
}
