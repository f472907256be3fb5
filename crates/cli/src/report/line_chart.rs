//! A picture of curves: values over steps that are evenly spaced, on a logarithmic axis, each curve named at its end.

use std::fmt::Write;

use super::axis::Axis;
use super::labels::{self, Label};
use super::svg::{Paint, Point, Svg, coordinate};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 590.0;
const NAMES: f64 = 620.0;
const TOP: f64 = 16.0;
const BELOW: f64 = 40.0;

/// What is drawn.
#[derive(Debug)]
pub struct LineChart<'a> {
    /// The heading.
    pub title: &'a str,
    /// The same in words, for those who cannot see it.
    pub description: &'a str,
    /// The steps as they are written, from left to right; one without a text has no tick.
    pub steps: Vec<String>,
    /// What the steps are, and what else is to be known.
    pub note: String,
    /// The curves.
    pub lines: Vec<Line>,
    /// How values are written.
    pub write: fn(f64) -> String,
}

/// One curve.
#[derive(Debug)]
pub struct Line {
    /// What it is called at its end.
    pub name: String,
    /// Drawn as corecast's.
    pub is_ours: bool,
    /// One for each step; `None`, or what is not above zero, is left out.
    pub values: Vec<Option<f64>>,
}

impl Line {
    /// The points that are drawn: step, value.
    fn points(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.values.iter().enumerate().filter_map(|(step, value)| Some((step, (*value).filter(|&value| value > 0.0)?)))
    }
}

impl LineChart<'_> {
    /// `None` if there is nothing to draw.
    pub fn picture(&self) -> Option<String> {
        let values = || self.lines.iter().flat_map(Line::points).map(|(_, value)| value);
        let least = values().reduce(f64::min)?;
        let most = values().fold(least, f64::max);
        let height = HEIGHT.max(labels::height(self.lines.len()) + TOP + BELOW);
        let axis = Axis::logarithmic(least, most, height - BELOW, TOP - (height - BELOW));
        let mut svg = Svg::begin(WIDTH, height, self.title, self.description);
        svg.text((LEFT, 10.0), "small", self.title);
        self.grid(&mut svg, &axis);
        let names = self.lines.iter().filter_map(|line| self.curve(&mut svg, &axis, line)).collect();
        labels::column(&mut svg, names, NAMES, (TOP + 6.0, height - BELOW));
        Some(svg.finish())
    }

    fn x(&self, step: usize) -> f64 {
        LEFT + (RIGHT - LEFT) * step as f64 / (self.steps.len() - 1).max(1) as f64
    }

    fn grid(&self, svg: &mut Svg, axis: &Axis) {
        for tick in axis.ticks() {
            let y = axis.pixel(tick);
            svg.line((LEFT, y), (RIGHT, y), "grid");
            svg.text((LEFT - 6.0, y + 4.0), "small end quiet", &(self.write)(tick));
        }
        let bottom = axis.start();
        for (step, text) in self.steps.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            let x = self.x(step);
            svg.line((x, bottom), (x, bottom + 4.0), "grid");
            svg.text((x, bottom + 17.0), "small middle quiet", text);
        }
        svg.text((LEFT, bottom + 32.0), "small quiet", &self.note);
    }

    /// Draws one curve; returns the name of its end.
    fn curve(&self, svg: &mut Svg, axis: &Axis, line: &Line) -> Option<Label> {
        let kind = if line.is_ours { "ours" } else { "rival" };
        let mut path = String::new();
        let mut points: Vec<(Point, String)> = Vec::new();
        for (step, value) in line.points() {
            let at = (self.x(step), axis.pixel(value));
            let verb = if path.is_empty() { 'M' } else { 'L' };
            write!(path, "{verb}{} {}", coordinate(at.0), coordinate(at.1))
                .expect("a text takes what is written to it");
            points.push((at, format!("{}: {}, {}", line.name, self.steps[step], (self.write)(value))));
        }
        let &(end, _) = points.last()?;
        svg.path(&path, &format!("curve-{kind}"), &line.name);
        for (at, tip) in points {
            svg.circle(at, 3.0, Paint::Class(&format!("median-{kind}")), &tip);
        }
        let class = if line.is_ours { "small text-ours" } else { "small" };
        Some(Label { at: end, class, text: line.name.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: Vec<Line>) -> Option<String> {
        let steps = vec!["1".to_owned(), String::new(), "4*".to_owned()];
        let write = |value| format!("{value} M/s");
        LineChart { title: "a < b", description: "three", steps, note: "threads".to_owned(), lines, write }.picture()
    }

    fn line(values: [Option<f64>; 3]) -> Line {
        Line { name: "one & all".to_owned(), is_ours: true, values: values.to_vec() }
    }

    #[test]
    fn gaps_are_left_out_and_strange_names_stay_text() {
        let picture = chart(vec![line([Some(2.0), None, Some(20.0)]), line([None, Some(0.0), Some(3.0)])]);
        let picture = picture.expect("there are points");
        let document = roxmltree::Document::parse(&picture).expect("well-formed");
        let circles = document.descendants().filter(|node| node.has_tag_name("circle")).count();
        assert_eq!(circles, 3, "zero has no logarithm");
        for words in ["one &amp; all: 4*, 20 M/s", "threads", "4*"] {
            assert!(picture.contains(words), "{words}");
        }
        assert!(!picture.contains("NaN"));
    }

    #[test]
    fn nothing_to_draw_is_no_picture() {
        assert_eq!(chart(vec![line([None, None, Some(0.0)])]), None);
        assert_eq!(chart(Vec::new()), None);
    }
}
