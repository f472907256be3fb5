//! Which lines of a file are compiled for tests only.

use crate::token::{Token, closing, reads};

/// For each of `line_count` lines, whether it belongs to an item behind `#[cfg(test)]` or its like.
pub(crate) fn test_lines(tokens: &[Token], line_count: usize) -> Vec<bool> {
    let mut test = vec![false; line_count];
    for (at, _) in tokens.iter().enumerate() {
        if is_test_attribute(tokens, at) {
            let (first, last) = (tokens[at].line, tokens[item_end(tokens, at)].line);
            test[first..=last].fill(true);
        } else if reads(tokens, at, &["#", "!", "[", "cfg"]) && names_test(tokens, at + 4) {
            test.fill(true);
        }
    }
    test
}

/// The names of the modules declared as `#[cfg(test)] mod name;`, whose files hold only tests.
pub(crate) fn test_modules(tokens: &[Token]) -> Vec<String> {
    let starts = (0..tokens.len()).filter(|&at| is_test_attribute(tokens, at));
    starts
        .filter_map(|at| {
            let item = after_attributes(tokens, at);
            let is_declaration = reads(tokens, item, &["mod"]) && reads(tokens, item + 2, &[";"]);
            is_declaration.then(|| tokens[item + 1].text.clone())
        })
        .collect()
}

fn is_test_attribute(tokens: &[Token], at: usize) -> bool {
    reads(tokens, at, &["#", "[", "test", "]"])
        || (reads(tokens, at, &["#", "[", "cfg", "("]) && names_test(tokens, at + 3))
}

/// True if the condition in the parentheses at `open` asks for `test`, and not for its absence.
fn names_test(tokens: &[Token], open: usize) -> bool {
    let end = closing(tokens, open);
    let mut at = open;
    while at < end {
        if reads(tokens, at, &["not", "("]) {
            at = closing(tokens, at + 1);
        } else if tokens[at].text == "test" {
            return true;
        }
        at += 1;
    }
    false
}

/// The index behind the run of attributes that starts at `at`.
fn after_attributes(tokens: &[Token], mut at: usize) -> usize {
    while reads(tokens, at, &["#", "["]) {
        at = closing(tokens, at + 1) + 1;
    }
    at
}

/// The index of the last token of the item whose attributes start at `at`: its closing brace or its semicolon.
fn item_end(tokens: &[Token], at: usize) -> usize {
    let mut i = after_attributes(tokens, at);
    while let Some(token) = tokens.get(i) {
        match token.text.as_str() {
            "{" => return closing(tokens, i),
            ";" | "}" => return i,
            "(" | "[" => i = closing(tokens, i),
            _ => {}
        }
        i += 1;
    }
    tokens.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::lines;
    use crate::token::tokens;

    fn marks(text: &str) -> String {
        let lines = lines(text);
        let test = test_lines(&tokens(&lines), lines.len());
        test.into_iter().map(|test| if test { 't' } else { '.' }).collect()
    }

    #[test]
    fn marks_the_whole_item() {
        assert_eq!(marks("a;\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n  fn f() {}\n}\nb;"), ".ttttt.");
        assert_eq!(marks("#[cfg(all(loom, test))]\nfn f() {\n}\nb;"), "ttt.");
        assert_eq!(marks("#[cfg(test)]\nuse a::b;\nc;"), "tt.");
        assert_eq!(marks("#![cfg(test)]\na;"), "tt");
    }

    #[test]
    fn code_without_tests_is_not_marked() {
        assert_eq!(marks("#[cfg(not(test))]\nfn f() {}\n"), "..");
        assert_eq!(marks("#[cfg(loom)]\nfn f() {}\n"), "..");
    }

    #[test]
    fn names_the_files_that_hold_only_tests() {
        let tokens = tokens(&lines("mod a;\n#[cfg(test)]\nmod planted;\n#[cfg(test)]\nmod tests {}"));
        assert_eq!(test_modules(&tokens), ["planted"]);
    }
}
