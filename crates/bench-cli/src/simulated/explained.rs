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
    /// The distances in words, the nearest first.
    distances: &'a [String],
    protocol: Option<Protocol>,
    parameters: Vec<Parameter>,
}

/// How caches agree.
#[derive(Debug, Serialize)]
struct Protocol {
    directory: bool,
    owned: bool,
    origin: String,
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
    let coherence = &loaded.parameters.coherence;
    let protocol = coherence.protocol.map(|known| Protocol {
        directory: known.value.directory,
        owned: known.value.owned,
        origin: known.origin.to_string(),
    });
    let listed = Parameters {
        machine: machine.name(),
        cpus: machine.cpus(),
        costs: &loaded.origin,
        distances: &coherence.classes,
        protocol,
        parameters: explain(coherence).into_iter().map(parameter).collect(),
    };
    if output.is_json() { output.json(&listed) } else { output.text(&text(&listed)) }
}

fn parameter(explained: Explained) -> Parameter {
    let Explained { parameter, values, unit, origin } = explained;
    Parameter { parameter, values, unit, origin: origin.to_string() }
}

fn text(listed: &Parameters<'_>) -> String {
    format!(
        "{} with {} CPUs\n{}\ndistances, the nearest first: {}\n{}{}",
        printable::line(listed.machine),
        listed.cpus,
        printable::line(listed.costs),
        printable::line(&listed.distances.join(", ")),
        listed.protocol.as_ref().map(protocol_line).unwrap_or_default(),
        rows(&listed.parameters)
    )
}

fn protocol_line(protocol: &Protocol) -> String {
    let Protocol { directory, owned, origin } = protocol;
    let asked = if *directory { "a directory at a line's home answers" } else { "all caches are asked" };
    let written = if *owned {
        "a written line can be shared without being written back"
    } else {
        "a written line is written back when it is shared"
    };
    format!("protocol ({origin}): {asked}; {written}\n")
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
