//! The race as one picture that stands alone, for a README or a slide.
//!
//! It carries its own ground and colours, because it is shown on pages whose scheme it cannot ask for. Of corecast's
//! many variants it shows the one that corecast takes by itself, the fastest and the slowest; every rival is there.
//! Leave groups out of the report to show fewer.

use corecast_race::Report;

use super::palette;
use super::race_chart::{RaceChart, legend};
use super::race_layout::BROAD;
use super::ranking::headline;
use super::svg::{Area, Paint, Svg};

const MARGIN: f64 = 16.0;
const HEAD: f64 = 92.0;
const GAP: f64 = 16.0;
const FOOT: f64 = 22.0;
/// About what fits into the width.
const LINE_LENGTH: usize = 120;

/// The groups of a race as an SVG document about 890 pixels wide; `date` is when it was run.
pub(crate) fn race_picture(report: &Report, date: &str) -> String {
    let charts: Vec<RaceChart<'_>> =
        report.groups.iter().filter_map(|group| RaceChart::of(group, headline(group))).collect();
    let body: f64 = charts.iter().map(|chart| chart.titled_height() + GAP).sum();
    let (width, height) = (BROAD.width + 2.0 * MARGIN, HEAD + body + FOOT);
    let subtitle: String = format!("{} · {date}", report.machine).chars().take(LINE_LENGTH).collect();
    let title = "corecast against what is used today";
    let mut svg = Svg::begin(width, height, title, &format!("{subtitle}. {} races.", charts.len()));
    svg.style(&palette::standalone_style());
    svg.rect(Area { x: 0.0, y: 0.0, width, height }, Paint::Class("ground"), "");
    svg.open_group((MARGIN, MARGIN), (1.0, 1.0), "");
    svg.text((0.0, 14.0), "heading", title);
    svg.text((0.0, 32.0), "quiet", &subtitle);
    legend(&mut svg, (0.0, 49.0), false);
    let mut top = HEAD;
    for chart in &charts {
        chart.draw_titled(&mut svg, top - MARGIN);
        top += chart.titled_height() + GAP;
    }
    let note = "Of corecast's variants: its own choice, the fastest and the slowest. Further left is better.";
    svg.text((0.0, top - MARGIN + 8.0), "small quiet", note);
    svg.close_group();
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn needs_nothing_but_itself_and_keeps_strange_names_as_text() {
        let mut report = example::race(&[(2, 2), (8, 2)]);
        report.machine = "<script>alert(1)</script>".to_owned();
        let picture = race_picture(&report, "2026-02-01");
        let document = roxmltree::Document::parse(&picture).expect("well-formed");
        assert!(!document.descendants().any(|node| node.has_tag_name("script")));
        let shown: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        assert!(shown.iter().any(|text| text.starts_with("<script>")), "the name is shown");
        assert!(shown.iter().any(|text| text.contains("oversubscribed")));
        assert!(!picture.contains("var("), "no variables");
    }

    #[test]
    fn a_race_without_groups_is_a_picture_too() {
        let mut report = example::race(&[]);
        report.groups.clear();
        roxmltree::Document::parse(&race_picture(&report, "")).expect("well-formed");
    }
}
