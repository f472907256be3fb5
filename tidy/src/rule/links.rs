//! Relative links in Markdown lead to a file that exists, pages of the book do not link out of it, and its summary lists all of
//! them.
//!
//! `docs/` is published as a book by itself, so a link from there to `crates/` would be dead for its readers, and a page that the
//! summary does not list is no part of the book. Anchors within a page, links with a scheme, and everything in a code block are
//! not looked at.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "links";

const BOOK: &str = "docs";
const SUMMARY: &str = "docs/SUMMARY.md";

/// Folders with texts of others, or that a build has made.
const FOREIGN: [&str; 4] = ["target", "artifacts", "corpus", "book"];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    let mut pages = Vec::new();
    collect_pages(&workspace.root, Path::new(""), &mut pages);
    pages.sort();
    check_summary(workspace, &pages, report);
    for page in pages {
        if let Ok(text) = fs::read_to_string(workspace.root.join(&page)) {
            check_page(&workspace.root, &page, &text, report);
        }
    }
}

fn collect_pages(root: &Path, folder: &Path, pages: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = folder.join(&name);
        let Ok(kind) = entry.file_type() else { continue };
        let is_folder = kind.is_dir();
        // A linked page is checked where it lies.
        if kind.is_symlink() {
            continue;
        }
        if is_folder && !name.starts_with('.') && !FOREIGN.contains(&name.as_str()) {
            collect_pages(root, &path, pages);
        } else if !is_folder && name.ends_with(".md") {
            pages.push(path);
        }
    }
}

fn check_summary(workspace: &Workspace, pages: &[PathBuf], report: &mut Report) {
    let text = fs::read_to_string(workspace.root.join(SUMMARY)).unwrap_or_default();
    let links = relative_links(&text);
    let listed: Vec<_> = links.iter().filter_map(|(_, target)| resolved(Path::new(BOOK), target)).collect();
    for page in pages.iter().filter(|page| page.starts_with(BOOK) && *page != Path::new(SUMMARY)) {
        if !listed.contains(page) {
            report.violation(NAME, SUMMARY, 1, format!("{} is not listed", page.display()));
        }
    }
}

fn check_page(root: &Path, page: &Path, text: &str, report: &mut Report) {
    let name = page.to_string_lossy();
    let folder = page.parent().unwrap_or(Path::new(""));
    for (line, target) in relative_links(text) {
        let Some(path) = resolved(folder, target) else {
            report.violation(NAME, &name, line, format!("{target} leads out of the repository"));
            continue;
        };
        if !root.join(&path).exists() {
            report.violation(NAME, &name, line, format!("{target} leads to {}, which does not exist", path.display()));
        } else if page.starts_with(BOOK) && !path.starts_with(BOOK) {
            report.violation(NAME, &name, line, format!("{target} leads out of the book: name the file instead"));
        }
    }
}

/// The targets of links to files, without anchors, each with the number of its line from 1.
fn relative_links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut is_code = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        let files = targets.filter_map(|target| target.split('#').next());
        links.extend(files.filter(|file| !file.is_empty() && !file.contains(':')).map(|file| (at + 1, file)));
    }
    links
}

/// `target` as seen from `folder`, without `..`; none if it leads above the root.
fn resolved(folder: &Path, target: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in folder.join(target).components() {
        match component {
            Component::ParentDir if !path.pop() => return None,
            Component::Normal(name) => path.push(name),
            Component::RootDir | Component::Prefix(_) => return None,
            Component::ParentDir | Component::CurDir => {}
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().expect("a file in a folder")).expect("a temporary folder");
            fs::write(file, text).expect("a temporary file");
        }
        let mut report = Report::default();
        check(&Workspace { root: root.path().to_owned(), packages: Vec::new() }, &mut report);
        report.violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_dead_link_is_caught() {
        let caught = found(&[
            ("a.md", "see [b](b.md)\n[c](docs/c.md#x) and [d](d.md#y)"),
            ("docs/SUMMARY.md", "[c](c.md)"),
            ("docs/c.md", "[a](#x)"),
            ("b.md", ""),
        ]);
        assert_eq!(caught, ["a.md:2: links: d.md leads to d.md, which does not exist"]);
    }

    #[test]
    fn a_link_out_of_the_book_is_caught() {
        let caught = found(&[
            ("docs/design/x.md", "[y](../y.md) [z](../../z.rs) [w](../../../w)"),
            ("docs/y.md", ""),
            ("docs/SUMMARY.md", "[x](design/x.md)\n[y](y.md)"),
            ("z.rs", ""),
        ]);
        assert!(
            caught.len() == 2 && caught[0].contains("out of the book") && caught[1].contains("out of the repository"),
            "{caught:?}"
        );
    }

    #[test]
    fn a_page_that_the_summary_does_not_list_is_caught() {
        let caught =
            found(&[("docs/SUMMARY.md", "- [a](a/b.md)"), ("docs/a/b.md", ""), ("docs/b.md", ""), ("b.md", "")]);
        assert_eq!(caught, ["docs/SUMMARY.md:1: links: docs/b.md is not listed"]);
    }

    #[test]
    fn addresses_anchors_code_and_foreign_texts_are_left_alone() {
        let text = "[a](https://x.y/z) [b](#c) [d](mailto:e@f)\n```\n[g](h.md)\n```\n";
        assert_eq!(
            found(&[("a.md", text), ("target/b.md", "[c](d.md)"), (".git/e.md", "[f](g.md)")]),
            Vec::<String>::new()
        );
    }
}
