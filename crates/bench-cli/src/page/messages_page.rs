//! A page about messages: pairs at each distance, and servers with their clients.

use corecast_bench::{MessageReport, PairCell, Receive, ServerCell, Trip};
use maud::{Markup, html};

use super::column_table::folded_contenders;
use super::published;
use super::throughput::{Rate, Situation, pictures};
use crate::columns::messages::{PAIR, SERVER};
use corecast_cli::report::frame::Frame;
use corecast_cli::report::gates;
use corecast_cli::table::many;

/// The result as an HTML document in UTF-8, which loads and runs nothing, as [`render`](super::render)'s. `created_at` is
/// any text, and `command` what makes it again.
pub(crate) fn render_messages(report: &MessageReport, created_at: &str, version: &str, command: &str) -> String {
    let heading = "Messages between pairs, and to servers";
    let frame = Frame { kind: "corecast bench messages", heading, machine: &report.machine, created_at, version };
    let main = html! {
        section {
            h2 { "Pairs" }
            p { "One sends and one receives; every message is checked. Lower times are better." }
            (pictures(("millions of messages", "pairs"), &report.pairs.iter().map(situation_of_pairs).collect::<Vec<_>>()))
            @for cell in &report.pairs { (table_of_pairs(cell)) }
        }
        section {
            h2 { "Servers" }
            p { "Clients send to a server of theirs. Further up is better." }
            (pictures(("millions of messages", "clients"), &report.servers.iter().map(situation_of_servers).collect::<Vec<_>>()))
            @for cell in &report.servers { (table_of_servers(cell)) }
        }
        (published::section(&report.published))
        (gates::section(&report.gates))
        section { h2 { "Make it again" } pre { code { (command) } } }
    };
    frame.around(&frame.header(&html! {}), &main)
}

fn trip(trip: Trip) -> &'static str {
    match trip {
        Trip::OneWay => "one way",
        Trip::RoundTrip => "there and back",
    }
}

fn words_of_pairs(cell: &PairCell) -> String {
    format!("{}, {} bytes, {}", cell.distance.unwrap_or("the same CPU"), cell.bytes, trip(cell.trip))
}

fn situation_of_pairs(cell: &PairCell) -> Situation<'_> {
    let rates = cell.rows.iter().map(|row| Rate { contender: row.contender, is_ours: row.ours, rate: row.mops });
    Situation {
        words: words_of_pairs(cell),
        participants: cell.pairs,
        is_oversubscribed: cell.oversubscribed,
        rates: rates.collect(),
    }
}

fn table_of_pairs(cell: &PairCell) -> Markup {
    let situation = format!("{}, {}", words_of_pairs(cell), many(cell.pairs, "pair"));
    folded_contenders(&situation, PAIR, &cell.rows)
}

fn words_of_servers(cell: &ServerCell) -> String {
    let from = match cell.receive {
        Receive::Any => "from any",
        Receive::Subset => "from halves in turns",
    };
    let work = if cell.work_ns == 0 { String::new() } else { format!(", {} ns of work", cell.work_ns) };
    format!("{}, {from}, {}{work}", many(cell.servers, "server"), trip(cell.trip))
}

fn situation_of_servers(cell: &ServerCell) -> Situation<'_> {
    let rates = cell.rows.iter().map(|row| Rate { contender: row.contender, is_ours: row.ours, rate: row.mops });
    Situation {
        words: words_of_servers(cell),
        participants: cell.clients,
        is_oversubscribed: cell.oversubscribed,
        rates: rates.collect(),
    }
}

fn table_of_servers(cell: &ServerCell) -> Markup {
    let situation = format!("{}, {}", words_of_servers(cell), many(cell.clients, "client"));
    folded_contenders(&situation, SERVER, &cell.rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::ServerRow;

    fn server(clients: usize) -> ServerCell {
        let row = ServerRow {
            contender: "ump",
            ours: true,
            messages: 9,
            mops: Some(12.5),
            min_mops: None,
            max_mops: None,
            lines: Some(1.25),
            client_ns: None,
            jain: Some(1.0),
            skipped: None,
            failed: false,
        };
        ServerCell {
            servers: 1,
            clients,
            cpus: vec![0, 1],
            oversubscribed: clients > 1,
            trip: Trip::RoundTrip,
            receive: Receive::Subset,
            work_ns: 100,
            line_ns: Some(60.0),
            placement_changes: 0,
            rows: vec![row],
        }
    }

    #[test]
    fn the_page_has_all_and_hostile_names_stay_text() {
        let report = MessageReport {
            machine: "<script>box".to_owned(),
            commit: None,
            seed: 4,
            quick: true,
            cpus: vec![0, 1],
            wait: "adaptive",
            block_ms: 5,
            rounds: 3,
            pairs: Vec::new(),
            servers: vec![server(1), server(3)],
            published: Vec::new(),
            gates: Vec::new(),
        };
        let page = render_messages(&report, "today", "0.0.0", "corecast bench messages --seed 4");
        assert!(!page.contains("<script>"), "{page}");
        let words = "1 server, from halves in turns, there and back, 100 ns of work";
        for words in ["<svg", words, "3*", "1.25", "<td>–</td>", "--seed 4"] {
            assert!(page.contains(words), "'{words}' is not in {page}");
        }
    }
}
