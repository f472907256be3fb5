//! A row for each line that moved: the CPU that has it at which time, and the requests that moved it.

use corecast_cli::report::svg::{Area, Paint, Svg};

use super::events::{Held, Request};
use super::layout::{AXIS_START, Layout, class};
use super::outcome::Line;
use super::text::request_words;

/// The width of a digit of a small text, and what is left free beside it.
const DIGIT: f64 = 6.0;
const FREE: f64 = 3.0;

/// Draws the rows.
pub(super) fn draw(svg: &mut Svg, layout: &Layout<'_>) {
    layout.frame(svg, layout.lines, ("Lines that moved", &note(layout)));
    for (row, line) in layout.shown.iter().enumerate() {
        draw_line(svg, layout, layout.lines.row_top(row), line);
    }
}

fn note(layout: &Layout<'_>) -> String {
    const NOTE: &str = "The CPU that has it, in the colour of its node; 7+1: CPU 7, and one more has a copy; 2×: two have copies. Above: its way to a CPU.";
    let (shown, moved) = (layout.shown.len(), layout.moved);
    if shown < moved { format!("The {shown} of {moved} that moved most often. {NOTE}") } else { NOTE.to_owned() }
}

fn draw_line(svg: &mut Svg, layout: &Layout<'_>, top: f64, line: &Line) {
    let row = layout.lines.row;
    let name = format!("{} · {}", layout.outcome.place(line.line), line.line);
    svg.text((AXIS_START - 12.0, top + row / 2.0 + 4.0), "small end digits", &name);
    let requests: Vec<&Request> = layout.outcome.requests.iter().filter(|request| request.line == line.line).collect();
    let begins = requests.iter().map(|request| request.served_ns);
    let ends = begins.clone().skip(1).chain([layout.outcome.window_ns()]);
    let first = requests.first().map(|first| (first.before, f64::MIN, first.served_ns));
    let held = requests.iter().zip(begins.zip(ends)).map(|(request, (begin, end))| (request.after, begin, end));
    for (held, begin_ns, end_ns) in first.into_iter().chain(held) {
        if let Some(area) = layout.bar((begin_ns, end_ns), top + 0.3 * row, 0.62 * row) {
            draw_holding(svg, layout, area, held);
        }
    }
    for request in requests {
        if let Some(area) = layout.bar((request.served_ns, request.comes_ns), top + 0.04 * row, 0.26 * row) {
            svg.rect(area, Paint::Class(class(request.reach)), &request_words(layout.outcome, request));
        }
    }
}

/// In the colour of its owner's node and with the number of that CPU; pale where others have copies, too.
fn draw_holding(svg: &mut Svg, layout: &Layout<'_>, area: Area, held: Held) {
    let Held { state, owner, copies } = held;
    if copies == 0 {
        return;
    }
    let node = owner.and_then(|owner| layout.outcome.nodes.get(owner)).map(|node| node % 8);
    let colour = node.map_or("trace-shared".to_owned(), |node| format!("node{node}"));
    let is_alone = copies == 1 && owner.is_some();
    let (class, label, tip) = match (owner, is_alone) {
        (Some(owner), true) => (colour, owner.to_string(), format!("{state}, CPU {owner}")),
        (Some(owner), false) => (
            format!("{colour} pale"),
            format!("{owner}+{}", copies - 1),
            format!("{state}, CPU {owner} of {copies} with copies"),
        ),
        (None, _) => (colour, format!("{copies}×"), format!("{state}, {copies} CPUs have copies")),
    };
    svg.rect(area, Paint::Class(&class), &tip);
    if area.width > DIGIT * label.chars().count() as f64 + FREE {
        let place = (area.x + area.width / 2.0, area.y + area.height - 2.0);
        let ink = if owner.is_some() && is_alone { "tiny middle digits on-light" } else { "tiny middle digits" };
        svg.text(place, ink, &label);
    }
}
