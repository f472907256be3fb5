//! A page about one race alone, for the benchmarks that leave one.

use corecast_race::Report;
use maud::html;

use super::frame::Frame;
use super::{how_to_read, races};

/// The race as an HTML document in UTF-8, which loads and runs nothing, as `render`'s. `created_at` is any
/// text, and `command` what makes it again.
pub fn render_race(race: &Report, created_at: &str, version: &str, command: &str) -> String {
    let heading = "Collective operations, raced";
    let frame = Frame { kind: "corecast race", heading, machine: &race.machine, created_at, version };
    let warnings = html! {
        @if !race.warnings.is_empty() {
            aside class="warnings" role="note" {
                h2 { "Before you believe the numbers" }
                ul { @for warning in &race.warnings { li { (warning) } } }
            }
        }
    };
    let main = html! {
        (races::section(Some(race)))
        (how_to_read::section(&[command.to_owned()]))
    };
    frame.around(&frame.header(&warnings), &main)
}
