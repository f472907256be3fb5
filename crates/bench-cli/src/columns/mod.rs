//! Tables as data: a column has a name, a heading, a unit, a value and a format, and a list of columns is a table.
//!
//! The name is that of the field in `--json`, which has the same value and is described in `docs/json`:
//! [`tests::agree_with_json`] tests it for every list. A list that a page shows as the terminal does has a file here; one that
//! only the terminal shows is beside the code that prints it.

pub(crate) mod atomics;
pub(crate) mod channels;
pub(crate) mod coherence;
#[cfg(test)]
mod documentation;
pub(crate) mod flips;
pub(crate) mod hash_tables;
pub(crate) mod locks;
pub(crate) mod memories;
pub(crate) mod messages;
pub(crate) mod published;
pub(crate) mod readers;
pub(crate) mod replicas;

use corecast_cli::resolution::Resolution;
use corecast_cli::row_outcome::finish;
use corecast_cli::table::{self, number};
use corecast_race::report::ContenderRow;

/// One column of a table of rows `R`.
pub(crate) struct Column<R> {
    /// The field in `--json`, as a path from the row; empty where the table says it in other words than JSON.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests hold every column against the JSON by it"))]
    pub(crate) name: &'static str,
    pub(crate) heading: &'static str,
    /// Empty where the heading says it, or there is none.
    pub(crate) unit: &'static str,
    pub(crate) value: fn(&R) -> Value,
    pub(crate) format: Format,
    /// Whether a terminal without room for all columns leaves it out before others. A page shows it always.
    pub(crate) is_optional: bool,
}

/// The contents of one cell, before it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Words(String),
    /// `None` if it was not measured.
    Figure(Option<f64>),
}

/// How the cells of a column are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    /// As they are, to the left.
    Words,
    /// Words that begin with a number, to the right.
    Right,
    /// A number of digits behind the point.
    Digits(usize),
    /// How many times as much something is, with a number of digits behind the point.
    Ratio(usize),
    /// Nanoseconds as microseconds.
    Micros,
    /// A time with one digit behind the point below 100, and none above.
    Cost,
    /// A share in percent; nothing in a row that cannot have it.
    Percent,
    /// A large number with its thousands apart: nobody counts nine digits.
    Thousands,
}

impl<R> Clone for Column<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Column<R> {}

impl<R> Column<R> {
    /// Words to the left, such as the name of a contender.
    pub(crate) const fn words(name: &'static str, heading: &'static str, value: fn(&R) -> Value) -> Self {
        Self { name, heading, unit: "", value, format: Format::Words, is_optional: false }
    }

    /// Figures with their unit.
    pub(crate) const fn figure(
        name: &'static str,
        heading: &'static str,
        unit: &'static str,
        value: fn(&R) -> Value,
        format: Format,
    ) -> Self {
        Self { name, heading, unit, value, format, is_optional: false }
    }

    /// The same, left out where there is no room.
    pub(crate) const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// The heading with its unit.
    pub(crate) fn head(&self) -> String {
        format!("{} {}", self.heading, self.unit).trim_end().to_owned()
    }

    /// The heading as [`table::table`] takes it.
    fn marked_head(&self) -> String {
        let optional = if self.is_optional { "?" } else { "" };
        let number = if self.format == Format::Words { "" } else { ">" };
        format!("{optional}{number}{}", self.head())
    }

    /// The text of a cell, in which `write` writes figures. With a resolution a cost below it is written as less than it.
    pub(crate) fn cell(
        &self,
        row: &R,
        resolution: Option<Resolution>,
        write: impl Fn(Format, Option<f64>) -> String,
    ) -> String {
        match ((self.value)(row), resolution, self.format) {
            (Value::Words(words), ..) => words,
            (Value::Figure(Some(ns)), Some(resolution), Format::Cost) => {
                resolution.write(ns, |ns| write(Format::Cost, Some(ns)))
            }
            (Value::Figure(figure), ..) => write(self.format, figure),
        }
    }
}

impl Format {
    fn write(self, figure: Option<f64>) -> String {
        match self {
            Self::Words | Self::Right => number(figure, 0),
            Self::Digits(digits) | Self::Ratio(digits) => number(figure, digits),
            Self::Micros => number(figure.map(|ns| ns / 1e3), 2),
            Self::Cost => figure.map_or_else(|| "-".to_owned(), table::cost),
            Self::Percent => figure.map_or_else(String::new, |share| number(Some(100.0 * share), 1)),
            Self::Thousands => figure.map_or_else(|| "-".to_owned(), thousands),
        }
    }
}

fn thousands(value: f64) -> String {
    let plain = format!("{value:.0}");
    let lead = plain.len() % 3;
    let groups = plain.as_bytes()[lead..].chunks(3).map(|group| String::from_utf8_lossy(group));
    let parts: Vec<_> = (lead > 0).then(|| plain[..lead].into()).into_iter().chain(groups).collect();
    parts.join(" ")
}

impl<T: Into<String>> From<T> for Value {
    fn from(words: T) -> Self {
        Self::Words(words.into())
    }
}

/// A figure, measured or not.
pub(crate) fn figure(figure: impl Into<Option<f64>>) -> Value {
    Value::Figure(figure.into())
}

/// A count.
pub(crate) fn count(count: usize) -> Value {
    Value::Figure(Some(count as f64))
}

/// A table of these rows; nothing if there are none.
pub(crate) fn plain<'a, R: 'a>(columns: &[Column<R>], rows: impl IntoIterator<Item = &'a R>) -> String {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() { String::new() } else { table::text(&filled(columns, rows)) }
}

/// The same, with costs that the timer cannot tell from none as less than its resolution.
pub(crate) fn resolved<'a, R: 'a>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = &'a R>,
    resolution: Resolution,
) -> String {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() { String::new() } else { table::text(&written(columns, rows, Some(resolution))) }
}

/// A table of those contenders that were measured, and below it why others were not.
pub(crate) fn contenders<R: ContenderRow>(columns: &[Column<R>], rows: &[R]) -> String {
    finish(rows, filled(columns, rows.iter().filter(|row| row.skipped().is_none())))
}

/// A table of these rows, which may be none.
pub(crate) fn filled<'a, R: 'a>(columns: &[Column<R>], rows: impl IntoIterator<Item = &'a R>) -> table::Table {
    written(columns, rows, None)
}

fn written<'a, R: 'a>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = &'a R>,
    resolution: Option<Resolution>,
) -> table::Table {
    let heads: Vec<String> = columns.iter().map(Column::marked_head).collect();
    let mut table = table::table(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    for row in rows {
        table.add_row(columns.iter().map(|column| column.cell(row, resolution, Format::write)));
    }
    table
}

#[cfg(test)]
pub(crate) mod tests {
    use serde::Serialize;

    pub(crate) use super::documentation::{assert_documented, assert_fields_documented};
    use super::*;

    /// Every column with a name has the value of that field, fields that were not measured are `null`, and `docs/json` describes
    /// them as fields of `path` in the section of `command`.
    pub(crate) fn agree_with_json<R: Serialize>(columns: &[Column<R>], row: &R, command: &str, path: &str) {
        assert_documented(columns, command, path);
        assert_values(columns, row, row);
    }

    /// The same where `row` is more than what is written as JSON, which `written` is.
    pub(crate) fn assert_values<R>(columns: &[Column<R>], row: &R, written: &impl Serialize) {
        let json = serde_json::to_value(written).expect("a row is JSON");
        for column in columns.iter().filter(|column| !column.name.is_empty()) {
            let field = json.pointer(&format!("/{}", column.name));
            let field = field.unwrap_or_else(|| panic!("there is no field {} in {json}", column.name));
            match (column.value)(row) {
                Value::Words(words) => assert_eq!(field.as_str(), Some(words.as_str()), "{}", column.name),
                Value::Figure(figure) => assert_eq!(field.as_f64(), figure, "{}", column.name),
            }
        }
    }

    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        times: [Option<f64>; 2],
        count: usize,
    }

    const COLUMNS: &[Column<Row>] = &[
        Column::words("name", "who", |row| row.name.into()),
        Column::figure("times/0", "p50", "ns", |row| figure(row.times[0]), Format::Cost),
        Column::figure("times/1", "p99", "us", |row| figure(row.times[1]), Format::Micros),
        Column::figure("count", "done", "", |row| count(row.count), Format::Thousands),
        Column::figure("", "half", "%", |row| figure(row.times[0].map(|_| 0.5)), Format::Percent),
    ];

    #[test]
    fn columns_have_headings_with_units_and_cells_in_their_format() {
        let rows = [
            Row { name: "a", times: [Some(12.34), Some(2500.0)], count: 1_234_567 },
            Row { name: "b", times: [None, None], count: 9 },
        ];
        let text = plain(COLUMNS, &rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0].split_whitespace().collect::<Vec<_>>(),
            ["who", "p50", "ns", "p99", "us", "done", "half", "%"]
        );
        assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["a", "12.3", "2.50", "1", "234", "567", "50.0"]);
        assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["b", "-", "-", "9"]);
        assert_eq!(plain(COLUMNS, &[]), "");
        rows.iter().for_each(|row| assert_values(COLUMNS, row, row));
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(
            [0.4, 999.0, 1000.0, 1_234_567.0, 12e6].map(thousands),
            ["0", "999", "1 000", "1 234 567", "12 000 000"]
        );
    }
}
