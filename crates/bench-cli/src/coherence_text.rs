//! The report of `corecast cc`, and its cases, as tables.

use corecast_bench::{CoherenceGroup, CoherenceReport, ListedCase, Placement};

use crate::coherence_grid::{Grid, timer_resolution, title};
use crate::columns;
use crate::columns::coherence::CASES;
use crate::published_text;
use corecast_cli::resolution::Resolution;
use corecast_cli::{skipped, table};

/// The whole result.
pub(crate) fn describe(report: &CoherenceReport) -> String {
    let resolution = timer_resolution(report);
    let groups: Vec<String> = report.groups.iter().map(|group| describe_group(group, resolution)).collect();
    let published = published_text::describe(&report.published);
    format!(
        "ns, the timer taken off: p50 (p99) of all samples{}\n\n{}\n{published}\nlines drawn from seed {}\n",
        homes(report),
        groups.join("\n"),
        report.seed
    )
}

/// Says that the lines of every pair lie in one place, if that is so.
fn homes(report: &CoherenceReport) -> &'static str {
    let mut pairs = report.groups.iter().filter(|group| group.placement == Placement::Pair).peekable();
    let is_one = pairs.peek().is_some() && pairs.all(|group| group.home.is_none());
    if is_one { "\nall lines have one home: no more than one NUMA node is known here" } else { "" }
}

/// The names that options take.
pub(crate) fn list(cases: &[ListedCase]) -> String {
    let mut table = table::table(&["case", ">number", ">CPUs", "what is measured"]);
    for case in cases {
        let number = case.number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        table.add_row([case.name.clone(), number, case.cpus.to_string(), case.about.clone()]);
    }
    table::text(&table)
}

fn describe_group(group: &CoherenceGroup, resolution: Resolution) -> String {
    let grid = Grid::of(group);
    let body = match group.placement {
        Placement::Pair => describe_grid(&grid, resolution),
        Placement::Alone | Placement::All | Placement::Clusters => {
            columns::resolved(CASES, group.cells.iter().filter(|cell| cell.times.is_some()), resolution)
        }
    };
    format!("{}\n{body}{}", title(group), skipped::lines(grid.skipped()))
}

fn describe_grid(grid: &Grid<'_>, resolution: Resolution) -> String {
    let cost = |ns: f64| resolution.write(ns, table::cost);
    if grid.rows.is_empty() {
        return String::new();
    }
    let headings: Vec<String> = grid.columns.iter().map(|column| format!(">{column}")).collect();
    let headings: Vec<&str> = ["operation"].into_iter().chain(headings.iter().map(String::as_str)).collect();
    let mut table = table::table(&headings);
    for row in &grid.rows {
        let times = |column: &String| grid.cell(row, column).and_then(|cell| cell.times.as_ref());
        let text = |column: &String| {
            times(column)
                .map_or_else(|| "-".to_owned(), |times| format!("{} ({})", cost(times.p50_ns), cost(times.p99_ns)))
        };
        table.add_row([(*row).to_owned()].into_iter().chain(grid.columns.iter().map(text)));
    }
    table::text(&table)
}

#[cfg(test)]
mod tests {
    use corecast_bench::CoherenceHome;

    use super::*;
    use crate::coherence_grid::tests::report;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn several_homes_are_told_by_their_groups() {
        let mut report = report();
        report.groups[0].home = Some(CoherenceHome::Elsewhere);
        let text = describe(&report);
        assert!(text.contains("same package, lines near neither\n") && !text.contains("one home"), "{text}");
    }

    #[test]
    fn the_table_has_medians_and_tails_and_what_was_skipped() {
        let measured = report().groups.into_iter().flat_map(|group| group.cells).find(|cell| cell.times.is_some());
        agree_with_json(CASES, &measured.expect("a case"), "cc", "cells[]");
        let text = describe(&report());
        for words in [
            "CPUs 0 and 3, same package\n",
            "\nall lines have one home: no more than one NUMA node is known here\n",
            "50.0 (100)",
            "skipped, needs 3 CPUs, and there are 2: cas-shared-elsewhere",
            "an Opteron   1.35  1.35  1.20  somebody",
        ] {
            assert!(text.contains(words), "'{words}' is not in\n{text}");
        }
    }
}
