//! The parameters of a machine, each with where it comes from.

use corecast_sim::{Explained, explain};
use serde::Serialize;

use super::Loaded;
use corecast_cli::failure::Failure;
use corecast_cli::output::Output;
use corecast_cli::printable;
use corecast_cli::table::{self, table};

/// The parameters of a machine.
#[derive(Debug, Serialize)]
struct Parameters<'a> {
    machine: &'a str,
    cpus: usize,
    costs: &'a str,
    parameters: Vec<Parameter>,
}

/// One of them.
#[derive(Debug, Serialize)]
struct Parameter {
    parameter: String,
    values: Vec<f64>,
    unit: &'static str,
    origin: String,
}

/// Lists the parameters of a machine.
///
/// # Errors
/// Trouble with the output.
pub(crate) fn tell(loaded: &Loaded, output: &Output) -> Result<(), Failure> {
    let machine = loaded.machine();
    let parameters = explain(&loaded.parameters.coherence).into_iter().map(parameter).collect();
    let listed = Parameters { machine: machine.name(), cpus: machine.cpus(), costs: &loaded.origin, parameters };
    if output.is_json() { output.json(&listed) } else { output.text(&text(&listed)) }
}

fn parameter(explained: Explained) -> Parameter {
    let Explained { parameter, values, unit, origin } = explained;
    Parameter { parameter, values, unit, origin: origin.to_string() }
}

fn text(listed: &Parameters<'_>) -> String {
    let mut table = table(&["parameter", "origin", "unit", "by distance, the nearest first"]);
    for Parameter { parameter, values, unit, origin } in &listed.parameters {
        let values: Vec<String> = values.iter().map(|value| format!("{value:.2}")).collect();
        table.add_row([parameter.clone(), origin.clone(), (*unit).to_owned(), values.join(" ")]);
    }
    format!(
        "{} with {} CPUs\n{}\n{}",
        printable::line(listed.machine),
        listed.cpus,
        printable::line(listed.costs),
        table::text(&table)
    )
}
