//! The cost of a message from every CPU to every other one, as a matrix in the terminal.
//!
//! A cell is a number where there is room, with its shade behind it on a terminal with colours; else a shade alone. CPUs stand
//! by NUMA node, cache and core, as in the report. Where there are more CPUs than fit beside each other, neighbours in that order
//! share a cell, which has the median of their costs.

use corecast::Machine;

use crate::report::Clusters;
use crate::report::heat_scale::Scale;
use crate::report::number::median;
use crate::shade::{SHADES, Shading, shade};
use crate::table;

/// The widest matrix, in cells.
const MOST_CELLS: usize = 64;
/// Up to this many cells in a row each has its number.
const MOST_NUMBERS: usize = 10;
/// Up to this many cells in a row each is two columns wide, which makes it about square.
const MOST_WIDE: usize = 32;

/// The costs of groups of CPUs to each other.
struct Matrix<'a> {
    machine: &'a Machine,
    /// Positions of CPUs, those that share a cell together.
    groups: Vec<Vec<usize>>,
    /// `None` where a CPU would send to itself.
    costs: Vec<Vec<Option<f64>>>,
    scale: Scale,
}

/// The matrix with its scale; a sentence for two CPUs; nothing for one.
pub(crate) fn draw(machine: &Machine, shading: Shading) -> String {
    match machine.cpus.len() {
        0 | 1 => String::new(),
        2 => pair(machine),
        _ => Matrix::of(machine).text(shading),
    }
}

/// The cost of a message to both of its ends.
fn message(machine: &Machine, from: usize, to: usize) -> f64 {
    machine.send.get(from, to) + machine.receive.get(from, to)
}

/// The matrix of two CPUs in a sentence.
pub(crate) fn pair(machine: &Machine) -> String {
    let [there, back] = [message(machine, 0, 1), message(machine, 1, 0)].map(table::cost);
    let ([first, second], unit) = ([0, 1].map(|place| machine.cpus[place].id), machine.unit);
    format!(
        "A message from CPU {first} to CPU {second} takes {there} {unit}, sending and receiving together, and {back} {unit} back.\n"
    )
}

impl<'a> Matrix<'a> {
    fn of(machine: &'a Machine) -> Self {
        let order = Clusters::of(machine).order;
        let size = order.len().div_ceil(MOST_CELLS);
        let groups: Vec<Vec<usize>> = order.chunks(size).map(<[usize]>::to_vec).collect();
        let cost = |from: &[usize], to: &[usize]| {
            let pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
            let others = pairs.filter(|(from, to)| from != to);
            median(others.map(|(from, to)| message(machine, from, to)).collect())
        };
        let costs: Vec<Vec<Option<f64>>> =
            groups.iter().map(|from| groups.iter().map(|to| cost(from, to)).collect()).collect();
        let scale = Scale::over(costs.iter().flatten().flatten().copied());
        Self { machine, groups, costs, scale }
    }

    fn text(&self, shading: Shading) -> String {
        let (unit, len) = (self.machine.unit, self.groups.len());
        let together = match self.groups[0].len() {
            1 => String::new(),
            size => format!("{size} CPUs share a cell, which has the median of their costs\n"),
        };
        let rows: String = (0..len).map(|row| self.row(row, shading)).collect();
        let scale = if len > MOST_NUMBERS || shading == Shading::Colours { self.scale(shading) } else { String::new() };
        let what = format!("message from CPU (row) to CPU (column), {unit}, sending and receiving together");
        format!("{what}\n{together}{}{rows}{scale}", self.head())
    }

    /// The name of a row: the first CPU of its group.
    fn name(&self, group: usize) -> String {
        self.machine.cpus[self.groups[group][0]].id.to_string()
    }

    fn width_of_names(&self) -> usize {
        (0..self.groups.len()).map(|group| self.name(group).len()).max().unwrap_or(1)
    }

    fn width_of_cell(&self) -> usize {
        if self.groups.len() > MOST_NUMBERS {
            return if self.groups.len() > MOST_WIDE { 1 } else { 2 };
        }
        let costs = self.costs.iter().flatten().flatten();
        costs.map(|&cost| table::cost(cost).len()).max().unwrap_or(1).max(self.width_of_names()) + 1
    }

    /// The names of the columns: all that fit.
    fn head(&self) -> String {
        let (start, cell) = (self.width_of_names() + 2, self.width_of_cell());
        let mut line = String::new();
        for group in 0..self.groups.len() {
            let name = self.name(group);
            let indent = if self.groups.len() <= MOST_NUMBERS { cell - name.len() } else { 0 };
            let place = start + group * cell + indent;
            let is_free = line.is_empty() || place > line.len();
            if is_free {
                line += &format!("{}{name}", " ".repeat(place - line.len()));
            }
        }
        line + "\n"
    }

    fn row(&self, row: usize, shading: Shading) -> String {
        let width = self.width_of_cell();
        let cells = self.costs[row].iter().map(|cost| match cost {
            None => " ".repeat(width),
            &Some(cost) if self.groups.len() <= MOST_NUMBERS => {
                shading.behind(self.shade(cost), &format!("{:>width$}", table::cost(cost)))
            }
            &Some(cost) => shading.cell(self.shade(cost), width),
        });
        let line = format!(" {:>1$} {2}", self.name(row), self.width_of_names(), cells.collect::<String>());
        format!("{}\n", line.trim_end())
    }

    fn shade(&self, cost: f64) -> usize {
        shade(self.scale.share(cost))
    }

    /// Every other shade with the least cost that it stands for, and the largest cost.
    fn scale(&self, shading: Shading) -> String {
        let step = |step: usize| {
            let least = self.scale.cost_at(step as f64 / SHADES as f64);
            format!("{} {}", shading.cell(step, 2), table::cost(least))
        };
        let steps: Vec<String> = (0..SHADES).step_by(2).chain([SHADES - 1]).map(step).collect();
        format!(" from {} to {} {}\n", steps.join("  "), table::cost(self.scale.most()), self.machine.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn plain(cpus: u32) -> String {
        draw(&example::machine(cpus), Shading::Characters)
    }

    #[test]
    fn few_cpus_have_their_numbers_and_two_a_sentence() {
        assert_eq!(plain(1), "");
        let two = plain(2);
        assert!(two.starts_with("A message from CPU 0 to CPU 1 takes ") && two.lines().count() == 1, "{two}");
        let four = plain(4);
        let machine = example::machine(4);
        assert!(four.contains(&table::cost(machine.send.get(0, 3) + machine.receive.get(0, 3))), "{four}");
        assert_eq!(four.lines().count(), 2 + 4, "{four}");
    }

    #[test]
    fn every_size_fits_the_screen_in_plain_characters() {
        for cpus in [3, 10, 11, 32, 33, 64, 65, 128, 256] {
            let text = plain(cpus);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{cpus}: {text}");
            assert!(text.is_ascii(), "{cpus}: {text}");
        }
        let text = plain(256);
        assert!(text.contains("4 CPUs share a cell"), "{text}");
        let rows = text.lines().filter(|line| line.contains('@') || line.contains('#')).count();
        assert!(rows >= 64, "every row has far CPUs: {text}");
    }

    #[test]
    fn near_cpus_are_lighter_than_far_ones() {
        let text = plain(40);
        let row = text.lines().nth(2).expect("the first CPU's");
        let shades: String = row.chars().skip(4).collect();
        let (near, far) = shades.split_at(20);
        assert!(far.contains('@') && !near.contains('@'), "{text}");
    }

    #[test]
    fn colours_stand_behind_the_numbers() {
        let text = draw(&example::machine(4), Shading::Colours);
        assert!(text.contains("\x1b[48;5;") && text.contains("\x1b[0m"), "{text:?}");
        assert!(text.lines().last().is_some_and(|line| line.starts_with(" from ")), "{text:?}");
    }
}
