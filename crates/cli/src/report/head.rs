//! The head of the page: which machine, when, and whether its numbers were measured at all.

use maud::{Markup, html};

use super::cluster::distinct;
use super::input::ReportInput;
use super::number;

pub(super) fn head(input: &ReportInput<'_>) -> Markup {
    let machine = input.machine;
    let nodes = distinct(machine.numa_nodes());
    html! {
        header {
            p class="kicker" { "corecast report · " (input.created_at) " · corecast " (input.version) }
            h1 { (machine.name) }
            (origin(input))
            (warnings(input))
            dl class="facts" {
                dt { "CPUs" } dd { (machine.cpus.len()) ": " (machine.cpu_set()) }
                dt { "NUMA nodes" } dd {
                    (nodes.len())
                    @if !machine.provenance.groups.is_empty() { ", from " (machine.provenance.groups) }
                }
                dt { "unit of costs" } dd { (machine.unit) }
                @if let Some(date) = &machine.extended.measured_at { dt { "costs measured at" } dd { (date) } }
                @if let Some(spread) = spread(input) { dt { "spread of measured costs" } dd { (spread) } }
                @if let Some(fingerprint) = &machine.extended.fingerprint {
                    dt { "fingerprint" } dd { code { (fingerprint) } }
                }
            }
            (notes(input))
            nav aria-label="Sections" {
                a href="#race" { "The race" } a href="#trees" { "The plans" }
                a href="#costs" { "What a message costs" } a href="#predictions" { "Predicted and measured" }
                a href="#reading" { "How to read this" }
            }
        }
    }
}

/// Where the costs come from, as prominent as the costs themselves.
fn origin(input: &ReportInput<'_>) -> Markup {
    let provenance = &input.machine.provenance;
    let (is_sound, word, meaning) = match provenance.kind.as_str() {
        "measured" => (true, "measured", "Send and receive costs of every pair of CPUs were measured."),
        "derived" => (
            false,
            "derived",
            "Only a latency between CPUs was measured; how it divides into sending and receiving is assumed.",
        ),
        "assumed" => (
            false,
            "assumed",
            "Nothing was measured: costs are assumed from what CPUs share, and only their order is to be trusted. Run \
             corecast measure.",
        ),
        other => (false, other, "Where the costs come from is told by the model file only."),
    };
    html! {
        div class=(if is_sound { "origin" } else { "origin doubtful" }) {
            p { "Costs: " strong { (if word.is_empty() { "of unknown origin" } else { word }) } (meaning) }
            @if !provenance.source.is_empty() { p class="note" { (provenance.source) } }
        }
    }
}

fn warnings(input: &ReportInput<'_>) -> Markup {
    let of_race = input.race.map_or(&[][..], |race| &race.warnings);
    let mut warnings: Vec<&String> = Vec::new();
    for warning in input.machine.extended.warnings.iter().chain(of_race).chain(input.warnings) {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    html! {
        @if !warnings.is_empty() {
            aside class="warnings" role="note" {
                h2 { "Before you believe the numbers" }
                ul { @for warning in warnings { li { (warning) } } }
            }
        }
    }
}

fn notes(input: &ReportInput<'_>) -> Markup {
    let notes = &input.machine.extended.notes;
    html! {
        @if !notes.is_empty() {
            details { summary { "Notes of the measurement" } ul class="note" { @for note in notes { li { (note) } } } }
        }
    }
}

/// The deviation of the send and receive costs, as shares of them.
fn spread(input: &ReportInput<'_>) -> Option<String> {
    let (machine, extended) = (input.machine, &input.machine.extended);
    let pairs =
        [(&machine.send, extended.send_spread.as_ref()?), (&machine.receive, extended.receive_spread.as_ref()?)];
    let mut shares = Vec::new();
    for (costs, spreads) in pairs {
        let entries = costs.rows().flatten().zip(spreads.rows().flatten());
        shares.extend(entries.filter(|&(&cost, _)| cost > 0.0).map(|(cost, spread)| 100.0 * spread / cost));
    }
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let median = number::median(shares)?;
    Some(format!(
        "median absolute deviation {} % of the cost in the middle, {} % at most",
        number::significant(median),
        number::significant(largest)
    ))
}
