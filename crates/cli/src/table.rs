//! Tables for people: columns under headings, numbers to the right.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// A table with these headings; a heading that begins with `>` stands over numbers.
pub fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headings.iter().map(|heading| heading.trim_start_matches('>')));
    for (heading, column) in headings.iter().zip(table.column_iter_mut()) {
        if heading.starts_with('>') {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// The text of a table, without blanks at the ends of lines.
pub fn text(table: &Table) -> String {
    table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A cost for people: no more digits than it is good for.
pub fn cost(cost: f64) -> String {
    if cost < 100.0 { format!("{cost:.1}") } else { format!("{cost:.0}") }
}

/// A number with so many digits behind the point; `-` for none.
pub fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}

/// So many of these: `1 thread`, `2 threads`.
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
        assert_eq!([cost(3.04), cost(123.4)], ["3.0", "123"]);
        assert_eq!([number(Some(1.25), 1), number(None, 1)], ["1.2", "-"]);
        assert_eq!([many(1, "lock"), many(0, "lock")], ["1 lock", "0 locks"]);
        assert_eq!([9_999, 69_632, 1 << 30].map(bytes), ["9999 B", "70 kB", "1074 MB"]);
    }
}
