//! The cases of one group as a grid: a row for each operation, a column for each state of the line.

use corecast_bench::{CoherenceCell, CoherenceGroup, CoherenceHome, CoherenceReport};
use corecast_cli::resolution::Resolution;

/// A grid of those cases that were measured.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    group: &'a CoherenceGroup,
    /// Operations, in the order of the cases.
    pub(crate) rows: Vec<&'a str>,
    /// States, in the order of the cases, with the number of sharers where there are some.
    pub(crate) columns: Vec<String>,
}

impl<'a> Grid<'a> {
    pub(crate) fn of(group: &'a CoherenceGroup) -> Self {
        let mut grid = Self { group, rows: Vec::new(), columns: Vec::new() };
        for cell in measured(group) {
            if !grid.rows.contains(&cell.operation.as_str()) {
                grid.rows.push(&cell.operation);
            }
            let column = column(cell);
            if !grid.columns.contains(&column) {
                grid.columns.push(column);
            }
        }
        grid
    }

    /// The case in this place, if it was measured.
    pub(crate) fn cell(&self, row: &str, column: &str) -> Option<&'a CoherenceCell> {
        measured(self.group).find(|cell| cell.operation == row && self::column(cell) == column)
    }

    /// Names and reasons of the cases that were not.
    pub(crate) fn skipped(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.group.cells.iter().filter_map(|cell| Some((cell.case.as_str(), cell.skipped.as_deref()?)))
    }
}

fn measured(group: &CoherenceGroup) -> impl Iterator<Item = &CoherenceCell> {
    group.cells.iter().filter(|cell| cell.times.is_some())
}

fn column(cell: &CoherenceCell) -> String {
    if cell.sharers > 0 { format!("{}, {}", cell.lines, cell.sharers) } else { cell.lines.clone() }
}

/// The time that the report's timers can tell from none: looks at the clock with nothing in between differ by as much.
pub(crate) fn timer_resolution(report: &CoherenceReport) -> Resolution {
    let empty = report.timers.iter().map(|timer| &timer.empty);
    Resolution::of_ns(empty.map(|times| times.p90_ns - times.min_ns).fold(0.0, f64::max))
}

/// The relation of a group's CPUs to each other, in words.
pub(crate) fn title(group: &CoherenceGroup) -> String {
    use corecast_bench::Placement;
    let cpu = |place: usize| group.cpus.get(place).map_or_else(|| "-".to_owned(), u32::to_string);
    match (group.placement, group.distance) {
        (Placement::Alone, _) => format!("one CPU alone, {}", cpu(0)),
        (Placement::Clusters, _) => match group.clusters.unwrap_or(1) {
            1 => format!("all {} CPUs of one cluster at once", group.cpus.len()),
            clusters => format!("all {} CPUs of {clusters} clusters at once", group.cpus.len()),
        },
        (Placement::All, _) => format!("{} CPUs at once", group.cpus.len()),
        (Placement::Pair, Some(distance)) => {
            let home = match group.home {
                None => String::new(),
                Some(CoherenceHome::First) => format!(", lines near {}", cpu(0)),
                Some(CoherenceHome::Second) => format!(", lines near {}", cpu(1)),
                Some(CoherenceHome::Elsewhere) => ", lines near neither".to_owned(),
            };
            format!("CPUs {} and {}, {distance}{home}", cpu(0), cpu(1))
        }
        (Placement::Pair, None) => "two CPUs".to_owned(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use corecast_bench::{CoherenceTimes, Placement, PublishedFigure};

    use super::*;

    fn cell(operation: &str, lines: &str, sharers: usize, ns: Option<f64>) -> CoherenceCell {
        let times = |ns: f64| CoherenceTimes {
            samples: 10,
            min_ns: ns,
            p50_ns: ns,
            p90_ns: ns,
            p99_ns: 2.0 * ns,
            max_ns: 3.0 * ns,
            mean_ns: ns,
            histogram: vec![(ns as i64, 10)],
        };
        CoherenceCell {
            case: format!("{operation}-{lines}"),
            number: Some(7),
            operation: operation.to_owned(),
            lines: lines.to_owned(),
            handed: None,
            sharers,
            times: ns.map(times),
            skipped: ns.is_none().then(|| "needs 3 CPUs, and there are 2".to_owned()),
        }
    }

    /// A report with a pair and a hostile name.
    pub(crate) fn report() -> CoherenceReport {
        let cells = vec![
            cell("load", "modified", 0, Some(50.0)),
            cell("cas", "modified", 0, Some(60.0)),
            cell("cas", "shared-elsewhere", 1, None),
            cell("load", "shared-elsewhere", 4, Some(70.0)),
        ];
        let pair = CoherenceGroup {
            placement: Placement::Pair,
            distance: Some("same package"),
            home: None,
            clusters: None,
            cpus: vec![0, 3],
            cells,
        };
        let ratio = PublishedFigure {
            figure: "compare and swap / load",
            machine: "an Opteron",
            least: 1.35,
            most: 1.35,
            source: "somebody",
            here: Some(1.2),
        };
        CoherenceReport {
            machine: "<script>box</script>".to_owned(),
            commit: None,
            seed: 4,
            quick: true,
            timers: Vec::new(),
            groups: vec![pair],
            published: vec![ratio],
        }
    }

    #[test]
    fn a_grid_has_what_was_measured_and_names_the_rest() {
        let report = report();
        let grid = Grid::of(&report.groups[0]);
        assert_eq!(grid.rows, ["load", "cas"]);
        assert_eq!(grid.columns, ["modified", "shared-elsewhere, 4"]);
        assert!(grid.cell("load", "modified").is_some() && grid.cell("cas", "shared-elsewhere, 4").is_none());
        assert_eq!(grid.skipped().collect::<Vec<_>>(), [("cas-shared-elsewhere", "needs 3 CPUs, and there are 2")]);
        let titled = |home| title(&CoherenceGroup { home, cells: Vec::new(), ..report.groups[0].clone() });
        assert_eq!(titled(None), "CPUs 0 and 3, same package");
        assert_eq!(titled(Some(CoherenceHome::First)), "CPUs 0 and 3, same package, lines near 0");
        assert_eq!(titled(Some(CoherenceHome::Second)), "CPUs 0 and 3, same package, lines near 3");
        assert_eq!(titled(Some(CoherenceHome::Elsewhere)), "CPUs 0 and 3, same package, lines near neither");
    }
}
