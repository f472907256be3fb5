//! What is asked of corecast's table, and whether it holds here. The worst of all situations of a kind is judged.

use super::contenders::{Contender, Kind};
use super::report::TableCell;
use crate::gate::{Demand, Gate};

const RIVALS: Demand = Demand {
    gate: "512 buckets, as many threads as CPUs: tries of the best lock / of the best of dashmap, papaya, scc",
    limit: 0.9,
    is_most: false,
    command: "corecast bench table",
};

const DASHMAP: Demand = Demand {
    gate: "2 threads, the paper's tables: tries of the best lock / of dashmap",
    limit: 1.0,
    is_most: false,
    command: "corecast bench table --threads 2",
};

/// All of them.
pub(super) fn judge(contenders: &[Contender], cells: &[TableCell]) -> Vec<Gate> {
    let most = cells.iter().filter(|cell| !cell.oversubscribed).map(|cell| cell.threads).max();
    let is_large = |cell: &TableCell| cell.buckets == 512 && Some(cell.threads) == most;
    let is_of_two = |cell: &TableCell| cell.threads == 2 && !cell.oversubscribed;
    let rivals = worst(contenders, cells, is_large, &["dashmap", "papaya", "scc"]);
    let dashmap = worst(contenders, cells, is_of_two, &["dashmap"]);
    vec![
        RIVALS.judge(rivals.ok_or_else(|| "512 buckets, a lock, and all three of dashmap, papaya, scc".to_owned())),
        DASHMAP.judge(dashmap.ok_or_else(|| "2 threads on 2 CPUs, a lock, and dashmap".to_owned())),
    ]
}

/// The least ratio of the best lock to the best of these rivals, over these cells; `None` if one of them was not measured.
fn worst(
    contenders: &[Contender],
    cells: &[TableCell],
    is_judged: impl Fn(&TableCell) -> bool,
    rivals: &[&str],
) -> Option<f64> {
    let is_lock =
        |name: &str| contenders.iter().any(|contender| contender.name == name && contender.kind == Kind::Lock);
    let ratio = |cell: &TableCell| {
        let locks = cell.rows.iter().filter(|row| is_lock(&row.contender)).filter_map(|row| row.mops).reduce(f64::max);
        let found: Vec<f64> =
            cell.rows.iter().filter(|row| rivals.contains(&&*row.contender)).filter_map(|row| row.mops).collect();
        let best = found.iter().copied().reduce(f64::max).filter(|_| found.len() == rivals.len());
        Some(locks? / best?)
    };
    let ratios: Option<Vec<f64>> = cells.iter().filter(|cell| is_judged(cell)).map(ratio).collect();
    ratios?.into_iter().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Verdict;
    use crate::table::contenders::contenders;
    use crate::table::report::TableRow;

    fn row(contender: &str, mops: f64) -> TableRow {
        TableRow {
            contender: contender.to_owned(),
            ours: false,
            clients: 2,
            servers: 0,
            mops: Some(mops),
            mean_mops: None,
            min_mops: None,
            max_mops: None,
            regret: None,
            hits: None,
            gets: None,
            jain: None,
            most_to_fewest: None,
            skipped: None,
        }
    }

    fn cell(buckets: usize, threads: usize, rows: &[(&str, f64)]) -> TableCell {
        let rows = rows.iter().map(|&(name, mops)| row(name, mops)).collect();
        TableCell { buckets, mean: 12, threads, oversubscribed: false, rows }
    }

    #[test]
    fn the_worst_situation_is_judged_with_the_best_lock_and_the_best_rival() {
        let rivals = [("dashmap", 10.0), ("papaya", 20.0), ("scc", 5.0), ("std", 99.0), ("messages", 99.0)];
        let with = |locks: &[(&'static str, f64)]| [locks, &rivals].concat();
        let cells = [
            cell(512, 1, &with(&[("tas", 1.0)])),
            cell(512, 2, &with(&[("tas", 1.0), ("mcs", 22.0)])),
            cell(512, 2, &with(&[("tas", 16.0), ("mcs", 2.0)])),
            cell(12, 2, &with(&[("tas", 9.0)])),
        ];
        let gates = judge(&contenders(), &cells);
        assert_eq!((gates[0].measured, gates[0].verdict), (Some(0.8), Verdict::Missed), "16 of papaya's 20");
        assert_eq!((gates[1].measured, gates[1].verdict), (Some(0.9), Verdict::Missed), "9 of dashmap's 10");
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let gates = judge(&contenders(), &[cell(512, 2, &[("tas", 16.0), ("dashmap", 10.0)])]);
        assert_eq!((gates[0].verdict, gates[1].measured), (Verdict::NotJudged, Some(1.6)));
        assert!(
            judge(&contenders(), &[]).iter().all(|gate| gate.verdict == Verdict::NotJudged && gate.needs.is_some())
        );
    }
}
