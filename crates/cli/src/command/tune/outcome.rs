//! What `tune --json` prints; the fields are documented in `docs/json/tune.md`.

use std::path::Path;

use corecast::Machine;
use corecast::machine::model_file;
use corecast::plan::PlanJson;
use corecast_race::Report;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::report::PlannedTree;

use super::kept_races::{KeptRaces, KeptRacesJson};

/// Everything that a run found.
#[derive(Debug, Serialize)]
pub(super) struct Outcome<'a> {
    /// The model, as in a model file.
    machine: Value,
    /// The cheapest tree for each operation, as `plan --json` prints it.
    plans: Vec<PlanJson>,
    /// As `bench collectives --json` prints it; `null` if nothing could be raced.
    race: Option<&'a Report>,
    /// The races whose results groups on this machine take.
    kept_races: Vec<KeptRacesJson>,
    /// Where the report is; `null` if it could not be written.
    report: Option<String>,
    /// Where the picture is; `null` if there is none.
    picture: Option<String>,
}

impl<'a> Outcome<'a> {
    pub(super) fn of(
        machine: &Machine,
        trees: &[PlannedTree],
        race: Option<&'a Report>,
        kept: &[KeptRaces],
        written: &[(&str, &Path)],
    ) -> Result<Self, Failure> {
        let machine = model_file::render(machine).map_err(Failure::environment)?;
        let machine = serde_json::from_str(&machine).map_err(Failure::environment)?;
        let plans = trees.iter().map(|tree| tree.timed.json()).collect::<Result<_, _>>()?;
        let path = |what: &str| {
            let found = written.iter().find(|(written, _)| *written == what);
            found.map(|(_, path)| path.display().to_string())
        };
        let kept_races = kept.iter().map(KeptRaces::json).collect();
        Ok(Self { machine, plans, race, kept_races, report: path("report"), picture: path("picture") })
    }
}
