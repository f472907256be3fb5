//! Options by which a program is started with the preload objects.

use std::ffi::{OsStr, OsString};

use clap::builder::PossibleValuesParser;

use crate::failure::Failure;
use crate::shim::family::Family;
use crate::shim::launch::{Launch, LaunchError, lock_names};

/// The options.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Preload objects")]
pub(crate) struct ShimArgs {
    /// Put corecast under an unchanged program: its OpenMP barriers, pthread barriers, pthread locks, MPI collectives. Without
    /// `-n` the program is started once, in the place of this one.
    #[arg(long = "shim", value_name = "LIST", value_delimiter = ',')]
    families: Vec<Family>,
    /// The lock behind `--shim lock` [default: that of CORECAST_LOCK, or auto].
    #[arg(long, value_name = "NAME", requires = "families", value_parser = lock_parser())]
    lock: Option<String>,
    /// Print at the end what was served.
    #[arg(long, requires = "families")]
    shim_stats: bool,
    /// Serve only programs whose name or path matches, among this one and those that it starts.
    #[arg(long, value_name = "GLOB", requires = "families")]
    shim_only: Option<OsString>,
}

fn lock_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(lock_names())
}

impl ShimArgs {
    /// True if anything is to be preloaded.
    pub(crate) fn are_given(&self) -> bool {
        !self.families.is_empty()
    }

    /// The variables to set for this program; none if nothing is to be preloaded.
    ///
    /// # Errors
    /// A `Failure` of input if nothing can be preloaded into it, an object is missing, or CORECAST_LOCK names an unknown lock.
    pub(crate) fn variables(&self, program: &OsStr) -> Result<Vec<(&'static str, OsString)>, Failure> {
        if !self.are_given() {
            return Ok(Vec::new());
        }
        if self.lock.is_some() && !self.families.contains(&Family::Lock) {
            return Err(Failure::input("`--lock` names the lock of `--shim lock`, which is not among the families"));
        }
        let launch = Launch {
            families: self.families.clone(),
            lock: self.lock.clone(),
            tells_counts: self.shim_stats,
            only: self.shim_only.clone(),
        };
        launch.environment(program).map_err(refused)
    }
}

fn refused(error: LaunchError) -> Failure {
    let help = match error {
        LaunchError::Missing(_) => "CORECAST_SHIM_DIR names the folder of the preload objects",
        LaunchError::UnknownLock(_) => "`corecast list locks` names them; `pthread` passes everything on",
        LaunchError::NotFound(_) | LaunchError::Unnameable(_) => return Failure::input(error),
        _ => "`corecast shim check PROGRAM` says more; without `--shim` it runs as it is",
    };
    Failure::input(error).with_help(help)
}
