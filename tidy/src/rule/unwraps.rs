//! Outside tests, a value that must be there is `expect`ed with the reason why it is.

use crate::report::Report;
use crate::token::reads;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "unwraps";

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for (_, source) in workspace.sources() {
        for (at, token) in source.tokens.iter().enumerate() {
            let unwraps = reads(&source.tokens, at, &[".", "unwrap", "(", ")"]);
            if unwraps && !source.is_test_line(token.line) {
                report.violation(NAME, &source.path, token.line + 1, "say why it holds: `expect(\"reason\")`");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::check_file;

    #[test]
    fn an_unwrap_outside_tests_is_caught() {
        let found = check_file(check, "src/ump.rs", "fn f() {\n    g()\n        .unwrap();\n}\n");
        assert!(found.len() == 1 && found[0].starts_with("crates/channel/src/ump.rs:3: unwraps"), "{found:?}");
        assert_eq!(check_file(check, "examples/ping.rs", "fn main() { g().unwrap(); }").len(), 1);
    }

    #[test]
    fn tests_and_its_cousins_are_fine() {
        assert_eq!(check_file(check, "tests/t.rs", "fn f() { g().unwrap(); }"), [""; 0]);
        assert_eq!(check_file(check, "src/ump.rs", "#[cfg(test)]\nmod tests { fn f() { g().unwrap(); } }"), [""; 0]);
        assert_eq!(check_file(check, "src/ump.rs", "fn f() { g().unwrap_or(1); \".unwrap()\"; }"), [""; 0]);
    }
}
