//! Published figures, and the cost of a bare line, as text beside the figures of this run.

use corecast_bench::{LineTransfer, PublishedFigure};

use crate::columns;
use crate::columns::published::{LINES, PUBLISHED};

/// One line for each figure; nothing if there is none.
pub(crate) fn describe(published: &[PublishedFigure]) -> String {
    titled("published of other machines", columns::plain(PUBLISHED, published))
}

/// One line for each distance; nothing if there is one CPU.
pub(crate) fn lines(lines: &[LineTransfer]) -> String {
    titled("a bare line, one way", columns::plain(LINES, lines))
}

fn titled(title: &str, table: String) -> String {
    if table.is_empty() { table } else { format!("{title}\n{table}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn an_unknown_figure_is_a_dash_and_nothing_is_no_table() {
        assert_eq!((describe(&[]), lines(&[])), (String::new(), String::new()));
        let transfer = LineTransfer { distance: "same package", cpus: [0, 3], line_ns: None };
        let figure = PublishedFigure {
            figure: "one word",
            machine: "a Xeon",
            least: 20.0,
            most: 21.5,
            source: "somebody",
            here: None,
        };
        agree_with_json(PUBLISHED, &figure, "bench atomics", "published[]");
        agree_with_json(PUBLISHED, &figure, "cc", "published[]");
        agree_with_json(PUBLISHED, &figure, "bench channels", "published[]");
        agree_with_json(LINES, &transfer, "bench atomics", "lines[]");
        let text = lines(&[transfer]);
        assert!(text.contains("same package") && text.contains("0, 3") && text.trim_end().ends_with('-'), "{text}");
    }
}
