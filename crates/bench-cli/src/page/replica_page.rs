//! A page about replicated state: its four strata, each in a section of its own.

use corecast_bench::{ReplicaCell, ReplicaReport};
use corecast_cli::report::frame::Frame;
use corecast_cli::report::gates;
use corecast_cli::table::many;
use maud::{Markup, html};

use super::column_table::{contenders, folded_contenders, table};
use super::throughput::{Rate, Situation, pictures};
use crate::columns::replicas::{CELL, COSTS, PAUSES, PREDICTIONS, REDIS, ROBUST, SIMULATED, WAITS};

/// The result as an HTML document in UTF-8, which loads and runs nothing. `created_at` is any text, and `command` what makes it
/// again.
pub(crate) fn render_replica(report: &ReplicaReport, created_at: &str, version: &str, command: &str) -> String {
    let heading = "Replicated state";
    let frame = Frame { kind: "corecast bench replica", heading, machine: &report.machine, created_at, version };
    let main = html! {
        @if !report.robustness.is_empty() { (robustness(report)) }
        @if !report.costs.is_empty() { (costs(report)) }
        @if !report.cells.is_empty() { (clock(report)) }
        @if !report.simulated.is_empty() { (simulated(report)) }
        @if !report.redis.is_empty() {
            section { h2 { "redis-benchmark" } (table("requests in a second", REDIS, &report.redis)) }
        }
        section {
            h2 { "Left out" }
            @for one in &report.left_out { p class="note" { (one.contender) ": " (one.reason) } }
        }
        (gates::section(&report.gates))
        section { h2 { "Make it again" } pre { code { (command) } } }
    };
    frame.around(&frame.header(&html! {}), &main)
}

fn robustness(report: &ReplicaReport) -> Markup {
    html! {
        section {
            h2 { "1. Robustness" }
            p {
                "A writer goes on while a replica idles, is stopped or is killed. A pause runs from the event until a write that began "
                "after it is acknowledged; of a restart, until the new process has answered a read."
            }
            (contenders("", ROBUST, &report.robustness))
        }
    }
}

fn costs(report: &ReplicaReport) -> Markup {
    html! {
        section {
            h2 { "2. Exact costs" }
            p { "Messages and lines for each command, by counters and not by a clock. Protocols without counts are computed." }
            (table("", COSTS, &report.costs))
            @if !report.waits.is_empty() {
                (table("system calls of waiting for each command, where each node has a client that writes without a break", WAITS, &report.waits))
            }
        }
    }
}

fn clock(report: &ReplicaReport) -> Markup {
    html! {
        section {
            h2 { "3. Wall clock here" }
            p { "All contenders in turns. Further up is better. Waiting: " (report.wait) "." }
            (pictures(("thousands of operations", "replicas"), &report.cells.iter().map(situation).collect::<Vec<_>>()))
            @for cell in &report.cells { (folded_contenders(&title(cell), CELL, &cell.rows)) }
            @if !report.pauses.is_empty() {
                (table("the longest operation of users at the node that writes its state, beside a checkpoint and without one", PAUSES, &report.pauses))
            }
        }
    }
}

fn simulated(report: &ReplicaReport) -> Markup {
    html! {
        section {
            h2 { "4. Simulated" }
            p {
                "Computed from the costs between two CPUs in machine models, not measured. The acceptor tells the learners along a tree; "
                "the busiest node limits the throughput. The columns \"with work\" add what this machine's nodes do beside messages."
            }
            @if !report.predictions.is_empty() {
                (table("does the same sum predict the wall clock here?", PREDICTIONS, &report.predictions))
            }
            (table("busiest and response in the unit of the model", SIMULATED, &report.simulated))
        }
    }
}

fn title(cell: &ReplicaCell) -> String {
    let shared = if cell.oversubscribed { ", oversubscribed" } else { "" };
    format!("{}, {}{shared}", words(cell), many(cell.replicas, "replica"))
}

fn words(cell: &ReplicaCell) -> String {
    let clients = if cell.clients == cell.replicas { "as many".to_owned() } else { cell.clients.to_string() };
    format!("{}, {clients} {}", cell.workload, cell.place)
}

fn situation(cell: &ReplicaCell) -> Situation<'_> {
    let rates = cell.rows.iter().map(|row| Rate { contender: &row.contender, is_ours: row.ours, rate: row.kops });
    Situation {
        words: words(cell),
        participants: cell.replicas,
        is_oversubscribed: cell.oversubscribed,
        rates: rates.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::{LeftOut, ReplicaRow, RobustRow};

    #[test]
    fn the_page_has_all_strata_and_hostile_names_stay_text() {
        let row = ReplicaRow {
            contender: "<b>redis".to_owned(),
            kops: Some(12.5),
            write_p50_ns: Some(4500.0),
            ..ReplicaRow::default()
        };
        let cell = |replicas| ReplicaCell {
            workload: "writes".to_owned(),
            replicas,
            clients: replicas,
            place: "threads",
            oversubscribed: replicas > 2,
            rows: vec![row.clone()],
        };
        let robust = RobustRow { contender: "shm-fused".to_owned(), event: "leader killed", ..RobustRow::default() };
        let report = ReplicaReport {
            machine: "<script>box".to_owned(),
            seed: 4,
            cpus: vec![0, 1],
            wait: "adaptive".to_owned(),
            robustness: vec![robust],
            cells: vec![cell(2), cell(8)],
            left_out: vec![LeftOut { contender: "another", reason: "no store".to_owned() }],
            ..ReplicaReport::default()
        };
        let page = render_replica(&report, "today", "0.0.0", "corecast bench replica --seed 4");
        assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
        for words in ["<svg", "leader killed", "8*", "writes, as many threads", "4.5", "another: no store", "--seed 4"]
        {
            assert!(page.contains(words), "'{words}' is not in {page}");
        }
    }
}
