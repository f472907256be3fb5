//! The report as a whole page: its sections in order.

use maud::html;

use super::frame::Frame;
use super::input::ReportInput;
use super::{costs, head, how_to_read, predictions, races, trees};

/// The report as an HTML document in UTF-8: the race first, then the plans that made it and the costs that made these. It loads
/// nothing and runs nothing, and the input's texts stay texts.
pub(crate) fn render(input: &ReportInput<'_>) -> String {
    let ReportInput { version, created_at, .. } = *input;
    let machine = &input.machine.name;
    let frame = Frame { kind: "corecast report", heading: machine, machine, created_at, version };
    let main = html! {
        (races::section(input.race))
        (trees::section(input.trees))
        (costs::section(input.machine))
        (predictions::section(input.machine))
        (how_to_read::section(input.commands))
    };
    frame.around(&head::head(input), &main)
}
