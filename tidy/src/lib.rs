//! The house rules of CONTRIBUTING.md that a program can check, run as a test over this workspace.
//!
//! A [`Workspace`] is read once into [`Package`]s with a [`Manifest`] and [`SourceFile`]s; every [`Rule`] looks at that
//! and tells a [`Report`] what it found, as `path:line: rule: message`. Sources are lexed, not parsed: comments, strings
//! and code are told apart exactly, everything above that is recognised by its tokens. That is enough for rules about
//! layout and comments, and keeps this crate free of a Rust parser.
//!
//! To add a rule, write `rule/x.rs` with a `check` and a unit test that plants a violation, and add one line to
//! [`RULES`].
//!
//! ```
//! use corecast_tidy::{SourceFile, Token};
//!
//! let source = SourceFile::parse("crates/x/src/lib.rs", "let greeting = \"// no comment\"; // a comment");
//! let words: Vec<&str> = source.tokens.iter().map(|token: &Token| token.text.as_str()).collect();
//! assert_eq!(words, ["let", "greeting", "=", ";"]);
//! assert_eq!(source.lines[0].comment, "// a comment");
//! ```

#![forbid(unsafe_code)]

mod function;
mod git;
mod import;
mod lexer;
mod manifest;
mod module_tree;
#[cfg(test)]
mod planted;
mod report;
mod rule;
mod source;
mod test_region;
mod token;
mod workspace;

pub use function::Function;
pub use git::{Git, GitError};
pub use import::Import;
pub use lexer::Line;
pub use manifest::{Dependency, Manifest, Section};
pub use report::{Report, Violation};
pub use rule::{RULES, Rule};
pub use source::SourceFile;
pub use token::Token;
pub use workspace::{LoadError, Package, Workspace};
