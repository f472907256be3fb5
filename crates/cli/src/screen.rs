//! The terminal behind standard output: its width, and whether it has colours.

use std::io::{IsTerminal, stdout};

/// The width that texts are made for, where no wider screen is known.
const COLUMNS: usize = 80;

/// The columns of the terminal that standard output is, or 80 if it is narrower or none: a file or a pipe looks the same
/// wherever it is made.
pub fn width() -> usize {
    let stdout = stdout();
    if !stdout.is_terminal() {
        return COLUMNS;
    }
    rustix::termios::tcgetwinsize(stdout).map_or(COLUMNS, |size| usize::from(size.ws_col).max(COLUMNS))
}

/// Whether colours may be written: standard output is a terminal that is not called dumb, and the variable `NO_COLOR` is unset
/// or empty (<https://no-color.org>).
pub fn has_colours() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}
