//! The figures of a sweep, for people at a terminal.

use corecast_sim::Disturbed;

use super::{Figure, Outcome, Row};
use corecast_cli::printable;
use corecast_cli::table::{self, number, table};

/// A row for each contender, and a column for each step; then the lines that moved at the last step.
pub(crate) fn describe(outcome: &Outcome) -> String {
    let steps = outcome.steps();
    let headings: Vec<String> = steps.iter().map(|step| format!(">{step}")).collect();
    let program = outcome.figure.program;
    let moved = outcome.figure.transfers_per.map(|_| ">moved");
    let disturbed = outcome.disturbance_words();
    let counts = disturbed.iter().flat_map(|_| DISTURBED);
    let headings: Vec<&str> =
        [program].into_iter().chain(headings.iter().map(String::as_str)).chain(moved).chain(counts).collect();
    let mut table = table(&headings);
    for contender in outcome.contenders() {
        let of = |step: usize| outcome.row(contender, step);
        let figures = steps.iter().map(|&step| figure(outcome, of(step)));
        let last = steps.last().and_then(|&last| of(last));
        let moved = moved.map(|_| number(last.map(|row| row.transfers.iter().fold(0.0, |sum, lines| sum + lines)), 1));
        let counts = disturbed.iter().flat_map(|_| last.map(disturbed_cells).unwrap_or_default());
        table.add_row([contender.to_owned()].into_iter().chain(figures).chain(moved).chain(counts));
    }
    format!(
        "{}\n{}\n{}{}, by {}{}\n{}{}{}{}",
        printable::line(&outcome.headline()),
        printable::line(&outcome.costs),
        disturbed.as_ref().map(|words| format!("{words}{DISTURBED_WORDS}\n")).unwrap_or_default(),
        outcome.figure_words(),
        outcome.figure.steps,
        moved_words(&outcome.figure),
        table::text(&table),
        ties(outcome),
        spread(&outcome.rows),
        failures(outcome)
    )
}

/// The columns of disturbances, at the last step.
const DISTURBED: [&str; 6] = [">stops", ">stopped ms", ">switches", ">moves", ">killed", ">hung"];
const DISTURBED_WORDS: &str = ". The last columns count them in all runs of the last step; hung: runs in which the others waited for the dead thread";

fn disturbed_cells(row: &Row) -> [String; 6] {
    let Disturbed { stops, stopped_us, switches, moves, killed } = row.disturbed;
    let stopped_ms = number(Some(stopped_us / 1000.0), 1);
    [stops.to_string(), stopped_ms, switches.to_string(), moves.to_string(), killed.to_string(), row.hung.to_string()]
}

fn moved_words(figure: &Figure) -> String {
    let words = |event| format!("; moved: lines that moved between CPUs in each {event}, in the last column");
    figure.transfers_per.map(words).unwrap_or_default()
}

/// A figure, marked where it is as good as the best one.
fn figure(outcome: &Outcome, row: Option<&Row>) -> String {
    let mark = if row.is_some_and(|row| outcome.is_tie(row)) { "~" } else { "" };
    format!("{mark}{}", number(row.and_then(|row| row.median), 2))
}

fn ties(outcome: &Outcome) -> &'static str {
    match outcome.rows.iter().any(|row| outcome.is_tie(row)) {
        true => "~: whether this or the best one of its column is ahead depends on what is assumed of the machine\n",
        false => "",
    }
}

/// The row in which seeds are farthest apart.
fn spread(rows: &[Row]) -> String {
    let apart = |row: &Row| Some((row.most? - row.least?) / row.median.filter(|&median| median > 0.0)?);
    let farthest = rows.iter().filter_map(|row| Some((apart(row)?, row)));
    match farthest.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((apart, Row { contender, step, .. })) if apart > 0.0 => {
            format!("medians of the seeds, which are at most {:.0} % apart ({contender}, {step})\n", 100.0 * apart)
        }
        _ => String::new(),
    }
}

fn failures(outcome: &Outcome) -> String {
    let steps = outcome.figure.steps;
    let failed = outcome.rows.iter().filter_map(|row| {
        let Row { contender, step, failed, .. } = row;
        failed.as_ref().map(|words| format!("NO OUTCOME: {contender}, {steps} {step}, {words}\n"))
    });
    failed.collect()
}
