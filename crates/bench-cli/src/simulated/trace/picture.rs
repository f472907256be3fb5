//! A trace as one picture that stands alone.

use corecast_cli::report::palette;
use corecast_cli::report::svg::{Area, Paint, Svg};

use super::layout::Layout;
use super::outcome::TraceOutcome;
use super::{cpu_rows, line_rows, tables};

const MARGIN: f64 = 16.0;
/// The heading and the legend.
const HEAD: f64 = 106.0;

/// The bars of the legend: classes, and what they are.
const DOES: [(&str, &str); 8] = [
    ("trace-runs", "computes or hits"),
    ("trace-calls", "does so in the operation"),
    ("trace-holds", "holds the lock"),
    ("trace-polls", "polls"),
    ("trace-sleeps", "sleeps"),
    ("trace-stores", "waits for its stores"),
    ("trace-cpu", "waits for its CPU"),
    ("trace-stopped", "is stopped"),
];
const LINES: [(&str, &str); 6] = [
    ("reach-near", "waits for a line of a near CPU"),
    ("reach-package", "of the same package"),
    ("reach-beyond", "of another package"),
    ("reach-memory", "of memory"),
    ("reach-own", "that it had by then"),
    ("reach-beyond pale", "pale: the line serves others first"),
];

/// A row for each thread, a row for each line that moved, and the tables.
pub(crate) fn picture(outcome: &TraceOutcome) -> String {
    let layout = Layout::of(outcome, HEAD);
    let (by_distance, by_line) = (tables::by_distance(outcome), tables::by_line(outcome));
    let top = layout.lines.end() + 20.0;
    let height = top + by_distance.height().max(by_line.height()) + 24.0 + 2.0 * MARGIN;
    let width = layout.width() + 2.0 * MARGIN;
    let title = format!("Simulated: {}, {} us", outcome.options.contender, outcome.options.us);
    let description = format!(
        "A row for each of {} threads, and one for each line that moved. {}. No time was measured.",
        outcome.options.threads,
        outcome.operations_words()
    );
    let mut svg = Svg::begin(width, height, &title, &description);
    svg.style(&palette::standalone_style());
    svg.rect(Area { x: 0.0, y: 0.0, width, height }, Paint::Class("ground"), "");
    svg.open_group((MARGIN, MARGIN), (1.0, 1.0), "");
    svg.text((0.0, 14.0), "heading", &outcome.headline());
    svg.text((0.0, 32.0), "quiet", &outcome.circumstances());
    svg.text((0.0, 49.0), "quiet", &format!("{}. No time here was measured.", outcome.costs));
    legend(&mut svg, &does(outcome), 70.0);
    legend(&mut svg, &LINES, 87.0);
    cpu_rows::draw(&mut svg, &layout);
    line_rows::draw(&mut svg, &layout);
    svg.text((0.0, top), "subject", &outcome.operations_words());
    let broad = by_distance.draw(&mut svg, (0.0, top + 6.0));
    by_line.draw(&mut svg, (broad + 40.0, top + 6.0));
    svg.close_group();
    svg.finish()
}

/// The bars that this trace has.
fn does(outcome: &TraceOutcome) -> Vec<(&'static str, &'static str)> {
    let is_shown = |class: &str| match class.strip_prefix("trace-") {
        Some("holds") => outcome.options.program == "locks",
        Some("cpu") => outcome.options.disturbance.threads_per_cpu > 1,
        Some("stopped") => outcome.options.disturbance.stops.is_some(),
        _ => true,
    };
    DOES.into_iter().filter(|(class, _)| is_shown(class)).collect()
}

fn legend(svg: &mut Svg, marks: &[(&str, &str)], base: f64) {
    const LETTER: f64 = 5.6;
    let mut x = 0.0;
    for (class, words) in marks {
        svg.rect(Area { x, y: base - 8.0, width: 14.0, height: 8.0 }, Paint::Class(class), "");
        svg.text((x + 19.0, base), "small", words);
        x += 38.0 + LETTER * words.len() as f64;
    }
}
