//! A plan as pictures: DOT for Graphviz, and SVG.

use std::path::{Path, PathBuf};

use corecast::machine::write_atomically;
use corecast::plan::{Plan, Problem};

use crate::failure::{Failure, NotWritten};
use crate::output::Output;
use crate::{dot, report};

/// What stands for standard output instead of a file.
const STDOUT: &str = "-";

/// Which pictures, and where to.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PictureArgs {
    /// Also write the trees to this file for Graphviz; - prints them instead of the plan.
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Also write the plan over time to this file, as an SVG picture.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl PictureArgs {
    /// Refuses two results for one standard output.
    pub(super) fn check(&self, output: &Output) -> Result<(), Failure> {
        if self.is_dot_printed() && output.is_json() {
            return Err(Failure::input("--dot - and --json both want standard output: give --dot a file"));
        }
        Ok(())
    }

    /// Writes the pictures; returns true if standard output has one and so no room for anything else.
    pub(super) fn write(&self, problem: &Problem, plan: &Plan, output: &Output) -> Result<bool, Failure> {
        if let Some(path) = &self.svg {
            write(path, &report::plan_picture(problem, plan))?;
        }
        match &self.dot {
            Some(_) if self.is_dot_printed() => output.text(&dot::draw(problem, plan))?,
            Some(path) => write(path, &dot::draw(problem, plan))?,
            None => {}
        }
        Ok(self.is_dot_printed())
    }

    fn is_dot_printed(&self) -> bool {
        self.dot.as_deref() == Some(Path::new(STDOUT))
    }
}

fn write(path: &Path, text: &str) -> Result<(), NotWritten> {
    write_atomically(path, text.as_bytes()).map_err(|error| NotWritten {
        what: "the picture",
        path: path.to_owned(),
        error,
    })
}
