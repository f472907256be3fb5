//! The page about a race that a benchmark may leave.

use std::path::PathBuf;

use corecast::machine::{measure, write_atomically};
use corecast_bench::{Op, Report};

use crate::failure::{Failure, NotWritten};
use crate::output::Output;
use crate::report::render_race;
use crate::target_folder;

/// What the file is called in errors.
const WHAT: &str = "the page";

/// Where the page goes.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct HtmlArg {
    /// Also write a page about the race to this file, with its charts and curves.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl HtmlArg {
    /// Finds out before the race, and not after it, that the file has no folder to go to.
    pub(super) fn check(&self) -> Result<(), NotWritten> {
        self.html.iter().try_for_each(|path| target_folder::check(WHAT, path))
    }

    /// Writes the page, if one is wanted, and tells where.
    pub(super) fn write(&self, report: &Report, output: &Output) -> Result<(), Failure> {
        let Some(path) = &self.html else { return Ok(()) };
        let is_acknowledged = report.groups.iter().any(|group| group.op == Op::Acknowledged);
        let kind = if is_acknowledged { "acknowledged" } else { "collectives" };
        let command = format!("corecast bench {kind} --seed {}", report.seed);
        let page = render_race(report, &measure::date::now(), env!("CARGO_PKG_VERSION"), &command);
        let written = write_atomically(path, page.as_bytes());
        written.map_err(|error| NotWritten { what: WHAT, path: path.clone(), error })?;
        if output.is_json() { Ok(()) } else { output.text(&format!("page written to {}\n", path.display())) }
    }
}
