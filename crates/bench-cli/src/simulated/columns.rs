//! The figures of a sweep, for people at a terminal.

use super::{Outcome, Row};
use corecast_cli::printable;
use corecast_cli::table::{self, number, table};

/// A row for each contender, and a column for each number of threads; then the lines that moved with the most threads.
pub(crate) fn describe(outcome: &Outcome) -> String {
    let threads = outcome.threads();
    let headings: Vec<String> = threads.iter().map(|threads| format!(">{threads}")).collect();
    let program = outcome.figure.program;
    let headings: Vec<&str> =
        [program].into_iter().chain(headings.iter().map(String::as_str)).chain([">moved"]).collect();
    let mut table = table(&headings);
    for contender in outcome.contenders() {
        let of = |threads: usize| outcome.row(contender, threads);
        let figures = threads.iter().map(|&threads| number(of(threads).and_then(|row| row.median), 2));
        let moved = threads.last().and_then(|&most| of(most)).map(|row| row.transfers.iter().sum::<f64>());
        table.add_row([contender.to_owned()].into_iter().chain(figures).chain([number(moved, 1)]));
    }
    format!(
        "{}\n{}\n{} by the number of threads; moved: lines that moved between CPUs in each {}, with the most threads\n{}{}{}",
        printable::line(&outcome.headline()),
        printable::line(&outcome.costs),
        outcome.figure_words(),
        outcome.figure.transfers_per,
        table::text(&table),
        spread(&outcome.rows),
        failures(&outcome.rows)
    )
}

/// The row in which seeds are farthest apart.
fn spread(rows: &[Row]) -> String {
    let apart = |row: &Row| Some((row.most? - row.least?) / row.median.filter(|&median| median > 0.0)?);
    let farthest = rows.iter().filter_map(|row| Some((apart(row)?, row)));
    match farthest.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((apart, Row { contender, threads, .. })) if apart > 0.0 => format!(
            "medians of the seeds, which are at most {:.0} % apart ({contender} with {threads})\n",
            100.0 * apart
        ),
        _ => String::new(),
    }
}

fn failures(rows: &[Row]) -> String {
    let failed = rows.iter().filter_map(|row| {
        let Row { contender, threads, failed, .. } = row;
        failed.as_ref().map(|words| format!("NO OUTCOME: {contender} with {threads} threads, {words}\n"))
    });
    failed.collect()
}
