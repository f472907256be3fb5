//! Escapes control characters, so that a terminal shows a text and does not obey it.
//!
//! A model's name, a path, a region or an argument may hold control characters, which move the cursor, set the title or hide
//! what follows, and characters that turn the direction of writing. [`Output`](crate::output::Output) and the printer of errors
//! pass all that they write through [`text`]; a text of one line, such as a name in a heading, goes through [`line()`] as well,
//! or it could add lines of its own. JSON stays JSON: there such a character is `\u` and four digits.

use std::borrow::Cow;

/// The same with each character escaped that a terminal obeys, but for line breaks.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_obeyed(c), |c| format!("\\u{{{:x}}}", u32::from(c)))
}

/// The same of a text that is to stay on its line.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed, |c| format!("\\u{{{:x}}}", u32::from(c)))
}

/// The same of JSON, where such a character stands in a string only.
pub fn json(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_obeyed(c), |c| format!("\\u{:04x}", u32::from(c)))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let each = |c| if is_escaped(c) { escape(c) } else { String::from(c) };
    Cow::Owned(text.chars().map(each).collect())
}

/// Control characters of ASCII and of the block behind it, line breaks of Unicode, and what turns the direction of writing. All
/// lie below U+10000, as [`json`] needs.
fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_obeys_are_escaped_and_letters_are_not() {
        let hostile = "a\x1b]0;b\x07\r\x7f\u{9b}31m\u{202e}\u{2066}\u{2028}ü漢\n";
        let shown = r"a\u{1b}]0;b\u{7}\u{d}\u{7f}\u{9b}31m\u{202e}\u{2066}\u{2028}ü漢";
        assert_eq!(text(hostile), format!("{shown}\n"));
        assert_eq!(line(hostile), format!(r"{shown}\u{{a}}"));
        assert!(matches!(line("plain ü"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_says_the_same_text() {
        let hostile = "a\x1b\x7f\u{9b}\u{202e}\n";
        let shown = serde_json::to_string(hostile).expect("a string");
        let shown = json(&shown);
        assert!(shown.is_ascii() && !shown.contains(char::is_control), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).expect("JSON"), hostile);
    }
}
