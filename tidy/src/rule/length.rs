//! One idea per file, functions that fit on a screen, and comments that fit on a line of it.

use crate::report::Report;
use crate::source::SourceFile;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "length";

/// The most lines of code in a file; comments, blank lines and `#[cfg(test)]` items do not count.
const FILE_LIMIT: usize = 400;

/// The most lines of code in a function, signature and braces included.
const FUNCTION_LIMIT: usize = 40;

/// The same for a function that is compiled for tests only.
const TEST_FUNCTION_LIMIT: usize = 80;

/// The most characters of a line that is a comment, unless it is a table's row.
const COMMENT_LIMIT: usize = 130;

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for (_, source) in workspace.sources() {
        check_file(source, report);
        check_functions(source, report);
        check_comments(source, report);
    }
}

fn check_comments(source: &SourceFile, report: &mut Report) {
    for (at, line) in source.lines.iter().enumerate().filter(|(_, line)| line.is_comment_only()) {
        let (chars, is_row) = (line.code.chars().count() + line.comment.chars().count(), line.comment.contains(" | "));
        if chars > COMMENT_LIMIT && !is_row {
            let message = format!("a comment of {chars} characters, more than {COMMENT_LIMIT}: wrap it");
            report.violation(NAME, &source.path, at + 1, message);
        }
    }
}

fn check_file(source: &SourceFile, report: &mut Report) {
    let counts = |line: usize| source.is_test_file() || !source.is_test_line(line);
    let code = source.lines.iter().enumerate().filter(|(i, line)| line.has_code() && counts(*i)).count();
    if code > FILE_LIMIT {
        let message = format!("{code} lines of code, more than {FILE_LIMIT}: split it by idea");
        report.violation(NAME, &source.path, 1, message);
    }
}

fn check_functions(source: &SourceFile, report: &mut Report) {
    for function in source.functions() {
        let limit = if source.is_test_line(function.first_line) { TEST_FUNCTION_LIMIT } else { FUNCTION_LIMIT };
        if function.code_lines > limit {
            let message = format!("fn {} has {} lines of code, more than {limit}", function.name, function.code_lines);
            report.violation(NAME, &source.path, function.first_line + 1, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted;

    fn found(path: &str, text: &str) -> Vec<String> {
        planted::check_file(check, path, text)
    }

    fn function(code_lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    // why\n    step();\n\n".repeat(code_lines - 2))
    }

    #[test]
    fn a_long_function_is_caught() {
        assert_eq!(found("src/a.rs", &function(40)), [""; 0]);
        let caught = found("src/a.rs", &function(41));
        assert_eq!(caught, ["crates/channel/src/a.rs:1: length: fn long has 41 lines of code, more than 40"]);
    }

    #[test]
    fn a_test_function_may_be_longer() {
        let unit = |lines| format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(lines));
        assert_eq!(found("src/a.rs", &unit(80)), [""; 0]);
        assert_eq!(found("src/a.rs", &unit(81)).len(), 1);
        assert_eq!(found("tests/t.rs", &function(80)), [""; 0]);
        assert_eq!(found("tests/t.rs", &function(81)).len(), 1);
    }

    #[test]
    fn a_long_comment_is_caught_unless_it_is_a_row() {
        let comment = |text: &str| format!("fn f() {{\n    // {text}\n}}\n");
        assert_eq!(found("src/a.rs", &comment(&"w".repeat(123))), [""; 0]);
        assert_eq!(found("src/a.rs", &comment(&"w".repeat(124))).len(), 1);
        assert_eq!(found("src/a.rs", &comment(&"cell | ".repeat(20))), [""; 0]);
    }

    #[test]
    fn a_long_file_is_caught() {
        let text = "/// Docs.\nconst A: u8 = 1;\n\n";
        assert_eq!(found("src/a.rs", &text.repeat(400)), [""; 0]);
        let caught = found("src/a.rs", &text.repeat(401));
        assert!(caught.len() == 1 && caught[0].contains("401 lines of code"), "{caught:?}");
        let with_tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", text.repeat(400), "use a::b;\n".repeat(90));
        assert_eq!(found("src/a.rs", &with_tests), [""; 0]);
        assert_eq!(found("tests/t.rs", &text.repeat(401)).len(), 1);
    }
}
