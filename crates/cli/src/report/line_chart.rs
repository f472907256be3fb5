//! A picture of curves: values over steps that are evenly spaced, on a logarithmic axis, each curve named at its end.
//!
//! A few curves share one picture; more get a small one each, see `panels`. An infinite value is drawn at the end of the
//! axis with its sign.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use super::axis::Axis;
use super::labels::{self, Label};
use super::panels::panels;
use super::svg::{Paint, Point, Svg, coordinate};
use crate::table::INFINITE;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 590.0;
const NAMES: f64 = 620.0;
const TOP: f64 = 16.0;
const BELOW: f64 = 40.0;
/// More curves than this get a picture each.
const MOST_IN_ONE: usize = 4;

/// Curves and what is written around them.
#[derive(Debug)]
pub struct LineChart<'a> {
    /// The heading.
    pub title: &'a str,
    /// The same in words, for readers who cannot see it.
    pub description: &'a str,
    /// The steps as they are written, from left to right; one without a text has no tick.
    pub steps: Vec<String>,
    /// A name for the steps, and remarks on them.
    pub note: String,
    /// The curves.
    pub lines: Vec<Line>,
    /// How values are written.
    pub write: fn(f64) -> String,
}

/// One curve.
#[derive(Debug)]
pub struct Line {
    /// The name at its end.
    pub name: String,
    /// Drawn as corecast's.
    pub is_ours: bool,
    /// One for each step; `None`, or what is not above zero, is left out.
    pub values: Vec<Option<f64>>,
}

impl Line {
    /// The points that are drawn: step, value.
    pub(super) fn points(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.values.iter().enumerate().filter_map(|(step, value)| Some((step, (*value).filter(|&value| value > 0.0)?)))
    }
}

impl LineChart<'_> {
    /// The curves on a page: one picture, or one for each of many. Nothing if there is nothing to draw.
    pub fn figure(&self) -> Markup {
        if self.lines.len() > MOST_IN_ONE {
            return self.small_ones();
        }
        html! { @if let Some(picture) = self.picture() { figure class="wide" { (PreEscaped(picture)) } } }
    }

    fn small_ones(&self) -> Markup {
        let pictures = panels(self);
        html! {
            @if !pictures.is_empty() {
                figure {
                    p class="subject" { (self.title) }
                    div class="panels" { @for picture in &pictures { (PreEscaped(picture)) } }
                    figcaption {
                        "Across: " (self.note) ". Up: logarithmic, the same for all; the figure beside a name is that of its last step. "
                        "Behind each curve, in grey, all others."
                    }
                }
            }
        }
    }

    /// The logarithmic axis of the values, from `start` to `start + length` pixels; `None` if no finite value is above zero.
    pub(super) fn axis(&self, start: f64, length: f64) -> Option<Axis> {
        let values =
            || self.lines.iter().flat_map(Line::points).map(|(_, value)| value).filter(|value| value.is_finite());
        let least = values().reduce(f64::min)?;
        Some(Axis::logarithmic(least, values().fold(least, f64::max), start, length))
    }

    /// `None` if there is nothing to draw.
    pub fn picture(&self) -> Option<String> {
        let height = HEIGHT.max(labels::height(self.lines.len()) + TOP + BELOW);
        let axis = self.axis(height - BELOW, TOP - (height - BELOW))?;
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
            if value.is_infinite() {
                svg.text((at.0, at.1 - 5.0), "small middle", INFINITE);
            }
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
    fn infinite_values_are_drawn_at_the_end_of_the_axis() {
        let picture = chart(vec![line([Some(2.0), Some(f64::INFINITY), Some(20.0)])]).expect("there are points");
        assert!(
            picture.contains(">∞</text>") && !picture.contains("NaN") && picture.contains("cy=\"16\""),
            "{picture}"
        );
        assert_eq!(chart(vec![line([Some(f64::INFINITY); 3])]), None, "nothing finite has an axis");
    }

    #[test]
    fn many_curves_have_a_picture_each() {
        let page = |count: usize| {
            let lines = (0..count).map(|_| line([Some(1.0), Some(2.0), Some(3.0)])).collect();
            let steps = ["1", "2", "4"].map(str::to_owned).to_vec();
            let write = |value| format!("{value} M/s");
            LineChart { title: "rates", description: "", steps, note: "threads".to_owned(), lines, write }
                .figure()
                .into_string()
        };
        assert_eq!([4, 5].map(|count| page(count).matches("<svg").count()), [1, 5]);
        assert!(page(5).contains("Across: threads."));
        assert_eq!(page(0), "");
    }

    #[test]
    fn nothing_to_draw_is_no_picture() {
        assert_eq!(chart(vec![line([None, None, Some(0.0)])]), None);
        assert_eq!(chart(Vec::new()), None);
    }
}
