//! The words and signs of a source file, with the line each stands on.

use crate::lexer::{Line, is_word};

/// One word (identifier, keyword, number) or one sign of the code. Literals of text are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The word, or a single sign.
    pub text: String,
    /// The line, counted from 0.
    pub line: usize,
}

/// The tokens of `lines`.
pub(crate) fn tokens(lines: &[Line]) -> Vec<Token> {
    lines.iter().enumerate().flat_map(|(line, text)| line_tokens(&text.code, line)).collect()
}

fn line_tokens(code: &str, line: usize) -> Vec<Token> {
    let chars: Vec<char> = code.chars().collect();
    chars
        .chunk_by(|&a, &b| is_word(a) && is_word(b))
        .map(|run| run.iter().collect::<String>())
        .filter(|text| !text.trim().is_empty() && text != "\"")
        .map(|text| Token { text, line })
        .collect()
}

/// True if the tokens from `at` on read `words`.
pub(crate) fn reads(tokens: &[Token], at: usize, words: &[&str]) -> bool {
    words.iter().enumerate().all(|(i, word)| tokens.get(at + i).is_some_and(|token| token.text == *word))
}

/// The index of the bracket that closes the one at `open`; the last index if none does.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return i;
        }
    }
    tokens.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::lines;

    #[test]
    fn finds_words_signs_and_partners() {
        let tokens = tokens(&lines("f(x_1,\n [\"}\"])::g"));
        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts, ["f", "(", "x_1", ",", "[", "]", ")", ":", ":", "g"]);
        assert_eq!(tokens[4].line, 1);
        assert_eq!(closing(&tokens, 1), 6);
        assert!(reads(&tokens, 7, &[":", ":", "g"]));
        assert!(!reads(&tokens, 8, &[":", ":", "g"]));
    }
}
