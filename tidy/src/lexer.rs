//! Splits Rust source into lines of code and comment, blind to what stands inside literals.

/// One line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The code on the line: comments removed, every character of a string or character literal replaced by `"`.
    pub code: String,
    /// The comments on the line with their markers, block comments included.
    pub comment: String,
}

impl Line {
    /// True if the line holds code, a literal's inside included.
    #[must_use]
    pub fn has_code(&self) -> bool {
        !self.code.trim().is_empty()
    }

    /// True if the line holds a comment and nothing else.
    #[must_use]
    pub fn is_comment_only(&self) -> bool {
        !self.has_code() && !self.comment.trim().is_empty()
    }
}

/// Where the lexer stands.
#[derive(Clone, Copy)]
enum State {
    Code,
    LineComment,
    /// Block comments nest; the depth is at least 1.
    BlockComment(usize),
    Text,
    /// A raw string that ends at `"` and this many `#`.
    RawText(usize),
}

/// Splits `text` into its lines.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut lexer =
        Lexer { chars: text.chars().collect(), at: 0, state: State::Code, lines: Vec::new(), line: Line::default() };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    if lexer.line != Line::default() {
        lexer.end_line();
    }
    lexer.lines
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    state: State,
    lines: Vec<Line>,
    line: Line,
}

impl Lexer {
    fn step(&mut self) {
        if self.chars[self.at] == '\n' {
            if matches!(self.state, State::LineComment) {
                self.state = State::Code;
            }
            self.at += 1;
            return self.end_line();
        }
        match self.state {
            State::Code => self.code(),
            State::LineComment => self.comment(1),
            State::BlockComment(depth) => self.block_comment(depth),
            State::Text => self.text(),
            State::RawText(hashes) => self.raw_text(hashes),
        }
    }

    fn code(&mut self) {
        if self.looking_at("//") {
            self.state = State::LineComment;
        } else if self.looking_at("/*") {
            self.state = State::BlockComment(1);
            self.comment(2);
        } else if let Some((length, hashes)) = self.raw_text_start() {
            self.state = State::RawText(hashes);
            self.literal(length);
        } else if self.looking_at("\"") {
            self.state = State::Text;
            self.literal(1);
        } else if let Some(length) = self.character_literal() {
            self.literal(length);
        } else {
            self.line.code.push(self.chars[self.at]);
            self.at += 1;
        }
    }

    fn block_comment(&mut self, depth: usize) {
        if self.looking_at("/*") {
            self.state = State::BlockComment(depth + 1);
            self.comment(2);
        } else if self.looking_at("*/") {
            self.state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
            self.comment(2);
        } else {
            self.comment(1);
        }
    }

    fn text(&mut self) {
        match self.chars[self.at] {
            // An escaped line end is left to `step`, which counts lines.
            '\\' if self.peek(1) != Some('\n') => self.literal(2),
            '"' => {
                self.state = State::Code;
                self.literal(1);
            }
            _ => self.literal(1),
        }
    }

    fn raw_text(&mut self, hashes: usize) {
        let ends = self.looking_at("\"") && (1..=hashes).all(|i| self.peek(i) == Some('#'));
        if ends {
            self.state = State::Code;
        }
        self.literal(if ends { 1 + hashes } else { 1 });
    }

    /// The length of the opening of a raw string here, and the number of its `#`.
    fn raw_text_start(&self) -> Option<(usize, usize)> {
        let after_word = self.at > 0 && is_word(self.chars[self.at - 1]);
        let prefix = if self.looking_at("br") || self.looking_at("cr") { 2 } else { usize::from(self.looking_at("r")) };
        if prefix == 0 || after_word {
            return None;
        }
        let hashes = self.chars[self.at + prefix..].iter().take_while(|&&c| c == '#').count();
        (self.peek(prefix + hashes) == Some('"')).then_some((prefix + hashes + 1, hashes))
    }

    /// The length of a character literal here; none for a lifetime.
    fn character_literal(&self) -> Option<usize> {
        if self.chars[self.at] != '\'' {
            return None;
        }
        if self.peek(1) == Some('\\') {
            let close = (3..).map_while(|i| self.peek(i).map(|c| (i, c))).find(|&(_, c)| c == '\'')?;
            return Some(close.0 + 1);
        }
        (self.peek(2) == Some('\'')).then_some(3)
    }

    fn literal(&mut self, length: usize) {
        let end = (self.at + length).min(self.chars.len());
        let blanks = self.chars[self.at..end].iter().map(|&c| if c.is_whitespace() { ' ' } else { '"' });
        self.line.code.extend(blanks);
        self.at = end;
    }

    fn comment(&mut self, length: usize) {
        let end = (self.at + length).min(self.chars.len());
        self.line.comment.extend(&self.chars[self.at..end]);
        self.at = end;
    }

    fn end_line(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c))
    }
}

/// True for a character that can stand in an identifier.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        let bare = |line: Line| line.code.replace('"', "").split_whitespace().collect::<Vec<_>>().join(" ");
        lines(text).into_iter().map(bare).collect()
    }

    #[test]
    fn literals_hide_comments_and_braces() {
        assert_eq!(code(r#"a("// {", '{', '\'', b'}', b"}", '\u{7b}') // }"#), ["a( , , , b, b, )"]);
        assert_eq!(code("r#\"\" // { \"# ; r\"{\"; br##\"\"# }\"##;"), ["; ; ;"]);
        assert_eq!(code(r#""\\" { "\"" }"#), ["{ }"]);
    }

    #[test]
    fn lifetimes_and_raw_names_are_code() {
        assert_eq!(code("fn f<'a>(r#type: &'a str) {}"), ["fn f<'a>(r#type: &'a str) {}"]);
    }

    #[test]
    fn block_comments_nest_and_span_lines() {
        let lines = lines("a /* b /* c */\n d */ e");
        assert_eq!(lines[0].code.trim(), "a");
        assert_eq!(lines[1].code.trim(), "e");
        assert_eq!(lines[1].comment, " d */");
    }

    #[test]
    fn text_over_several_lines_counts_as_code() {
        let lines = lines("let x = \"one\n\n two \\\n three\";\n// end\n");
        let code: Vec<bool> = lines.iter().map(Line::has_code).collect();
        assert_eq!(code, [true, false, true, true, false]);
        assert!(lines[4].is_comment_only());
    }
}
