//! A page about single operations on cache lines: heat maps, every number as a table, and what others have published.

use corecast_bench::{CoherenceGroup, CoherenceReport, Placement};
use maud::{Markup, PreEscaped, html};

use super::column_table::resolved;
use super::{coherence_map, published};
use crate::coherence_grid::{Grid, timer_resolution, title};
use crate::columns::coherence::CASES;
use corecast_cli::report::frame::Frame;
use corecast_cli::report::number::time;
use corecast_cli::resolution::Resolution;

/// The result as an HTML document in UTF-8, which loads and runs nothing, as [`render`](super::render)'s. `created_at` is
/// any text, and `command` what makes it again.
pub(crate) fn render_coherence(report: &CoherenceReport, created_at: &str, version: &str, command: &str) -> String {
    let heading = "What one operation on a cache line costs";
    let frame = Frame { kind: "corecast cc", heading, machine: &report.machine, created_at, version };
    let resolution = timer_resolution(report);
    let main = html! {
        p {
            "The time of one operation on a cache line, by the state that the line was in before. Each sample takes a fresh "
            "line; all samples count; the median of the empty timer is taken off. Times below " (time(resolution.ns()))
            " are not told apart, as looks at the clock differ by as much. The further a colour is from the page's, the "
            "slower: dark on a light page, bright on a dark one. Each map has a scale of its own."
        }
        @for group in &report.groups { (section(group, resolution)) }
        (published::section(&report.published))
        section { h2 { "Make it again" } pre { code { (command) } } }
    };
    frame.around(&frame.header(&html! {}), &main)
}

fn section(group: &CoherenceGroup, resolution: Resolution) -> Markup {
    let (grid, title) = (Grid::of(group), title(group));
    // Elsewhere every operation has a column of its own, and a map says less than the table.
    let picture =
        (group.placement == Placement::Pair).then(|| coherence_map::draw(&grid, &title, resolution)).flatten();
    html! {
        section {
            h2 { (title) }
            @if let Some(picture) = picture { figure class="wide" { (PreEscaped(picture)) } }
            (resolved("in ns", CASES, group.cells.iter().filter(|cell| cell.times.is_some()), resolution))
            @for (case, reason) in grid.skipped() { p class="note" { (case) ": skipped, " (reason) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coherence_grid::tests::report;

    #[test]
    fn the_page_has_all_and_hostile_names_stay_text() {
        let page = render_coherence(&report(), "today", "0.0.0", "corecast cc --seed 4");
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;box"), "{page}");
        for words in [
            "<svg",
            "cas-shared-elsewhere: skipped, needs 3 CPUs",
            "<td>1.35</td>",
            "<td>1.20</td>",
            "corecast cc --seed 4",
        ] {
            assert!(page.contains(words), "'{words}' is not in {page}");
        }
    }
}
