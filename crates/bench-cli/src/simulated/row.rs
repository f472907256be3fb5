//! The outcomes of a contender at a step: the median of several seeds, how far they are apart, and how much it depends on
//! assumptions.

use std::iter;

use corecast_sim::Disturbed;
use serde::Serialize;

use super::{Played, Point};

/// The outcomes of one contender at one step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    /// The contender.
    pub(crate) contender: String,
    /// The number of threads, of members or of clients, or the distance.
    pub(crate) step: usize,
    /// The program's figure: the median of the seeds; `None` if a run did not end.
    pub(crate) median: Option<f64>,
    /// The least of the seeds.
    pub(crate) least: Option<f64>,
    /// The greatest of the seeds.
    pub(crate) most: Option<f64>,
    /// The figure at each corner of what is assumed of the machine, the machine as given first; none without `--corners`.
    pub(crate) corners: Vec<f64>,
    /// Jain's index of fairness, in the run of the median.
    pub(crate) jain: Option<f64>,
    /// Lines that moved between CPUs in the run of the median, by distance, the nearest first.
    pub(crate) transfers: Vec<f64>,
    /// How threads were disturbed, in all runs of the machine as given together.
    pub(crate) disturbed: Disturbed,
    /// The number of these runs in which a thread was killed, and the others then waited for it. They have no figure.
    pub(crate) hung: u64,
    /// Why there is no outcome.
    pub(crate) failed: Option<String>,
}

/// The rows of these points, of which those that differ in their seeds and corners alone follow each other.
pub(crate) fn rows(points: &[Point], played: &[Played]) -> Vec<Row> {
    let both: Vec<(&Point, &Played)> = points.iter().zip(played).collect();
    let same = |one: &(&Point, &Played), other: &(&Point, &Played)| {
        (&one.0.contender, one.0.step) == (&other.0.contender, other.0.step)
    };
    both.chunk_by(same).map(row).collect()
}

fn row(all: &[(&Point, &Played)]) -> Row {
    let Point { contender, step, .. } = all[0].0;
    let words = |(point, played): &(&Point, &Played)| {
        let words = played.failed.as_ref()?;
        Some(format!("with seed {}: {words}", point.seed))
    };
    let failed = all.iter().filter(|(_, played)| !played.hung).find_map(words);
    let (seeds, corners): (Vec<_>, Vec<_>) = all.iter().partition(|(point, _)| point.described.corner == 0);
    let mut figures: Vec<(f64, &Played)> =
        seeds.iter().filter_map(|(_, played)| Some((played.figure?, *played))).collect();
    figures.sort_by(|one, other| one.0.total_cmp(&other.0));
    // Where the others wait in each run, the first of them tells why.
    let failed = failed.or_else(|| if figures.is_empty() { all.iter().find_map(words) } else { None });
    let mut disturbed = Disturbed::default();
    seeds.iter().for_each(|(_, played)| disturbed += played.disturbed);
    let is_whole = failed.is_none();
    let at = |place: usize| figures.get(place).filter(|_| is_whole).copied();
    let median = at(figures.len() / 2);
    let at_corners = corners.iter().filter_map(|(_, played)| played.figure);
    let corners = match median {
        Some((given, _)) if !corners.is_empty() => iter::once(given).chain(at_corners).collect(),
        _ => Vec::new(),
    };
    Row {
        contender: contender.clone(),
        step: *step,
        median: median.map(|(figure, _)| figure),
        least: at(0).map(|(figure, _)| figure),
        most: at(figures.len().wrapping_sub(1)).map(|(figure, _)| figure),
        corners,
        jain: median.and_then(|(_, played)| played.jain),
        transfers: median.map(|(_, played)| played.transfers.clone()).unwrap_or_default(),
        disturbed,
        hung: seeds.iter().filter(|(_, played)| played.hung).count() as u64,
        failed,
    }
}

#[cfg(test)]
mod tests {
    use corecast_sim::{Disturbance, WhatIf};

    use super::*;
    use crate::simulated::{Described, Fill, Program};

    fn point(contender: &str, seed: u64, corner: usize) -> Point {
        Point {
            described: Described {
                machine: "xeon-8x10".to_owned(),
                what_if: WhatIf::default(),
                smt: false,
                fill: Fill::Clusters,
                corner,
            },
            program: Program::Barriers { warm_up: 1, episodes: 1, plans_quickly: true },
            contender: contender.to_owned(),
            step: 2,
            seed,
            disturbance: Disturbance::NONE,
        }
    }

    fn played(figure: f64) -> Played {
        let disturbed = Disturbed { stops: 2, ..Disturbed::default() };
        let transfers = vec![figure];
        Played { figure: Some(figure), jain: Some(figure / 10.0), transfers, disturbed, ..Played::default() }
    }

    #[test]
    fn seeds_are_a_row_with_their_median_and_a_run_that_failed_leaves_none() {
        let of = |contender, seed| point(contender, seed, 0);
        let points = [of("tas", 1), of("tas", 2), of("tas", 3), of("mcs", 1), of("mcs", 2)];
        let failed = Played { failed: Some("it hung".to_owned()), ..Played::default() };
        let rows = rows(&points, &[played(3.0), played(1.0), played(2.0), played(4.0), failed]);
        assert_eq!(rows.len(), 2);
        let Row { median, least, most, jain, transfers, failed, .. } = &rows[0];
        assert_eq!((*median, *least, *most, *jain), (Some(2.0), Some(1.0), Some(3.0), Some(0.2)));
        assert_eq!((transfers.as_slice(), failed), (&[2.0][..], &None));
        assert_eq!((rows[1].median, rows[1].most), (None, None));
        assert_eq!(rows[1].failed.as_deref(), Some("with seed 2: it hung"));
        assert!(rows[0].corners.is_empty());
        assert_eq!((rows[0].disturbed.stops, rows[0].hung), (6, 0));
    }

    #[test]
    fn runs_that_wait_for_a_dead_thread_are_counted_and_leave_the_figure_of_the_others() {
        let points = [point("tas", 1, 0), point("tas", 2, 0), point("mcs", 1, 0)];
        let disturbed = Disturbed { killed: 1, ..Disturbed::default() };
        let hung = Played { disturbed, hung: true, failed: Some("it waits".to_owned()), ..Played::default() };
        let rows = rows(&points, &[hung.clone(), played(2.0), hung]);
        assert_eq!((rows[0].hung, rows[0].disturbed.killed, rows[0].median), (1, 1, Some(2.0)));
        assert_eq!(rows[0].failed, None);
        assert_eq!((rows[1].hung, rows[1].failed.as_deref()), (1, Some("with seed 1: it waits")));
    }

    #[test]
    fn corners_are_no_seeds() {
        let points = [point("tas", 1, 0), point("tas", 1, 1), point("tas", 1, 2)];
        let rows = rows(&points, &[played(3.0), played(1.0), played(9.0)]);
        assert_eq!((rows.len(), rows[0].median, rows[0].most), (1, Some(3.0), Some(3.0)));
        assert_eq!(rows[0].corners, [3.0, 1.0, 9.0]);
    }
}
