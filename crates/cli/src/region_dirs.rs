//! Where this user's regions are, as options tell: the directory of named ones and that of the sockets of hosted ones.

use std::path::{Path, PathBuf};

use corecast::base::region::{AttachError, RegionDir};
use corecast::base::rendezvous::{RendezvousError, SocketDir};

use crate::failure::Failure;

/// Where to look.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RegionDirs {
    /// Look in this directory only, for named regions and for sockets [default: $CORECAST_REGION_DIR or
    /// /dev/shm/corecast-UID, and corecast below $XDG_RUNTIME_DIR, or corecast-UID below the directory for temporary files].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl RegionDirs {
    /// Where the named regions are.
    pub(crate) fn named(&self) -> RegionDir {
        self.dir.as_ref().map_or_else(RegionDir::of_user, RegionDir::at)
    }

    /// Where the sockets are.
    pub(crate) fn sockets(&self) -> SocketDir {
        self.dir.as_ref().map_or_else(SocketDir::of_user, SocketDir::at)
    }

    /// Both places, for people.
    pub(crate) fn describe(&self) -> String {
        match &self.dir {
            Some(dir) => dir.display().to_string(),
            None => format!("{} and {}", self.named().path().display(), self.sockets().path().display()),
        }
    }

    /// Refuses a directory that was given and is none; the user's own need not be there.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let is_dir = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|data| data.is_dir());
        match &self.dir {
            Some(dir) if !is_dir(dir) => {
                Err(Failure::input(format!("--dir {} is no directory, and links are not followed", dir.display())))
            }
            _ => Ok(()),
        }
    }

    /// The failure for a directory that cannot be used: bad input if the user named it.
    pub(crate) fn unusable(&self, error: Unusable) -> Failure {
        match self.dir {
            Some(_) => Failure::input(error),
            None => Failure::environment(error).with_help("--dir names another directory"),
        }
    }
}

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    /// That of named regions.
    #[error(transparent)]
    Named(#[from] AttachError),
    /// That of sockets.
    #[error(transparent)]
    Sockets(#[from] RendezvousError),
}
