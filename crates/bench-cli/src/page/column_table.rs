//! The tables of the terminal on a page: the same columns, all of them, with figures of three significant digits.

use corecast_cli::report::number::{ratio, significant};
use corecast_cli::report::plain_table::{self, or_dash, row_reasons};
use corecast_cli::resolution::Resolution;
use corecast_race::report::ContenderRow;
use maud::{Markup, html};

use crate::columns::{Column, Format};

/// These rows, which may be none.
pub(super) fn table<'a, R: 'a>(caption: &str, columns: &[Column<R>], rows: impl IntoIterator<Item = &'a R>) -> Markup {
    written(caption, columns, rows, None)
}

/// The same, with costs that the timer cannot tell from none as less than its resolution.
pub(super) fn resolved<'a, R: 'a>(
    caption: &str,
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = &'a R>,
    resolution: Resolution,
) -> Markup {
    written(caption, columns, rows, Some(resolution))
}

/// All contenders, and below them why some have no figures.
pub(super) fn contenders<R: ContenderRow>(caption: &str, columns: &[Column<R>], rows: &[R]) -> Markup {
    html! { (table(caption, columns, rows)) (row_reasons(rows)) }
}

/// The same below a line that opens it.
pub(super) fn folded_contenders<R: ContenderRow>(situation: &str, columns: &[Column<R>], rows: &[R]) -> Markup {
    html! { details { summary { (situation) } (contenders("", columns, rows)) } }
}

fn written<'a, R: 'a>(
    caption: &str,
    columns: &[Column<R>],
    rows: impl IntoIterator<Item = &'a R>,
    resolution: Option<Resolution>,
) -> Markup {
    let heads: Vec<String> = columns.iter().map(Column::head).collect();
    let cells = |row| columns.iter().map(|column| column.cell(row, resolution, write)).collect();
    plain_table::table(caption, &heads.iter().map(String::as_str).collect::<Vec<_>>(), rows.into_iter().map(cells))
}

fn write(format: Format, figure: Option<f64>) -> String {
    match format {
        Format::Words | Format::Right | Format::Digits(_) | Format::Cost | Format::Thousands => {
            or_dash(figure, significant)
        }
        Format::Ratio(_) => or_dash(figure, ratio),
        Format::Micros => or_dash(figure.map(|ns| ns / 1e3), significant),
        Format::Percent => figure.map_or_else(String::new, |share| significant(100.0 * share)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::figure;

    const COLUMNS: &[Column<f64>] = &[
        Column::words("", "lock", |_| "<b>tas".into()),
        Column::figure("", "p50", "ns", |&row| figure(row), Format::Cost),
        Column::optional(Column::figure("", "regret", "", |&row| figure(row), Format::Ratio(2))),
        Column::figure("", "longest", "us", |&row| figure(row), Format::Micros),
        Column::figure("", "lost", "%", |&row| figure(row), Format::Percent),
        Column::figure("", "none", "", |_| figure(None), Format::Digits(3)),
    ];

    #[test]
    fn a_page_has_every_column_with_its_unit_and_names_stay_text() {
        let page = table("", COLUMNS, &[0.5]).into_string();
        for head in ["lock", "p50 ns", "regret", "longest us", "lost %", "none"] {
            assert!(page.contains(&format!("scope=\"col\">{head}</th>")), "'{head}' is not in {page}");
        }
        let cells: Vec<&str> = page.split("<td>").skip(1).filter_map(|rest| rest.split("</td>").next()).collect();
        assert_eq!(cells, ["0.500", "0.50×", "0.001", "50", "–"]);
        assert!(page.contains("&lt;b&gt;tas"), "{page}");
    }

    #[test]
    fn a_cost_that_the_timer_cannot_tell_is_less_than_its_resolution() {
        let page = resolved("in ns", COLUMNS, &[0.5], Resolution::of_ns(10.0)).into_string();
        assert!(page.contains("<td>&lt; 10</td>") && page.contains("in ns"), "{page}");
    }
}
