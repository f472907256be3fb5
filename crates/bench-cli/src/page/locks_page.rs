//! A page about locks: alone, from near and far, in a crowd, and what each loses over all.

use corecast_bench::{LockCell, LockDistance, LockReport, RegretRow};
use maud::{Markup, html};

use super::column_table::{self, contenders, folded_contenders};
use super::flips_section;
use super::readers_section;
use super::throughput::{Rate, Situation, pictures};
use crate::columns::locks::{CELL, DISTANCE, PAIR, REGRET};
use crate::lock_situation;
use corecast_cli::report::frame::Frame;
use corecast_cli::report::gates;
use corecast_cli::report::line_chart::{Line, LineChart};
use corecast_cli::report::number::{ratio, significant};
use corecast_cli::report::plain_table::table;
use corecast_cli::table::many;

/// The result as an HTML document in UTF-8, which loads and runs nothing, as [`render`](super::render)'s. `created_at` is
/// any text, and `command` what makes it again.
pub(crate) fn render_locks(report: &LockReport, created_at: &str, version: &str, command: &str) -> String {
    let heading = "Locks, raced";
    let frame = Frame { kind: "corecast bench locks", heading, machine: &report.machine, created_at, version };
    let main = html! {
        section {
            h2 { "Alone" }
            (column_table::table("ns to lock and unlock by one thread", PAIR, &report.pairs))
        }
        @for distance in &report.distances { (section_of_distance(distance)) }
        (section_of_regret(&report.regrets))
        section {
            h2 { "In a crowd" }
            p { "Threads take locks at random, write the line behind, and free them. Further up is better." }
            (pictures(("millions of acquisitions", "threads"), &report.cells.iter().map(situation).collect::<Vec<_>>()))
            @for cell in &report.cells { (table_of_cell(cell)) }
        }
        (combining(&report.combining))
        (readers_section::section(&report.readers))
        (flips_section::section(&report.flips))
        (published(report))
        (gates::section(&report.gates))
        section { h2 { "Make it again" } pre { code { (command) } } }
    };
    frame.around(&frame.header(&html! {}), &main)
}

fn section_of_distance(distance: &LockDistance) -> Markup {
    let cpus = distance.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ");
    let title = match distance.cpus.len() {
        1 => format!("Taken again and again on CPU {cpus}"),
        _ => format!("Taken in turns by CPUs {cpus}: {}", distance.distance),
    };
    html! { section { h2 { (title) } (contenders("in ns; nobody waits for it", DISTANCE, &distance.rows)) } }
}

fn section_of_regret(regrets: &[RegretRow]) -> Markup {
    html! {
        section {
            h2 { "Regret" }
            p {
                "In each situation, the throughput of the fixed lock that was best in the odd rounds divided by that of "
                "the lock shown, both in the even rounds. 1 is as good as if one had known; lower is better."
            }
            (regret_curves(regrets))
            (column_table::table("", REGRET, regrets))
        }
    }
}

/// Each lock's regrets in ascending order.
fn regret_curves(regrets: &[RegretRow]) -> Markup {
    let cells = regrets.first().map_or(0, |row| row.curve.len());
    let quarter = |step: usize| (4 * step) / cells.saturating_sub(1).max(1);
    let text = |step: usize| match step {
        0 => "0 %".to_owned(),
        _ if quarter(step) > quarter(step - 1) => format!("{} %", 25 * quarter(step)),
        _ => String::new(),
    };
    let line = |row: &RegretRow| Line {
        name: row.contender.clone(),
        is_ours: row.ours,
        values: row.curve.iter().copied().map(Some).collect(),
    };
    let chart = LineChart {
        title: "regret that a share of the situations does not exceed",
        description: "A curve for each lock: its regrets in ascending order, logarithmic.",
        steps: (0..cells).map(text).collect(),
        note: "share of the situations".to_owned(),
        lines: regrets.iter().map(line).collect(),
        write: ratio,
    };
    chart.figure()
}

/// All that differs from cell to cell beside the number of threads.
fn words(cell: &LockCell) -> String {
    let placement = if cell.pinned { "pinned" } else { "unpinned" };
    format!("{}{}, {placement}", many(cell.locks, "lock"), lock_situation::words(cell))
}

fn situation(cell: &LockCell) -> Situation<'_> {
    Situation {
        words: words(cell),
        participants: cell.threads,
        is_oversubscribed: cell.oversubscribed,
        rates: cell
            .rows
            .iter()
            .map(|row| Rate { contender: &row.contender, is_ours: row.ours, rate: row.mops })
            .collect(),
    }
}

fn table_of_cell(cell: &LockCell) -> Markup {
    let situation = format!("{}, {}", many(cell.threads, "thread"), words(cell));
    folded_contenders(&situation, CELL, &cell.rows)
}

/// Nothing if nobody took part.
fn combining(cells: &[LockCell]) -> Markup {
    html! {
        @if !cells.is_empty() {
            section {
                h2 { "Closures sent" }
                p {
                    "Threads want one piece of data for moments: they lock it, or send closures to the thread that has it. "
                    "Of the threads of delegate one is its server."
                }
                (pictures(("millions of accesses", "threads"), &cells.iter().map(situation).collect::<Vec<_>>()))
                @for cell in cells { (table_of_cell(cell)) }
            }
        }
    }
}

fn published(report: &LockReport) -> Markup {
    let rows = report.published.iter().map(|row| {
        let there = row.machines.iter().map(|(_, ratio)| significant(*ratio));
        let here =
            row.here.map_or_else(|| "–".to_owned(), |(threads, here)| format!("{} ({threads})", significant(here)));
        std::iter::once(row.locks.to_string()).chain(there).chain([here]).collect()
    });
    let machines =
        report.published.first().into_iter().flat_map(|row| row.machines.iter().map(|(machine, _)| *machine));
    let headings: Vec<&str> = ["locks"].into_iter().chain(machines).chain(["here (threads)"]).collect();
    html! {
        section {
            h2 { "Published of other machines" }
            p {
                "Throughput of the best lock with 36 threads, as a multiple of the best with one (David, Guerraoui, "
                "Trigonakis, SOSP 2013), and here with the most threads that have a CPU each."
            }
            (table("", &headings, rows))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::{FlipPhase, FlipRow, LockFlips, LockRow, PairRow, PublishedScaling, ReaderReport};

    fn row(mops: f64) -> LockRow {
        LockRow {
            contender: "<b>tas".to_owned(),
            ours: true,
            mops: Some(mops),
            regret: Some(1.25),
            jain: Some(1.0),
            wait_p999_ns: Some(900.0),
            longest_to_mean: Some(33.0),
            ..LockRow::default()
        }
    }

    fn report() -> LockReport {
        let cell = |threads| LockCell {
            threads,
            locks: 4,
            hold_ns: 2000,
            gap: None,
            gap_ns: 0,
            foreign: 0,
            pinned: true,
            oversubscribed: threads > 2,
            rows: vec![row(10.0 / threads as f64)],
        };
        let curve = vec![0.9, 1.0, 1.5];
        let regret = RegretRow {
            contender: "<b>tas".to_owned(),
            ours: true,
            mean: 1.1,
            interval: [1.0, 1.2],
            p95: 1.5,
            max: 1.5,
            curve,
        };
        LockReport {
            machine: "<script>box".to_owned(),
            commit: None,
            seed: 4,
            quick: true,
            cpus: vec![0, 1],
            pairs: vec![PairRow {
                contender: "<b>tas".to_owned(),
                ours: true,
                median_ns: Some(9.0),
                min_ns: Some(8.7),
                ..PairRow::default()
            }],
            distances: Vec::new(),
            cells: vec![cell(1), cell(16)],
            combining: vec![LockCell { hold_ns: 100, ..cell(2) }, LockCell { hold_ns: 100, ..cell(16) }],
            readers: ReaderReport::default(),
            flips: Vec::new(),
            regrets: vec![regret],
            published: vec![PublishedScaling { locks: 4, machines: &[("Opteron", 0.2)], here: Some((2, 1.5)) }],
            left_out: 0,
            gates: Vec::new(),
        }
    }

    #[test]
    fn the_page_has_all_and_hostile_names_stay_text() {
        let page = render_locks(&report(), "today", "0.0.0", "corecast bench locks --seed 4");
        assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
        assert_eq!(page.matches("<svg").count(), 3, "regret, and throughput against threads, of locks and of closures");
        for words in [
            "4 locks, each held for 2000 ns, pinned",
            "1.25×",
            "Opteron",
            "1.50 (2)",
            "--seed 4",
            "50 %",
            "33×",
            "each held for 100 ns",
        ] {
            assert!(page.contains(words), "'{words}' is not in {page}");
        }
    }

    #[test]
    fn flips_have_a_section_if_there_are_any() {
        let page = |report: &LockReport| render_locks(report, "today", "0.0.0", "corecast bench locks");
        assert!(!page(&report()).contains("After a flip"));
        let row = FlipRow {
            contender: "<b>tas".to_owned(),
            ours: true,
            mops: [Some(20.5), None],
            settled_ms: [Some(3.0), None],
            skipped: None,
            failed: false,
        };
        let phases = [1, 2].map(|threads| FlipPhase { threads, hold_ns: 0 });
        let flips = LockFlips { phases, phase_ms: 100, oversubscribed: false, rows: vec![row] };
        let page = page(&LockReport { flips: vec![flips], ..report() });
        assert!(
            page.contains("After a flip") && page.contains("1 thread and 2 threads in turns, 100 ms each"),
            "{page}"
        );
        assert!(page.contains("20.5") && !page.contains("<b>"), "{page}");
        let table = page.split("After a flip").nth(1).and_then(|rest| rest.split("</table>").next()).expect("a table");
        assert_eq!((table.matches("scope=\"col\"").count(), table.matches("<td>").count()), (5, 4), "{table}");
    }
}
