//! Making and joining the group of a replicated dictionary.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use corecast::rendezvous::{RendezvousError, SocketDir};
use corecast::replica::wal::Fsync;
use corecast::replica::{Config, OpenError, Placement, Replicated};
use pyo3::prelude::*;

use crate::error;
use crate::replicated_member::{Contents, Member, forked};
use crate::waiting::{Limit, detached};

/// How long the first attempt to join may take; signals are looked at between two.
const FIRST_ATTEMPT: Duration = Duration::from_millis(500);
/// The time between two looks for a free place.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How this process takes part, with files where there is a folder.
fn config(folder: Option<PathBuf>, fsync: &str) -> PyResult<Config> {
    let fsync = match fsync {
        "always" => Fsync::Always,
        "everysec" => Fsync::EverySecond,
        "never" => Fsync::Never,
        other => {
            return Err(error::value(format_args!("fsync is '{other}': expected 'always', 'everysec' or 'never'")));
        }
    };
    // The placement that `corecast kv` takes, with half the messages.
    let config = Config::default().placement(Placement::Fused);
    Ok(folder.into_iter().fold(config, |config, folder| config.durable(folder, fsync)))
}

/// The first node of a new group.
pub(crate) fn found(
    py: Python<'_>,
    name: &str,
    layout: impl FnOnce(Config) -> Config,
    folder: Option<PathBuf>,
    fsync: &str,
) -> PyResult<Member> {
    let config = layout(config(folder, fsync)?);
    let made = detached(py, || Replicated::create_named(&config, &SocketDir::of_user(), name, Contents::default()));
    made.map(Member::new).map_err(not_opened)
}

/// A node of the group of a name, once there is one and it has a free place.
pub(crate) fn join(py: Python<'_>, name: &str, limit: Limit, folder: Option<PathBuf>, fsync: &str) -> PyResult<Member> {
    let (config, dir) = (config(folder, fsync)?, SocketDir::of_user());
    let (mut attempt, mut reason) = (FIRST_ATTEMPT, None);
    loop {
        let part = limit.part_of(attempt);
        if part.is_none() && reason.is_some() {
            return Err(reason.map_or_else(error::timeout, not_opened));
        }
        let config = config.clone().joining(part.unwrap_or_default());
        let refused = match detached(py, || Replicated::attach(&config, &dir, name)) {
            Ok(node) => return Ok(Member::new(node)),
            Err(refused) => refused,
        };
        match &refused {
            OpenError::Rendezvous(RendezvousError::NotFound(_) | RendezvousError::TimedOut(_)) => {}
            OpenError::NoSlot(_) => detached(py, || thread::sleep(part.unwrap_or_default().min(LOOK_AGAIN))),
            // A large state takes its time.
            OpenError::NotTakenIn(_) => attempt *= 2,
            _ => return Err(not_opened(refused)),
        }
        // A host that is found late in a short last attempt says less than the group has said before.
        if reason.is_none() || !matches!(refused, OpenError::Rendezvous(_)) {
            reason = Some(refused);
        }
        py.check_signals()?;
    }
}

fn not_opened(error: OpenError) -> PyErr {
    let class = match error {
        OpenError::Rendezvous(error) => return error::meet(error),
        OpenError::Config(_) => return error::value(error),
        OpenError::Forked(_) => return forked(),
        OpenError::NotTakenIn(_) => "Timeout",
        OpenError::Lost => "Died",
        OpenError::Version(_) => "Corrupt",
        _ => "Error",
    };
    error::named(class, error)
}
