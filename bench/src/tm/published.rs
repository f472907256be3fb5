//! What was published of TM2C, to be shown beside what is found here.

use super::report::TmCell;
use super::workload::TmWorkload;
use crate::published::{Published, PublishedFigure, beside_of};

/// Gramoli, Guerraoui, Trigonakis, TM2C: a Software Transactional Memory for Many-Cores, EuroSys 2012, and results of its suite.
const SOURCE: &str = "TM2C (Gramoli, Guerraoui, Trigonakis, EuroSys 2012, and later results)";
const OPTERON: &str = "Opteron, 48 cores";

/// Of the bank: transactions of a hundred that check, clients that only read, participants.
fn bank(cells: &[TmCell], checks: u32, readers: usize, participants: usize) -> Option<f64> {
    managed(cells, "fair-cm", (checks, readers, participants))
}

fn managed(cells: &[TmCell], manager: &str, (checks, readers, participants): (u32, usize, usize)) -> Option<f64> {
    let is_asked = |cell: &&TmCell| {
        (cell.checks_percent, cell.readers, cell.participants) == (Some(checks), Some(readers), participants)
    };
    rate(cells.iter().find(is_asked)?, &format!("messages-{manager}"))
}

/// Of a set of 1024 keys, 10 % updates.
fn set(cells: &[TmCell], workload: TmWorkload, contender: &str, participants: usize) -> Option<f64> {
    let is_asked = |cell: &&TmCell| {
        (cell.workload, cell.initial, cell.updates_percent, cell.participants)
            == (workload.name(), Some(1024), Some(10), participants)
    };
    rate(cells.iter().find(is_asked)?, contender)
}

fn rate(cell: &TmCell, contender: &str) -> Option<f64> {
    cell.rows.iter().find(|row| row.contender == contender)?.mtps
}

/// A figure that is one number.
const fn line(figure: &'static str, there: f64, here: fn(&[TmCell]) -> Option<f64>) -> Published<[TmCell]> {
    Published { figure, machine: OPTERON, there: [there, there], here }
}

const LINES: &[Published<[TmCell]>] = &[
    line("bank, no checks, 6 participants, M/s", 2.51, |cells| bank(cells, 0, 0, 6)),
    line("bank, no checks, 48 participants, M/s", 8.70, |cells| bank(cells, 0, 0, 48)),
    line("bank, 90 % checks, 6 participants, M/s", 2.87, |cells| bank(cells, 90, 0, 6)),
    line("bank, 90 % checks, 48 participants, M/s", 9.39, |cells| bank(cells, 90, 0, 48)),
    line("bank, one reads all, none, 48, M/s", 5.63, |cells| managed(cells, "none", (0, 1, 48))),
    line("bank, one reads all, fair-cm, 48, M/s", 4.19, |cells| managed(cells, "fair-cm", (0, 1, 48))),
    line("bank, one reads all, offset-greedy, 48, M/s", 0.675, |cells| managed(cells, "offset-greedy", (0, 1, 48))),
    line("bank, one reads all, back-off, 48, M/s", 0.323, |cells| managed(cells, "back-off", (0, 1, 48))),
    line("bank, one reads all, wholly, 48, M/s", 0.073, |cells| managed(cells, "wholly", (0, 1, 48))),
    line("list of 1024, 10 % updates, 6, M/s", 0.0147, |cells| set(cells, TmWorkload::List, "messages-fair-cm", 6)),
    line("list of 1024, 10 % updates, 48, M/s", 0.0314, |cells| set(cells, TmWorkload::List, "messages-fair-cm", 48)),
    line("the same, elastic, 6, M/s", 0.0102, |cells| set(cells, TmWorkload::List, "messages-read-validation", 6)),
    line("the same, elastic, 48, M/s", 0.0438, |cells| set(cells, TmWorkload::List, "messages-read-validation", 48)),
    line("hash table, 6 participants, M/s", 1.13, |cells| set(cells, TmWorkload::Table, "messages-fair-cm", 6)),
    line("hash table, 48 participants, M/s", 0.63, |cells| set(cells, TmWorkload::Table, "messages-fair-cm", 48)),
];

/// All figures, beside those of these cells.
pub(super) fn published(cells: &[TmCell]) -> Vec<PublishedFigure> {
    beside_of(SOURCE, LINES, cells)
}
