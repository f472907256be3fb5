//! Published figures, and the cost of a bare line, as text beside the figures of this run.

use corecast_bench::{LineTransfer, PublishedFigure};

use crate::columns::Format::Digits;
use crate::columns::{self, Column, figure};

const PUBLISHED: &[Column<PublishedFigure>] = &[
    Column::words("figure", "published of other machines", |row| row.figure.into()),
    Column::words("machine", "machine", |row| row.machine.into()),
    Column::figure("least", "least", "", |row| figure(row.least), Digits(2)),
    Column::figure("most", "most", "", |row| figure(row.most), Digits(2)),
    Column::figure("here", "here", "", |row| figure(row.here), Digits(2)),
    Column::words("source", "source", |row| row.source.into()),
];
const LINES: &[Column<LineTransfer>] = &[
    Column::words("distance", "a bare line, one way", |row| row.distance.into()),
    Column::words("", "CPUs", |row| row.cpus.map(|cpu| cpu.to_string()).join(", ").into()),
    Column::figure("line_ns", "ns", "", |row| figure(row.line_ns), Digits(0)),
];

/// One line for each figure; nothing if there is none.
pub(crate) fn describe(published: &[PublishedFigure]) -> String {
    columns::plain(PUBLISHED, published)
}

/// One line for each distance; nothing if there is one CPU.
pub(crate) fn lines(lines: &[LineTransfer]) -> String {
    columns::plain(LINES, lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn an_unknown_figure_is_a_dash_and_nothing_is_no_table() {
        assert_eq!((describe(&[]), lines(&[])), (String::new(), String::new()));
        let transfer = LineTransfer { distance: "same package", cpus: [0, 3], line_ns: None };
        agree_with_json(LINES, &transfer);
        let text = lines(&[transfer]);
        assert!(text.contains("same package") && text.contains("0, 3") && text.trim_end().ends_with('-'), "{text}");
    }
}
