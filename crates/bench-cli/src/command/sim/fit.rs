//! `corecast sim fit`: parameters of a model file from the contended lines in it.

use std::path::{Path, PathBuf};

use corecast::machine::{Origin, Parameter, model_file};
use corecast_sim::{Figures, Finding, FitParameter, Verdict, WhatIf, explain};
use serde::Serialize;

use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::table::{many, number, table, text as lines_of};
use corecast_cli::{printable, target_folder};

use crate::simulated::{Described, Fill, Loaded, MeasuredRow, Searched, search};
use crate::tell::tell;

/// The share of requests that do not come in their order, which the simulation has not.
const ORDER: &str = "p";
const ORDER_UNDECIDED: &str =
    "a simulated line always serves the oldest request, and the rows have no increments of each CPU";

/// Options of `sim fit`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Fit {
    /// The machine: a corecast-machine/1 model file with `coherence.contended`.
    #[arg(long, value_name = "FILE")]
    machine: String,
    /// Write the model with the parameters that were found to this file, which is another one than that of --machine.
    #[arg(long, visible_alias = "output", value_name = "FILE")]
    out: Option<PathBuf>,
    /// The seed of the threads' begins and of the lines that they choose.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The outcome.
#[derive(Debug, Serialize)]
struct Outcome {
    simulated: bool,
    version: &'static str,
    machine: String,
    cpus: usize,
    costs: String,
    seed: u64,
    /// The sets of parameters that were simulated.
    evaluations: usize,
    rows: Vec<Row>,
    /// The rows of the file whose CPUs did not compete.
    left_out: usize,
    /// By how much rows are off, as given and with what was found.
    given: Factors,
    fitted: Factors,
    parameters: Vec<Told>,
    /// The file that was written.
    out: Option<String>,
}

/// Increments of contended lines: nanoseconds between two moves of a line, measured and simulated.
#[derive(Debug, Serialize)]
struct Row {
    clusters: usize,
    cpus: usize,
    lines: u32,
    measured_ns: f64,
    /// Simulated; `None` if no line moved.
    given_ns: Option<f64>,
    given_ratio: Option<f64>,
    fitted_ns: Option<f64>,
    fitted_ratio: Option<f64>,
}

/// The factors by which rows are off, either way.
#[derive(Debug, Serialize)]
struct Factors {
    median: f64,
    mean: f64,
}

/// A parameter.
#[derive(Debug, Serialize)]
struct Told {
    parameter: &'static str,
    unit: &'static str,
    given: f64,
    origin: Origin,
    /// The value that was found; `None` if the rows do not decide it.
    suggested: Option<f64>,
    /// Why they do not.
    undecided: Option<String>,
}

impl Fit {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let what_if = WhatIf::default();
        let described =
            Described { machine: self.machine.clone(), what_if, smt: false, fill: Fill::Clusters, corner: 0 };
        let loaded = described.load()?;
        self.out.iter().try_for_each(|out| self.check(out))?;
        let searched = search(&described, &loaded, self.seed, &mut Meter::start(output), &Interrupt::watch()?)?;
        let out = match &self.out {
            Some(out) if is_any_found(&searched) => {
                self.write(out, &loaded, &searched)?;
                Some(out.display().to_string())
            }
            Some(out) => {
                output.remark(&format!("{} is not written: the rows decide no parameter", out.display()));
                None
            }
            None => None,
        };
        tell(output, &self.outcome(loaded, searched, out), text)
    }

    /// That the file can be written, and is not the one that was given.
    fn check(&self, out: &Path) -> Result<(), Failure> {
        target_folder::check("the model", out)?;
        let same = out.canonicalize().ok().zip(Path::new(&self.machine).canonicalize().ok());
        match same {
            Some((out, machine)) if out == machine => Err(Failure::input(format!(
                "--out {} is the file of --machine, which stays as it is: expected another one",
                self.machine
            ))),
            _ => Ok(()),
        }
    }

    fn write(&self, out: &Path, loaded: &Loaded, searched: &Searched) -> Result<(), Failure> {
        let mut model = model_file::read(Path::new(&self.machine))?;
        let units_per_ns = loaded.machine().units_per_us() / 1000.0;
        let mut names = Vec::new();
        // A file with rows has the object that they are in.
        let coherence = model.extended.coherence.as_mut().expect("it has rows");
        for Finding { parameter, verdict, .. } in &searched.fit.findings {
            let Verdict::Found(value) = *verdict else { continue };
            let (place, value) = match parameter {
                FitParameter::Service => (&mut coherence.service, hundredths(value * units_per_ns)),
                FitParameter::Kappa => (&mut coherence.kappa, value),
            };
            *place = Some(Parameter { value, origin: Origin::Fitted });
            names.push(parameter.name());
        }
        let (rows, given, fitted) = (searched.rows.len(), &searched.fit.given, &searched.fit.fitted);
        model.extended.notes.push(format!(
            "corecast sim fit: {} of coherence fitted to {}, which are off by a geometric mean of {:.2} with them and of {:.2} without",
            names.join(" and "),
            many(rows, "contended row"),
            fitted.mean_factor,
            given.mean_factor
        ));
        Ok(model_file::write(&model, out)?)
    }

    fn outcome(&self, loaded: Loaded, searched: Searched, out: Option<String>) -> Outcome {
        let Searched { left_out, rows, fit } = searched;
        let factors = |figures: &Figures| Factors { median: figures.median_factor, mean: figures.mean_factor };
        Outcome {
            simulated: true,
            version: env!("CARGO_PKG_VERSION"),
            machine: loaded.machine().name().to_owned(),
            cpus: loaded.machine().cpus(),
            seed: self.seed,
            evaluations: fit.evaluations,
            left_out,
            rows: rows
                .iter()
                .enumerate()
                .map(|(place, measured)| Row::of(measured, place, &fit.given, &fit.fitted))
                .collect(),
            given: factors(&fit.given),
            fitted: factors(&fit.fitted),
            parameters: parameters(&loaded, &fit.findings),
            costs: loaded.origin,
            out,
        }
    }
}

impl Row {
    /// The row at this place.
    fn of(measured: &MeasuredRow, place: usize, given: &Figures, fitted: &Figures) -> Self {
        let known = |figures: &Figures| Some(figures.between_ns[place]).filter(|ns| ns.is_finite());
        let ratio = |ns: Option<f64>| ns.map(|ns| ns / measured.between_ns);
        Self {
            clusters: measured.row.clusters,
            cpus: measured.row.cpus.len(),
            lines: measured.row.lines,
            measured_ns: measured.between_ns,
            given_ns: known(given),
            given_ratio: ratio(known(given)),
            fitted_ns: known(fitted),
            fitted_ratio: ratio(known(fitted)),
        }
    }
}

fn is_any_found(searched: &Searched) -> bool {
    searched.fit.findings.iter().any(|finding| matches!(finding.verdict, Verdict::Found(_)))
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The two that are searched, and the one that cannot be.
fn parameters(loaded: &Loaded, findings: &[Finding]) -> Vec<Told> {
    let listed = explain(&loaded.parameters.coherence);
    let origin = |name: &str| listed.iter().find(|known| known.parameter == name).map(|known| known.origin);
    let told = |finding: &Finding| {
        let (suggested, undecided) = match &finding.verdict {
            Verdict::Found(value) => (Some(*value), None),
            Verdict::Flat([least, most]) => {
                (None, Some(format!("values from {least} to {most} come as near, within 2 %")))
            }
            Verdict::Edge(value) => {
                (None, Some(format!("{value} comes nearest of all that were tried, and its double nearer")))
            }
            Verdict::NoInfluence(reason) => (None, Some((*reason).to_owned())),
        };
        Told {
            parameter: finding.parameter.name(),
            unit: if finding.parameter == FitParameter::Service { "ns" } else { "" },
            given: finding.given,
            origin: origin(finding.parameter.name()).unwrap_or(Origin::Assumed),
            suggested,
            undecided,
        }
    };
    let order = Told {
        parameter: ORDER,
        unit: "",
        given: 0.0,
        origin: Origin::Assumed,
        suggested: None,
        undecided: Some(ORDER_UNDECIDED.to_owned()),
    };
    findings.iter().map(told).chain([order]).collect()
}

fn text(outcome: &Outcome) -> String {
    let Outcome { version, machine, cpus, costs, seed, rows, given, fitted, parameters, .. } = outcome;
    let count = many(rows.len(), "row");
    format!(
        "SIMULATED beside measured: {} with {cpus} CPUs, seed {seed}, corecast {version}\n{}\n\
         ns from one move of a line to the next, in {count}: all CPUs of the first clusters increment lines of one home at random\n{}\
         a row is off by {:.2} in the median as given, and by {:.2} as fitted (geometric mean {:.2} and {:.2}); these are the {count} \
         that the parameters were fitted to, none was held back\n{}\n{}{}{} simulated\n{}",
        printable::line(machine),
        printable::line(costs),
        row_lines(rows),
        given.median,
        fitted.median,
        given.mean,
        fitted.mean,
        left_out_line(outcome.left_out),
        parameter_lines(parameters),
        undecided(parameters),
        many(outcome.evaluations, "parameter set"),
        outcome.out.iter().map(|out| format!("model written to {}\n", printable::line(out))).collect::<String>()
    )
}

fn row_lines(rows: &[Row]) -> String {
    let mut lines = table(&[">clusters", ">CPUs", ">lines", ">measured", ">simulated", ">ratio", ">fitted", ">ratio"]);
    for row in rows {
        let counts = [row.clusters.to_string(), row.cpus.to_string(), row.lines.to_string()];
        let figures = [Some(row.measured_ns), row.given_ns, row.given_ratio, row.fitted_ns, row.fitted_ratio];
        lines.add_row(counts.into_iter().chain(figures.map(|figure| number(figure, 2))));
    }
    lines_of(&lines)
}

fn left_out_line(left_out: usize) -> String {
    let words =
        "left out, whose CPUs did not compete: fewer than 1 in 100 of the increments were for a line of another CPU";
    if left_out > 0 { format!("{} {words}\n", many(left_out, "row")) } else { String::new() }
}

fn parameter_lines(parameters: &[Told]) -> String {
    let mut lines = table(&["parameter", "unit", ">given", "origin", ">suggested"]);
    for Told { parameter, unit, given, origin, suggested, .. } in parameters {
        let suggested = suggested.map_or_else(|| "not decided".to_owned(), |value| number(Some(value), 2));
        lines.add_row([
            (*parameter).to_owned(),
            (*unit).to_owned(),
            number(Some(*given), 2),
            origin.to_string(),
            suggested,
        ]);
    }
    lines_of(&lines)
}

fn undecided(parameters: &[Told]) -> String {
    let words = |told: &Told| Some(format!("{} stays as it is: {}\n", told.parameter, told.undecided.as_ref()?));
    parameters.iter().filter_map(words).collect()
}
