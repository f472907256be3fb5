//! A matrix of costs as a picture: a cell for every ordered pair of CPUs, whose colour shows its cost.
//!
//! Up to 64 CPUs each cell is a shape of its own that tells its cost to a reader who points at it. Beyond, cells of one colour
//! become one path of short strokes, or 256 CPUs would take ten megabytes; pointing then tells the costs of the pair of
//! clusters.

use std::fmt::Write;

use corecast::Machine;
use corecast::machine::CostMatrix;

use super::cluster::{Clusters, Run, distinct, node_class};
use super::distance;
use super::heat_scale::Scale;
use super::number::{cost, significant};
use super::ramp;
use super::svg::{Area, Paint, Svg};

/// Beyond this many CPUs cells are not shapes of their own.
const LARGEST_WITH_CELLS: usize = 64;
/// Up to this many CPUs the cells have their cost written into them.
const LARGEST_WITH_TEXT: usize = 16;

const LEFT: f64 = 48.0;
const TOP: f64 = 58.0;
const BELOW: f64 = 54.0;

/// One matrix of a machine, ready to be drawn.
pub(super) struct HeatMap<'a> {
    machine: &'a Machine,
    matrix: &'a CostMatrix,
    clusters: &'a Clusters,
    scale: Scale,
    cell: f64,
}

impl<'a> HeatMap<'a> {
    pub(super) fn of(machine: &'a Machine, matrix: &'a CostMatrix, clusters: &'a Clusters) -> Self {
        let side = match matrix.len() {
            0..=8 => 310.0,
            9..=LARGEST_WITH_TEXT => 560.0,
            17..=40 => 340.0,
            _ => 780.0,
        };
        let cell = (side / matrix.len() as f64).min(64.0);
        Self { machine, matrix, clusters, scale: Scale::of(matrix), cell }
    }

    /// The picture, called `title`.
    pub(super) fn draw(&self, title: &str) -> String {
        let side = self.side();
        let width = (LEFT + side + 8.0).max(260.0);
        let mut svg = Svg::begin(width, TOP + side + BELOW, title, &self.description());
        svg.text((0.0, 14.0), "subject", title);
        if self.matrix.len() > LARGEST_WITH_CELLS {
            self.strokes(&mut svg)
        } else {
            self.cells(&mut svg)
        }
        self.borders(&mut svg);
        self.labels(&mut svg);
        if self.matrix.len() > LARGEST_WITH_CELLS {
            self.cluster_tips(&mut svg);
        }
        self.scale.legend(&mut svg, (LEFT, TOP + side + 16.0), side.clamp(200.0, 340.0), self.machine.unit);
        svg.finish()
    }

    fn side(&self) -> f64 {
        self.cell * self.matrix.len() as f64
    }

    fn description(&self) -> String {
        let (unit, scale) = (self.machine.unit, &self.scale);
        format!(
            "A square of {0} by {0} cells, one for each ordered pair of CPUs: sender by row, receiver by column. The \
             scale of costs runs from {1} to {2}. The table beside it has them by distance.",
            self.matrix.len(),
            cost(scale.least(), unit),
            cost(scale.most(), unit)
        )
    }

    fn cost(&self, row: usize, column: usize) -> f64 {
        self.matrix.get(self.clusters.order[row], self.clusters.order[column])
    }

    fn cpu(&self, place: usize) -> u32 {
        self.machine.cpus[self.clusters.order[place]].id.get()
    }

    /// The digits of the longest CPU id.
    fn longest_id(&self) -> f64 {
        self.machine.cpus.iter().map(|cpu| cpu.id.to_string().len()).max().unwrap_or(1) as f64
    }

    fn cells(&self, svg: &mut Svg) {
        let len = self.matrix.len();
        for (row, column) in (0..len).flat_map(|row| (0..len).map(move |column| (row, column))) {
            let (x, y) = (LEFT + column as f64 * self.cell, TOP + row as f64 * self.cell);
            let area = Area { x, y, width: self.cell, height: self.cell };
            if row == column {
                svg.rect(area, Paint::Class("self"), "");
                continue;
            }
            let value = self.cost(row, column);
            let step = ramp::step(self.scale.share(value));
            let (from, to) = (self.cpu(row), self.cpu(column));
            let exact = (value * 1000.0).round() / 1000.0;
            svg.rect(area, Paint::Heat(step), &format!("CPU {from} to CPU {to}: {exact} {}", self.machine.unit));
            if len <= LARGEST_WITH_TEXT {
                let class = format!("small middle digits ink{step}");
                svg.text((x + self.cell / 2.0, y + self.cell / 2.0 + 3.5), &class, &significant(value));
            }
        }
    }

    /// One path per colour: a stroke for each run of neighbours of that colour in a row.
    fn strokes(&self, svg: &mut Svg) {
        let len = self.matrix.len();
        let mut paths = vec![String::new(); ramp::STEPS];
        for row in 0..len {
            let step = |column: usize| (row != column).then(|| ramp::step(self.scale.share(self.cost(row, column))));
            let columns: Vec<usize> = (0..len).collect();
            for run in columns.chunk_by(|&a, &b| step(a) == step(b)) {
                if let Some(step) = step(run[0]) {
                    write!(paths[step], "M{} {row}h{}", run[0], run.len()).expect("writing to a string does not fail");
                }
            }
        }
        svg.open_group((LEFT, TOP + self.cell / 2.0), (self.cell, self.cell), "cells");
        for (step, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            svg.strokes(path, step);
        }
        svg.close_group();
    }

    /// Clear areas over each pair of clusters that tell its range of costs.
    fn cluster_tips(&self, svg: &mut Svg) {
        let runs = if self.clusters.caches.len() <= 32 { &self.clusters.caches } else { &self.clusters.nodes };
        for (from, to) in runs.iter().flat_map(|from| runs.iter().map(move |to| (from, to))) {
            let pairs = from.places.clone().flat_map(|row| to.places.clone().map(move |column| (row, column)));
            let positions = pairs.filter(|(row, column)| row != column);
            let positions = positions.map(|(row, column)| (self.clusters.order[row], self.clusters.order[column]));
            let Some(range) = distance::range(self.matrix, &positions.collect::<Vec<_>>()) else { continue };
            let area = Area {
                x: LEFT + to.places.start as f64 * self.cell,
                y: TOP + from.places.start as f64 * self.cell,
                width: to.places.len() as f64 * self.cell,
                height: from.places.len() as f64 * self.cell,
            };
            let [least, median, most] = [range.least, range.median, range.most].map(significant);
            let tip = format!(
                "{} to {}: {least} to {most} {}, median {median}",
                self.cluster_name(from),
                self.cluster_name(to),
                self.machine.unit
            );
            svg.rect(area, Paint::Class("hover"), &tip);
        }
    }

    fn cluster_name(&self, run: &Run) -> String {
        let (first, last) = (self.cpu(run.places.start), self.cpu(run.places.end - 1));
        format!("node {} (CPU {first} .. {last})", run.node)
    }

    fn borders(&self, svg: &mut Svg) {
        let side = self.side();
        for (runs, class) in [(&self.clusters.caches, "border-cache"), (&self.clusters.nodes, "border-node")] {
            for run in runs.iter().skip(1) {
                let at = run.places.start as f64 * self.cell;
                svg.line((LEFT + at, TOP), (LEFT + at, TOP + side), class);
                svg.line((LEFT, TOP + at), (LEFT + side, TOP + at), class);
            }
        }
        svg.rect(Area { x: LEFT, y: TOP, width: side, height: side }, Paint::Class("frame"), "");
        let nodes = distinct(self.clusters.nodes.iter().map(|run| run.node));
        for run in &self.clusters.nodes {
            let (start, length) = (run.places.start as f64 * self.cell, run.places.len() as f64 * self.cell);
            let class = node_class(&nodes, run.node);
            let tip = format!("NUMA node {}", run.node);
            let across = Area { x: LEFT + start + 1.0, y: TOP - 8.0, width: length - 2.0, height: 5.0 };
            let down = Area { x: LEFT - 8.0, y: TOP + start + 1.0, width: 5.0, height: length - 2.0 };
            svg.rect(across, Paint::Class(&class), &tip);
            svg.rect(down, Paint::Class(&class), &tip);
        }
    }

    /// CPU ids along both axes: all that fit.
    fn labels(&self, svg: &mut Svg) {
        let len = self.matrix.len();
        let every = |least: f64| (least / self.cell).ceil().max(1.0) as usize;
        for place in (0..len).step_by(every(5.0 + 6.0 * self.longest_id())) {
            let x = LEFT + (place as f64 + 0.5) * self.cell;
            svg.text((x, TOP - 12.0), "tiny middle digits quiet", &self.cpu(place).to_string());
        }
        for place in (0..len).step_by(every(10.0)) {
            let y = TOP + (place as f64 + 0.5) * self.cell + 3.0;
            svg.text((LEFT - 12.0, y), "tiny end digits quiet", &self.cpu(place).to_string());
        }
        svg.text((LEFT, TOP - 26.0), "small quiet", "to CPU →");
        svg.text((0.0, TOP - 26.0), "small quiet", "from ↓");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn drawn(machine: &Machine) -> String {
        HeatMap::of(machine, &machine.send, &Clusters::of(machine)).draw("send")
    }

    #[test]
    fn small_maps_tell_the_cost_of_every_pair() {
        let machine = example::machine(4);
        let text = drawn(&machine);
        let document = roxmltree::Document::parse(&text).expect("well-formed");
        let tips = document
            .descendants()
            .filter(|node| node.is_text() && node.text().is_some_and(|text| text.starts_with("CPU ")));
        assert_eq!(tips.count(), 12);
        let expected = format!("CPU 0 to CPU 3: {} ns", machine.send.get(0, 3));
        assert!(text.contains(&expected), "{expected}: {text}");
    }

    #[test]
    fn the_largest_map_covers_every_cell_once_and_stays_small() {
        let machine = example::machine(256);
        let text = drawn(&machine);
        assert!(text.len() < 1_000_000, "{} bytes", text.len());
        let document = roxmltree::Document::parse(&text).expect("well-formed");
        let paths = document.descendants().filter_map(|node| node.attribute("d"));
        let cells: usize =
            paths.flat_map(|path| path.split('h').skip(1)).map(|run| run.split('M').next().map_or(0, length)).sum();
        assert_eq!(cells, 256 * 255);
    }

    fn length(digits: &str) -> usize {
        digits.parse().expect("the length of a stroke")
    }
}
