//! The section on what messages cost: the machine, heat maps, a table by distance, and costs that are not of a pair.

use corecast::Machine;
use corecast::machine::{CostMatrix, Unit, distance_classes};
use maud::{Markup, PreEscaped, html};

use super::cluster::Clusters;
use super::distance;
use super::heat_map::HeatMap;
use super::number::{cost, significant, time};
use super::topo_picture;
use super::widths::{BROAD, NARROW, in_both_widths};

/// Up to this many CPUs the page has every single cost as a table.
const LARGEST_TABLE: usize = 32;

/// One matrix and what it is.
struct Part<'a> {
    title: &'static str,
    short: &'static str,
    matrix: &'a CostMatrix,
}

pub(super) fn section(machine: &Machine) -> Markup {
    html! {
        section id="costs" {
            h2 { "What a message costs" }
            @match machine.cpus.len() {
                0 | 1 => p { "There is one CPU only: no pair to measure." },
                2 => (of_two(machine)),
                _ => {
                    (in_both_widths(topo_picture::draw(machine, BROAD), topo_picture::draw(machine, NARROW)))
                    p class="note" { "The machine: CPUs in one small frame share a core." }
                    (of_pairs(machine))
                },
            }
            (beyond_pairs(machine))
        }
    }
}

fn parts(machine: &Machine) -> Vec<Part<'_>> {
    let mut parts = vec![
        Part { title: "Send: the sender is busy for", short: "send", matrix: &machine.send },
        Part { title: "Receive: the receiver is busy for", short: "receive", matrix: &machine.receive },
    ];
    if let Some(matrix) = &machine.extended.bounce {
        parts.push(Part { title: "One bare cache line takes, one way", short: "bare line", matrix });
    }
    parts
}

/// Two CPUs have two pairs, which need no picture.
fn of_two(machine: &Machine) -> Markup {
    let ways = |matrix: &CostMatrix| {
        let [there, back] = [matrix.get(0, 1), matrix.get(1, 0)].map(|value| cost(value, machine.unit));
        if there == back { format!("{there} either way") } else { format!("{there} there and {back} back") }
    };
    let [first, second] = [0, 1].map(|place| machine.cpus[place].id);
    html! {
        p {
            "A message from CPU " (first) " to CPU " (second) " keeps its sender busy for " (ways(&machine.send)) ", and its "
            "receiver for " (ways(&machine.receive)) "."
            @if let Some(bounce) = &machine.extended.bounce { " A bare cache line takes " (ways(bounce)) "." }
        }
    }
}

fn of_pairs(machine: &Machine) -> Markup {
    let (clusters, parts) = (Clusters::of(machine), parts(machine));
    html! {
        p {
            "A cell for each ordered pair of CPUs. The further its colour is from the page's, the slower: dark on a light page, "
            "bright on a dark one. Each map has a scale of its own, in " (machine.unit) ". CPUs stand by NUMA node, third-level cache and core; the coloured strips along the axes "
            "are nodes, the gaps between cells are the borders of nodes (wide) and third-level caches (narrow)."
        }
        div class="maps" {
            @for part in &parts {
                figure { (PreEscaped(HeatMap::of(machine, part.matrix, &clusters).draw(part.title))) }
            }
        }
        (by_distance(machine, &parts))
        @if machine.cpus.len() <= LARGEST_TABLE {
            @for part in &parts { (every_cost(machine, &clusters, part)) }
        } @else {
            p class="note" {
                "All costs of all pairs are in the model file: " code { "corecast measure --out FILE" } "."
            }
        }
    }
}

fn by_distance(machine: &Machine, parts: &[Part<'_>]) -> Markup {
    html! {
        div class="scroll" { table {
            caption class="note words" { "Costs by distance, least – median – largest, in " (machine.unit) }
            thead { tr {
                th class="words" scope="col" { "two CPUs of" } th scope="col" { "ordered pairs" }
                @for part in parts { th scope="col" { (part.short) } }
            } }
            tbody {
                @for class in distance_classes(machine) {
                    tr {
                        th class="words" scope="row" { (class.name) }
                        td { (class.pairs.len()) }
                        @for part in parts { td { (range(part.matrix, &class.pairs)) } }
                    }
                }
            }
        } }
    }
}

fn range(matrix: &CostMatrix, pairs: &[(usize, usize)]) -> String {
    distance::range(matrix, pairs).map_or_else(String::new, |range| {
        let [least, median, most] = [range.least, range.median, range.most].map(significant);
        format!("{least} – {median} – {most}")
    })
}

fn every_cost(machine: &Machine, clusters: &Clusters, part: &Part<'_>) -> Markup {
    html! {
        details class="too-wide" {
            summary { "Every " (part.short) " cost as a table" }
            div class="scroll" { table {
                caption class="note words" { "from the CPU of the row to the CPU of the column, in " (machine.unit) }
                thead { tr {
                    td {}
                    @for &to in &clusters.order { th scope="col" { (machine.cpus[to].id) } }
                } }
                tbody {
                    @for &from in &clusters.order {
                        tr {
                            th scope="row" { (machine.cpus[from].id) }
                            @for &to in &clusters.order {
                                td { @if from == to { "–" } @else { (significant(part.matrix.get(from, to))) } }
                            }
                        }
                    }
                }
            } }
        }
    }
}

/// Costs that are not of a pair, where the model has them.
fn beyond_pairs(machine: &Machine) -> Markup {
    let extended = &machine.extended;
    let single = [
        ("waking a sleeper (futex), to its first step", extended.wake_ns),
        ("a yield to the scheduler", extended.yield_ns),
        ("a hint that this is a spin loop (PAUSE)", extended.pause_ns),
    ];
    let single: Vec<(&str, f64)> = single.into_iter().filter_map(|(what, cost)| Some((what, cost?))).collect();
    let fans = [
        ("k sends in a row cost the sender", &extended.fan_out),
        ("k senders cost the receiver", &extended.fan_in),
        ("From a write until the last of k readers has seen it", &extended.readers),
        ("k CPUs that all increment one word", &extended.fetch_add),
    ];
    html! {
        @if !single.is_empty() {
            h3 { "Waiting" }
            dl class="facts" { @for (what, time_ns) in single { dt { (what) } dd { (time(time_ns)) } } }
        }
        @for (what, fan) in fans.into_iter().filter_map(|(what, fan)| Some((what, fan.as_ref()?))) {
            (of_fan(what, fan, machine.unit))
        }
    }
}

fn of_fan(what: &str, fan: &[(u32, f64)], unit: Unit) -> Markup {
    html! {
        @if !fan.is_empty() {
            h3 { (what) }
            div class="scroll" { table {
                caption class="note words" { "in " (unit) }
                thead { tr { th class="words" scope="col" { "k" } @for (k, _) in fan { th scope="col" { (k) } } } }
                tbody {
                    tr {
                        th class="words" scope="row" { "altogether" }
                        @for &(_, all) in fan { td { (significant(all)) } }
                    }
                    tr {
                        th class="words" scope="row" { "for each" }
                        @for &(k, all) in fan { td { (significant(all / f64::from(k.max(1)))) } }
                    }
                }
            } }
        }
    }
}
