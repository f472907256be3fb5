//! The parameters of a machine, each with where it comes from.

use corecast::machine::Coherence;
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
    format!(
        "{} with {} CPUs\n{}\n{}",
        printable::line(listed.machine),
        listed.cpus,
        printable::line(listed.costs),
        rows(&listed.parameters)
    )
}

/// A line for each parameter of a machine.
pub(crate) fn parameter_rows(coherence: &Coherence) -> String {
    rows(&explain(coherence).into_iter().map(parameter).collect::<Vec<_>>())
}

fn rows(parameters: &[Parameter]) -> String {
    let mut table = table(&["parameter", "origin", "unit", "by distance, the nearest first"]);
    for Parameter { parameter, values, unit, origin } in parameters {
        let values: Vec<String> = values.iter().map(|&value| number(value)).collect();
        table.add_row([parameter.clone(), origin.clone(), (*unit).to_owned(), values.join(" ")]);
    }
    table::text(&table)
}

/// With two digits behind the point where there is something behind it.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn digits_that_say_nothing_are_left_out() {
        assert_eq!([0.0, 3.0, 120.5, 0.125].map(number), ["0", "3", "120.5", "0.12"]);
    }
}
