//! A planned tree as a picture: the edges, the order of sending, and when each member is reached.
//!
//! The tree grows downwards if it fits into the page so, else to the right. One that fits neither way, or has more than
//! 64 members, is not drawn: the table of [`super::tree_table`] stands in.

use corecast::plan::{Direction, Operation, Problem, Schedule, Tree};

use super::cluster::{distinct, node_class};
use super::number::{cost, significant};
use super::svg::{Area, Paint, Point, Svg, coordinate};
use super::tree_layout::Layout;

const LARGEST: usize = 64;
const PAGE_WIDTH: f64 = 860.0;
const PILL_WIDTH: f64 = 42.0;
const LINE: f64 = 12.0;
const MARGIN: f64 = 6.0;
/// The least room of one level when growing to the right: a pill and an edge with its number.
const LEVEL_RIGHT: f64 = 84.0;
const LEVEL_DOWN: f64 = 46.0;
const DEEPEST_DOWN: usize = 24;

/// A planned tree and its predicted times.
pub(super) struct TreePicture<'a> {
    problem: &'a Problem,
    tree: &'a Tree,
    phases: &'a [Schedule],
    layout: Layout,
    growth: Growth,
    nodes: Vec<u32>,
}

/// Where the root's children are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    Down,
    Right,
}

impl<'a> TreePicture<'a> {
    /// `None` if the tree is too large to be drawn.
    pub(super) fn of(problem: &'a Problem, tree: &'a Tree, phases: &'a [Schedule]) -> Option<Self> {
        if tree.len() > LARGEST {
            return None;
        }
        let layout = Layout::of(tree);
        let fits_down = (layout.breadth + 1.0) * (PILL_WIDTH + 4.0) <= PAGE_WIDTH && layout.height <= DEEPEST_DOWN;
        let fits_right = (layout.height + 1) as f64 * LEVEL_RIGHT <= PAGE_WIDTH;
        let growth = match (fits_down, fits_right) {
            (true, _) => Growth::Down,
            (false, true) => Growth::Right,
            (false, false) => return None,
        };
        let nodes = distinct((0..problem.len()).map(|member| problem.numa(member)));
        Some(Self { problem, tree, phases, layout, growth, nodes })
    }

    /// The picture of the tree for that operation.
    pub(super) fn draw(&self, operation: Operation) -> String {
        let (width, height) = self.size();
        let title = format!("The planned {operation} tree");
        let mut svg = Svg::begin(width, height, &title, &self.description());
        let critical = self.critical();
        for &parent in self.tree.top_down() {
            for &child in self.tree.children(parent) {
                self.edge(&mut svg, parent, child, critical[child]);
            }
        }
        for &member in self.tree.top_down() {
            self.pill(&mut svg, member);
        }
        for &member in self.tree.top_down() {
            self.order(&mut svg, member);
        }
        svg.finish()
    }

    fn size(&self) -> Point {
        let (x, y) = match self.growth {
            Growth::Down => (self.layout.breadth * self.across(), self.layout.height as f64 * self.along()),
            Growth::Right => (self.layout.height as f64 * self.along(), self.layout.breadth * self.across()),
        };
        (x + PILL_WIDTH + 2.0 * MARGIN, y + self.pill_height() + 2.0 * MARGIN)
    }

    fn description(&self) -> String {
        let last = self.phases.last().map_or(0.0, |phase| phase.end);
        format!(
            "A tree of {} members with root {}; the operation ends after {}. The table beside it lists who sends to \
             whom and when.",
            self.tree.len(),
            self.problem.name(self.tree.root()),
            cost(last, self.problem.unit())
        )
    }

    /// Pixels from one member to the next across the direction of growth.
    fn across(&self) -> f64 {
        match self.growth {
            Growth::Down => {
                let room = (PAGE_WIDTH - PILL_WIDTH - 2.0 * MARGIN) / self.layout.breadth.max(1.0);
                room.clamp(PILL_WIDTH + 4.0, 72.0)
            }
            Growth::Right => self.pill_height() + 6.0,
        }
    }

    /// Pixels from one level to the next.
    fn along(&self) -> f64 {
        match self.growth {
            Growth::Down => self.pill_height() + LEVEL_DOWN,
            Growth::Right => {
                let room = (PAGE_WIDTH - PILL_WIDTH - 2.0 * MARGIN) / self.layout.height.max(1) as f64;
                room.min(210.0)
            }
        }
    }

    fn pill_height(&self) -> f64 {
        20.0 + LINE * self.phases.len() as f64
    }

    fn centre(&self, member: usize) -> Point {
        let across = self.layout.across[member] * self.across();
        let along = self.layout.depth[member] as f64 * self.along();
        let (x, y) = if self.growth == Growth::Down { (across, along) } else { (along, across) };
        (x + MARGIN + PILL_WIDTH / 2.0, y + MARGIN + self.pill_height() / 2.0)
    }

    /// The ends of an edge and the points that bend it, from parent to child.
    fn curve(&self, parent: usize, child: usize) -> [Point; 4] {
        let ((px, py), (cx, cy)) = (self.centre(parent), self.centre(child));
        if self.growth == Growth::Down {
            let (from, to) = (py + self.pill_height() / 2.0, cy - self.pill_height() / 2.0);
            let bend = (from + to) / 2.0;
            [(px, from), (px, bend), (cx, bend), (cx, to)]
        } else {
            let (from, to) = (px + PILL_WIDTH / 2.0, cx - PILL_WIDTH / 2.0);
            let bend = (from + to) / 2.0;
            [(from, py), (bend, py), (bend, cy), (to, cy)]
        }
    }

    fn edge(&self, svg: &mut Svg, parent: usize, child: usize, is_critical: bool) {
        let points = self.curve(parent, child).map(|(x, y)| format!("{} {}", coordinate(x), coordinate(y)));
        let [from, first, second, to] = points;
        let is_remote = self.problem.numa(parent) != self.problem.numa(child);
        let mut class = "edge".to_owned();
        class += if is_remote { " remote" } else { "" };
        class += if is_critical { " critical" } else { "" };
        svg.path(&format!("M{from}C{first} {second} {to}"), &class, &self.edge_tip(parent, child));
    }

    fn edge_tip(&self, parent: usize, child: usize) -> String {
        let mut lines = Vec::new();
        for phase in self.phases {
            let (from, to) = if phase.direction == Some(Direction::Down) { (parent, child) } else { (child, parent) };
            if let Some(transfer) = phase.sent_by(from).find(|transfer| transfer.to == to) {
                let (start, end) = (significant(transfer.send_start), cost(transfer.receive_end, self.problem.unit()));
                lines.push(format!("{} to {}: {start} to {end}", self.problem.name(from), self.problem.name(to)));
            }
        }
        lines.join("\n")
    }

    /// The numbers at the edges to a member's children: the order in which it sends to them, or, where nothing is sent
    /// down, receives from them.
    fn order(&self, svg: &mut Svg, parent: usize) {
        for (place, child) in children_in_order(self.phases, parent).into_iter().enumerate() {
            let (x, y) = on_curve(self.curve(parent, child), 0.74);
            svg.text((x, y + 4.0), "order", &(place + 1).to_string());
        }
    }

    fn pill(&self, svg: &mut Svg, member: usize) {
        let (x, y) = self.centre(member);
        let height = self.pill_height();
        let area = Area { x: x - PILL_WIDTH / 2.0, y: y - height / 2.0, width: PILL_WIDTH, height };
        let node = self.problem.numa(member);
        let class = node_class(&self.nodes, node);
        let root = if member == self.tree.root() { " root" } else { "" };
        let tip = format!("{}, NUMA node {node}", self.problem.name(member));
        svg.rect(area, Paint::Class(&format!("pill {class}{root}")), &tip);
        let top = area.y + 14.0;
        svg.text((x, top), "middle strong on-light digits", &self.problem.cpu(member).to_string());
        for (line, phase) in self.phases.iter().enumerate() {
            let arrow = match (self.phases.len(), phase.direction) {
                (1, _) | (_, None) => "",
                (_, Some(Direction::Down)) => "↓",
                (_, Some(Direction::Up)) => "↑",
            };
            let text = format!("{arrow}{}", significant(phase.arrivals[member]));
            svg.text((x, top + LINE * (line + 1) as f64), "small middle on-light digits", &text);
        }
    }

    /// By member: true on the way from the root to the member reached last, in the last phase down.
    fn critical(&self) -> Vec<bool> {
        let mut is_critical = vec![false; self.tree.len()];
        let Some(phase) = self.phases.last().filter(|phase| phase.direction == Some(Direction::Down)) else {
            return is_critical;
        };
        let last = (0..self.tree.len()).max_by(|&a, &b| phase.arrivals[a].total_cmp(&phase.arrivals[b]));
        for member in std::iter::successors(last, |&member| self.tree.parent(member)) {
            is_critical[member] = true;
        }
        is_critical
    }
}

/// The children of a member as it sends to them; if the phases only gather, as it receives from them. Edges that stand
/// for an exchange have no place in that order.
pub(super) fn children_in_order(phases: &[Schedule], parent: usize) -> Vec<usize> {
    match phases.iter().rfind(|phase| phase.direction == Some(Direction::Down)) {
        Some(down) => down.sent_by(parent).map(|message| message.to).collect(),
        None => phases.iter().flat_map(|phase| phase.received_by(parent)).map(|message| message.from).collect(),
    }
}

/// The point of a cubic Bézier curve at a share of its parameter.
fn on_curve(points: [Point; 4], share: f64) -> Point {
    let rest = 1.0 - share;
    let weights = [rest * rest * rest, 3.0 * rest * rest * share, 3.0 * rest * share * share, share * share * share];
    let sum = |pick: fn(&Point) -> f64| points.iter().zip(weights).map(|(point, weight)| pick(point) * weight).sum();
    (sum(|point| point.0), sum(|point| point.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn drawn(operation: Operation, len: u32, shape: &str) -> Option<String> {
        let planned = example::tree(&example::machine(len), operation, shape);
        let phases = Schedule::of_plan(&planned.problem, &planned.timed.plan);
        Some(TreePicture::of(&planned.problem, &planned.timed.plan.tree, &phases)?.draw(operation))
    }

    #[test]
    fn every_edge_has_its_number_in_send_order() {
        let text = drawn(Operation::Broadcast, 5, "sequential").expect("a small tree");
        let document = roxmltree::Document::parse(&text).expect("well-formed");
        let orders = document.descendants().filter(|node| node.attribute("class") == Some("order"));
        assert_eq!(orders.filter_map(|node| node.text()).collect::<Vec<_>>(), ["1", "2", "3", "4"]);
        let last =
            document.descendants().filter(|node| node.attribute("class").is_some_and(|c| c.contains("critical")));
        assert_eq!(last.count(), 1, "one edge leads to the member reached last");
    }

    #[test]
    fn a_barrier_tells_both_times_and_a_group_of_one_is_a_pill() {
        let barrier = drawn(Operation::Barrier, 4, "binary").expect("a small tree");
        assert_eq!((barrier.matches('↑').count(), barrier.matches('↓').count()), (4, 4));
        let alone = drawn(Operation::Reduce, 1, "binary").expect("a small tree");
        assert!(alone.contains("root"), "{alone}");
    }

    #[test]
    fn broad_trees_turn_and_larger_ones_are_left_to_the_table() {
        let size = |shape, len| {
            let text = drawn(Operation::Broadcast, len, shape)?;
            let document = roxmltree::Document::parse(&text).expect("well-formed");
            let side = |name| document.root_element().attribute(name).and_then(|side| side.parse::<f64>().ok());
            side("width").zip(side("height"))
        };
        let (width, height) = size("sequential", 64).expect("drawn to the right");
        assert!(width <= 860.0 && height > 2000.0, "{width} by {height}");
        let (width, _) = size("sequential", 12).expect("drawn downwards");
        assert!(width <= 860.0, "{width}");
        assert_eq!(size("binary", 65), None);
    }

    #[test]
    fn a_reduction_counts_in_order_of_arrival() {
        let planned = example::tree(&example::machine(20), Operation::Reduce, "cluster");
        let phases = Schedule::of_plan(&planned.problem, &planned.timed.plan);
        let root = planned.timed.plan.tree.root();
        let order = children_in_order(&phases, root);
        let times: Vec<f64> = phases[0].received_by(root).map(|message| message.receive_end).collect();
        assert_eq!(order.len(), planned.timed.plan.tree.children(root).len());
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
    }
}
