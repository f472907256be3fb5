//! A page about a sweep: curves over the steps, and all figures with the lines that moved.

use maud::html;

use super::{Outcome, Row};
use corecast_cli::report::frame::Frame;
use corecast_cli::report::line_chart::{Line, LineChart};
use corecast_cli::report::number::significant;
use corecast_cli::report::plain_table::{or_dash, table};

/// The outcome as an HTML document in UTF-8, which loads and runs nothing. `command` makes it again.
pub(crate) fn render(outcome: &Outcome, created_at: &str, version: &str, command: &str) -> String {
    let kind = format!("simulated: corecast sim {}", outcome.figure.program);
    let heading = format!("Simulated: {}", outcome.figure.figure);
    let frame = Frame { kind: &kind, heading: &heading, machine: &outcome.machine, created_at, version };
    let steps = outcome.steps();
    let title = format!("Simulated: {}", outcome.figure_words());
    let lines = outcome.contenders().into_iter().map(|contender| Line {
        name: contender.to_owned(),
        is_ours: true,
        values: steps.iter().map(|&step| outcome.row(contender, step).and_then(|row| row.median)).collect(),
    });
    let chart = LineChart {
        title: &title,
        description: "A curve for each contender, logarithmic.",
        steps: steps.iter().map(usize::to_string).collect(),
        note: outcome.figure.steps.to_owned(),
        lines: lines.collect(),
        write: significant,
    };
    let header = html! { p { (outcome.headline()) } p { (outcome.costs) } @if let Some(words) = outcome.disturbance_words() { p { (words) } } p { "No figure on this page was measured." } };
    let main = html! {
        section {
            h2 { (title) }
            p { "Medians of " (outcome.runs) " seeds." }
            (chart.figure())
            (table("", &heads(outcome.figure.steps), outcome.rows.iter().map(cells)))
            @for row in &outcome.rows {
                @if let Some(words) = &row.failed {
                    p class="note" { "No outcome: " (row.contender) ", " (outcome.figure.steps) " " (row.step) ", " (words) }
                }
            }
        }
        section { h2 { "Make it again" } pre { code { (command) } } }
    };
    frame.around(&frame.header(&header), &main)
}

fn heads(steps: &str) -> [&str; 10] {
    ["contender", steps, "median", "least", "most", "fairness", "lines moved, by distance", "stops", "killed", "hung"]
}

fn cells(row: &Row) -> Vec<String> {
    let Row { contender, step, median, least, most, jain, transfers, disturbed, hung, .. } = row;
    let figures = [median, least, most, jain].map(|&figure| or_dash(figure, significant));
    let moved: Vec<String> = transfers.iter().map(|&number| significant(number)).collect();
    let disturbed = [disturbed.stops, disturbed.killed, *hung].map(|number| number.to_string());
    [contender.clone(), step.to_string()]
        .into_iter()
        .chain(figures)
        .chain([moved.join(", ")])
        .chain(disturbed)
        .collect()
}
