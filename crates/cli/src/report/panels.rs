//! Many curves as small pictures beside each other: each shows one curve before all the others, on axes that all share.
//!
//! More than a handful of curves in one picture cannot be told apart by colour, least of all by readers who see few of them.
//! Here the place tells them apart: the name stands above, and the figure of the last step beside it. The small pictures
//! flow into as many columns as the page has room for.

use std::fmt::Write;

use super::axis::Axis;
use super::line_chart::{Line, LineChart};
use super::svg::{Paint, Point, Svg, coordinate};
use crate::table::INFINITE;

const WIDTH: f64 = 172.0;
const HEIGHT: f64 = 122.0;
const LEFT: f64 = 36.0;
const RIGHT: f64 = 164.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 104.0;
/// About the letters that fit beside the figure.
const NAME_LENGTH: usize = 19;

/// A picture for each curve that has points, in the order of the lines.
pub(super) fn panels(chart: &LineChart<'_>) -> Vec<String> {
    let Some(axis) = chart.axis(BOTTOM, TOP - BOTTOM) else { return Vec::new() };
    let with_points = chart.lines.iter().filter(|line| line.points().next().is_some());
    with_points.map(|line| panel(chart, &axis, line)).collect()
}

fn panel(chart: &LineChart<'_>, axis: &Axis, line: &Line) -> String {
    let figures: Vec<String> =
        line.points().map(|(step, value)| format!("{}: {}", chart.steps[step], (chart.write)(value))).collect();
    let title = format!("{}: {}", chart.title, line.name);
    let mut svg = Svg::begin(WIDTH, HEIGHT, &title, &format!("{}.", figures.join("; ")));
    let kind = if line.is_ours { "ours" } else { "rival" };
    let class = if line.is_ours { "small text-ours" } else { "small strong" };
    svg.text((0.0, 11.0), class, &shortened(&line.name));
    if let Some((_, last)) = line.points().last() {
        svg.text((WIDTH - 4.0, 11.0), "small end digits quiet", &(chart.write)(last));
    }
    grid(&mut svg, chart, axis);
    for other in chart.lines.iter().filter(|other| !std::ptr::eq(*other, line)) {
        svg.path(&path(&points(chart, axis, other)), "curve-other", "");
    }
    let own = points(chart, axis, line);
    svg.path(&path(&own), &format!("curve-{kind} curve-own"), "");
    for ((at, (_, value)), figure) in own.iter().zip(line.points()).zip(&figures) {
        svg.circle(*at, 2.4, Paint::Class(&format!("median-{kind}")), &format!("{}, {figure}", line.name));
        if value.is_infinite() {
            svg.text((at.0, at.1 - 4.0), "small middle", INFINITE);
        }
    }
    svg.finish()
}

/// The lowest and the highest tick, the first and the last step: the middle can be guessed, and the tables have all.
fn grid(svg: &mut Svg, chart: &LineChart<'_>, axis: &Axis) {
    let ticks = axis.ticks();
    for &tick in [ticks.first(), ticks.last()].into_iter().flatten() {
        let y = axis.pixel(tick);
        svg.line((LEFT, y), (RIGHT, y), "grid");
        svg.text((LEFT - 4.0, y + 4.0), "tiny end quiet", &(chart.write)(tick));
    }
    let last = chart.steps.len().saturating_sub(1);
    for (step, class) in [(0, "tiny quiet"), (last, "tiny end quiet")] {
        if let Some(text) = chart.steps.get(step).filter(|_| step != 0 || last > 0) {
            svg.text((x(chart, step), BOTTOM + 13.0), class, text);
        }
    }
}

fn x(chart: &LineChart<'_>, step: usize) -> f64 {
    LEFT + (RIGHT - LEFT) * step as f64 / (chart.steps.len() - 1).max(1) as f64
}

fn points(chart: &LineChart<'_>, axis: &Axis, line: &Line) -> Vec<Point> {
    line.points().map(|(step, value)| (x(chart, step), axis.pixel(value))).collect()
}

/// A way through these points.
fn path(points: &[Point]) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let verb = if path.is_empty() { 'M' } else { 'L' };
        write!(path, "{verb}{} {}", coordinate(*x), coordinate(*y)).expect("writing to a string does not fail");
    }
    path
}

/// A long name without its middle: the end often tells variants apart.
fn shortened(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= NAME_LENGTH {
        return name.to_owned();
    }
    let half = NAME_LENGTH / 2;
    letters[..half].iter().chain(&['…']).chain(&letters[letters.len() - half..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: Vec<Line>) -> LineChart<'static> {
        LineChart {
            title: "a < b",
            description: "many",
            steps: ["1", "2", "4*"].map(str::to_owned).to_vec(),
            note: "threads".to_owned(),
            lines,
            write: |value| if value.is_infinite() { "∞".to_owned() } else { format!("{value} M/s") },
        }
    }

    fn line(name: &str, values: [Option<f64>; 3]) -> Line {
        Line { name: name.to_owned(), is_ours: name == "auto", values: values.to_vec() }
    }

    #[test]
    fn each_curve_has_a_picture_with_the_others_behind_it() {
        let lines = vec![
            line("auto", [Some(1.0), Some(2.0), Some(30.0)]),
            line("<mcs>", [Some(1.0), None, Some(f64::INFINITY)]),
            line("none", [None; 3]),
        ];
        let pictures = panels(&chart(lines));
        assert_eq!(pictures.len(), 2, "a curve without points has none");
        for picture in &pictures {
            let document = roxmltree::Document::parse(picture).expect("well-formed");
            let paths = document.descendants().filter(|node| node.has_tag_name("path"));
            assert_eq!(paths.filter(|path| path.attribute("class") == Some("curve-other")).count(), 2, "{picture}");
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        }
        assert!(pictures[0].contains("text-ours") && pictures[0].contains("auto, 4*: 30 M/s"), "{}", pictures[0]);
        assert!(pictures[1].contains("&lt;mcs&gt;") && pictures[1].contains(">∞</text>"), "{}", pictures[1]);
    }

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(shortened("corecast/tree/adaptive+shuffle+sort"), "corecast/…ffle+sort");
        assert_eq!(shortened("auto"), "auto");
    }
}
