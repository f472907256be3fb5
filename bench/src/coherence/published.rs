//! Published figures of other machines, to be shown beside those found here.

use super::home::Home;
use super::report::{CoherenceCell, CoherenceGroup, Placement};
use crate::published::{self, Published, PublishedFigure};

const ATOMIC_TO_LOAD: &str = "time of compare and swap / of load, of a line modified far away";
const CROSSING: &str = "time of load, of a line modified in another package / in the same one";

const PUBLISHED: &[Published<[CoherenceGroup]>] = &[
    Published { figure: ATOMIC_TO_LOAD, machine: "4-socket Opteron", there: [1.35, 1.35], here: atomic_to_load },
    Published { figure: ATOMIC_TO_LOAD, machine: "8-socket Xeon", there: [1.15, 1.15], here: atomic_to_load },
    Published { figure: CROSSING, machine: "4-socket Opteron and 8-socket Xeon", there: [2.0, 7.5], here: crossing },
];

/// All of them, beside what `groups` tell of this machine.
pub(super) fn beside(groups: &[CoherenceGroup]) -> Vec<PublishedFigure> {
    published::beside(PUBLISHED, groups)
}

/// Those whose lines lie near the first of them.
fn pairs(groups: &[CoherenceGroup]) -> impl DoubleEndedIterator<Item = &CoherenceGroup> {
    let is_near = |group: &CoherenceGroup| matches!(group.home, None | Some(Home::First));
    groups.iter().filter(move |group| group.placement == Placement::Pair && is_near(group))
}

fn median(group: &CoherenceGroup, case: &str) -> Option<f64> {
    let cell: &CoherenceCell = group.cells.iter().find(|cell| cell.case == case)?;
    cell.times.as_ref().map(|times| times.p50_ns).filter(|&p50_ns| p50_ns > 0.0)
}

/// Of the farthest pair.
fn atomic_to_load(groups: &[CoherenceGroup]) -> Option<f64> {
    let farthest = pairs(groups).next_back()?;
    Some(median(farthest, "cas-modified")? / median(farthest, "load-modified")?)
}

/// Of the farthest pair, if it is in two packages, and the one before it, if that is in one.
fn crossing(groups: &[CoherenceGroup]) -> Option<f64> {
    let farthest = pairs(groups).next_back().filter(|group| group.distance == Some("different packages"))?;
    let near = pairs(groups).rfind(|group| group.distance != farthest.distance)?;
    Some(median(farthest, "load-modified")? / median(near, "load-modified")?)
}

#[cfg(test)]
mod tests {
    use super::super::distribution::Distribution;
    use super::*;

    fn pair(distance: &'static str, load_ns: f64, cas_ns: f64) -> CoherenceGroup {
        let cell = |case: &str, ns: f64| CoherenceCell {
            case: case.to_owned(),
            number: None,
            operation: case.split('-').next().unwrap_or_default().to_owned(),
            lines: "modified".to_owned(),
            handed: None,
            sharers: 0,
            times: Distribution::of([ns].into_iter()),
            skipped: None,
        };
        let cells = vec![cell("load-modified", load_ns), cell("cas-modified", cas_ns)];
        let (distance, cpus) = (Some(distance), vec![0, 1]);
        CoherenceGroup { placement: Placement::Pair, distance, home: None, clusters: None, cpus, cells }
    }

    #[test]
    fn ratios_are_of_the_farthest_pair_and_absent_where_there_is_none() {
        let here = |groups: &[CoherenceGroup]| beside(groups).into_iter().map(|row| row.here).collect::<Vec<_>>();
        assert_eq!(here(&[]), [None; 3]);
        let one = pair("same package", 50.0, 60.0);
        assert_eq!(here(std::slice::from_ref(&one)), [Some(1.2), Some(1.2), None]);
        assert_eq!(here(&[one, pair("different packages", 200.0, 300.0)]), [Some(1.5), Some(1.5), Some(4.0)]);
        assert_eq!(here(&[pair("different packages", -1.0, 300.0)]), [None; 3]);
        let elsewhere = CoherenceGroup { home: Some(Home::Elsewhere), ..pair("different packages", 200.0, 300.0) };
        assert_eq!(here(&[pair("same package", 50.0, 60.0), elsewhere]), [Some(1.2), Some(1.2), None]);
    }
}
