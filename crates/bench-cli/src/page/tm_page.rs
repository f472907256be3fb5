//! A page about transactional memories: the throughput of each, beside figures published of other machines.

use corecast_bench::{TmCell, TmReport};
use maud::html;

use super::column_table::folded_contenders;
use super::published;
use super::throughput::{Rate, Situation, pictures};
use crate::columns::memories::CELL;
use crate::tm_situation::{over_one_lock, title, work};
use corecast_cli::report::frame::Frame;
use corecast_cli::report::gates;

/// The result as an HTML document in UTF-8, which loads and runs nothing. `created_at` is any text, and `command` what makes it
/// again.
pub(crate) fn render_tm(report: &TmReport, created_at: &str, version: &str, command: &str) -> String {
    let heading = "Transactional memories, raced";
    let frame = Frame { kind: "corecast bench tm", heading, machine: &report.machine, created_at, version };
    let situations: Vec<_> = report.cells.iter().map(situation).collect();
    let main = html! {
        section {
            h2 { "Transactions" }
            p {
                "Clients run transactions on a memory that they share. Further up is better. `messages-` and the name of a "
                "contention manager: servers decide conflicts, and fewer participants are clients. `shared-`: the clients "
                "decide themselves."
            }
            (pictures(("millions of transactions", "participants"), &situations))
            @if let Some(words) = over_one_lock(report) { p { (words) "." } }
            @for cell in &report.cells { (folded_contenders(&title(cell), CELL, &cell.rows)) }
        }
        (published::section(&report.published))
        (gates::section(&report.gates))
        section { h2 { "Make it again" } pre { code { (command) } } }
    };
    frame.around(&frame.header(&html! {}), &main)
}

fn situation(cell: &TmCell) -> Situation<'_> {
    // Bare round trips are no memory: they have a line in the tables only.
    let memories = cell.rows.iter().filter(|row| row.is_memory());
    let rates = memories.map(|row| Rate { contender: &row.contender, is_ours: row.ours, rate: row.mtps });
    Situation {
        words: work(cell),
        participants: cell.participants,
        is_oversubscribed: cell.oversubscribed,
        rates: rates.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::TmRow;
    use corecast_race::gate::Gate;

    fn cell(participants: usize) -> TmCell {
        let row = |contender: &str, mtps| TmRow {
            contender: contender.to_owned(),
            ours: contender != "one-lock",
            clients: participants,
            mtps: Some(mtps),
            ..TmRow::default()
        };
        let rows = vec![row("<b>shared-fair-cm", 1.5), row("one-lock", 12.0), row("messages-round-trips", 20.0)];
        TmCell { workload: "bank", checks_percent: Some(0), readers: Some(0), participants, rows, ..TmCell::default() }
    }

    #[test]
    fn the_page_has_pictures_and_tables_and_hostile_names_stay_text() {
        let report = TmReport {
            machine: "<script>".to_owned(),
            commit: None,
            seed: 7,
            quick: true,
            preset: None,
            cpus: vec![0, 1],
            wait: "adaptive".to_owned(),
            every: vec![3],
            text_bytes: 0,
            block_ms: 15,
            rounds: 3,
            cut: false,
            cells: vec![cell(1), cell(2)],
            published: Vec::new(),
            over_one_lock: None,
            gates: vec![Gate::new("a / b".to_owned(), 1.0, false, Err("12 CPUs".to_owned()))],
        };
        let page = render_tm(&report, "today", "0.1", "corecast bench tm --seed 7");
        assert!(page.contains("<svg") && page.contains("bank, 0 % check, 2 participants"), "{page}");
        assert!(page.contains("12 CPUs") && page.contains("corecast bench tm --seed 7"));
        let pictures: String = page.split("<svg").skip(1).filter_map(|rest| rest.split("</svg>").next()).collect();
        assert!(pictures.contains("one-lock") && !pictures.contains("round-trips"), "{pictures}");
        assert!(!page.contains("<script>") && !page.contains("<b>shared"));
    }
}
