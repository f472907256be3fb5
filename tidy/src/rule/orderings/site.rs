//! Where orderings are used, and which comment stands over them.

use std::collections::BTreeMap;

use crate::lexer::is_word;
use crate::source::SourceFile;
use crate::token::reads;

/// The memory orderings; `std::cmp::Ordering` has other variants.
const ORDERS: &[&str] = &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// The most lines between the start of a statement and an ordering in it.
const STATEMENT_LINES: usize = 20;

/// One statement that uses orderings.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// The line of its first ordering, counted from 0.
    pub(super) line: usize,
    /// The orderings it uses.
    pub(super) orders: Vec<&'static str>,
    /// The text of the comment from `ORDERING:` on; empty if there is none.
    pub(super) comment: String,
}

impl Site {
    /// The words of the comment outside labels.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.comment.split(|c| !is_word(c)).filter(|word| !word.is_empty() && *word != "ORDERING")
    }

    /// The labels `[such-as-this]` of the comment, each once.
    pub(super) fn labels(&self) -> Vec<String> {
        let bracketed = self.comment.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
        let mut labels: Vec<String> = bracketed.map(|(label, _)| label.to_owned()).filter(|l| is_label(l)).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// True if any ordering is stronger than Relaxed.
    pub(super) fn synchronises(&self) -> bool {
        self.uses(&["Acquire", "Release", "AcqRel", "SeqCst"])
    }

    /// True if it can be the end of a pair that publishes.
    pub(super) fn releases(&self) -> bool {
        self.uses(&["Release", "AcqRel", "SeqCst"])
    }

    /// True if it can be the end of a pair that receives.
    pub(super) fn acquires(&self) -> bool {
        self.uses(&["Acquire", "AcqRel", "SeqCst"])
    }

    /// True if this one statement, run by several threads, is both ends: an AcqRel whose comment says so.
    pub(super) fn pairs_with_itself(&self) -> bool {
        self.releases() && self.acquires() && self.comment.contains("pairs with itself")
    }

    fn uses(&self, orders: &[&str]) -> bool {
        self.orders.iter().any(|order| orders.contains(order))
    }
}

fn is_label(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_lowercase());
    starts && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The statements outside tests that use orderings, in the order of their first lines.
pub(super) fn sites(source: &SourceFile) -> Vec<Site> {
    let mut by_start: BTreeMap<usize, Site> = BTreeMap::new();
    for (line, order) in uses(source) {
        let start = statement_start(source, line);
        let site = by_start.entry(start).or_insert_with(|| Site { line, orders: Vec::new(), comment: String::new() });
        if !site.orders.contains(&order) {
            site.orders.push(order);
        }
        site.comment = comment_over(source, start, line);
    }
    by_start.into_values().collect()
}

/// The lines of imports that let an ordering be written without `Ordering::`.
pub(super) fn hidden(source: &SourceFile) -> Vec<usize> {
    let hides = |path: &[String], renamed: bool| {
        let Some(at) = path.iter().position(|part| part == "Ordering") else { return false };
        !path.iter().any(|part| part == "cmp") && (renamed || at + 1 < path.len())
    };
    let imports = source.imports().into_iter().filter(|import| hides(&import.path, import.alias.is_some()));
    imports.map(|import| import.line).filter(|&line| !source.is_test_line(line)).collect()
}

/// Each use of an ordering outside tests, with its line.
fn uses(source: &SourceFile) -> Vec<(usize, &'static str)> {
    let tokens = &source.tokens;
    let order_at = |at: usize| {
        let name = &tokens.get(at + 3).filter(|_| reads(tokens, at, &["Ordering", ":", ":"]))?.text;
        ORDERS.iter().find(|order| *order == name).map(|order| (tokens[at].line, *order))
    };
    (0..tokens.len()).filter_map(order_at).filter(|(line, _)| !source.is_test_line(*line)).collect()
}

/// The first line of the statement that `line` belongs to.
fn statement_start(source: &SourceFile, line: usize) -> usize {
    let mut start = line;
    for above in (line.saturating_sub(STATEMENT_LINES)..line).rev() {
        let over = &source.lines[above];
        if over.is_comment_only() {
            continue;
        }
        if !over.has_code() || ends_statement(&over.code) {
            break;
        }
        start = above;
    }
    start
}

/// True if what follows this line is a statement, a block or a match arm of its own.
fn ends_statement(code: &str) -> bool {
    let code = code.trim_end();
    let ends_arm = code.ends_with(',') && code.contains("=>");
    code.ends_with([';', '{', '}']) || code.ends_with("},") || code.ends_with("=>") || ends_arm
}

/// The comments on the lines of the statement up to `line` and directly above it, from `ORDERING:` on.
fn comment_over(source: &SourceFile, start: usize, line: usize) -> String {
    let above = (0..start).rev().take_while(|&i| source.lines[i].is_comment_only()).count();
    let comments = source.lines[start - above..=line].iter().map(|line| line.comment.trim_start_matches('/').trim());
    let text = comments.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
    text.find("ORDERING:").map_or(String::new(), |at| text[at..].to_owned())
}
