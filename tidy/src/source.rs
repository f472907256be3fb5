//! One source file, lexed.

use crate::function::{Function, functions};
use crate::import::{Import, imports};
use crate::lexer::{Line, lines};
use crate::test_region::{test_lines, test_modules};
use crate::token::{Token, tokens};

/// The folders of a package whose files are programs or tests of their own and not part of the library.
const TEST_FOLDERS: [&str; 2] = ["/tests/", "/benches/"];

/// A source file and what the rules want to know about it.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path relative to the workspace root, with `/`.
    pub path: String,
    /// The lines.
    pub lines: Vec<Line>,
    /// The words and signs of the code.
    pub tokens: Vec<Token>,
    /// For each line, whether it is compiled for tests only.
    pub test_lines: Vec<bool>,
}

impl SourceFile {
    /// Lexes `text` as the file at `path`.
    #[must_use]
    pub fn parse(path: &str, text: &str) -> Self {
        let lines = lines(text);
        let tokens = tokens(&lines);
        let is_test_file = TEST_FOLDERS.iter().any(|folder| path.contains(folder));
        let test_lines = if is_test_file { vec![true; lines.len()] } else { test_lines(&tokens, lines.len()) };
        Self { path: path.to_owned(), lines, tokens, test_lines }
    }

    /// Declares the whole file to be compiled for tests only.
    pub fn mark_as_test(&mut self) {
        self.test_lines.fill(true);
    }

    /// True if this line (from 0) is compiled for tests only.
    #[must_use]
    pub fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.get(line).copied().unwrap_or(false)
    }

    /// True for a file under `tests/` or `benches/`.
    #[must_use]
    pub fn is_test_file(&self) -> bool {
        TEST_FOLDERS.iter().any(|folder| self.path.contains(folder))
    }

    /// True for a file under a package's `src/`.
    #[must_use]
    pub fn is_in_src(&self) -> bool {
        self.path.contains("/src/")
    }

    /// The functions with a body.
    #[must_use]
    pub fn functions(&self) -> Vec<Function> {
        functions(&self.tokens, &self.lines)
    }

    /// The imports of the file.
    #[must_use]
    pub fn imports(&self) -> Vec<Import> {
        imports(&self.tokens)
    }

    /// The modules it declares for tests only, by name.
    #[must_use]
    pub fn test_modules(&self) -> Vec<String> {
        test_modules(&self.tokens)
    }
}
