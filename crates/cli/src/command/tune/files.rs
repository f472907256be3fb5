//! The files that `tune` leaves: the report, and the race as a picture.

use std::path::Path;

use corecast::Machine;
use corecast::machine::{measure, write_atomically};

use crate::failure::NotWritten;
use crate::report::{self, PlannedTree, ReportInput};

use super::race::Raced;

/// Writes the report.
pub(super) fn write_report(
    path: &Path,
    machine: &Machine,
    trees: &[PlannedTree],
    raced: &Raced,
) -> Result<(), NotWritten> {
    let race = raced.as_ref().ok();
    let again = race.map(|race| format!("corecast bench collectives --seed {}", race.seed));
    let commands: Vec<String> = ["corecast tune --remeasure".to_owned()].into_iter().chain(again).collect();
    let page = report::render(&ReportInput {
        machine,
        trees,
        race,
        warnings: raced.as_ref().err().map_or(&[], std::slice::from_ref),
        created_at: &measure::date::now(),
        version: env!("CARGO_PKG_VERSION"),
        commands: &commands,
    });
    write(path, "the report", &page)
}

/// Writes the picture, if there was a race; returns whether there was.
pub(super) fn write_picture(path: &Path, raced: &Raced) -> Result<bool, NotWritten> {
    let Ok(race) = raced else { return Ok(false) };
    write(path, "the picture", &report::race_picture(race, &measure::date::now()))?;
    Ok(true)
}

fn write(path: &Path, what: &'static str, text: &str) -> Result<(), NotWritten> {
    write_atomically(path, text.as_bytes()).map_err(|error| NotWritten { what, path: path.to_owned(), error })
}
