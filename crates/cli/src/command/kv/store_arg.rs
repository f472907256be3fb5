//! Which store a subcommand means: by its name, or by the path of its socket.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::kv::client::Client;
use crate::kv::listener;

/// The store.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct StoreArg {
    /// The name under which the store is served, or a path with a slash: that of a socket of any server of this protocol.
    #[arg(value_name = "STORE")]
    store: String,
}

impl StoreArg {
    /// A connection to it.
    pub(super) fn connect(&self) -> Result<Client, Failure> {
        Ok(Client::connect(&self.path()?)?)
    }

    /// The path of its socket.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        if self.store.contains('/') { Ok((&self.store).into()) } else { Ok(listener::path_of_store(&self.store)?) }
    }
}
