//! A row for each thread: what it does at which time, and the lines that come to it.

use corecast_cli::report::svg::{Area, Paint, Svg};
use corecast_sim::HOLDS;

use super::events::{Phase, Request, Wait};
use super::layout::{AXIS_START, Layout, class};
use super::text::{phase_words, request_words, wait_words};

/// Up to this number of rows lines are drawn from the CPU that a line comes from; more would hide the rows.
const MOST_WITH_ARROWS: usize = 16;

const NOTE: &str = "At the left the colour of a CPU's node. Thin bars are stores, for which no thread waits; strokes lead from the CPU that had a line.";

/// Draws the rows.
pub(super) fn draw(svg: &mut Svg, layout: &Layout<'_>) {
    layout.frame(svg, layout.threads, ("CPUs", NOTE));
    names(svg, layout);
    let outcome = layout.outcome;
    outcome.phases.iter().for_each(|phase| draw_phase(svg, layout, phase));
    outcome.waits.iter().for_each(|wait| draw_wait(svg, layout, wait));
    outcome.requests.iter().for_each(|request| draw_request(svg, layout, request));
    if outcome.options.threads <= MOST_WITH_ARROWS {
        outcome.requests.iter().for_each(|request| draw_arrow(svg, layout, request));
    }
}

fn names(svg: &mut Svg, layout: &Layout<'_>) {
    let outcome = layout.outcome;
    let row = layout.threads.row;
    for thread in 0..outcome.options.threads {
        let top = layout.thread_top(thread);
        let node = outcome.nodes[thread % outcome.nodes.len()] % 8;
        let key = Area { x: AXIS_START - 8.0, y: top + 1.0, width: 5.0, height: row - 2.0 };
        svg.rect(key, Paint::Class(&format!("node{node}")), &format!("node {node}"));
        let place = ((top - layout.threads.top) / row).round() as usize;
        if layout.threads.is_named(place) {
            svg.text((AXIS_START - 12.0, top + row / 2.0 + 3.5), "small end digits", &outcome.thread_name(thread));
        }
        if let Some(area) = layout.bar((0.0, outcome.window_ns()), top + 0.25 * row, 0.5 * row) {
            svg.rect(area, Paint::Class("trace-runs"), "");
        }
    }
}

/// A phase in which a thread holds a lock is a mark over the whole row; any other is a darker bar.
fn draw_phase(svg: &mut Svg, layout: &Layout<'_>, phase: &Phase) {
    let (top, row) = (layout.thread_top(phase.thread), layout.threads.row);
    let time = (phase.begin_ns, phase.end_ns);
    let tip = phase_words(layout.outcome, phase);
    let (class, y, height) = match phase.phase {
        HOLDS => ("trace-holds", top + 0.04 * row, 0.92 * row),
        _ => ("trace-calls", top + 0.25 * row, 0.5 * row),
    };
    if let Some(area) = layout.bar(time, y, height) {
        svg.rect(area, Paint::Class(class), &tip);
    }
}

fn draw_wait(svg: &mut Svg, layout: &Layout<'_>, wait: &Wait) {
    let (top, row) = (layout.thread_top(wait.thread), layout.threads.row);
    let time = (wait.begin_ns, wait.end_ns);
    if let Some(area) = layout.bar(time, top + 0.25 * row, 0.5 * row) {
        let tip = wait_words(layout.outcome, wait);
        svg.rect(area, Paint::Class("trace-cleared"), "");
        svg.rect(area, Paint::Class(&format!("trace-{}", wait.reason)), &tip);
    }
}

/// A thread that waits: pale while others are served, then in full. A store is a thin bar, as its thread goes on.
fn draw_request(svg: &mut Svg, layout: &Layout<'_>, request: &Request) {
    let (top, row) = (layout.thread_top(row_of(request)), layout.threads.row);
    let (y, height) = if request.thread.is_some() { (0.25, 0.5) } else { (0.8, 0.16) };
    let (y, height) = (top + y * row, height * row);
    let tip = request_words(layout.outcome, request);
    let class = class(request.reach);
    if request.served_ns > request.asked_ns {
        if let Some(area) = layout.bar((request.asked_ns, request.served_ns), y, height) {
            svg.rect(area, Paint::Class("trace-cleared"), "");
            svg.rect(area, Paint::Class(&format!("{class} pale")), &tip);
        }
    }
    if let Some(area) = layout.bar((request.served_ns, request.comes_ns), y, height) {
        svg.rect(area, Paint::Class(class), &tip);
    }
}

/// From the CPU that had the line, when the request is served, to the one that asked, when it comes.
fn draw_arrow(svg: &mut Svg, layout: &Layout<'_>, request: &Request) {
    let is_within = request.served_ns >= 0.0 && request.comes_ns <= layout.outcome.window_ns();
    let is_drawn = request.answerer == Some("holder") && is_within;
    let from = request.from_cpu.filter(|&cpu| is_drawn && cpu < layout.outcome.nodes.len());
    let Some(from) = from else { return };
    let half = layout.threads.row / 2.0;
    let begin = (layout.axis.pixel(request.served_ns), layout.thread_top(from) + half);
    let end = (layout.axis.pixel(request.comes_ns), layout.thread_top(row_of(request)) + half);
    svg.line(begin, end, &format!("trace-arrow {}", class(request.reach).replace("reach-", "from-")));
    svg.circle(end, 1.8, Paint::Class(class(request.reach)), "");
}

/// The thread in whose row a request is: that of a store in the row of the first one of its CPU, which has the CPU's number.
fn row_of(request: &Request) -> usize {
    request.thread.unwrap_or(request.cpu)
}
