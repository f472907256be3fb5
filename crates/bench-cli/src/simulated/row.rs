//! The outcomes of a contender with a number of threads: the median of several seeds, and how far they are apart.

use serde::Serialize;

use super::{Played, Point};

/// The outcomes of one contender with one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    /// The contender.
    pub(crate) contender: String,
    /// The threads, on the first CPUs.
    pub(crate) threads: usize,
    /// The program's figure: the median of the seeds; `None` if a run did not end.
    pub(crate) median: Option<f64>,
    /// The least of the seeds.
    pub(crate) least: Option<f64>,
    /// The greatest of the seeds.
    pub(crate) most: Option<f64>,
    /// Jain's index of fairness, in the run of the median.
    pub(crate) jain: Option<f64>,
    /// Lines that moved between CPUs in the run of the median, by distance, the nearest first.
    pub(crate) transfers: Vec<f64>,
    /// Why there is no outcome.
    pub(crate) failed: Option<String>,
}

/// The rows of these points, of which those that differ in their seeds alone follow each other.
pub(crate) fn rows(points: &[Point], played: &[Played]) -> Vec<Row> {
    let both: Vec<(&Point, &Played)> = points.iter().zip(played).collect();
    let same = |one: &(&Point, &Played), other: &(&Point, &Played)| {
        (&one.0.contender, one.0.threads) == (&other.0.contender, other.0.threads)
    };
    both.chunk_by(same).map(row).collect()
}

fn row(seeds: &[(&Point, &Played)]) -> Row {
    let Point { contender, threads, .. } = seeds[0].0;
    let failed = seeds.iter().find_map(|(point, played)| {
        let words = played.failed.as_ref()?;
        Some(format!("with seed {}: {words}", point.seed))
    });
    let mut figures: Vec<(f64, &Played)> =
        seeds.iter().filter_map(|(_, played)| Some((played.figure?, *played))).collect();
    figures.sort_by(|one, other| one.0.total_cmp(&other.0));
    let is_whole = failed.is_none();
    let at = |place: usize| figures.get(place).filter(|_| is_whole).copied();
    let median = at(figures.len() / 2);
    Row {
        contender: contender.clone(),
        threads: *threads,
        median: median.map(|(figure, _)| figure),
        least: at(0).map(|(figure, _)| figure),
        most: at(figures.len().wrapping_sub(1)).map(|(figure, _)| figure),
        jain: median.and_then(|(_, played)| played.jain),
        transfers: median.map(|(_, played)| played.transfers.clone()).unwrap_or_default(),
        failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Described, Program};

    fn point(contender: &str, seed: u64) -> Point {
        Point {
            described: Described { machine: "xeon-8x10".to_owned(), interconnect: 1.0 },
            program: Program::Barriers { warm_up: 1, episodes: 1 },
            contender: contender.to_owned(),
            threads: 2,
            seed,
        }
    }

    fn played(figure: f64) -> Played {
        Played { figure: Some(figure), jain: Some(figure / 10.0), transfers: vec![figure], failed: None }
    }

    #[test]
    fn seeds_are_a_row_with_their_median_and_a_run_that_failed_leaves_none() {
        let points = [point("tas", 1), point("tas", 2), point("tas", 3), point("mcs", 1), point("mcs", 2)];
        let failed = Played { failed: Some("it hung".to_owned()), ..Played::default() };
        let rows = rows(&points, &[played(3.0), played(1.0), played(2.0), played(4.0), failed]);
        assert_eq!(rows.len(), 2);
        let Row { median, least, most, jain, transfers, failed, .. } = &rows[0];
        assert_eq!((*median, *least, *most, *jain), (Some(2.0), Some(1.0), Some(3.0), Some(0.2)));
        assert_eq!((transfers.as_slice(), failed), (&[2.0][..], &None));
        assert_eq!((rows[1].median, rows[1].most), (None, None));
        assert_eq!(rows[1].failed.as_deref(), Some("with seed 2: it hung"));
    }
}
