//! The demands on corecast's channel between two CPUs, in bare lines. The worst distance is judged.

use super::report::{PairCell, Trip};
use crate::rules::{self, Rule, at_most};
use crate::stats::most;
use corecast_race::gate::Gate;

/// A message that fills one line, with the word that the channel adds.
pub(super) const LINE_MESSAGE: usize = 56;

const COMMAND: &str = "corecast bench messages";
const RULES: &[Rule<[PairCell]>] = &[
    Rule::new(at_most(2.5, "ump, 56 bytes one way, time of a message in bare line transfers", COMMAND), |cells| {
        of_ump(cells, Trip::OneWay)
    }),
    Rule::new(at_most(5.0, "ump, 56 bytes there and back, in bare line transfers one way", COMMAND), |cells| {
        of_ump(cells, Trip::RoundTrip)
    }),
];

/// Both.
pub(super) fn judge(cells: &[PairCell]) -> Vec<Gate> {
    rules::judge(RULES, cells)
}

fn of_ump(cells: &[PairCell], trip: Trip) -> Result<f64, String> {
    worst(cells, "ump", trip).ok_or_else(|| "2 CPUs, one pair, 56 bytes, contender ump".to_owned())
}

/// The most lines that a message takes between one pair, over all distances.
pub(super) fn worst(cells: &[PairCell], contender: &str, trip: Trip) -> Option<f64> {
    let is_judged =
        |cell: &&PairCell| cell.trip == trip && cell.pairs == 1 && cell.bytes == LINE_MESSAGE && !cell.oversubscribed;
    let lines = |cell: &PairCell| cell.rows.iter().find(|row| row.contender == contender)?.lines;
    let all: Option<Vec<f64>> = cells.iter().filter(is_judged).map(lines).collect();
    most(all?)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::report::MessagePairRow;
    use super::*;
    use corecast_race::gate::Verdict;

    pub(crate) fn pair(trip: Trip, lines: Option<f64>) -> PairCell {
        let row = MessagePairRow { contender: "ump", ours: true, lines, ..MessagePairRow::default() };
        PairCell {
            distance: Some("same package"),
            pairs: 1,
            cpus: vec![0, 1],
            oversubscribed: false,
            bytes: LINE_MESSAGE,
            trip,
            line_ns: Some(50.0),
            placement_changes: 0,
            rows: vec![row],
        }
    }

    #[test]
    fn the_worst_distance_is_judged() {
        let cells = [pair(Trip::OneWay, Some(2.5)), pair(Trip::RoundTrip, Some(4.0)), pair(Trip::RoundTrip, Some(5.5))];
        let gates = judge(&cells);
        assert_eq!((gates[0].measured, gates[0].verdict), (Some(2.5), Verdict::Holds));
        assert_eq!((gates[1].measured, gates[1].verdict), (Some(5.5), Verdict::Missed));
    }

    #[test]
    fn cells_that_were_not_measured_are_not_judged() {
        let crowded = PairCell { oversubscribed: true, ..pair(Trip::OneWay, Some(1.0)) };
        let long = PairCell { bytes: 64, ..pair(Trip::OneWay, Some(1.0)) };
        let many = PairCell { pairs: 2, ..pair(Trip::OneWay, Some(1.0)) };
        let missing = pair(Trip::RoundTrip, None);
        for gate in judge(&[crowded, long, many, missing, pair(Trip::RoundTrip, Some(1.0))]) {
            assert_eq!((gate.verdict, gate.needs.is_some()), (Verdict::NotJudged, true), "{gate:?}");
        }
    }
}
