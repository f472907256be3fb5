//! A picture in two widths, of which the style sheet shows the one that fits the reader's screen.

use maud::{Markup, PreEscaped, html};

/// The width of pictures on a broad page, in pixels.
pub(super) const BROAD: f64 = 860.0;
/// The same on a page of about 400 pixels.
pub(super) const NARROW: f64 = 350.0;

/// Shows `broad` on broad screens and on paper, `narrow` on narrow screens.
pub(super) fn in_both_widths(broad: String, narrow: String) -> Markup {
    html! {
        figure class="broad" { (PreEscaped(broad)) }
        figure class="narrow" { (PreEscaped(narrow)) }
    }
}
