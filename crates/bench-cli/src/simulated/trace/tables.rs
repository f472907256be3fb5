//! The tables of a trace, for the terminal and the picture: lines that moved, by distance and one by one.

use corecast_cli::report::number::significant;
use corecast_cli::report::svg::Svg;
use corecast_sim::Reach;

use super::outcome::{Line, TraceOutcome};

/// The most lines in a table.
const MOST_LINES: usize = 12;
/// From one line of text to the next, and the width of a letter, in pixels.
const LEADING: f64 = 15.0;
const LETTER: f64 = 6.2;
const GAP: f64 = 18.0;

/// A table. Headings that begin with `>` stand over numbers.
pub(super) struct Cells {
    pub(super) headings: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// Lines that moved, by the distance that they came from.
pub(super) fn by_distance(outcome: &TraceOutcome) -> Cells {
    let headings = vec!["came from".to_owned(), ">lines".to_owned(), per(outcome)];
    let row = |name: String, count: u64| vec![name, count.to_string(), each(outcome, count)];
    let numbered = outcome.transfers.iter().enumerate();
    let distances = numbered.map(|(distance, &count)| row(distance_name(outcome, distance), count));
    let sum = outcome.transfers.iter().sum();
    let memory = [row("all CPUs".to_owned(), sum), row("memory".to_owned(), outcome.from_memory)];
    Cells { headings, rows: distances.chain(memory).collect() }
}

/// The lines that moved most often.
pub(super) fn by_line(outcome: &TraceOutcome) -> Cells {
    let named = ["line", "where", ">moved", ">loads", ">stores", ">exchanges", "by distance"];
    let mut headings = named.map(str::to_owned).to_vec();
    headings.insert(3, per(outcome));
    let mut lines = outcome.moved_lines();
    let left = lines.split_off(lines.len().min(MOST_LINES));
    let cells = |line: &&Line| {
        let Line { line: number, transfers, loads, stores, exchanges, .. } = line;
        let counts = [loads, stores, exchanges].map(u64::to_string);
        let by_distance: Vec<String> = transfers.iter().map(u64::to_string).collect();
        let [loads, stores, exchanges] = counts;
        let moved = line.moves();
        let place = outcome.place(*number);
        vec![
            number.to_string(),
            place,
            moved.to_string(),
            each(outcome, moved),
            loads,
            stores,
            exchanges,
            by_distance.join(" "),
        ]
    };
    let mut rows: Vec<Vec<String>> = lines.iter().map(cells).collect();
    if !left.is_empty() {
        let moved = left.iter().map(|line| line.moves()).sum();
        rows.push(vec![format!("{} others", left.len()), String::new(), u64::to_string(&moved), each(outcome, moved)]);
    }
    Cells { headings, rows }
}

/// The name of a distance, with how near CPUs at it are that lines came from.
fn distance_name(outcome: &TraceOutcome, distance: usize) -> String {
    let reaches = outcome.requests.iter().filter(|request| request.distance == Some(distance));
    let mut reaches: Vec<Reach> =
        reaches.map(|request| request.reach).filter(|reach| *reach != Reach::Memory).collect();
    reaches.sort_unstable();
    reaches.dedup();
    let words: Vec<&str> = reaches.into_iter().map(reach_words).collect();
    match words.is_empty() {
        true => format!("distance {distance}"),
        false => format!("distance {distance}: {}", words.join(", ")),
    }
}

/// In words.
pub(super) fn reach_words(reach: Reach) -> &'static str {
    match reach {
        Reach::Own => "itself",
        Reach::Near => "near",
        Reach::Package => "same package",
        Reach::Beyond => "other package",
        Reach::Memory => "memory",
    }
}

/// The heading of numbers for each operation.
fn per(outcome: &TraceOutcome) -> String {
    format!(">per {}", outcome.operation())
}

fn each(outcome: &TraceOutcome, count: u64) -> String {
    match outcome.operations {
        0 => "-".to_owned(),
        operations => significant(count as f64 / operations as f64),
    }
}

impl Cells {
    /// The height of the table in a picture.
    pub(super) fn height(&self) -> f64 {
        LEADING * (self.rows.len() + 1) as f64
    }

    /// Draws it from this point on; its width.
    pub(super) fn draw(&self, svg: &mut Svg, (left, top): (f64, f64)) -> f64 {
        let mut x = left;
        for (column, heading) in self.headings.iter().enumerate() {
            let number = heading.strip_prefix('>');
            let texts = self.rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
            let words = number.unwrap_or(heading);
            let letters = texts.clone().chain([words]).map(|text| text.chars().count()).max().unwrap_or(0);
            let width = LETTER * letters as f64;
            let (place, class) = if number.is_some() { (x + width, "end") } else { (x, "digits") };
            svg.text((place, top + LEADING), &format!("small quiet {class}"), words);
            for (row, text) in texts.enumerate() {
                svg.text((place, top + LEADING * (row + 2) as f64), &format!("small digits {class}"), text);
            }
            x += width + GAP;
        }
        x - left
    }
}
