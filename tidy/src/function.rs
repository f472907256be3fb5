//! The functions of a file and how long they are.

use crate::lexer::Line;
use crate::token::{Token, closing, reads};

/// One function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line of its `fn`, counted from 0.
    pub first_line: usize,
    /// The line of its closing brace, counted from 0.
    pub last_line: usize,
    /// Its lines from signature to closing brace without comments and blank lines; functions inside it count too.
    pub code_lines: usize,
}

/// The functions with a body, outer before inner.
pub(crate) fn functions(tokens: &[Token], lines: &[Line]) -> Vec<Function> {
    (0..tokens.len()).filter_map(|at| function_at(tokens, lines, at)).collect()
}

fn function_at(tokens: &[Token], lines: &[Line], at: usize) -> Option<Function> {
    // `fn(u32)` is a type; a declaration has a name, or in a macro `$name`.
    if !reads(tokens, at, &["fn"]) || reads(tokens, at + 1, &["("]) {
        return None;
    }
    let name = tokens.get(at + 1)?;
    let body = body_start(tokens, at + 1)?;
    let (first_line, last_line) = (tokens[at].line, tokens[closing(tokens, body)].line);
    let code_lines = lines[first_line..=last_line].iter().filter(|line| line.has_code()).count();
    Some(Function { name: name.text.clone(), first_line, last_line, code_lines })
}

/// The index of the `{` that opens the body; none for a declaration that ends in `;`.
fn body_start(tokens: &[Token], mut at: usize) -> Option<usize> {
    loop {
        match tokens.get(at)?.text.as_str() {
            "{" => return Some(at),
            ";" | "}" => return None,
            "(" | "[" => at = closing(tokens, at),
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::SourceFile;

    #[test]
    fn counts_code_between_signature_and_brace() {
        let text =
            "fn a(\n  x: [u8; 3],\n) -> u8 {\n  // why\n\n  let s = \"}\";\n  fn b() {}\n  3\n}\ntype F = fn(u8);\n";
        let found = SourceFile::parse("crates/x/src/a.rs", text).functions();
        let found: Vec<(&str, usize, usize)> =
            found.iter().map(|f| (f.name.as_str(), f.first_line, f.code_lines)).collect();
        assert_eq!(found, [("a", 0, 7), ("b", 6, 1)]);
    }

    #[test]
    fn a_declaration_has_no_length() {
        assert!(SourceFile::parse("crates/x/src/a.rs", "trait T { fn f(&self) -> u8; }").functions().is_empty());
    }
}
