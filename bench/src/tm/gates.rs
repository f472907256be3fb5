//! The demands on corecast's transactional memory, and whether they hold here.

use super::report::{TmCell, TmRow};
use super::workload::TmWorkload;
use crate::rules::{self, Rule, at_least, at_most};
use crate::stats::{least, median_of};
use corecast_race::gate::Gate;

/// A run that is judged.
struct Evidence<'a> {
    cells: &'a [TmCell],
    cpus: usize,
}

const COMMAND: &str = "corecast bench tm";

fn rules<'a>() -> [Rule<Evidence<'a>>; 9] {
    let trips = "bank without checks, 1 application, 1 server: time of a transfer / of its 2 round trips";
    let growth = "bank without checks: speed-up from 6 participants to all CPUs / growth in applications";
    let stm = "bank without checks, 1 client: transactions of shared-fair-cm / of the crate stm";
    let itm = "the same: transactions of shared-fair-cm / of libitm";
    let batched = "writes of 8 variables, 1 application, 1 server: transactions with batched stores / with single ones";
    [
        Rule::new(at_most(1.3, trips, COMMAND), Evidence::over_round_trips),
        Rule::new(at_least(0.45, growth, COMMAND), Evidence::growth),
        Rule::new(
            at_least(1.0, "messages-fair-cm, one client only sums all accounts: its sums in a second", COMMAND),
            |run| run.fair("messages-fair-cm", |row| row.scans_per_s),
        ),
        Rule::new(
            at_least(0.9, "the same: Jain's index of the time of all clients in attempts that committed", COMMAND),
            |run| run.fair("messages-fair-cm", |row| row.jain_of_time),
        ),
        Rule::new(
            at_least(1.0, "shared-fair-cm, one client only sums all accounts: its sums in a second", COMMAND),
            |run| run.fair("shared-fair-cm", |row| row.scans_per_s),
        ),
        Rule::new(
            at_least(0.9, "the same: Jain's index of the time of all clients in attempts that committed", COMMAND),
            |run| run.fair("shared-fair-cm", |row| row.jain_of_time),
        ),
        Rule::new(at_least(1.0, stm, COMMAND), |run| run.uncontended("stm")),
        Rule::new(at_least(1.0, itm, COMMAND), |run| run.uncontended("libitm")),
        Rule::new(at_least(1.5, batched, COMMAND), Evidence::batched),
    ]
}

/// All gates of a run on `cpus` CPUs.
pub(super) fn judge(cells: &[TmCell], cpus: usize) -> Vec<Gate> {
    rules::judge(&rules(), &Evidence { cells, cpus })
}

/// Transactions of `shared-fair-cm` / of one lock, with a client on each of `cpus` CPUs.
pub(super) fn over_one_lock(cells: &[TmCell], cpus: usize) -> Option<f64> {
    let cell = Evidence { cells, cpus }.bank(cpus, 0)?;
    Some(row(cell, "shared-fair-cm")?.mtps? / row(cell, "one-lock")?.mtps?)
}

impl<'a> Evidence<'a> {
    fn of(&self, workload: TmWorkload, participants: usize) -> impl Iterator<Item = &'a TmCell> + use<'a> {
        self.cells
            .iter()
            .filter(move |cell| cell.workload == workload.name() && cell.participants == participants)
            .filter(|cell| !cell.oversubscribed)
    }

    /// The bank without checks.
    fn bank(&self, participants: usize, readers: usize) -> Option<&'a TmCell> {
        let is_asked = |cell: &&TmCell| {
            (cell.checks_percent, cell.readers, cell.scans_percent) == (Some(0), Some(readers), Some(0))
        };
        self.of(TmWorkload::Bank, participants).find(is_asked)
    }

    /// The median of the ratios of the rounds: both run in each round, so that a machine that is slower in one of them is so for
    /// both. The ratio of two medians may take each from another round.
    fn over_round_trips(&self) -> Result<f64, String> {
        self.needs_cpus(2)?;
        let rounds = |contender| Some(&row(self.bank(2, 0)?, contender)?.rounds_mtps);
        let ratio = rounds("messages-fair-cm").zip(rounds("messages-round-trips")).and_then(|(transfers, trips)| {
            let ratios = transfers.iter().zip(trips).filter(|(transfers, _)| **transfers > 0.0);
            median_of(ratios.map(|(transfers, trips)| trips / transfers))
        });
        ratio
            .ok_or_else(|| "bank without checks, 2 participants, messages-fair-cm, and messages-round-trips".to_owned())
    }

    fn growth(&self) -> Result<f64, String> {
        self.needs_cpus(12)?;
        let found = |participants| row(self.bank(participants, 0)?, "messages-fair-cm");
        let growth = || {
            let (few, all) = (found(6)?, found(self.cpus)?);
            Some(all.mtps? / few.mtps? / (all.clients as f64 / few.clients as f64))
        };
        growth().ok_or_else(|| format!("bank without checks, 6 and {} participants, messages-fair-cm", self.cpus))
    }

    /// The least of something over all situations with one client that only reads.
    fn fair(&self, contender: &str, of: fn(&TmRow) -> Option<f64>) -> Result<f64, String> {
        self.needs_cpus(if contender.starts_with("messages") { 3 } else { 2 })?;
        let judged = self.cells.iter().filter(|cell| cell.readers == Some(1) && !cell.oversubscribed);
        let rows = judged.filter_map(|cell| row(cell, contender)).filter(|row| row.skipped.is_none());
        let found: Option<Vec<f64>> = rows.map(of).collect();
        found.and_then(least).ok_or_else(|| format!("bank without checks, one client that only reads, {contender}"))
    }

    fn uncontended(&self, rival: &str) -> Result<f64, String> {
        let cell = self.bank(1, 0);
        let ratio = cell.and_then(|cell| Some(row(cell, "shared-fair-cm")?.mtps? / row(cell, rival)?.mtps?));
        ratio.ok_or_else(|| {
            format!("bank without checks, 1 participant, shared-fair-cm, and {rival}, if it is installed")
        })
    }

    fn batched(&self) -> Result<f64, String> {
        self.needs_cpus(2)?;
        let cell = self.of(TmWorkload::Writes, 2).next();
        let ratio =
            cell.and_then(|cell| Some(row(cell, "messages-fair-cm")?.mtps? / row(cell, "messages-single")?.mtps?));
        ratio.ok_or_else(|| "writes, 2 participants, messages-fair-cm, and messages-single".to_owned())
    }

    fn needs_cpus(&self, cpus: usize) -> Result<(), String> {
        if self.cpus >= cpus { Ok(()) } else { Err(format!("{cpus} CPUs")) }
    }
}

fn row<'a>(cell: &'a TmCell, contender: &str) -> Option<&'a TmRow> {
    cell.rows.iter().find(|row| row.contender == contender)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::gate::Verdict;

    fn row(contender: &str, mtps: f64, clients: usize) -> TmRow {
        TmRow { contender: contender.to_owned(), mtps: Some(mtps), clients, ..TmRow::default() }
    }

    /// One client whose rounds are told.
    fn rounds(contender: &str, rounds: [f64; 3]) -> TmRow {
        TmRow { rounds_mtps: rounds.to_vec(), ..row(contender, rounds[0], 1) }
    }

    fn cell(workload: TmWorkload, participants: usize, rows: Vec<TmRow>) -> TmCell {
        TmCell { workload: workload.name(), participants, rows, ..TmCell::default() }
    }

    fn bank(participants: usize, readers: usize, rows: Vec<TmRow>) -> TmCell {
        let (checks_percent, scans_percent, readers) = (Some(0), Some(0), Some(readers));
        TmCell { checks_percent, scans_percent, readers, ..cell(TmWorkload::Bank, participants, rows) }
    }

    #[test]
    fn each_demand_is_judged_by_its_own_rows() {
        let fair = TmRow { scans_per_s: Some(20.0), jain_of_time: Some(0.95), ..row("messages-fair-cm", 1.0, 16) };
        let cells = [
            bank(1, 0, vec![row("shared-fair-cm", 3.0, 1), row("stm", 2.0, 1), row("libitm", 4.0, 1)]),
            // The machine was at a third of its speed in one round; the medians alone would say 3.75.
            bank(
                2,
                0,
                vec![rounds("messages-fair-cm", [3.0, 1.0, 1.0]), rounds("messages-round-trips", [3.75, 3.75, 1.25])],
            ),
            cell(TmWorkload::Writes, 2, vec![row("messages-fair-cm", 0.9, 1), row("messages-single", 0.5, 1)]),
            bank(6, 0, vec![row("messages-fair-cm", 2.0, 4)]),
            bank(
                24,
                0,
                vec![row("messages-fair-cm", 4.0, 16), row("shared-fair-cm", 5.0, 24), row("one-lock", 20.0, 24)],
            ),
            bank(24, 1, vec![fair]),
        ];
        let found: Vec<_> = judge(&cells, 24).into_iter().map(|gate| (gate.measured, gate.verdict)).collect();
        let expected = [
            (Some(1.25), Verdict::Holds),
            (Some(0.5), Verdict::Holds),
            (Some(20.0), Verdict::Holds),
            (Some(0.95), Verdict::Holds),
            (None, Verdict::NotJudged),
            (None, Verdict::NotJudged),
            (Some(1.5), Verdict::Holds),
            (Some(0.75), Verdict::Missed),
            (Some(1.8), Verdict::Holds),
        ];
        assert_eq!(found, expected);
        assert_eq!(over_one_lock(&cells, 24), Some(0.25), "it is told, and not judged");
    }

    #[test]
    fn small_machines_are_told_how_many_cpus_it_takes() {
        let needs = |cpus| judge(&[], cpus).into_iter().map(|gate| gate.needs.unwrap_or_default()).collect::<Vec<_>>();
        assert_eq!(needs(1)[..4], ["2 CPUs", "12 CPUs", "3 CPUs", "3 CPUs"]);
        assert!(needs(48).iter().all(|needs| !needs.is_empty() && !needs.ends_with("CPUs")), "{:?}", needs(48));
    }
}
