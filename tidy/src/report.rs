//! The findings of the rules: violations, and checks that could not be made.

use std::fmt;

/// One place where a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The file, relative to the workspace root.
    pub path: String,
    /// The line in that file, counted from 1; 0 where the file as a whole is meant.
    pub line: usize,
    /// The name of the broken rule.
    pub rule: &'static str,
    /// The violation, and what would be right.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

/// The outcome of a run over the workspace.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The broken rules, in the order they were found.
    pub violations: Vec<Violation>,
    /// Rules that could not be checked, each with the reason.
    pub skipped: Vec<(&'static str, String)>,
}

impl Report {
    /// Notes that `rule` is broken at `line` (from 1) of `path`.
    pub fn violation(&mut self, rule: &'static str, path: &str, line: usize, message: impl Into<String>) {
        self.violations.push(Violation { path: path.to_owned(), line, rule, message: message.into() });
    }

    /// Notes that `rule` could not be checked.
    pub fn skip(&mut self, rule: &'static str, reason: impl fmt::Display) {
        self.skipped.push((rule, reason.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_reads_like_a_compiler_error() {
        let mut report = Report::default();
        report.violation("names", "crates/x/src/util.rs", 1, "'util' says nothing");
        assert_eq!(report.violations[0].to_string(), "crates/x/src/util.rs:1: names: 'util' says nothing");
    }
}
