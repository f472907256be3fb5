//! The clusters of members by what messages cost, level by level.

use corecast::machine::clusters::levels;
use corecast::plan::Problem;

/// How many clusters of which size, largest first, for each level; the coarsest level first.
pub(crate) fn sizes(problem: &Problem) -> Vec<Vec<usize>> {
    let sizes = |level: &Vec<u32>| {
        let clusters = level.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sizes = vec![0; clusters];
        level.iter().for_each(|&cluster| sizes[cluster as usize] += 1);
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    };
    levels(problem.len(), &|a, b| problem.message(a, b)).iter().rev().map(sizes).collect()
}

/// A line for each level.
pub(crate) fn text(problem: &Problem) -> String {
    let levels = sizes(problem);
    if levels.is_empty() {
        return "costs show no clusters\n".to_owned();
    }
    let line = |sizes: &Vec<usize>| {
        let sizes_text = match (sizes.first(), sizes.last()) {
            (Some(most), Some(least)) if most == least => format!("{most}"),
            (Some(most), Some(least)) => format!("{least} to {most}"),
            _ => String::new(),
        };
        format!("costs show {} clusters of {sizes_text} members\n", sizes.len())
    };
    levels.iter().map(line).collect()
}
