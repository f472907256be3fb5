//! Every module file begins by saying what it is for.

use crate::report::Report;
use crate::source::SourceFile;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "module-doc";

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for (_, source) in workspace.sources() {
        if source.is_in_src() && !begins_with_doc(source) {
            report.violation(
                NAME,
                &source.path,
                1,
                "begin the file with a `//!` line that says what the module is for",
            );
        }
    }
}

fn begins_with_doc(source: &SourceFile) -> bool {
    let first = source.lines.iter().find(|line| line.has_code() || line.is_comment_only());
    let Some(first) = first else { return false };
    let says_something = first.comment.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty());
    says_something || first.code.starts_with("#![doc = ")
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::check_file;

    #[test]
    fn a_file_without_its_purpose_is_caught() {
        for text in ["", "use std::fmt;\n", "// An ordinary comment.\n", "//!\n", "/// An item.\nfn f() {}\n"] {
            assert_eq!(check_file(check, "src/ump.rs", text).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn documented_files_and_tests_are_fine() {
        assert_eq!(check_file(check, "src/ump.rs", "\n//! A channel.\n"), [""; 0]);
        assert_eq!(check_file(check, "src/ump.rs", "#![doc = include_str!(\"ump.md\")]\n"), [""; 0]);
        assert_eq!(check_file(check, "tests/ump.rs", "use std::fmt;\n"), [""; 0]);
    }
}
