//! A plan over time as one picture that stands alone.

use corecast::plan::{Plan, Problem, Schedule};

use crate::bounding::certainty;

use super::number::cost;
use super::palette;
use super::svg::{Area, Paint, Svg};
use super::timeline::{Timeline, WIDTH};

const MARGIN: f64 = 16.0;
const HEAD: f64 = 70.0;

/// A row for each CPU: what it sends and receives when, as predicted.
pub(crate) fn plan_picture(problem: &Problem, plan: &Plan) -> String {
    let phases = Schedule::of_plan(problem, plan);
    let timeline = Timeline::of(problem, &phases, plan.predicted);
    let (width, height) = (WIDTH + 2.0 * MARGIN, HEAD + timeline.height() + MARGIN);
    let title = format!("{}: {}, predicted {}", plan.operation, plan.planner, cost(plan.predicted, plan.unit));
    let mut svg = Svg::begin(width, height, &title, &timeline.description());
    svg.style(&palette::standalone_style());
    svg.rect(Area { x: 0.0, y: 0.0, width, height }, Paint::Class("ground"), "");
    svg.open_group((MARGIN, MARGIN), (1.0, 1.0), "");
    svg.text((0.0, 14.0), "heading", &title);
    svg.text((0.0, 32.0), "quiet", &format!("{} CPUs of {}; {}", plan.cpus.len(), plan.machine, certainty(plan)));
    svg.rect(Area { x: 0.0, y: 41.0, width: 12.0, height: 8.0 }, Paint::Class("sending"), "");
    svg.text((17.0, 49.0), "small", "sending");
    svg.rect(Area { x: 70.0, y: 41.0, width: 12.0, height: 8.0 }, Paint::Class("receiving"), "");
    svg.text((87.0, 49.0), "small", "receiving");
    svg.close_group();
    svg.open_group((MARGIN, HEAD), (1.0, 1.0), "");
    timeline.draw_into(&mut svg);
    svg.close_group();
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use corecast::plan::Operation;

    #[test]
    fn needs_nothing_but_itself_and_follows_the_reader_into_the_dark() {
        for (len, operation) in [(1, Operation::Barrier), (20, Operation::Barrier), (256, Operation::Reduce)] {
            let planned = example::tree(&example::machine(len), operation, "cluster");
            let picture = plan_picture(&planned.problem, &planned.timed.plan);
            roxmltree::Document::parse(&picture).expect("well-formed");
            assert!(picture.contains("prefers-color-scheme: dark") && !picture.contains("var("), "{len}");
        }
    }
}
