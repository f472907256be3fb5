//! A table of texts: a name in front of each row, numbers behind it.

use corecast_race::report::ContenderRow;
use maud::{Markup, html};

use crate::row_outcome;
use crate::skipped;

/// The heading of the names comes first.
pub fn table(caption: &str, headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Markup {
    html! {
        div class="scroll" { table {
            @if !caption.is_empty() { caption class="note words" { (caption) } }
            thead { tr {
                @for (column, heading) in headings.iter().enumerate() {
                    th class=[(column == 0).then_some("words")] scope="col" { (heading) }
                }
            } }
            tbody {
                @for row in rows {
                    tr {
                        @for (column, text) in row.iter().enumerate() {
                            @if column == 0 { th class="words" scope="row" { (text) } } @else { td { (text) } }
                        }
                    }
                }
            }
        } }
    }
}

/// The contenders without numbers: a line for each reason.
pub fn reasons<'a>(skipped: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> Markup {
    notes(&skipped::lines(skipped.filter_map(|(name, reason)| Some((name, reason?)))))
}

/// The same of rows, those first that broke down.
pub fn row_reasons<R: ContenderRow>(rows: &[R]) -> Markup {
    notes(&row_outcome::reasons(rows))
}

fn notes(lines: &str) -> Markup {
    html! { @for line in lines.lines() { p class="note" { (line.trim()) } } }
}

/// A number where there is one, as `write` writes it.
pub fn or_dash(value: Option<f64>, write: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_texts_and_gaps_are_dashes() {
        let rows = [vec!["<b>".to_owned(), or_dash(None, |_| unreachable!("there is none"))]];
        let page = table("in ns", &["case", "p50"], rows).into_string();
        assert!(page.contains("&lt;b&gt;") && page.contains("<td>–</td>") && page.contains("in ns"), "{page}");
        assert!(!table("", &["case"], []).into_string().contains("caption"));
        let reasons = reasons([("a", None), ("b", Some("too <late>"))].into_iter()).into_string();
        assert!(reasons.contains("skipped, too &lt;late&gt;: b") && !reasons.contains("a,"), "{reasons}");
        assert_eq!(or_dash(Some(1.5), |value| format!("{value} s")), "1.5 s");
    }
}
