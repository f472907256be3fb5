//! The demands on how corecast performs beside foreign load, checked in every cell.

use super::operation::STD;
use super::report::{BusyCell, BusyRow};
use corecast_race::gate::Gate;

/// How many times as long corecast may take as the fastest that sleeps.
const OVER_SLEEPING: f64 = 1.25;
/// How many times as long as the fastest of all.
const OVER_ALL: f64 = 2.0;
/// The least CPU time of the neighbours, as a share of what they get beside the standard library.
const LEFT_TO_NEIGHBOURS: f64 = 0.9;

/// The gates of one cell.
pub(super) fn of(cell: &BusyCell) -> Vec<Gate> {
    let named = |words: &str| format!("{}: {words}", cell.situation());
    let mut gates = vec![
        Gate::new(named("corecast / the fastest that sleeps"), OVER_SLEEPING, true, over(cell, |row| row.sleeps)),
        Gate::new(named("corecast / the fastest"), OVER_ALL, true, over(cell, |_| true)),
    ];
    if cell.hogs > 0 {
        let gate = named("CPU time of the neighbours until both are done, with corecast / with std");
        gates.push(Gate::new(gate, LEFT_TO_NEIGHBOURS, false, left_to_neighbours(cell)));
    }
    gates
}

/// How many times as long corecast's default takes as the fastest of these others that finished, its own other ways to wait
/// among them.
fn over(cell: &BusyCell, is_compared: impl Fn(&BusyRow) -> bool) -> Result<f64, String> {
    let ours = ours(cell)?;
    let others = cell.rows.iter().filter(|row| !row.judged && row.unfinished.is_none() && is_compared(row));
    let fastest = others.filter_map(|row| row.wall_ms).min_by(f64::total_cmp);
    let fastest = fastest.ok_or("such a contender that finishes here")?;
    Ok(if ours.unfinished.is_some() { f64::INFINITY } else { ours.wall_ms.ok_or("a run of corecast")? / fastest })
}

/// The neighbours' CPU time with corecast as a share of that with std, in the time that the slower of the two takes for the same
/// work. A contender that is done earlier leaves them the CPUs from then on.
fn left_to_neighbours(cell: &BusyCell) -> Result<f64, String> {
    let measured = |row: &BusyRow| row.wall_ms.zip(row.hogs_cpus);
    let (our_ms, our_cpus) = measured(ours(cell)?).ok_or("a run of corecast that finishes")?;
    let std = cell.rows.iter().find(|row| row.contender == STD);
    let (std_ms, std_cpus) =
        std.and_then(measured).filter(|&(_, cpus)| cpus > 0.0).ok_or("a run of std that finishes")?;
    let (until, alone) = (our_ms.max(std_ms), cell.hogs_alone.unwrap_or(0.0));
    let got = |ms: f64, cpus: f64| cpus * ms + alone.max(cpus) * (until - ms);
    Ok(got(our_ms, our_cpus) / got(std_ms, std_cpus))
}

fn ours(cell: &BusyCell) -> Result<&BusyRow, String> {
    let row = cell.judged().ok_or("contender corecast")?;
    row.skipped.as_ref().map_or(Ok(row), |why| Err(format!("contender corecast: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::gate::Verdict;

    fn row(contender: &'static str, wall_ms: Option<f64>, hogs_cpus: f64) -> BusyRow {
        let sleeps = !contender.contains("spin");
        let judged = contender == "corecast";
        let unfinished = wall_ms.is_none().then(|| "it did not finish".to_owned());
        let hogs_cpus = Some(hogs_cpus);
        BusyRow { contender, judged, sleeps, wall_ms, hogs_cpus, unfinished, ..BusyRow::default() }
    }

    fn cell(hogs: usize, rows: Vec<BusyRow>) -> BusyCell {
        BusyCell {
            op: "barrier",
            members: 2,
            place: "threads",
            pinned: true,
            hogs,
            hogs_alone: Some(1.0),
            rounds: 10,
            rows,
        }
    }

    fn judged(cell: &BusyCell) -> Vec<(Option<f64>, Verdict)> {
        of(cell).iter().map(|gate| (gate.measured, gate.verdict)).collect()
    }

    #[test]
    fn the_default_is_compared_with_all_others() {
        let beside = row("corecast-spin", Some(0.5), 0.0);
        let rows =
            vec![row("corecast", Some(3.0), 0.9), beside, row("std", Some(2.0), 1.0), row("spin", Some(1.0), 0.5)];
        // Until 3 ms are over the neighbour gets 0.9 of each, and 1.0 of two and all of the third.
        let expected = [(Some(1.5), Verdict::Missed), (Some(6.0), Verdict::Missed), (Some(0.9), Verdict::Holds)];
        assert_eq!(judged(&cell(1, rows.clone())), expected);
        assert_eq!(judged(&cell(0, rows)), expected[..2], "nobody is beside");
    }

    #[test]
    fn time_that_is_left_is_the_neighbours() {
        let shared = |our_ms, std_ms| cell(1, vec![row("corecast", Some(our_ms), 0.5), row("std", Some(std_ms), 0.75)]);
        assert_eq!(left_to_neighbours(&shared(1.0, 4.0)), Ok(3.5 / 3.0));
        assert_eq!(left_to_neighbours(&shared(4.0, 4.0)), Ok(0.5 / 0.75));
    }

    #[test]
    fn a_contender_that_does_not_finish_is_beaten_and_beats_no_other() {
        let rivals = || vec![row("std", Some(2.0), 1.0), row("spin", None, 0.5)];
        let finished = [vec![row("corecast", Some(2.0), 1.0)], rivals()].concat();
        assert_eq!(judged(&cell(0, finished)), [(Some(1.0), Verdict::Holds); 2]);
        let unfinished = [vec![row("corecast", None, 1.0)], rivals()].concat();
        assert_eq!(judged(&cell(0, unfinished)), [(Some(f64::INFINITY), Verdict::Missed); 2]);
        let alone = cell(0, vec![row("corecast", Some(2.0), 1.0), row("std", None, 1.0)]);
        assert_eq!(judged(&alone), [(None, Verdict::NotJudged); 2]);
    }
}
