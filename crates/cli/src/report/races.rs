//! The section on the race: a table of the winners, then a chart and its numbers for each group.

use corecast_race::{Group, Listed, Report, Timing, list};
use maud::{Markup, html};

use super::number::{ratio, time};
use super::race_chart::{self, RaceChart};
use super::ranking::{Entrant, ranking};
use super::verdict::Verdict;
use super::widths::in_both_widths;
use super::{curves, rings};

/// How the samples of a group were taken.
const TIMINGS: [(Timing, &str); 4] = [
    (Timing::Batches, "Operations back to back, divided by their number."),
    (Timing::Windows, "Single operations: all members begin at one agreed time, and the last one's end counts."),
    (
        Timing::LeafEcho,
        "By the root's clock until an echo of the slowest member, or, of reductions, from the message that lets it begin; that \
         message is included.",
    ),
    (Timing::Separated, "Operations with a barrier of the harness after each; that barrier is included in every time."),
];

pub(super) fn section(report: Option<&Report>) -> Markup {
    html! {
        section id="race" {
            h2 { "The race" }
            @match report {
                Some(report) if !report.groups.is_empty() => (of_report(report)),
                _ => p {
                    "Nothing was raced: run " code { "corecast tune" } " or " code { "corecast bench collectives" } "."
                },
            }
        }
    }
}

fn of_report(report: &Report) -> Markup {
    html! {
        p {
            "Each operation was performed by every contender in turns, in one run, on the same pinned threads; each "
            "contender's result was checked before it was timed. Times are per operation: less is better. Ratios are "
            "medians over the median of what corecast takes by itself: above 1 is slower than corecast, below 1 faster."
        }
        (summary(report))
        (curves::of_report(report))
        (rings::of_report(report))
        (in_both_widths(race_chart::key(false), race_chart::key(true)))
        @for group in &report.groups { (of_group(group)) }
        (conditions(report))
        (glossary(report))
    }
}

/// One line for each group: corecast's own choice against the fastest rival.
fn summary(report: &Report) -> Markup {
    html! {
        div class="scroll" { table {
            caption class="note words" { "corecast's own choice against the fastest rival" }
            thead { tr {
                th class="words" scope="col" { "race" } th scope="col" { "corecast" } th scope="col" { "fastest rival" }
                th class="words" scope="col" { "which" } th scope="col" { "factor" }
                th class="words" scope="col" { "verdict" }
            } }
            tbody {
                @for (group, verdict) in report.groups.iter().filter_map(|group| Some((group, Verdict::of(group)?))) {
                    tr {
                        th class="words" scope="row" { (race_chart::title(group)) }
                        td { (time(verdict.ours.times.median_ns)) }
                        td { (time(verdict.rival.times.median_ns)) }
                        td class="words" { (verdict.rival.name) }
                        td { (verdict.factor().map_or_else(|| "–".to_owned(), ratio)) }
                        td class="words" { span class=(verdict.outcome.word()) { (verdict.outcome.word()) } }
                    }
                }
            }
        } }
        p class="note" { "Level: the spans from the 10th to the 90th percentile overlap, so neither is called faster." }
    }
}

fn of_group(group: &Group) -> Markup {
    let entrants = ranking(group);
    let charts = RaceChart::of(group, entrants.clone()).zip(RaceChart::narrow(group, entrants.clone()));
    html! {
        h3 {
            (race_chart::title(group))
            @if group.oversubscribed { span class="tag" { "members share CPU time" } }
        }
        @if let Some(verdict) = Verdict::of(group) {
            p { span class=(verdict.outcome.word()) { (verdict.sentence()) } }
        }
        @if let Some((broad, narrow)) = charts { (in_both_widths(broad.picture(), narrow.picture())) }
        @if entrants.is_empty() { p { "No contender was timed." } } @else { (numbers(group, &entrants)) }
        p class="note" {
            (timing(group))
            @if let Some(raw_line_ns) = group.raw_line_ns {
                " In this race one bare cache line took " (time(raw_line_ns)) " one way."
            }
        }
        (skipped(group))
    }
}

fn timing(group: &Group) -> &'static str {
    TIMINGS.iter().find(|(timing, _)| *timing == group.timing).map_or("", |(_, words)| words)
}

fn numbers(group: &Group, entrants: &[Entrant<'_>]) -> Markup {
    html! {
        details open="" {
            summary { "Numbers: " (race_chart::title(group)) }
            div class="scroll" { table {
                thead { tr {
                    th class="words" scope="col" { "contender" } th scope="col" { "median" } th scope="col" { "p10" }
                    th scope="col" { "p90" } th scope="col" { "p99" } th scope="col" { "ratio" }
                    th scope="col" { "samples" }
                } }
                tbody { @for entrant in entrants { (line(entrant)) } }
            } }
        }
    }
}

fn line(entrant: &Entrant<'_>) -> Markup {
    let class = match (entrant.is_reference, entrant.is_ours) {
        (true, _) => "ours chosen",
        (false, true) => "ours",
        (false, false) => "rival",
    };
    let times = &entrant.times;
    html! {
        tr class=(class) {
            th class="words" scope="row" { (entrant.name) }
            @for time_ns in [times.median_ns, times.p10_ns, times.p90_ns, times.p99_ns] { td { (time(time_ns)) } }
            td { (entrant.ratio.map_or_else(|| "–".to_owned(), ratio)) }
            td { (times.samples) }
        }
    }
}

/// The contenders without a time, by reason: twins of one tree have the same.
fn skipped(group: &Group) -> Markup {
    let mut by_reason: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    let skipped = group.rows.iter().filter_map(|row| Some((row, row.skipped.as_deref()?)));
    for (row, reason) in skipped {
        let name = row.contender.as_str();
        match by_reason.iter_mut().find(|(_, known, _)| *known == reason) {
            Some((.., names)) => names.push(name),
            None => by_reason.push((if row.failed { "Failed" } else { "Not timed" }, reason, vec![name])),
        }
    }
    html! {
        @if !by_reason.is_empty() {
            ul class="note" {
                @for (what, reason, names) in by_reason { li { (what) ", " (reason) ": " (names.join(", ")) "." } }
            }
        }
    }
}

fn conditions(report: &Report) -> Markup {
    html! {
        h3 { "Conditions" }
        dl class="facts" {
            dt { "machine" } dd { (report.machine) }
            @if let Some(commit) = &report.commit { dt { "commit" } dd { code { (commit) } } }
            dt { "order drawn from seed" } dd { (report.seed) }
            dt { "blocks" } dd { (if report.quick { "quick: few and short" } else { "full" }) }
            dt { "corecast's members wait" } dd { (report.wait) }
            @if let Some(raw_line_ns) = report.raw_line_ns {
                dt { "one bare cache line" } dd { (time(raw_line_ns)) " one way, median of all probes" }
            }
            dt { "lasting changes of that line's cost" } dd { (report.placement_changes) }
        }
    }
}

/// The meaning of the names in the charts.
fn glossary(report: &Report) -> Markup {
    let is_used = |listed: &Listed| {
        let same_op = report.groups.iter().filter(|group| group.op == listed.op);
        same_op.flat_map(|group| &group.rows).any(|row| row.contender == listed.contender)
    };
    let mut listed: Vec<Listed> = list().into_iter().filter(is_used).collect();
    listed.sort_by(|a, b| a.contender.cmp(&b.contender));
    listed.dedup_by(|a, b| a.contender == b.contender && a.about == b.about);
    html! {
        @if !listed.is_empty() {
            details {
                summary { "What the contenders are" }
                div class="scroll" { table { tbody {
                    @for line in listed {
                        tr { th class="words" scope="row" { (line.contender) } td class="words long" { (line.about) } }
                    }
                } } }
            }
        }
    }
}
