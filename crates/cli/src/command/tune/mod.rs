//! `corecast tune`, and `corecast` alone: discover, measure or load the model, plan, race, report.
//!
//! `race` runs the race, `kept_races` races for later groups, `files` writes report and picture,
//! `conclusion` has the last lines, `outcome` is all of it as JSON.

mod conclusion;
mod files;
mod kept_races;
mod outcome;
mod race;

use std::path::{Path, PathBuf};

use corecast::Machine;
use corecast::plan::{Effort, Operation, Plan, Problem};

use crate::bounding::{bounded, percent};
use crate::failure::{Failure, NotWritten};
use crate::interrupt::Interrupt;
use crate::machine_args::{MachineArgs, Model};
use crate::output::Output;
use crate::planner_args::{PlannerArgs, Timed};
use crate::report::{PlannedTree, SMELT};
use crate::target_folder;
use crate::{machine_text, model_source, printable, race_text, table};

use outcome::Outcome;
use race::Raced;

/// Where the report goes if the user does not say.
const REPORT: &str = "corecast-report.html";
/// The operations that are planned, in the order in which they are shown.
const PLANNED: [Operation; 3] = [Operation::Broadcast, Operation::Reduce, Operation::Barrier];

/// Options of `tune`.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// Measure and race for a shorter time.
    #[arg(long)]
    quick: bool,
    /// Measure even if there is a model of this machine.
    #[arg(long)]
    remeasure: bool,
    /// Write the report to this file [default: corecast-report.html].
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Also write the race to this file, as an SVG picture.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    arguments.check_targets()?;
    let interrupt = Interrupt::watch()?;
    let mut model = model_source::model(&arguments.machine, arguments.quick, arguments.remeasure, output, &interrupt)?;
    let trees = trees(&model.machine, &|| interrupt.is_raised())?;
    if !output.is_json() {
        tell(output, &before_the_race(&model, &trees))?;
    }
    let raced = race::run(&model.machine, arguments.quick, output, &interrupt)?;
    interrupt.check()?;
    let kept = match &raced {
        Ok(_) => kept_races::race(&model.machine, output, &interrupt)?,
        Err(_) => Vec::new(),
    };
    if let (false, Ok(race)) = (output.is_json(), &raced) {
        tell(output, &race_text::without_gates(race))?;
        if !kept.is_empty() {
            tell(output, &kept_races::text(&kept))?;
        }
    }
    let disturbed = raced.iter().any(|race| model.check_by(race, "corecast tune --remeasure", output));
    // The results are worth having where a file cannot be written: they are told first, the trouble last.
    let (written, trouble) = arguments.write_files(&model.machine, &trees, &raced);
    if output.is_json() {
        output.json(&Outcome::of(&model.machine, &trees, raced.as_ref().ok(), &kept, &written)?)?;
    } else if !written.is_empty() {
        let lines = written.iter().map(|(what, path)| format!("\n{what} written to {}", path.display()));
        output.text(&lines.collect::<String>())?;
        output.text(&format!("\n{}", conclusion::describe(&model.machine, raced.as_ref().ok(), disturbed)))?;
    }
    match (trouble, &raced) {
        (Some(trouble), _) => Err(trouble.into()),
        (None, Ok(race)) => race_text::own_failures(race).check(),
        (None, Err(_)) => Ok(()),
    }
}

/// Tells a part of the results. A user who has read enough of them, as with `head`, still wants the files.
fn tell(output: &Output, text: &str) -> Result<(), Failure> {
    match output.text(text) {
        Err(Failure::StdoutClosed) => Ok(()),
        told => told,
    }
}

impl Arguments {
    /// Finds out before the race, and not after it, that a file has no folder to go to.
    fn check_targets(&self) -> Result<(), NotWritten> {
        self.report.iter().try_for_each(|path| target_folder::check("the report", path))?;
        self.picture.iter().try_for_each(|path| target_folder::check("the picture", path))
    }

    /// Writes what is to be written; returns what was, and the first trouble.
    fn write_files(
        &self,
        machine: &Machine,
        trees: &[PlannedTree],
        raced: &Raced,
    ) -> (Vec<(&'static str, &Path)>, Option<NotWritten>) {
        let mut written = Vec::new();
        let report = self.report.as_deref().unwrap_or(Path::new(REPORT));
        if let Err(trouble) = files::write_report(report, machine, trees, raced) {
            return (written, Some(trouble));
        }
        written.push(("report", report));
        let Some(picture) = &self.picture else { return (written, None) };
        match files::write_picture(picture, raced) {
            Ok(true) => written.push(("picture", picture)),
            Ok(false) => {}
            Err(trouble) => return (written, Some(trouble)),
        }
        (written, None)
    }
}

/// A plan for each operation, and what Smelt would do.
fn trees(machine: &Machine, stop: &(dyn Fn() -> bool + Sync)) -> Result<Vec<PlannedTree>, Failure> {
    let problem = Problem::of_machine(machine)?;
    let arguments = PlannerArgs::of_effort(Effort::Normal);
    let planned = |operation| {
        let timed = arguments.plan(operation, &problem, stop)?;
        let timed = Timed { plan: bounded(&problem, timed.plan, false, stop), ..timed };
        let smelt = arguments.plan_by(SMELT, operation, &problem, stop)?.plan;
        Ok(PlannedTree { problem: problem.clone(), timed, smelt })
    };
    PLANNED.into_iter().map(planned).collect()
}

/// The results that are known before anything is raced.
fn before_the_race(model: &Model, trees: &[PlannedTree]) -> String {
    let predicted = format!(">predicted {}", model.machine.unit);
    let headings = ["planned", "by", "scheme", ">root", &predicted, ">% gap", ">Smelt's tree", ">depth"];
    let mut plans = table::table(&headings);
    for PlannedTree { timed, smelt, .. } in trees {
        let Plan { operation, planner, predicted, scheme, .. } = &timed.plan;
        plans.add_row([
            operation.to_string(),
            planner.clone(),
            scheme.name().to_owned(),
            format!("CPU {}", timed.plan.root()),
            table::cost(*predicted),
            timed.plan.gap().map_or_else(|| "-".to_owned(), percent),
            table::cost(smelt.predicted),
            timed.plan.tree.depth().to_string(),
        ]);
    }
    let origin = printable::line(&model.origin);
    format!("{}{origin}\n\n{}\n", machine_text::describe(&model.machine), table::text(&plans))
}
