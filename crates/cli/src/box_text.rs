//! A machine drawn with lines: boxes in boxes, and in the innermost ones the CPUs, those of one core in brackets.

use unicode_width::UnicodeWidthStr;

use crate::nesting::{Inside, Nest};

/// The left and the right side of a box with a blank each.
const SIDES: usize = 4;
/// CPUs that an innermost box has beside each other at least, before it is put below the others.
const FEWEST_BESIDE: usize = 2;

/// The boxes, at most `width` columns wide if the names allow it.
pub(crate) fn draw(nest: &Nest, width: usize) -> String {
    boxed(nest, width).into_iter().map(|line| line + "\n").collect()
}

/// Lines of equal width.
fn boxed(nest: &Nest, width: usize) -> Vec<String> {
    let width = width.min(widest(nest)).max(narrowest(nest));
    let room = width - SIDES;
    let content = match &nest.inside {
        Inside::Cores(cores) => {
            let tokens: Vec<Vec<String>> = tokens(cores).into_iter().map(|token| vec![token]).collect();
            rows(&tokens, in_even_rows(cores.len(), (room + 1) / (width_of(cores, 1) + 1)))
        }
        Inside::Nests(nests) => {
            let beside = beside(nests, room);
            let each = (room + 1) / beside - 1;
            rows(&nests.iter().map(|nest| boxed(nest, each)).collect::<Vec<_>>(), beside)
        }
    };
    let rule = "─".repeat(width.saturating_sub(SIDES + 1 + nest.name.width()));
    let top = format!("┌─ {} {rule}┐", nest.name);
    let side = |line: String| format!("│ {line}{} │", " ".repeat(room.saturating_sub(line.width())));
    let bottom = format!("└{}┘", "─".repeat(width - 2));
    [top].into_iter().chain(content.into_iter().map(side)).chain([bottom]).collect()
}

/// Puts blocks of lines into rows of `beside` blocks, all as wide as the widest.
fn rows(blocks: &[Vec<String>], beside: usize) -> Vec<String> {
    let widest = blocks.iter().flatten().map(|line| line.width()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for row in blocks.chunks(beside.max(1)) {
        for line in 0..row.iter().map(Vec::len).max().unwrap_or(0) {
            let parts = row.iter().map(|block| {
                let text = block.get(line).map_or("", String::as_str);
                format!("{text}{}", " ".repeat(widest - text.width()))
            });
            lines.push(parts.collect::<Vec<_>>().join(" ").trim_end().to_owned());
        }
    }
    lines
}

/// The number of these boxes that stand beside each other.
fn beside(nests: &[Nest], room: usize) -> usize {
    let least = nests.iter().map(narrowest).max().unwrap_or(0);
    in_even_rows(nests.len(), (room + 1) / (least + 1))
}

/// The number of things in a row where at most `most` fit: as few rows as can be, all alike if they can be.
fn in_even_rows(things: usize, most: usize) -> usize {
    things.div_ceil(things.div_ceil(most.max(1)).max(1)).max(1)
}

/// The text that stands for each core.
fn tokens(cores: &[Vec<u32>]) -> Vec<String> {
    let digits = cores.iter().flatten().map(|id| id.to_string().len()).max().unwrap_or(1);
    let token = |core: &Vec<u32>| match &core[..] {
        [id] => format!("{id:>digits$}"),
        ids => format!("[{}]", ids.iter().map(|id| format!("{id:>digits$}")).collect::<Vec<_>>().join(" ")),
    };
    cores.iter().map(token).collect()
}

/// The width of a number of cores beside each other.
fn width_of(cores: &[Vec<u32>], beside: usize) -> usize {
    let widest = tokens(cores).iter().map(|token| token.width()).max().unwrap_or(0);
    (beside * (widest + 1)).saturating_sub(1)
}

fn width_of_name(nest: &Nest) -> usize {
    SIDES + 1 + nest.name.width()
}

fn narrowest(nest: &Nest) -> usize {
    let content = match &nest.inside {
        Inside::Cores(cores) => width_of(cores, cores.len().min(FEWEST_BESIDE)),
        Inside::Nests(nests) => nests.iter().map(narrowest).max().unwrap_or(0),
    };
    width_of_name(nest).max(content + SIDES)
}

fn widest(nest: &Nest) -> usize {
    let content = match &nest.inside {
        Inside::Cores(cores) => width_of(cores, cores.len()),
        Inside::Nests(nests) => {
            // All are drawn as wide as the widest of them.
            let each = nests.iter().map(widest).max().unwrap_or(0);
            (nests.len() * (each + 1)).saturating_sub(1)
        }
    };
    width_of_name(nest).max(content + SIDES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nesting::nest;
    use corecast::CpuId;
    use corecast::machine::Cpu;

    fn cpus(len: u32, cpu: impl Fn(u32) -> Cpu) -> Nest {
        nest(&(0..len).map(cpu).collect::<Vec<_>>())
    }

    #[test]
    fn a_small_machine_is_drawn_as_boxes_in_boxes() {
        let nest = cpus(8, |id| Cpu {
            package: Some(0),
            l3: Some(id % 4 / 2),
            core: Some(id % 4),
            ..Cpu::flat(CpuId::new(id))
        });
        let expected = "\
┌─ package 0 ─────────────────────┐
│ ┌─ L3 0 ──────┐ ┌─ L3 1 ──────┐ │
│ │ [0 4] [1 5] │ │ [2 6] [3 7] │ │
│ └─────────────┘ └─────────────┘ │
└─────────────────────────────────┘
";
        assert_eq!(draw(&nest, 80), expected);
    }

    #[test]
    fn boxes_that_do_not_fit_beside_each_other_stand_below() {
        let many = cpus(256, |id| Cpu {
            package: Some(id / 128),
            numa: Some(id / 32),
            l3: Some(id / 8),
            core: Some(id / 2),
            ..Cpu::flat(CpuId::new(id))
        });
        let text = draw(&many, 80);
        assert!(text.lines().all(|line| line.width() <= 80), "{text}");
        for id in 0..256 {
            let is_there = |word: &str| word.trim_matches(['[', ']']) == id.to_string();
            assert!(text.split_whitespace().any(is_there), "CPU {id} is missing: {text}");
        }
        let top = text.lines().find(|line| line.contains("L3 0 ")).expect("a cache");
        assert!(top.contains("L3 16 "), "the packages stand beside each other: {text}");
    }

    #[test]
    fn a_machine_of_one_cpu_is_one_box() {
        let text = draw(&cpus(1, |id| Cpu::flat(CpuId::new(id))), 80);
        assert_eq!(text, "┌─ machine ┐\n│ 0        │\n└──────────┘\n");
    }
}
