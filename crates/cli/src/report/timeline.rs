//! A planned tree over time: a row for each CPU with the predicted times of its sends and receives.

use corecast::plan::{Direction, Problem, Schedule, Transfer};

use super::axis::Axis;
use super::number::{cost, significant};
use super::svg::{Area, Paint, Svg};

pub(super) const WIDTH: f64 = 860.0;
const AXIS_START: f64 = 62.0;
const AXIS_LENGTH: f64 = 780.0;
const ABOVE: f64 = 20.0;
const BELOW: f64 = 36.0;
/// Up to this many rows messages are drawn as lines between them; more lines would hide the rows.
const LARGEST_WITH_MESSAGES: usize = 32;

/// The height of a row among very many; lines between such rows would be all one sees.
const DENSE_ROW: f64 = 6.0;
const DENSEST_ROW: f64 = 4.0;

/// A plan's phases and how its rows are arranged.
pub(super) struct Timeline<'a> {
    problem: &'a Problem,
    phases: &'a [Schedule],
    /// By member: its row, the earliest reached first.
    rows: Vec<usize>,
    row_height: f64,
    axis: Axis,
}

impl<'a> Timeline<'a> {
    /// On an axis to `end`, so that several plans may share one.
    pub(super) fn of(problem: &'a Problem, phases: &'a [Schedule], end: f64) -> Self {
        let mut order: Vec<usize> = (0..problem.len()).collect();
        if let Some(last) = phases.last() {
            order.sort_by(|&a, &b| last.arrivals[a].total_cmp(&last.arrivals[b]));
            if last.direction == Some(Direction::Up) {
                order.reverse();
            }
        }
        let mut rows = vec![0; problem.len()];
        for (row, member) in order.into_iter().enumerate() {
            rows[member] = row;
        }
        let row_height = match problem.len() {
            0..=LARGEST_WITH_MESSAGES => 20.0,
            33..=64 => 14.0,
            65..=128 => DENSE_ROW,
            _ => DENSEST_ROW,
        };
        Self { problem, phases, rows, row_height, axis: Axis::linear(end, AXIS_START, AXIS_LENGTH) }
    }

    /// The picture as part of a page, with its title.
    pub(super) fn draw(&self, title: &str) -> String {
        let mut svg = Svg::begin(WIDTH, self.height(), title, &self.description());
        self.draw_into(&mut svg);
        svg.finish()
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom() + BELOW
    }

    /// Draws at the top left corner, [`WIDTH`] wide.
    pub(super) fn draw_into(&self, svg: &mut Svg) {
        self.grid(svg, self.bottom());
        self.labels(svg);
        if self.rows.len() <= LARGEST_WITH_MESSAGES {
            self.messages(svg);
        }
        for phase in self.phases {
            for transfer in &phase.transfers {
                self.bars(svg, transfer);
            }
        }
    }

    fn bottom(&self) -> f64 {
        ABOVE + self.row_height * self.rows.len() as f64
    }

    pub(super) fn description(&self) -> String {
        let ends = self.phases.iter().map(|phase| {
            let what = match phase.direction {
                Some(Direction::Down) => "a broadcast from the root",
                Some(Direction::Up) => "a reduction to the root",
                None => "an exchange",
            };
            format!("{what} ends at {}", cost(phase.end, self.problem.unit()))
        });
        format!("A row for each of {} CPUs. Predicted: {}.", self.rows.len(), ends.collect::<Vec<_>>().join("; "))
    }

    fn grid(&self, svg: &mut Svg, bottom: f64) {
        for tick in self.axis.ticks() {
            let x = self.axis.pixel(tick);
            svg.line((x, ABOVE), (x, bottom + 4.0), "grid");
            svg.text((x, bottom + 17.0), "small middle digits quiet", &significant(tick));
        }
        svg.text((AXIS_START, bottom + 31.0), "small quiet", &format!("predicted {} →", self.problem.unit()));
        for phase in self.phases {
            let x = self.axis.pixel(phase.start);
            let words = match phase.direction {
                Some(Direction::Down) => "broadcast",
                Some(Direction::Up) => "reduction",
                None => "exchange",
            };
            if self.phases.len() > 1 {
                svg.text((x + 3.0, ABOVE - 8.0), "small quiet", &format!("{words} from {}", significant(phase.start)));
                svg.line((x, ABOVE - 16.0), (x, bottom), "phase");
            }
        }
    }

    fn labels(&self, svg: &mut Svg) {
        let every = (11.0 / self.row_height).ceil() as usize;
        for (member, &row) in self.rows.iter().enumerate() {
            let y = self.middle(member);
            if self.row_height > DENSE_ROW {
                svg.line((self.axis.start(), y), (self.axis.end(), y), "life");
            }
            if row % every == 0 {
                svg.text((AXIS_START - 8.0, y + 3.5), "small end digits", &format!("CPU {}", self.problem.cpu(member)));
            }
        }
    }

    fn bars(&self, svg: &mut Svg, transfer: &Transfer) {
        let (from, to) = (self.problem.cpu(transfer.from), self.problem.cpu(transfer.to));
        let span = |start, end| format!("{} to {}", significant(start), cost(end, self.problem.unit()));
        let sending = format!("CPU {from} sends to CPU {to}: {}", span(transfer.send_start, transfer.send_end));
        let receiving =
            format!("CPU {to} receives from CPU {from}: {}", span(transfer.receive_start, transfer.receive_end));
        let area = |member, start, end| self.bar(member, start, end);
        svg.rect(area(transfer.from, transfer.send_start, transfer.send_end), Paint::Class("sending"), &sending);
        svg.rect(
            area(transfer.to, transfer.receive_start, transfer.receive_end),
            Paint::Class("receiving"),
            &receiving,
        );
    }

    fn bar(&self, member: usize, start: f64, end: f64) -> Area {
        let height = (self.row_height * 0.64).max(3.0);
        let (left, right) = (self.axis.pixel(start), self.axis.pixel(end));
        // A gap of half a pixel tells one message from the next.
        Area { x: left, y: self.middle(member) - height / 2.0, width: (right - left - 0.5).max(0.6), height }
    }

    /// From the end of sending to the begin of receiving.
    fn messages(&self, svg: &mut Svg) {
        for transfer in self.phases.iter().flat_map(|phase| &phase.transfers) {
            let from = (self.axis.pixel(transfer.send_end), self.middle(transfer.from));
            let to = (self.axis.pixel(transfer.receive_start), self.middle(transfer.to));
            svg.line(from, to, "message");
        }
    }

    fn middle(&self, member: usize) -> f64 {
        ABOVE + self.row_height * (self.rows[member] as f64 + 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use corecast::plan::Operation;

    fn drawn(operation: Operation, len: u32, planner: &str) -> String {
        let planned = example::tree(&example::machine(len), operation, planner);
        let phases = Schedule::of_plan(&planned.problem, &planned.timed.plan);
        Timeline::of(&planned.problem, &phases, planned.timed.plan.predicted).draw("over time")
    }

    #[test]
    fn every_message_is_a_bar_at_both_ends_in_every_phase() {
        for (operation, len, planner, bars) in [
            (Operation::Broadcast, 20, "cluster", 19),
            (Operation::Barrier, 20, "cluster", 38),
            (Operation::Barrier, 1, "cluster", 0),
            (Operation::Barrier, 8, "dissemination", 24),
        ] {
            let text = drawn(operation, len, planner);
            let document = roxmltree::Document::parse(&text).expect("well-formed");
            let count = |class| document.descendants().filter(|node| node.attribute("class") == Some(class)).count();
            assert_eq!((count("sending"), count("receiving")), (bars, bars), "{operation}");
        }
    }

    #[test]
    fn the_root_is_the_first_row() {
        for operation in [Operation::Broadcast, Operation::Reduce, Operation::Barrier] {
            let planned = example::tree(&example::machine(12), operation, "binary");
            let phases = Schedule::of_plan(&planned.problem, &planned.timed.plan);
            let rows = Timeline::of(&planned.problem, &phases, planned.timed.plan.predicted).rows;
            assert_eq!(rows[planned.timed.plan.tree.root()], 0, "{operation}");
        }
    }

    #[test]
    fn plans_on_one_axis_can_be_compared() {
        let planned = example::tree(&example::machine(4), Operation::Broadcast, "binary");
        let phases = Schedule::of_plan(&planned.problem, &planned.timed.plan);
        let end = planned.timed.plan.predicted;
        let pixel = |axis_end| Timeline::of(&planned.problem, &phases, axis_end).axis.pixel(end);
        assert_eq!((pixel(end), pixel(2.0 * end)), (AXIS_START + AXIS_LENGTH, AXIS_START + AXIS_LENGTH / 2.0));
    }
}
