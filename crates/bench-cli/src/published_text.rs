//! Published figures and the cost of a bare line beside those found here, for people.

use corecast_bench::{LineTransfer, PublishedFigure};

use corecast_cli::table::{number, table, text};

/// One line for each figure; nothing if there is none.
pub(crate) fn describe(published: &[PublishedFigure]) -> String {
    let mut rows = table(&["published of other machines", "machine", ">least", ">most", ">here", "source"]);
    for PublishedFigure { figure, machine, least, most, source, here } in published {
        let [least, most] = [*least, *most].map(|value| number(Some(value), 2));
        rows.add_row([
            (*figure).to_owned(),
            (*machine).to_owned(),
            least,
            most,
            number(*here, 2),
            (*source).to_owned(),
        ]);
    }
    if published.is_empty() { String::new() } else { text(&rows) }
}

/// One line for each distance; nothing if there is one CPU.
pub(crate) fn lines(lines: &[LineTransfer]) -> String {
    let mut rows = table(&["a bare line, one way", "CPUs", ">ns"]);
    for LineTransfer { distance, cpus: [from, to], line_ns } in lines {
        rows.add_row([(*distance).to_owned(), format!("{from}, {to}"), number(*line_ns, 0)]);
    }
    if lines.is_empty() { String::new() } else { text(&rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_here_is_a_dash_and_nothing_is_no_table() {
        assert_eq!((describe(&[]), lines(&[])), (String::new(), String::new()));
        let transfer = LineTransfer { distance: "same package", cpus: [0, 3], line_ns: None };
        let text = lines(&[transfer]);
        assert!(text.contains("same package") && text.contains("0, 3") && text.trim_end().ends_with('-'), "{text}");
    }
}
