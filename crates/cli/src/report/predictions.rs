//! The section on the model itself: measured costs of races beside its predictions.

use corecast::Machine;
use corecast::machine::RaceCheck;
use maud::{Markup, html};

use super::number::{cost, ratio};

pub(super) fn section(machine: &Machine) -> Markup {
    let mut races: Vec<&RaceCheck> = machine.extended.races.iter().collect();
    races.sort_by(|a, b| (&a.operation, a.members.len()).cmp(&(&b.operation, b.members.len())));
    html! {
        section id="predictions" {
            h2 { "Predicted and measured" }
            @if races.is_empty() {
                p {
                    "No race was run that this model could be checked by. Members that share CPUs, and costs in cycles, "
                    "cannot be compared."
                }
            } @else {
                p {
                    "Plans are chosen by what the model predicts; this is how far its predictions held when they were "
                    "raced. It is enough that the ratios of one operation are alike: then the model ranks plans "
                    "rightly, even where it is too high or too low for all of them."
                }
                (table(machine, &races))
            }
        }
    }
}

fn table(machine: &Machine, races: &[&RaceCheck]) -> Markup {
    html! {
        div class="scroll" { table {
            thead { tr {
                th class="words" scope="col" { "operation" } th class="words" scope="col" { "algorithm" }
                th class="words" scope="col" { "CPUs" } th scope="col" { "predicted" } th scope="col" { "measured" }
                th scope="col" { "measured / predicted" } th class="words" scope="col" { "on" }
            } }
            tbody { @for race in races {
                tr {
                    th class="words" scope="row" { (race.operation) }
                    td class="words" { (race.algorithm) }
                    td class="words" { (race.members) }
                    td { (cost(race.predicted, machine.unit)) }
                    td { (cost(race.measured, machine.unit)) }
                    td { (race.ratio().map_or_else(|| "–".to_owned(), ratio)) }
                    td class="words" { (race.date) }
                }
            } }
        } }
    }
}
