//! The page as a whole.

use maud::html;

use super::frame::Frame;
use super::input::ReportInput;
use super::{costs, head, how_to_read, predictions, races, trees};

/// The report as an HTML document in UTF-8. It loads nothing, runs nothing, and has no place for what the input's texts
/// would be if they were markup.
pub(crate) fn render(input: &ReportInput<'_>) -> String {
    let ReportInput { version, created_at, .. } = *input;
    let frame = Frame { kind: "corecast report", machine: &input.machine.name, created_at, version };
    let main = html! {
        (costs::section(input.machine))
        (trees::section(input.trees))
        (races::section(input.race))
        (predictions::section(input.machine))
        (how_to_read::section(input.commands))
    };
    frame.around(&head::head(input), &main)
}
