//! Work that is left is written down where it is planned, not scattered over the sources.

use crate::lexer::is_word;
use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "markers";

/// The marks of unfinished work.
const MARKS: &[&str] = &["TODO", "FIXME", "XXX"];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for (_, source) in workspace.sources() {
        for (i, line) in source.lines.iter().enumerate() {
            if let Some(mark) = MARKS.iter().find(|mark| has_bare(&line.comment, mark)) {
                let message = format!("bare {mark}: do it, or name the issue as in {mark}(#12)");
                report.violation(NAME, &source.path, i + 1, message);
            }
        }
    }
}

/// True if `comment` holds `mark` as a word that no issue number follows.
fn has_bare(comment: &str, mark: &str) -> bool {
    comment.match_indices(mark).any(|(at, _)| {
        let (before, after) = (&comment[..at], &comment[at + mark.len()..]);
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let issue = after.strip_prefix("(#").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        is_whole && !issue
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::check_file;

    #[test]
    fn bare_marks_are_caught() {
        for text in ["// TODO: later", "/* FIXME */", "/// XXX what is this", "//! TODO(ann): later"] {
            assert_eq!(check_file(check, "src/ump.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn marks_with_an_issue_and_other_words_are_fine() {
        for text in ["// TODO(#12): wake by futex", "// TODOS", "let x = \"TODO\";", "// a list of things to do"] {
            assert_eq!(check_file(check, "src/ump.rs", text), [""; 0], "{text}");
        }
    }
}
