//! Atomics and unsynchronised cells come through one door, so that loom can stand behind all of them.
//!
//! The door is `base::sync`. A file that takes an atomic from the standard library directly is invisible to the model
//! checker. Tests may name `loom` itself, to open a model and to spawn its threads.

use crate::lexer::is_word;
use crate::report::Report;
use crate::source::SourceFile;
use crate::token::{Token, reads};
use crate::workspace::Workspace;

pub(super) const NAME: &str = "sync-door";

/// The paths that only the door may name.
const GUARDED: &[&[&str]] = &[
    &["std", "sync", "atomic"],
    &["core", "sync", "atomic"],
    &["std", "cell", "UnsafeCell"],
    &["core", "cell", "UnsafeCell"],
    &["loom"],
];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    let others = workspace.sources().filter(|(_, source)| !is_door(&source.path));
    for (_, source) in others {
        for (line, path) in named(source) {
            let is_loom_in_a_test = path == ["loom"] && source.is_test_line(line);
            if !is_loom_in_a_test {
                let message = format!("take this from corecast_base::sync, not from {}", path.join("::"));
                report.violation(NAME, &source.path, line + 1, message);
            }
        }
    }
}

fn is_door(path: &str) -> bool {
    path == "crates/base/src/sync.rs" || path.starts_with("crates/base/src/sync/")
}

/// The guarded paths a file names, with the line (from 0), each line once.
fn named(source: &SourceFile) -> Vec<(usize, &'static [&'static str])> {
    let mut found: Vec<(usize, &[&str])> = Vec::new();
    for import in source.imports() {
        let guarded = GUARDED.iter().filter(|guarded| covers(&import.path, guarded));
        found.extend(guarded.map(|guarded| (import.line, *guarded)));
    }
    for at in 0..source.tokens.len() {
        let guarded = GUARDED.iter().filter(|guarded| is_path(&source.tokens, at, guarded));
        found.extend(guarded.map(|guarded| (source.tokens[at].line, *guarded)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// True if the import reaches the guarded path, by name or by a glob above it.
fn covers(import: &[String], guarded: &[&str]) -> bool {
    let by_glob =
        import.last().is_some_and(|last| last == "*") && guarded[..guarded.len() - 1] == import[..import.len() - 1];
    by_glob || (import.len() >= guarded.len() && guarded.iter().zip(import).all(|(a, b)| a == b))
}

/// True if a path that begins at `at` is the guarded one; a whole crate has to be followed by `::`.
fn is_path(tokens: &[Token], at: usize, guarded: &[&str]) -> bool {
    let continues = at > 2 && reads(tokens, at - 2, &[":", ":"]) && tokens[at - 3].text.ends_with(is_word);
    let parts = guarded
        .iter()
        .enumerate()
        .all(|(i, part)| reads(tokens, at + 3 * i, &[part]) && (i == 0 || reads(tokens, at + 3 * i - 2, &[":", ":"])));
    parts && !continues && (guarded.len() > 1 || reads(tokens, at + 1, &[":", ":"]))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::{check_file, check_workspace, workspace};

    #[test]
    fn every_way_around_the_door_is_caught() {
        for text in [
            "use std::sync::atomic::AtomicU64;",
            "use core::{sync::{atomic::{self, AtomicU8}}};",
            "use std::{sync::atomic, fmt};",
            "use std::sync::atomic as words;",
            "use std::cell::*;",
            "use core::cell::{Cell, UnsafeCell};",
            "static FLAG: std::sync::atomic::AtomicBool = todo();",
            "fn f() { ::std::sync::atomic::fence(x); }",
            "use loom::sync::Arc;",
            "fn f() { loom::thread::yield_now(); }",
        ] {
            let found = check_file(check, "src/ump.rs", text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with("crates/channel/src/ump.rs:1: sync-door: "), "{found:?}");
        }
    }

    #[test]
    fn the_door_and_what_comes_through_it_are_fine() {
        let text = "use corecast_base::sync::{AtomicU64, UnsafeCell};\nuse std::sync::Arc;\nuse std::cell::Cell;\n";
        assert_eq!(check_file(check, "src/ump.rs", text), [""; 0]);
        let door = [("src/sync.rs", "pub use std::sync::atomic::AtomicU64;\n")];
        assert_eq!(check_workspace(check, &workspace("corecast-base", "crates/base", "", &door)), [""; 0]);
    }

    #[test]
    fn tests_may_open_a_model_but_not_the_back_door() {
        assert_eq!(check_file(check, "tests/loom.rs", "fn f() { loom::model(|| loom::thread::spawn(g)); }"), [""; 0]);
        let unit = "#[cfg(all(loom, test))]\nmod tests { use loom::model; }\n";
        assert_eq!(check_file(check, "src/ump.rs", unit), [""; 0]);
        assert_eq!(check_file(check, "tests/loom.rs", "use std::sync::atomic::AtomicU8;").len(), 1);
    }
}
