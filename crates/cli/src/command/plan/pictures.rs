//! A plan as pictures: DOT for Graphviz, and SVG.

use std::path::{Path, PathBuf};

use corecast::machine::write_atomically;
use corecast::plan::{Plan, Problem};

use crate::failure::{Failure, NotWritten};
use crate::output::Output;
use crate::{dot, report};

/// The file name that stands for standard output.
const STDOUT: &str = "-";

/// Which pictures, and where to.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PictureArgs {
    /// Also write the trees to this file for Graphviz; - prints them instead of the plan.
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Also write the plan over time to this file, as an SVG picture; - prints it instead of the plan.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl PictureArgs {
    /// True if any picture is asked for.
    pub(super) fn is_any(&self) -> bool {
        self.dot.is_some() || self.svg.is_some()
    }

    /// Refuses two results for one standard output.
    pub(super) fn check(&self, output: &Output) -> Result<(), Failure> {
        let (dot, svg) = (is_printed(&self.dot), is_printed(&self.svg));
        let both = match (dot, svg, output.is_json()) {
            (true, true, _) => "--dot - and --svg - both want standard output: give --svg a file",
            (true, _, true) => "--dot - and --json both want standard output: give --dot a file",
            (_, true, true) => "--svg - and --json both want standard output: give --svg a file",
            _ => return Ok(()),
        };
        Err(Failure::input(both))
    }

    /// Writes the pictures; returns true if standard output has one and so no room for anything else.
    pub(super) fn write(&self, problem: &Problem, plan: &Plan, output: &Output) -> Result<bool, Failure> {
        if let Some(path) = &self.svg {
            write(path, &report::plan_picture(problem, plan), output)?;
        }
        if let Some(path) = &self.dot {
            write(path, &dot::draw(problem, plan), output)?;
        }
        Ok(is_printed(&self.dot) || is_printed(&self.svg))
    }
}

fn is_printed(path: &Option<PathBuf>) -> bool {
    path.as_deref() == Some(Path::new(STDOUT))
}

fn write(path: &Path, text: &str, output: &Output) -> Result<(), Failure> {
    if path == Path::new(STDOUT) {
        return output.text(text);
    }
    let written = write_atomically(path, text.as_bytes());
    written.map_err(|error| NotWritten { what: "the picture", path: path.to_owned(), error })?;
    Ok(())
}
