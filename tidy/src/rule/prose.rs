//! Sentences in comments name their actor: they do not open with a bare question word, nor count with vague words.
//!
//! A sentence whose subject is a clause ("Who waits is woken") has to be read twice. A question may open so. Only the first
//! words of a comment line are looked at, which is where such sentences begin as a rule.

use crate::lexer::{Line, is_word};
use crate::report::Report;
use crate::source::SourceFile;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "prose";

/// The words that open a sentence without an actor.
const HEADLESS: &[&str] = &["Who", "Whoever", "What", "Of whom", "So many"];

/// Words that stand for a number which the sentence should name.
const VAGUE: &str = "so many";

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for (_, source) in workspace.sources() {
        for (i, line) in source.lines.iter().enumerate() {
            if let Some(opening) = headless(source, i) {
                let message = format!("a sentence that opens with a bare '{opening}': name the actor or the thing");
                report.violation(NAME, &source.path, i + 1, message);
            }
            if is_vague(&line.comment) {
                report.violation(NAME, &source.path, i + 1, format!("'{VAGUE}': say the number, or 'this many'"));
            }
        }
    }
}

/// The bare word that opens the comment on this line, unless its sentence is a question.
fn headless(source: &SourceFile, at: usize) -> Option<&'static str> {
    let text = words(&source.lines[at]);
    let opening = HEADLESS.iter().find(|word| {
        let rest = text.strip_prefix(**word).and_then(|rest| rest.strip_prefix(' '));
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
    })?;
    let is_followed = |line: &&Line| !words(line).is_empty();
    let paragraph: Vec<&str> = source.lines[at..].iter().take_while(is_followed).map(words).collect();
    (!is_question(&paragraph.join(" "))).then_some(*opening)
}

/// The text of a comment, without its marker and that of a list.
fn words(line: &Line) -> &str {
    let text = line.comment.trim_start_matches(['/', '!', '*', ' ']);
    text.strip_prefix("- ").unwrap_or(text).trim_end()
}

/// True if the first sentence ends in a question mark.
fn is_question(text: &str) -> bool {
    let is_end = |&(at, sign): &(usize, char)| {
        matches!(sign, '.' | '?') && text[at + 1..].chars().next().is_none_or(char::is_whitespace)
    };
    text.char_indices().find(is_end).is_some_and(|(_, sign)| sign == '?')
}

fn is_vague(comment: &str) -> bool {
    let text = comment.to_lowercase();
    let is_whole = |at: usize| !text[..at].ends_with(is_word) && !text[at + VAGUE.len()..].starts_with(is_word);
    text.match_indices(VAGUE).any(|(at, _)| is_whole(at))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::check_file;

    #[test]
    fn headless_sentences_are_caught() {
        for text in [
            "//! Who has nothing to run is named.\n",
            "/// What a sender writes\n/// many processes read. Is it right?\n",
            "fn f() {} // Whoever comes first waits\n",
            "/* Of whom one is dead. */\n",
            "/// - What it costs: time.\n",
        ] {
            let found = check_file(check, "src/ump.rs", text);
            assert!(found.len() == 1 && found[0].contains("name the actor"), "{text}: {found:?}");
        }
    }

    #[test]
    fn vague_numbers_are_caught() {
        for text in ["// The ring has so many slots.\n", "let a = 1; // (so many)\n"] {
            assert_eq!(check_file(check, "src/ump.rs", text).len(), 1, "{text}");
        }
        assert_eq!(check_file(check, "src/ump.rs", "// So many members wait.\n").len(), 2);
    }

    #[test]
    fn questions_names_and_text_are_fine() {
        for text in [
            "//! What does my machine cost?\n",
            "//! What happens when threads\n//! call something else? Each is told.\n",
            "/// What `f` returns is 1.\n",
            "/// Whole lines. A reader sees what was sent, and who sent it.\n",
            "let a = \"What we say: so many\";\n",
            "// Also manyfold: also many\n",
        ] {
            assert_eq!(check_file(check, "src/ump.rs", text), [""; 0], "{text}");
        }
    }
}
