//! The crates that promise to hold no `unsafe` say so to the compiler.

use crate::report::Report;
use crate::source::SourceFile;
use crate::token::reads;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "forbid-unsafe";

/// The crates that carry the promise on their crate page.
const SAFE: &[&str] = &["corecast-plan", "corecast-collective", "corecast-replica", "corecast-tm"];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in workspace.packages.iter().filter(|package| SAFE.contains(&package.name.as_str())) {
        let path = format!("{}/src/lib.rs", package.dir);
        let root = package.sources.iter().find(|source| source.path == path);
        if !root.is_some_and(forbids_unsafe) {
            report.violation(NAME, &path, 1, "this crate promises `#![forbid(unsafe_code)]`");
        }
    }
}

fn forbids_unsafe(source: &SourceFile) -> bool {
    let words = ["#", "!", "[", "forbid", "(", "unsafe_code", ")", "]"];
    (0..source.tokens.len()).any(|at| reads(&source.tokens, at, &words))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::{check_workspace, workspace};

    fn plan(text: &str) -> Vec<String> {
        check_workspace(check, &workspace("corecast-plan", "crates/plan", "", &[("src/lib.rs", text)]))
    }

    #[test]
    fn a_broken_promise_is_caught() {
        let in_a_comment = "//! Docs.\n// #![forbid(unsafe_code)]\nmod tree;\n";
        assert_eq!(plan(in_a_comment).len(), 1);
        assert_eq!(plan("#![deny(unsafe_code)]\n").len(), 1);
        assert_eq!(plan("//! Docs.\n#![forbid(unsafe_code)]\n"), [""; 0]);
    }

    #[test]
    fn crates_without_the_promise_may_be_unsafe() {
        let base = workspace("corecast-base", "crates/base", "", &[("src/lib.rs", "mod region;\n")]);
        assert_eq!(check_workspace(check, &base), [""; 0]);
    }
}
