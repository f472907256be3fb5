//! The `use` declarations of a file, written out as one path per imported name.

use crate::token::Token;

/// One imported path: `use a::{b, c::d as e}` is `a::b` and `a::c::d` (renamed).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The parts of the path; the last is `*` for a glob.
    pub path: Vec<String>,
    /// The other name that `as` gives it.
    pub alias: Option<String>,
    /// The line of the last part, counted from 0.
    pub line: usize,
}

/// The imports of a file.
pub(crate) fn imports(tokens: &[Token]) -> Vec<Import> {
    let mut found = Vec::new();
    for range in ranges(tokens) {
        let mut tree = Tree { tokens: &tokens[range.0 + 1..range.1], at: 0, found: &mut found };
        tree.branch(&[]);
    }
    found
}

/// First and last token of each `use` declaration.
pub(crate) fn ranges(tokens: &[Token]) -> Vec<(usize, usize)> {
    // `use` also stands in `impl Trait + use<'a>`, which imports nothing.
    let is_start = |at: usize| tokens[at].text == "use" && tokens.get(at + 1).is_some_and(|next| next.text != "<");
    let end = |at: usize| tokens[at..].iter().position(|token| token.text == ";").map_or(tokens.len(), |n| at + n);
    (0..tokens.len()).filter(|&at| is_start(at)).map(|at| (at, end(at))).collect()
}

struct Tree<'a> {
    tokens: &'a [Token],
    at: usize,
    found: &'a mut Vec<Import>,
}

impl Tree<'_> {
    /// Reads one path behind `prefix`, up to the `,` or `}` that ends it.
    fn branch(&mut self, prefix: &[String]) {
        let mut path = prefix.to_vec();
        let (mut named, mut renamed) = (false, false);
        let mut alias = None;
        let mut line = 0;
        while let Some(token) = self.tokens.get(self.at) {
            match token.text.as_str() {
                "," | "}" => break,
                "{" => return self.group(&path),
                "as" => renamed = true,
                ":" | "#" => {}
                word if renamed => alias = Some(word.to_owned()),
                // A path that ends in `self` names its parent.
                "self" => {}
                word => path.push(word.to_owned()),
            }
            named = true;
            line = token.line;
            self.at += 1;
        }
        if named {
            self.found.push(Import { path, alias, line });
        }
    }

    fn group(&mut self, prefix: &[String]) {
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            if token.text == "}" {
                return;
            }
            self.branch(prefix);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::SourceFile;

    #[test]
    fn writes_nested_imports_out() {
        let text = "use std::{fmt, sync::{self, atomic::{AtomicU8, Ordering as O}},\n cell::*};\npub use crate::x;";
        let imports = SourceFile::parse("crates/x/src/a.rs", text).imports();
        let paths: Vec<String> = imports.iter().map(|import| import.path.join("::")).collect();
        assert_eq!(
            paths,
            [
                "std::fmt",
                "std::sync",
                "std::sync::atomic::AtomicU8",
                "std::sync::atomic::Ordering",
                "std::cell::*",
                "crate::x"
            ]
        );
        assert!(imports[3].alias.as_deref() == Some("O") && imports[2].alias.is_none());
        assert_eq!(imports[4].line, 1);
    }

    #[test]
    fn captured_lifetimes_are_no_imports() {
        assert!(SourceFile::parse("a.rs", "fn f<'a>() -> impl Fn() + use<'a> {}").imports().is_empty());
    }
}
