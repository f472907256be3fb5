//! The machine as a picture: boxes in boxes, and in the innermost ones the CPUs, those of one core side by side.

use corecast::Machine;

use crate::nesting::{Inside, Nest, nest};

use super::svg::{Area, Paint, Point, Svg};

/// From the border of a box to what is in it.
const PADDING: f64 = 7.0;
/// The line with the name of a box.
const NAME: f64 = 17.0;
/// Between two boxes, and between two cores.
const GAP: f64 = 6.0;
const CPU_WIDTH: f64 = 26.0;
const CPU_HEIGHT: f64 = 20.0;
/// About the width of a letter of a name.
const LETTER: f64 = 6.6;

/// The CPUs of a machine in a picture that is at most `width` pixels wide, if the names of its boxes allow it.
pub(super) fn draw(machine: &Machine, width: f64) -> String {
    let nest = nest(&machine.cpus);
    let (across, down) = size(&nest, width);
    let description =
        format!("{} CPUs in boxes: {}. CPUs in one small frame share a core.", machine.cpus.len(), in_words(&nest));
    let mut svg = Svg::begin(across + 2.0, down + 2.0, "The machine", &description);
    draw_box(&mut svg, &nest, (1.0, 1.0), width);
    svg.finish()
}

/// The names of the boxes, level by level.
fn in_words(nest: &Nest) -> String {
    match &nest.inside {
        Inside::Cores(cores) => format!("{} with {} cores", nest.name, cores.len()),
        Inside::Nests(nests) => {
            let inner = nests.first().map_or_else(String::new, in_words);
            format!("{} with {} boxes, the first of them {inner}", nest.name, nests.len())
        }
    }
}

/// The contents of a box in rows, and how much room they take.
struct Rows {
    sizes: Vec<Point>,
    beside: usize,
    /// The width of every column.
    column: f64,
}

impl Rows {
    fn of(nest: &Nest, room: f64) -> Self {
        match &nest.inside {
            Inside::Cores(cores) => {
                let width = |core: &Vec<u32>| CPU_WIDTH * core.len() as f64;
                let sizes: Vec<Point> = cores.iter().map(|core| (width(core), CPU_HEIGHT)).collect();
                let column = sizes.iter().map(|size| size.0).fold(0.0, f64::max);
                let beside = (((room + GAP) / (column + GAP)) as usize).clamp(1, cores.len().max(1));
                Self { sizes, beside, column }
            }
            Inside::Nests(nests) => {
                let least = nests.iter().map(narrowest).fold(0.0, f64::max);
                let most = (((room + GAP) / (least + GAP)) as usize).clamp(1, nests.len().max(1));
                let beside = nests.len().div_ceil(nests.len().div_ceil(most)).max(1);
                let each = (room + GAP) / beside as f64 - GAP;
                let sizes: Vec<Point> = nests.iter().map(|nest| size(nest, each)).collect();
                let column = sizes.iter().map(|size| size.0).fold(0.0, f64::max);
                Self { sizes, beside, column }
            }
        }
    }

    /// Where each thing is, and how large all are together.
    fn places(&self) -> (Vec<Point>, Point) {
        let mut places = Vec::new();
        let (mut top, mut width) = (0.0, 0.0_f64);
        for row in self.sizes.chunks(self.beside) {
            places.extend((0..row.len()).map(|place| (place as f64 * (self.column + GAP), top)));
            width = width.max(row.len() as f64 * (self.column + GAP) - GAP);
            top += row.iter().map(|size| size.1).fold(0.0, f64::max) + GAP;
        }
        (places, (width, (top - GAP).max(0.0)))
    }
}

fn name_width(nest: &Nest) -> f64 {
    LETTER * nest.name.chars().count() as f64
}

/// The least width of a box.
fn narrowest(nest: &Nest) -> f64 {
    let content = match &nest.inside {
        Inside::Cores(cores) => cores.iter().map(|core| CPU_WIDTH * core.len() as f64).fold(0.0, f64::max),
        Inside::Nests(nests) => nests.iter().map(narrowest).fold(0.0, f64::max),
    };
    content.max(name_width(nest)) + 2.0 * PADDING
}

/// The size of a box that may be `width` wide.
fn size(nest: &Nest, width: f64) -> Point {
    let room = (width.max(narrowest(nest))) - 2.0 * PADDING;
    let (_, (across, down)) = Rows::of(nest, room).places();
    (across.max(name_width(nest)) + 2.0 * PADDING, down + NAME + 2.0 * PADDING)
}

fn draw_box(svg: &mut Svg, nest: &Nest, at: Point, width: f64) {
    let (across, down) = size(nest, width);
    svg.rect(Area { x: at.0, y: at.1, width: across, height: down }, Paint::Class("nest"), "");
    svg.text((at.0 + PADDING, at.1 + PADDING + 10.0), "small quiet", &nest.name);
    let room = width.max(narrowest(nest)) - 2.0 * PADDING;
    let rows = Rows::of(nest, room);
    let (left, top) = (at.0 + PADDING, at.1 + PADDING + NAME);
    for (number, (x, y)) in rows.places().0.into_iter().enumerate() {
        let place = (left + x, top + y);
        match &nest.inside {
            Inside::Cores(cores) => draw_core(svg, &cores[number], place),
            Inside::Nests(nests) => {
                let each = (room + GAP) / rows.beside as f64 - GAP;
                draw_box(svg, &nests[number], place, each);
            }
        }
    }
}

fn draw_core(svg: &mut Svg, cpus: &[u32], (x, y): Point) {
    let ids = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ");
    let tip = if cpus.len() > 1 { format!("one core: CPU {ids}") } else { format!("CPU {ids}") };
    let width = CPU_WIDTH * cpus.len() as f64;
    svg.rect(Area { x, y, width, height: CPU_HEIGHT }, Paint::Class("core"), &tip);
    for (place, cpu) in cpus.iter().enumerate() {
        let middle = x + (place as f64 + 0.5) * CPU_WIDTH;
        svg.text((middle, y + CPU_HEIGHT / 2.0 + 4.0), "small middle digits", &cpu.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn every_cpu_is_in_the_picture_once_and_it_keeps_to_the_width() {
        for (cpus, width) in [(1, 350.0), (2, 860.0), (20, 350.0), (256, 860.0), (256, 350.0)] {
            let machine = example::machine(cpus);
            let text = draw(&machine, width);
            let document = roxmltree::Document::parse(&text).expect("well-formed");
            let shown = document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text());
            let mut ids: Vec<u32> = shown.filter_map(|text| text.parse().ok()).collect();
            ids.sort_unstable();
            assert_eq!(ids, (0..cpus).collect::<Vec<_>>());
            let drawn: f64 =
                document.root_element().attribute("width").and_then(|it| it.parse().ok()).expect("a width");
            assert!(drawn <= width + 2.0, "{cpus} CPUs: {drawn} of {width}");
        }
    }

    #[test]
    fn boxes_lie_inside_each_other() {
        let text = draw(&example::machine(8), 860.0);
        for words in ["package 0", "L3 3", "CPU 7"] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
