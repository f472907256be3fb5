//! The parameters of contention that bring a simulation nearest to the contended lines of a model file: the rows, and their
//! search with each set of parameters in a process of its own.

use corecast::machine::Contended;
use corecast_race::Progress;
use corecast_race::progress::Part;
use corecast_sim::{Contention, Fit, FitParameter, WhatIf, between_moves_ns, fit};
use serde::{Deserialize, Serialize};

use super::{Described, InProcess, Loaded, sweep};
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::table::many;

/// About as many sets of parameters are simulated, for people who wait.
const USUAL_SETS: f64 = 200.0;

/// The CPUs of a row competed if this share of its increments is for lines of another CPU: one that has a line increments it
/// a few times before it is taken away, and hundreds of times only where the others do not run.
const LEAST_HANDED: f64 = 0.01;

/// All rows of a file, with one set of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FitPoint {
    pub(crate) described: Described,
    pub(crate) seed: u64,
}

/// A row that was measured, in nanoseconds between two moves of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MeasuredRow {
    pub(crate) row: Contended,
    pub(crate) between_ns: f64,
}

/// The outcome of a search, and the rows that it used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Searched {
    /// The number of the others, whose CPUs did not compete.
    pub(crate) left_out: usize,
    pub(crate) rows: Vec<MeasuredRow>,
    pub(crate) fit: Fit,
}

impl InProcess for FitPoint {
    type Outcome = Vec<Option<f64>>;
    const COMMAND: &'static str = "fit-point";

    fn words(&self) -> String {
        self.described.what_if.to_string()
    }
}

impl FitPoint {
    fn of(set: Contention, described: &Described, seed: u64) -> Self {
        let Contention { service_ns, kappa } = set;
        let what_if = WhatIf { service_ns: Some(service_ns), kappa: Some(kappa), ..WhatIf::default() };
        Self { described: Described { what_if, ..described.clone() }, seed }
    }

    /// The simulated figure of each row; none of one whose lines did not move.
    ///
    /// # Errors
    /// Bad input: no such machine.
    pub(crate) fn play(&self) -> Result<Vec<Option<f64>>, Failure> {
        let loaded = self.described.load()?;
        let play = |MeasuredRow { row, between_ns }: &MeasuredRow| {
            between_moves_ns(loaded.machine(), row, *between_ns, self.seed).map_err(Failure::environment)
        };
        measured_rows(&loaded).iter().map(play).collect()
    }
}

/// The rows of a machine whose CPUs competed.
fn measured_rows(loaded: &Loaded) -> Vec<MeasuredRow> {
    let ns_per_unit = 1000.0 / loaded.machine().units_per_us();
    let measured = |row: &Contended| {
        let between_ns = row.between_moves()? * ns_per_unit;
        let is_contended = row.cpus.len() > 1 && row.handed >= LEAST_HANDED;
        is_contended.then(|| MeasuredRow { row: row.clone(), between_ns })
    };
    loaded.parameters.coherence.contended.iter().filter_map(measured).collect()
}

/// Searches the parameters by the rows of a machine's file.
///
/// # Errors
/// Bad input: a file without rows whose CPUs competed. Trouble of the environment, or an interruption.
pub(crate) fn search(
    described: &Described,
    loaded: &Loaded,
    seed: u64,
    progress: &mut dyn Progress,
    interrupt: &Interrupt,
) -> Result<Searched, Failure> {
    let rows = measured_rows(loaded);
    if rows.is_empty() {
        return Err(Failure::input(format!(
            "{} has no increments of contended lines (of {} in `coherence.contended` two CPUs competed in none), expected a file to which \
             `corecast measure coherence --out FILE` has added them on that machine, with no other program on its CPUs",
            described.machine,
            many(loaded.parameters.coherence.contended.len(), "row")
        )));
    }
    let machine = loaded.machine();
    let contended: Vec<Contended> = rows.iter().map(|measured| measured.row.clone()).collect();
    let without_influence = FitParameter::ALL.map(|parameter| parameter.without_influence(machine, &contended));
    let costs = machine.costs();
    let given = Contention { service_ns: machine.ns(costs.service), kappa: costs.kappa };
    let measured_ns: Vec<f64> = rows.iter().map(|measured| measured.between_ns).collect();
    let mut done = 0;
    let simulate = |sets: &[Contention]| {
        let points: Vec<FitPoint> = sets.iter().map(|&set| FitPoint::of(set, described, seed)).collect();
        let share = |done: usize| (done as f64 / USUAL_SETS).min(1.0);
        let mut part = Part { whole: &mut *progress, from: share(done), to: share(done + sets.len()) };
        done += sets.len();
        let figures = sweep(&points, &mut part, interrupt)?;
        Ok::<_, Failure>(figures.into_iter().map(or_infinite).collect())
    };
    let fit = fit(&measured_ns, given, without_influence, simulate)?;
    let left_out = loaded.parameters.coherence.contended.len() - rows.len();
    Ok(Searched { left_out, rows, fit })
}

/// The figures of all rows; that of one whose lines did not move is infinite, which JSON does not have.
fn or_infinite(figures: Vec<Option<f64>>) -> Vec<f64> {
    figures.into_iter().map(|ns| ns.unwrap_or(f64::INFINITY)).collect()
}
