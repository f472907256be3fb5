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
/// ```no_run
/// corecast_testing::skipped("this example", "it only shows the line");
/// ```
pub fn skipped(what: &str, reason: impl Display) {
    // One thread of tests prints the name of a test before it runs: the line has to begin anew after it.
    let line = format!("\nSKIPPED: {what}: {reason}\n");
    // A reader that has closed the output does not want to know.
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::skipped;

    #[test]
    #[ignore = "started by the test below"]
    fn one_that_cannot_check_something() {
        skipped("planted", "nothing is missing");
    }

    #[test]
    fn the_line_is_seen_though_the_harness_captures_output() {
        let program = std::env::current_exe().expect("this program");
        for threads in ["1", "2"] {
            let name = "skip::tests::one_that_cannot_check_something";
            let arguments = ["--ignored", "--exact", name, "--test-threads", threads];
            let output = Command::new(&program).args(arguments).output().expect("it starts");
            let text = String::from_utf8(output.stdout).expect("text");
            assert!(text.lines().any(|line| line == "SKIPPED: planted: nothing is missing"), "{text}");
            assert!(output.status.success(), "{text}");
        }
    }
}
