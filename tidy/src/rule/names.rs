//! A file is named after its idea, not after its having been needed.

use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "names";

/// Words that no file or folder name may contain, between underscores.
const EMPTY_WORDS: &[&str] =
    &["util", "utils", "misc", "manager", "helper", "helpers", "common", "new", "fast", "v2", "v3"];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for (_, source) in workspace.sources() {
        let words = source.path.trim_end_matches(".rs").split(['/', '_', '-']);
        for word in words.filter(|word| EMPTY_WORDS.contains(word)) {
            report.violation(NAME, &source.path, 1, format!("'{word}' in a name says nothing: name the idea"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::check_file;

    #[test]
    fn empty_names_are_caught() {
        for path in ["src/util.rs", "src/barrier_v2.rs", "src/helpers/pin.rs", "tests/common/mod.rs", "src/new.rs"] {
            assert_eq!(check_file(check, path, "").len(), 1, "{path}");
        }
    }

    #[test]
    fn words_inside_words_are_fine() {
        for path in ["src/renewal.rs", "src/breakfast.rs", "src/utility_function.rs"] {
            assert_eq!(check_file(check, path, ""), [""; 0], "{path}");
        }
    }
}
