//! Operations on lines in every state as a picture: a cell for each case, whose colour shows its time.

use crate::coherence_grid::Grid;
use corecast_cli::report::heat_scale::Scale;
use corecast_cli::report::number::{significant, time};
use corecast_cli::report::ramp;
use corecast_cli::report::svg::{Area, Paint, Svg};
use corecast_cli::resolution::Resolution;

const WIDTH: f64 = 100.0;
const HEIGHT: f64 = 30.0;
const LEFT: f64 = 88.0;
const TOP: f64 = 46.0;
const BELOW: f64 = 62.0;

/// The picture, called `title`; nothing if no case was measured.
pub(super) fn draw(grid: &Grid<'_>, title: &str, resolution: Resolution) -> Option<String> {
    let medians =
        || grid.rows.iter().flat_map(|row| grid.columns.iter().filter_map(|column| median(grid, row, column)));
    medians().next()?;
    let scale = Scale::over(medians().map(|ns| ns.max(0.0)));
    let (across, down) = (WIDTH * grid.columns.len() as f64, HEIGHT * grid.rows.len() as f64);
    let description = format!(
        "A cell for each operation, by row, and each state of the line before, by column: medians from {} to {}.",
        time(scale.least()),
        time(scale.most())
    );
    let mut svg = Svg::begin((LEFT + across + 8.0).max(300.0), TOP + down + BELOW, title, &description);
    svg.text((0.0, 14.0), "subject", title);
    for (number, column) in grid.columns.iter().enumerate() {
        svg.text((LEFT + (number as f64 + 0.5) * WIDTH, TOP - 8.0), "tiny middle quiet", column);
    }
    for (number, row) in grid.rows.iter().enumerate() {
        svg.text((LEFT - 8.0, TOP + (number as f64 + 0.5) * HEIGHT + 4.0), "small end", row);
    }
    cells(grid, &scale, resolution, &mut svg);
    let width = across.clamp(160.0, 340.0);
    scale.legend(&mut svg, (LEFT, TOP + down + 16.0), width, corecast::machine::Unit::Ns);
    Some(svg.finish())
}

fn median(grid: &Grid<'_>, row: &str, column: &str) -> Option<f64> {
    grid.cell(row, column)?.times.as_ref().map(|times| times.p50_ns)
}

fn cells(grid: &Grid<'_>, scale: &Scale, resolution: Resolution, svg: &mut Svg) {
    for (down, row) in grid.rows.iter().enumerate() {
        for (across, column) in grid.columns.iter().enumerate() {
            let (x, y) = (LEFT + across as f64 * WIDTH, TOP + down as f64 * HEIGHT);
            let area = Area { x, y, width: WIDTH, height: HEIGHT };
            let Some(cell) = grid.cell(row, column) else {
                svg.rect(area, Paint::Class("self"), "");
                continue;
            };
            let times = cell.times.as_ref().expect("a grid has what was measured");
            let step = ramp::step(scale.share(times.p50_ns.max(0.0)));
            let ns = [times.p50_ns, times.p90_ns, times.p99_ns, times.max_ns, times.mean_ns];
            let [p50, p90, p99, most, mean] = ns.map(|ns| resolution.write_with_unit(ns, time));
            let name = &cell.case;
            let tip = format!("{name}: median {p50}, 90 % {p90}, 99 % {p99}, largest {most}, mean {mean}");
            svg.rect(area, Paint::Heat(step), &tip);
            let shade = format!("small middle digits ink{step}");
            svg.text((x + WIDTH / 2.0, y + HEIGHT / 2.0 + 3.5), &shade, &resolution.write(times.p50_ns, significant));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coherence_grid::tests::report;

    #[test]
    fn every_case_measured_has_a_cell_that_tells_its_times() {
        let report = report();
        let text = draw(&Grid::of(&report.groups[0]), "a <pair>", Resolution::of_ns(0.0)).expect("cases");
        let document = roxmltree::Document::parse(&text).expect("well-formed");
        let tips = document.descendants().filter(|node| node.is_text()).filter_map(|node| node.text());
        let tips: Vec<&str> = tips.filter(|text| text.contains(": median ")).collect();
        assert_eq!(tips.len(), 3);
        assert_eq!(tips[0], "load-modified: median 50 ns, 90 % 50 ns, 99 % 100 ns, largest 150 ns, mean 50 ns");
    }

    #[test]
    fn times_that_the_timer_cannot_tell_are_written_as_less_than_it_can() {
        let report = report();
        let text = draw(&Grid::of(&report.groups[0]), "a pair", Resolution::of_ns(55.0)).expect("cases");
        assert!(text.contains(">&lt; 100</text>") && !text.contains(">50</text>"), "{text}");
        assert!(text.contains("median &lt; 100 ns"), "{text}");
    }

    #[test]
    fn nothing_measured_is_no_picture() {
        let mut report = report();
        report.groups[0].cells.retain(|cell| cell.times.is_none());
        assert!(draw(&Grid::of(&report.groups[0]), "none", Resolution::of_ns(0.0)).is_none());
    }
}
