//! `--svg FILE`: writes a picture of a result.

use std::path::{Path, PathBuf};

use corecast::machine::write_atomically;

use corecast_cli::failure::{Failure, NotWritten};
use corecast_cli::output::Output;
use corecast_cli::target_folder;

/// The name of the file in errors.
const WHAT: &str = "the picture";
/// The file name that stands for standard output.
const STDOUT: &str = "-";

/// Where the picture goes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SvgArg {
    /// Write the picture to this file, in the place of the list of events; - prints it instead of everything else.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl SvgArg {
    /// True if a picture is wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        self.svg.is_some()
    }

    /// True if standard output has the picture, and no room for anything else.
    pub(crate) fn is_printed(&self) -> bool {
        self.svg.as_deref() == Some(Path::new(STDOUT))
    }

    /// Checks before the run that the folder of the file exists, and that nothing else wants standard output.
    pub(crate) fn check(&self, output: &Output) -> Result<(), Failure> {
        if self.is_printed() && output.is_json() {
            return Err(Failure::input("--svg - and --json both want standard output: give --svg a file"));
        }
        let path = self.svg.iter().filter(|_| !self.is_printed());
        path.into_iter().try_for_each(|path| Ok(target_folder::check(WHAT, path)?))
    }

    /// Writes the picture, if one is wanted, and tells where.
    pub(crate) fn write(&self, output: &Output, picture: impl FnOnce() -> String) -> Result<(), Failure> {
        let Some(path) = &self.svg else { return Ok(()) };
        if self.is_printed() {
            return output.text(&picture());
        }
        let written = write_atomically(path, picture().as_bytes());
        written.map_err(|error| NotWritten { what: WHAT, path: path.clone(), error })?;
        if output.is_json() { Ok(()) } else { output.text(&format!("picture written to {}\n", path.display())) }
    }
}
