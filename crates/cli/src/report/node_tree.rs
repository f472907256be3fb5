//! The first nodes of a cluster's tree as a picture: those that are reached through the fewest messages.
//!
//! The colour of a node shows how many messages it is away from the root. A tree of more nodes than fit is cut, and each node
//! that lost children says how many.

use corecast::plan::cluster::ClusterPlan;
use corecast::plan::{Direction, Tree};
use maud::{Markup, PreEscaped, html};

use super::number::significant;
use super::svg::{Area, Paint, Point, Svg, coordinate};
use super::tree_layout::Layout;

/// Nodes that are drawn.
const MOST: usize = 40;
/// Children of one node that are drawn.
const MOST_CHILDREN: usize = 8;
const WIDTH: f64 = 860.0;
const PILL: Point = (50.0, 18.0);
const ROW: f64 = 24.0;
const MARGIN: f64 = 8.0;

/// A part of the tree: the numbers of its nodes, and how many children each has beyond those drawn.
struct Part {
    nodes: Vec<u64>,
    tree: Tree,
    hidden: Vec<usize>,
}

/// The picture of the tree that the values go down, or up where there is no other, with a line about its depths.
pub(super) fn figure(plan: &ClusterPlan) -> Markup {
    let direction = if plan.depths(Direction::Down).is_some() { Direction::Down } else { Direction::Up };
    let part = Part::of(plan, direction);
    let shown = part.nodes.len();
    let depths = plan.depths(direction).unwrap_or_default();
    let depths: Vec<String> =
        depths.iter().map(|nodes| nodes.round()).filter(|&nodes| nodes > 0.0).map(significant).collect();
    html! {
        figure class="wide" {
            (PreEscaped(part.draw()))
            figcaption {
                "The first " (shown) " of " (significant(plan.nodes as f64)) " nodes, children from top to bottom in the order "
                @if direction == Direction::Down { "of sending" } @else { "opposite to that of receiving" }
                "; a number with + counts children that are not drawn. Every node derives its own neighbours from the model."
            }
        }
        p class="note" { "Nodes that are 0, 1, 2, ... messages away from the root: " (depths.join(", ")) "." }
    }
}

impl Part {
    /// Breadth first from the root.
    fn of(plan: &ClusterPlan, direction: Direction) -> Self {
        let mut nodes = vec![plan.root];
        let mut children: Vec<Vec<usize>> = Vec::new();
        let mut hidden = Vec::new();
        while let Some(&node) = nodes.get(children.len()) {
            let all = plan.neighbours(direction, node).map(|neighbours| neighbours.children).unwrap_or_default();
            let room = MOST.saturating_sub(nodes.len()).min(MOST_CHILDREN);
            let first = nodes.len();
            nodes.extend(all.iter().take(room));
            children.push((first..nodes.len()).collect());
            hidden.push(all.len().saturating_sub(room));
        }
        let tree = Tree::new(0, children).expect("each node has one parent");
        Self { nodes, tree, hidden }
    }

    fn draw(&self) -> String {
        let layout = Layout::of(&self.tree);
        let level = (WIDTH - PILL.0 - 40.0 - 2.0 * MARGIN) / layout.height.max(1) as f64;
        let level = level.min(170.0);
        let centre = |member: usize| {
            let (x, y) = (layout.depth[member] as f64 * level, layout.across[member] * ROW);
            (x + MARGIN + PILL.0 / 2.0, y + MARGIN + PILL.1 / 2.0)
        };
        let height = layout.breadth * ROW + PILL.1 + 2.0 * MARGIN;
        let description = format!("A tree of {} nodes with root {}.", self.nodes.len(), self.nodes[0]);
        let mut svg = Svg::begin(WIDTH, height, "The first nodes of the planned tree, simulated", &description);
        for &parent in self.tree.top_down() {
            for &child in self.tree.children(parent) {
                edge(&mut svg, centre(parent), centre(child));
            }
        }
        for &member in self.tree.top_down() {
            self.pill(&mut svg, member, layout.depth[member], centre(member));
        }
        svg.finish()
    }

    fn pill(&self, svg: &mut Svg, member: usize, depth: usize, (x, y): Point) {
        let area = Area { x: x - PILL.0 / 2.0, y: y - PILL.1 / 2.0, width: PILL.0, height: PILL.1 };
        let root = if member == 0 { " root" } else { "" };
        let tip = format!("node {}, {depth} messages from the root", self.nodes[member]);
        svg.rect(area, Paint::Class(&format!("pill node{}{root}", depth % 8)), &tip);
        svg.text((x, y + 4.0), "small middle on-light digits", &self.nodes[member].to_string());
        if self.hidden[member] > 0 {
            svg.text((x + PILL.0 / 2.0 + 3.0, y + 4.0), "small quiet", &format!("+{}", self.hidden[member]));
        }
    }
}

fn edge(svg: &mut Svg, from: Point, to: Point) {
    let (start, end) = (from.0 + PILL.0 / 2.0, to.0 - PILL.0 / 2.0);
    let bend = f64::midpoint(start, end);
    let [start, end, bend, above, below] = [start, end, bend, from.1, to.1].map(coordinate);
    svg.path(&format!("M{start} {above}C{bend} {above} {bend} {below} {end} {below}"), "edge", "");
}
