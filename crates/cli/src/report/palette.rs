//! The colours of page and pictures, light and dark, and the style sheets that use them.
//!
//! A page names its colours by variable, so that pictures inside follow the reader's scheme. A picture that stands
//! alone is shown on grounds that it does not know, by programs that may know no variables: it gets its own ground and
//! the colours written out, light and dark.

use std::fmt::Write;

use super::ramp;

/// Name, light and dark colour.
const COLOURS: [(&str, &str, &str); 20] = [
    ("ground", "#ffffff", "#14171c"),
    ("surface", "#f4f6f8", "#1e232b"),
    ("ink", "#1a1e24", "#e7eaf0"),
    ("muted", "#59626f", "#a0aab8"),
    ("rule", "#d3d9e0", "#3a424f"),
    ("link", "#0b57b0", "#7ab8ff"),
    ("ours", "#0b62c4", "#6cb2ff"),
    ("band", "#e8f1fc", "#1b2a3d"),
    ("rival", "#6a7280", "#a8b1be"),
    ("sending", "#1c6fd0", "#5aa5ff"),
    ("receiving", "#f0a030", "#f5b556"),
    ("critical", "#b4231a", "#ff8a7a"),
    ("good", "#17713f", "#6fd8a0"),
    ("bad", "#b4231a", "#ff9a8c"),
    ("caution", "#fff3d0", "#3a3015"),
    ("caution-edge", "#c98a00", "#d9a520"),
    ("near", "#7fb8f0", "#3f78b8"),
    ("far", "#e8962e", "#d08a30"),
    ("farthest", "#a5170f", "#ff8a7a"),
    ("held", "#2f9e5c", "#3fae6c"),
];

const PAGE_RULES: &str = include_str!("page.css");
const PICTURE_RULES: &str = include_str!("picture.css");

/// The style sheet of a page: light, dark where the reader prefers it, light again on paper.
pub(super) fn page_style() -> String {
    let light = variables(|&(_, light, _)| light);
    let dark = variables(|&(_, _, dark)| dark);
    let [light_ramp, dark_ramp] = [false, true].map(ramp::rules);
    format!(
        ":root{{{light}color-scheme:light dark}}\n\
         @media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}\n{PAGE_RULES}{PICTURE_RULES}{light_ramp}\
         @media screen and (prefers-color-scheme: dark){{\n{dark_ramp}}}\n"
    )
}

/// The style sheet of a picture that stands alone: light, dark where the reader prefers it, without variables.
pub fn standalone_style() -> String {
    let light = written_out(|&(_, light, _)| light);
    let dark = written_out(|&(_, _, dark)| dark);
    format!("{light}@media screen and (prefers-color-scheme: dark){{{dark}}}")
}

fn written_out(colour: impl Fn(&(&'static str, &'static str, &'static str)) -> &'static str) -> String {
    COLOURS
        .iter()
        .fold(PICTURE_RULES.to_owned(), |rules, line| rules.replace(&format!("var(--{})", line.0), colour(line)))
}

fn variables(colour: impl Fn(&(&'static str, &'static str, &'static str)) -> &'static str) -> String {
    let mut text = String::new();
    for line in &COLOURS {
        write!(text, "--{}:{};", line.0, colour(line)).expect("writing to a string does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_alone_has_no_variables_left() {
        let style = standalone_style();
        assert!(!style.contains("var("), "{style}");
        assert!(style.contains("#0b62c4") && style.contains("#6cb2ff"), "{style}");
    }

    #[test]
    fn every_variable_used_is_defined() {
        let style = page_style();
        for used in style.split("var(--").skip(1) {
            let name = used.split(')').next().expect("split gives one");
            assert!(COLOURS.iter().any(|(known, ..)| *known == name), "--{name} is not defined");
        }
    }
}
