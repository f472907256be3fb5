//! Where the parts of a trace's picture are: an axis of time, a row for each thread, a row for each line.

use corecast_cli::report::axis::Axis;
use corecast_cli::report::number::significant;
use corecast_cli::report::svg::{Area, Svg};
use corecast_sim::Reach;

use super::outcome::{Line, TraceOutcome};

/// Pixels of a microsecond, within the limits of the axis' length.
const PER_US: f64 = 360.0;
const SHORTEST: f64 = 1000.0;
const LONGEST: f64 = 4000.0;
/// The axis begins here: names stand before it.
pub(super) const AXIS_START: f64 = 150.0;
const RIGHT: f64 = 16.0;
/// Above and below the rows of a part: a heading, and the axis.
const HEAD: f64 = 26.0;
const FOOT: f64 = 30.0;
/// The most lines that have a row.
const MOST_LINES: usize = 64;
/// The least distance between two names.
const NAME: f64 = 11.0;
/// The height of a row of a line.
const LINE_ROW: f64 = 17.0;

/// A part of the picture: rows on the axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The upper border of its first row.
    pub(super) top: f64,
    pub(super) row: f64,
    rows: usize,
}

/// The places of everything.
pub(super) struct Layout<'a> {
    pub(super) outcome: &'a TraceOutcome,
    pub(super) axis: Axis,
    pub(super) threads: Part,
    pub(super) lines: Part,
    /// The lines that have a row, by their numbers.
    pub(super) shown: Vec<&'a Line>,
    /// The number of lines that moved.
    pub(super) moved: usize,
}

impl<'a> Layout<'a> {
    /// The places below `top`.
    pub(super) fn of(outcome: &'a TraceOutcome, top: f64) -> Self {
        let length = (outcome.options.us as f64 * PER_US).clamp(SHORTEST, LONGEST);
        let count = outcome.options.threads;
        let row = match count {
            0..=16 => 24.0,
            17..=64 => 14.0,
            65..=128 => 8.0,
            _ => 5.0,
        };
        let threads = Part { top: top + HEAD, row, rows: count };
        let (shown, moved) = shown(outcome);
        let lines = Part { top: threads.end() + HEAD, row: LINE_ROW, rows: shown.len() };
        Self { outcome, axis: Axis::linear(outcome.window_ns(), AXIS_START, length), threads, lines, shown, moved }
    }

    pub(super) fn width(&self) -> f64 {
        self.axis.end() + RIGHT
    }

    /// The upper border of a thread's row: those of a CPU are neighbours.
    pub(super) fn thread_top(&self, thread: usize) -> f64 {
        let used = self.outcome.nodes.len();
        let sharing = self.outcome.options.disturbance.threads_per_cpu;
        self.threads.row_top(thread % used * sharing + thread / used)
    }

    /// A bar of these times, in nanoseconds; `None` outside of the window.
    pub(super) fn bar(&self, (begin_ns, end_ns): (f64, f64), y: f64, height: f64) -> Option<Area> {
        if end_ns < 0.0 || begin_ns >= self.outcome.window_ns() {
            return None;
        }
        let [x, end] = [begin_ns, end_ns].map(|ns| self.axis.pixel(ns));
        Some(Area { x, y, width: (end - x).max(0.5), height })
    }

    /// The heading of a part with how it is to be read, and the axis below it.
    pub(super) fn frame(&self, svg: &mut Svg, part: Part, (heading, note): (&str, &str)) {
        let bottom = part.top + part.row * part.rows as f64;
        svg.text((0.0, part.top - 9.0), "subject", heading);
        svg.text((AXIS_START, part.top - 9.0), "small quiet", note);
        for tick in self.axis.ticks() {
            let x = self.axis.pixel(tick);
            svg.line((x, part.top), (x, bottom + 4.0), "grid");
            let unit = if tick == 0.0 { " ns" } else { "" };
            svg.text((x, bottom + 16.0), "small middle digits quiet", &format!("{}{unit}", significant(tick)));
        }
    }
}

impl Part {
    pub(super) fn row_top(&self, row: usize) -> f64 {
        self.top + self.row * row as f64
    }

    /// True if a row has its name: in narrow ones some have.
    pub(super) fn is_named(&self, row: usize) -> bool {
        row % (NAME / self.row).ceil() as usize == 0
    }

    /// The end of the axis below it.
    pub(super) fn end(&self) -> f64 {
        self.row_top(self.rows) + FOOT
    }
}

/// The lines that have a row: all that moved, or those that moved most often; and how many moved.
fn shown(outcome: &TraceOutcome) -> (Vec<&Line>, usize) {
    let mut moved = outcome.moved_lines();
    let count = moved.len();
    moved.truncate(MOST_LINES);
    moved.sort_by_key(|line| line.line);
    (moved, count)
}

/// The classes of bars by how near the line comes from.
pub(super) fn class(reach: Reach) -> &'static str {
    match reach {
        Reach::Own => "reach-own",
        Reach::Near => "reach-near",
        Reach::Package => "reach-package",
        Reach::Beyond => "reach-beyond",
        Reach::Memory => "reach-memory",
    }
}
