//! A page about hash tables: the throughput of each, beside figures published of other machines.

use corecast_bench::{Published, TableCell, TableReport};
use maud::{Markup, html};

use super::column_table::{contenders, table};
use super::throughput::{Rate, Situation, pictures};
use crate::columns::hash_tables::{CELL, PUBLISHED};
use corecast_cli::report::frame::Frame;
use corecast_cli::report::gates;
use corecast_cli::table::many;

/// The result as an HTML document in UTF-8, which loads and runs nothing, as [`render`](super::render)'s. `created_at` is
/// any text, and `command` what makes it again.
pub(crate) fn render_table(report: &TableReport, created_at: &str, version: &str, command: &str) -> String {
    let heading = "Hash tables, raced";
    let frame = Frame { kind: "corecast bench table", heading, machine: &report.machine, created_at, version };
    let main = html! {
        section {
            h2 { "Tries" }
            p {
                "Threads get, put and remove keys of a hash table at random; every try counts. Further up is better. "
                "`messages` has servers that own the buckets, and fewer threads that try."
            }
            (pictures(("millions of tries", "threads"), &report.cells.iter().map(situation).collect::<Vec<_>>()))
            @for cell in &report.cells { (table_of_cell(cell)) }
        }
        (published(report.published))
        (gates::section(&report.gates))
        section { h2 { "Make it again" } pre { code { (command) } } }
    };
    frame.around(&frame.header(&html! {}), &main)
}

fn words(cell: &TableCell) -> String {
    format!("{} of {} on average", many(cell.buckets, "bucket"), cell.mean)
}

fn situation(cell: &TableCell) -> Situation<'_> {
    let rates = cell.rows.iter().map(|row| Rate { contender: &row.contender, is_ours: row.ours, rate: row.mops });
    Situation {
        words: words(cell),
        participants: cell.threads,
        is_oversubscribed: cell.oversubscribed,
        rates: rates.collect(),
    }
}

fn table_of_cell(cell: &TableCell) -> Markup {
    let situation = format!("{}, {}", words(cell), many(cell.threads, "thread"));
    html! { details { summary { (situation) } (contenders("hits in M/s, times in ns", CELL, &cell.rows)) } }
}

fn published(published: &[Published]) -> Markup {
    html! {
        section {
            h2 { "Published of other machines" }
            p {
                "Millions of tries in a second and the best lock, on machines of 2010 to 2012 (David, Guerraoui, Trigonakis, "
                "SOSP 2013; files in LPD-EPFL/CLHT); of messages with 36 threads. Shapes may be compared, heights may not."
            }
            (table("", PUBLISHED, published))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::{Point, TableRow};

    fn cell(threads: usize) -> TableCell {
        let row = TableRow {
            contender: "<b>tas".to_owned(),
            ours: true,
            clients: threads,
            servers: 0,
            every: None,
            mops: Some(12.5),
            mean_mops: Some(12.0),
            min_mops: Some(11.0),
            max_mops: Some(13.0),
            regret: Some(1.0),
            hit_mops: Some(6.25),
            hits: Some(0.5),
            gets: Some(0.8),
            jain: Some(1.0),
            most_to_fewest: None,
            p50_ns: Some(45.0),
            p99_ns: None,
            p999_ns: None,
            samples: 0,
            skipped: None,
            failed: false,
        };
        TableCell { buckets: 12, mean: 48, threads, oversubscribed: threads > 2, rows: vec![row] }
    }

    #[test]
    fn the_page_has_all_and_hostile_names_stay_text() {
        const POINT: Point = Point { mops: 7.76, lock: "ticket" };
        const PUBLISHED: [Published; 1] = [Published {
            machine: "Opteron",
            buckets: 12,
            mean: 12,
            one_thread: POINT,
            one_socket: POINT,
            threads_18: POINT,
            threads_36: POINT,
            messages_36: None,
        }];
        let report = TableReport {
            machine: "<script>box".to_owned(),
            commit: None,
            seed: 4,
            quick: true,
            cpus: vec![0, 1],
            wait: "adaptive".to_owned(),
            every: vec![3],
            batch: 7,
            zipf: None,
            unpinned: false,
            writes_payload: false,
            fence: true,
            block_ms: 5,
            rounds: 3,
            cells: vec![cell(1), cell(2), cell(4)],
            published: &PUBLISHED,
            gates: Vec::new(),
        };
        let page = render_table(&report, "today", "0.0.0", "corecast bench table --seed 4");
        assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
        for words in
            ["<svg", "12 buckets of 48 on average", "4*", "7.76 ticket", "<td>45", "p99.9", "<td>–</td>", "--seed 4"]
        {
            assert!(page.contains(words), "'{words}' is not in {page}");
        }
    }
}
