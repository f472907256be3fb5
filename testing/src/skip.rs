//! The one way for a test to say that it could not check something here.
//!
//! Take it where the machine lacks what the test needs: a second CPU, a right, a program. Not for data, which the
//! repository has: a test whose data is missing fails. Not either for what a test leaves out on every machine.
//!
//! How it works: the line goes to the process's standard output itself. `cargo test` captures only what the macros
//! `print` and `eprint` write, so the line is seen although the test passes. `.ci/run` counts the lines of its log that
//! begin with `SKIPPED: `.

use std::fmt::Display;
use std::io::Write;

/// Says that `what` was not checked, and the reason: `SKIPPED: what: reason`.
///
/// ```
/// corecast_testing::skipped("this example", "it only shows the line");
/// ```
pub fn skipped(what: &str, reason: impl Display) {
    // One thread of tests prints the name of a test before it runs: the line has to begin anew after it.
    let line = format!("\nSKIPPED: {what}: {reason}\n");
    // Whoever closed the output does not want to know.
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}
