//! Tables for people: columns under headings, numbers to the right, no wider than the screen.
//!
//! A table that is too wide first loses its optional columns, the rightmost first. Then its columns of words are broken between
//! words, unless they would become too narrow to read; then a last column of words goes below its row; and then columns of
//! numbers are left out, the rightmost first. The line below the table names the columns that are not shown; `--json` has them
//! all. No word is cut: a name that is wider than the screen stays as it is.

use unicode_width::UnicodeWidthStr;

use crate::screen;

/// Columns of words that are so wide can be read without effort.
const READABLE: usize = 24;
/// Columns narrower than this are not made narrower: broken lines of one word each are hard to read.
const NARROWEST: usize = 16;
/// Blanks before words below their row.
const INDENT: usize = 5;
/// Blanks between two columns.
const GAP: usize = 2;

/// Rows of texts under headings.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Clone, Debug)]
struct Column {
    heading: String,
    is_number: bool,
    is_optional: bool,
}

/// The columns of a table that are shown, and how wide each is.
#[derive(Clone, Debug)]
struct Fit {
    /// Column and width.
    shown: Vec<(usize, usize)>,
    /// The column of words that goes below its row.
    below: Option<usize>,
    /// How wide the words below may be.
    width_below: usize,
}

/// A table with these headings. A heading that begins with `?` is of a column that may be left out where there is no room; one
/// that begins with `>`, or with `?>`, stands over numbers.
pub fn table(headings: &[&str]) -> Table {
    let column = |heading: &&str| {
        let rest = heading.strip_prefix('?');
        let (is_optional, heading) = (rest.is_some(), rest.unwrap_or(heading));
        let number = heading.strip_prefix('>');
        Column { heading: number.unwrap_or(heading).to_owned(), is_number: number.is_some(), is_optional }
    };
    Table { columns: headings.iter().map(column).collect(), rows: Vec::new() }
}

/// The text of a table, without blanks at the ends of lines, as wide as the screen allows.
pub fn text(table: &Table) -> String {
    table.fitted(screen::width())
}

impl Table {
    /// Adds a row; columns that it has no text for are empty.
    pub fn add_row<T: ToString>(&mut self, cells: impl IntoIterator<Item = T>) -> &mut Self {
        let mut row: Vec<String> = cells.into_iter().map(|cell| cell.to_string()).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
        self
    }

    /// The number of columns.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// The text at that width, if words and names allow it.
    pub fn fitted(&self, width: usize) -> String {
        let fit = self.fit(width);
        let headings: Vec<String> = self.columns.iter().map(|column| column.heading.clone()).collect();
        let has_headings = headings.iter().any(|heading| !heading.is_empty());
        let mut text = if has_headings { self.row_text(&headings, &fit) } else { String::new() };
        let common = self.common_text_below(&fit);
        for row in &self.rows {
            text += &self.row_text(row, &fit);
            if common.is_none() {
                text += &self.text_below(row, &fit);
            }
        }
        text + &common.unwrap_or_default() + &self.left_out(&fit, width)
    }

    fn fit(&self, width: usize) -> Fit {
        let all = (0..self.columns.len()).map(|column| (column, self.width(column)));
        // A column of which every text is empty needs no room.
        let shown = all.filter(|&(_, width)| width > 0).collect();
        let mut fit = Fit { shown, below: None, width_below: width.saturating_sub(INDENT) };
        while fit.width() > width {
            if !fit.drop_last(|column| self.columns[column].is_optional)
                && !self.narrow(&mut fit, width, READABLE)
                && !self.move_below(&mut fit)
                && !self.narrow(&mut fit, width, NARROWEST)
                && !fit.drop_last(|column| self.columns[column].is_number)
            {
                break;
            }
        }
        fit
    }

    /// Makes the columns of words, the widest first, so narrow that all fits; false if one had to be narrower than `narrowest`.
    fn narrow(&self, fit: &mut Fit, width: usize, narrowest: usize) -> bool {
        let mut narrowed = fit.clone();
        while narrowed.width() > width {
            let wide = narrowed.shown.iter_mut().filter(|(column, width)| {
                !self.columns[*column].is_number && *width > self.longest_word(*column).max(narrowest)
            });
            let Some((_, widest)) = wide.max_by_key(|(_, width)| *width) else { return false };
            *widest -= 1;
        }
        *fit = narrowed;
        true
    }

    /// Moves the last column below its row; false if it is the only one, is of numbers, or one was moved before.
    fn move_below(&self, fit: &mut Fit) -> bool {
        let last = fit.shown.last().filter(|(column, _)| !self.columns[*column].is_number);
        let Some(&(column, _)) = last.filter(|_| fit.shown.len() > 1 && fit.below.is_none()) else { return false };
        fit.below = Some(column);
        fit.shown.pop();
        true
    }

    fn texts(&self, column: usize) -> impl Iterator<Item = &str> {
        let heading = self.columns[column].heading.as_str();
        [heading].into_iter().chain(self.rows.iter().map(move |row| row[column].as_str()))
    }

    fn width(&self, column: usize) -> usize {
        self.texts(column).flat_map(str::lines).map(str::width).max().unwrap_or(0)
    }

    fn longest_word(&self, column: usize) -> usize {
        self.texts(column).flat_map(str::split_whitespace).map(str::width).max().unwrap_or(0)
    }

    fn row_text(&self, row: &[String], fit: &Fit) -> String {
        let cells: Vec<Vec<String>> = fit.shown.iter().map(|&(column, width)| wrapped(&row[column], width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        (0..height).map(|line| self.line_text(&cells, line, fit)).collect()
    }

    /// The words that have no room in their row, with the heading of their column.
    fn text_below(&self, row: &[String], fit: &Fit) -> String {
        let Some(column) = fit.below.filter(|&column| !row[column].is_empty()) else { return String::new() };
        let heading = &self.columns[column].heading;
        let words = if heading.is_empty() { row[column].clone() } else { format!("{heading}: {}", row[column]) };
        let indent = " ".repeat(INDENT);
        wrapped(&words, fit.width_below).iter().map(|line| format!("{indent}{line}\n")).collect()
    }

    /// The words below if they are the same for all of several rows: they stand once, below the table.
    fn common_text_below(&self, fit: &Fit) -> Option<String> {
        let [first, rest @ ..] = self.rows.as_slice() else { return None };
        let is_common = |column: &usize| !rest.is_empty() && rest.iter().all(|row| row[*column] == first[*column]);
        fit.below.filter(is_common).map(|_| self.text_below(first, fit))
    }

    fn line_text(&self, cells: &[Vec<String>], line: usize, fit: &Fit) -> String {
        let mut text = String::from(" ");
        for (cell, &(column, width)) in cells.iter().zip(&fit.shown) {
            let content = cell.get(line).map_or("", String::as_str);
            let blanks = " ".repeat(width.saturating_sub(content.width()));
            let is_number = self.columns[column].is_number;
            let (before, behind) = if is_number { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
            text += &format!("{before}{content}{behind}{}", " ".repeat(GAP));
        }
        format!("{}\n", text.trim_end())
    }

    /// The line that names the columns for which there was no room.
    fn left_out(&self, fit: &Fit, width: usize) -> String {
        let is_shown = |column| fit.below == Some(column) || fit.shown.iter().any(|&(shown, _)| shown == column);
        let left_out = (0..self.columns.len()).filter(|&column| !is_shown(column) && self.width(column) > 0);
        let names: Vec<&str> = left_out.map(|column| self.columns[column].heading.as_str()).collect();
        if names.is_empty() {
            return String::new();
        }
        let line = format!("not shown in {width} columns, but with --json: {}", names.join(", "));
        wrapped(&line, width.saturating_sub(3)).iter().map(|line| format!("   {line}\n")).collect()
    }
}

impl Fit {
    fn width(&self) -> usize {
        1 + self.shown.iter().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// Leaves out the last column but the first that may go; false if there is none.
    fn drop_last(&mut self, may_go: impl Fn(usize) -> bool) -> bool {
        let last = self.shown.iter().rposition(|&(column, _)| may_go(column)).filter(|&place| place > 0);
        if let Some(place) = last {
            self.shown.remove(place);
        }
        last.is_some()
    }
}

/// The lines of a text, each broken between words where it is wider than `width`.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.width() <= width {
            lines.push(line.to_owned());
            continue;
        }
        let mut open = String::new();
        for word in line.split_whitespace() {
            if !open.is_empty() && open.width() + 1 + word.width() > width {
                lines.push(std::mem::take(&mut open));
            }
            open += if open.is_empty() { "" } else { " " };
            open += word;
        }
        lines.push(open);
    }
    lines
}

/// A cost for people: no more digits than it is good for.
pub fn cost(cost: f64) -> String {
    match cost {
        f64::INFINITY => INFINITE.to_owned(),
        _ if cost < 100.0 => format!("{cost:.1}"),
        _ => format!("{cost:.0}"),
    }
}

/// How an infinite number is written.
pub const INFINITE: &str = "∞";

/// A number with that number of digits behind the point; `-` for none.
pub fn number(value: Option<f64>, digits: usize) -> String {
    match value {
        None => "-".to_owned(),
        Some(f64::INFINITY) => INFINITE.to_owned(),
        Some(value) => format!("{value:.digits$}"),
    }
}

/// A number of things: `1 thread`, `2 threads`.
pub fn many(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A size for people.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} kB", (bytes + 500) / 1000),
        _ => format!("{} MB", (bytes + 500_000) / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_lines_end_without_blanks() {
        let mut table = table(&["name", ">cost"]);
        table.add_row(["a long name", "1"]).add_row(["b", "1000"]);
        assert_eq!(text(&table), " name         cost\n a long name     1\n b            1000\n");
        assert_eq!([cost(3.04), cost(123.4), cost(f64::INFINITY)], ["3.0", "123", "∞"]);
        assert_eq!([number(Some(1.25), 1), number(None, 1), number(Some(f64::INFINITY), 1)], ["1.2", "-", "∞"]);
        assert_eq!([many(1, "lock"), many(0, "lock")], ["1 lock", "0 locks"]);
        assert_eq!([9_999, 69_632, 1 << 30].map(bytes), ["9999 B", "70 kB", "1074 MB"]);
    }

    fn wide(headings: &[&str], cells: &[&str]) -> Table {
        let mut table = table(headings);
        table.add_row(cells.iter().copied());
        table
    }

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.width()).max().unwrap_or(0)
    }

    #[test]
    fn optional_columns_go_first_and_are_named() {
        let table = wide(&["lock", "?>bound", ">p50", ">p99"], &["a-name-of-20-letters", "1234", "5", "7"]);
        assert!(!table.fitted(40).contains("not shown"));
        let text = table.fitted(34);
        assert!(widest(&text) <= 34 && !text.contains("1234"), "{text}");
        assert!(text.contains(" a-name-of-20-letters    5    7\n"), "{text}");
        assert!(text.ends_with("with --json: bound\n"), "{text}");
        let text = table.fitted(28);
        assert!(!text.contains(" 7\n") && text.ends_with(" p99\n"), "numbers go next: {text}");
    }

    #[test]
    fn words_are_moved_to_the_next_line_and_never_cut() {
        let about = "everybody signals the member that is one, two, four and so on places further";
        let text = wide(&["", ""], &["dissemination", about]).fitted(50);
        assert!(widest(&text) <= 50, "{text}");
        assert_eq!(text.split_whitespace().skip(1).collect::<Vec<_>>().join(" "), about);
        let second = text.lines().nth(1).expect("two lines");
        assert!(second.starts_with(&" ".repeat(16)), "it stays in its column: {text}");
        let name = "n".repeat(90);
        assert!(
            wide(&["", ">"], &[&name, "1"]).fitted(80).contains(&name),
            "a name that has no place to break stays whole"
        );
    }

    #[test]
    fn words_at_the_end_go_below_their_row_before_they_are_hard_to_read() {
        let mut table = table(&["gate", ">asked", ">found", "verdict"]);
        let reason = "not judged here: needs four CPUs in two packages";
        table.add_row(["time of a barrier / time of pthread's, with as many members", "<= 1.5", "-", reason]);
        table.add_row(["second", "<= 1", "0.5", ""]);
        let text = table.fitted(60);
        assert!(widest(&text) <= 60 && !text.contains("not shown"), "{text}");
        assert!(
            text.contains("\n     verdict: not judged here: needs four CPUs in two\n     packages\n second"),
            "{text}"
        );
        assert!(text.ends_with("0.5\n"), "an empty cell has no line: {text}");
        assert!(table.fitted(70).contains("found  verdict"), "with more room it stays in its row");
        let mut common = wide(&["a machine", "source"], &["b", reason]);
        common.add_row(["c", reason]);
        let once = wrapped(&format!("source: {reason}"), 29).join("\n     ");
        assert_eq!(common.fitted(34), format!(" a machine\n b\n c\n     {once}\n"));
    }

    #[test]
    fn wide_letters_take_two_places_and_empty_columns_none() {
        let mut table = table(&["name", "", ">cost"]);
        table.add_row(["漢字", "", "1"]).add_row(["abcd", "", "2"]);
        assert_eq!(table.fitted(80), " name  cost\n 漢字     1\n abcd     2\n");
    }
}
