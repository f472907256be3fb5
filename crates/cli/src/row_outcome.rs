//! The outcome of each contender of a table: timed, left out, or broken down.
//!
//! A contender that broke down (a time-out, a wrong result, a panic) stands in its table as `failed`, with its reason below. If
//! it is corecast's own, [`OwnFailures`] repeats it in the summary, and the program ends with an exit code that is not 0.

use corecast_race::report::ContenderRow;

use crate::failure::Failure;
use crate::skipped;
use crate::table::{self, Table};

/// The word in place of a figure.
const FAILED: &str = "failed";

/// The outcome of one contender.
#[derive(Clone, Copy, Debug)]
pub struct RowOutcome<'a> {
    contender: &'a str,
    is_ours: bool,
    /// Why it has no figures; `None` if it has.
    reason: Option<&'a str>,
    is_failed: bool,
}

impl<'a> RowOutcome<'a> {
    fn of(row: &'a impl ContenderRow) -> Self {
        Self { contender: row.contender(), is_ours: row.is_ours(), reason: row.skipped(), is_failed: row.is_failed() }
    }

    /// Its name and its reason, if it broke down.
    fn failure(self) -> Option<(&'a str, &'a str)> {
        self.reason.filter(|_| self.is_failed).map(|reason| (self.contender, reason))
    }
}

/// Adds a line for each contender that broke down to the table of those that were timed, and says below it why, and which
/// others were left out. The first column has names.
pub fn finish<R: ContenderRow>(rows: &[R], mut timed: Table) -> String {
    let columns = timed.column_count();
    for (contender, _) in rows.iter().map(RowOutcome::of).filter_map(RowOutcome::failure) {
        let rest = (2..columns).map(|_| "-".to_owned());
        timed.add_row([contender.to_owned(), FAILED.to_owned()].into_iter().chain(rest).collect::<Vec<_>>());
    }
    table::text(&timed) + &reasons(rows)
}

/// A line for each reason why rows have no figures, those first that broke down.
pub fn reasons<R: ContenderRow>(rows: &[R]) -> String {
    let outcomes = || rows.iter().map(RowOutcome::of);
    let left_out = outcomes().filter(|row| !row.is_failed).filter_map(|row| Some((row.contender, row.reason?)));
    skipped::reasons(FAILED, outcomes().filter_map(RowOutcome::failure)) + &skipped::lines(left_out)
}

/// Contenders of corecast's own that broke down, each with its situation.
#[derive(Debug, Default)]
pub struct OwnFailures(Vec<String>);

impl OwnFailures {
    /// Adds those of one table. `situation` says in words which one that is.
    pub fn add<R: ContenderRow>(&mut self, situation: &str, rows: &[R]) {
        let own = rows.iter().map(RowOutcome::of).filter(|row| row.is_ours);
        let words = |(contender, reason)| format!("{contender} failed in {situation}: {reason}");
        self.0.extend(own.filter_map(RowOutcome::failure).map(words));
    }

    /// A line for each; nothing if there is none.
    pub fn text(&self) -> String {
        self.0.iter().map(|line| format!("{line}\n")).collect()
    }

    /// An error if there is one: the figures do not speak for corecast then.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn check(&self) -> Result<(), Failure> {
        let Some(first) = self.0.first() else { return Ok(()) };
        let more = match self.0.len() {
            1 => String::new(),
            count => format!("; {} more of corecast's contenders failed", count - 1),
        };
        Err(Failure::environment(format!("{first}{more}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::Row;

    fn row(contender: &str, ours: bool, skipped: Option<&str>, failed: bool) -> Row {
        let (contender, skipped) = (contender.to_owned(), skipped.map(str::to_owned));
        Row { contender, ours, summary: None, cpu_ns: None, discarded: 0, ratio: None, skipped, failed }
    }

    fn rows() -> Vec<Row> {
        vec![
            row("tas", true, None, false),
            row("mcs", true, Some("members [1] did not finish within 2000 ms"), true),
            row("std", false, Some("member 0 panicked: no"), true),
            row("delegate", true, Some("needs 2 threads"), false),
        ]
    }

    #[test]
    fn a_breakdown_stands_in_the_table_and_below_it() {
        let mut timed = table::table(&["lock", ">M/s", ">Jain"]);
        timed.add_row(["tas", "1.0", "1.00"]);
        let rows = rows();
        let text = finish(&rows, timed);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["tas", "1.0", "1.00"]);
        assert_eq!((&lines[2][..], &lines[3][..]), (&["mcs", "failed", "-"][..], &["std", "failed", "-"][..]));
        assert!(text.contains("   failed, members [1] did not finish within 2000 ms: mcs\n"), "{text}");
        assert!(text.contains("   failed, member 0 panicked: no: std\n"), "{text}");
        assert!(text.ends_with("   skipped, needs 2 threads: delegate\n"), "{text}");
    }

    #[test]
    fn only_our_own_breakdowns_make_a_failure() {
        let mut own = OwnFailures::default();
        own.add(
            "2 threads, 1 lock",
            &[row("std", false, Some("it hung"), true), row("a", true, Some("no CPU"), false)],
        );
        assert!(own.check().is_ok() && own.text().is_empty());
        own.add("2 threads, 1 lock", &rows());
        let line = "mcs failed in 2 threads, 1 lock: members [1] did not finish within 2000 ms";
        assert_eq!(own.text(), format!("{line}\n"));
        let failure = own.check().expect_err("corecast's own did not finish");
        assert_eq!(failure.to_string(), line);
        assert_eq!(format!("{:?}", failure.exit_code()), format!("{:?}", std::process::ExitCode::from(1)));
        own.add("4 threads, 1 lock", &rows());
        let failure = own.check().expect_err("there are two").to_string();
        assert!(failure.ends_with("; 1 more of corecast's contenders failed"), "{failure}");
    }
}
